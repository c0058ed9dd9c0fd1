"""Hooks: people's own commands that see, stop or change what a session does."""
