"""Seeded faults: a good runtime is broken on purpose, to measure what the harness notices."""
