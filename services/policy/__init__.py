"""The policy: which calls may run without a confirmation."""
