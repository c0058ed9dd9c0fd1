"""Triage of a red run: whose problem it is, what changed since it was green, where to look."""
