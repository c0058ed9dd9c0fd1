"""Subagents: their definitions, the tool that invokes them, and their prompts and tools."""
