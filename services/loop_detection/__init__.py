"""Detects that a conversation repeats itself."""
