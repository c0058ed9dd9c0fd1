"""Subagents: definitions, the tool that invokes them, and what a child is given."""
