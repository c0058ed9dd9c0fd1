"""Hooks: commands of the user that observe, stop or change what a session does."""
