"""The parity suite: through the front door only (`AgentProtocol` and the harness)."""
