"""The A2A server: other agents and editors drive this agent over HTTP."""
