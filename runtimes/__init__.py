"""Agents behind `AgentProtocol`, and the registry that finds them by name."""
