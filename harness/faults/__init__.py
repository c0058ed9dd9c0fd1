"""Seeded faults: a good runtime, broken on purpose, to measure what the harness would notice."""
