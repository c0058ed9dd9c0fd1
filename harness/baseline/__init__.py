"""Baselines: what a runtime was observed to do, kept in files and compared like a run."""
