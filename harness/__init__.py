"""Replays cassettes through two runtimes, compares them, and gives a verdict."""
