"""Baselines: observations of a runtime, kept in files and compared like runs."""
