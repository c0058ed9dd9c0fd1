"""Cassettes from live runs of the headless agent."""
