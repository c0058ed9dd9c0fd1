"""The tool-call state machine: validation, confirmation, waves, execution."""
