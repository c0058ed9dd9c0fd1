"""A child's session on ADK: what makes the same agent a subagent."""
