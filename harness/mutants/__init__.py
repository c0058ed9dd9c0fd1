"""Mutants: small edits of the runtimes and services, drawn at random, and what the corpus finds."""
