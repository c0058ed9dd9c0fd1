"""Faults of the ADK runtime. One module for each behaviour."""
