"""Seeded faults: deliberate defects of a good runtime, to measure what the harness detects."""
