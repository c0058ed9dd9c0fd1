"""Triage of a red run: whose problem it is, the changes since the last green run, next steps."""
