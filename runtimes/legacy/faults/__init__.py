"""Faults of the legacy runtime. One module for each behaviour."""
