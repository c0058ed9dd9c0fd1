"""Runs a cassette in a runtime and observes the run."""
