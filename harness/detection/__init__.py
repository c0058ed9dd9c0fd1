"""Measure which seeded faults the harness finds, in the corpus and in generated runs."""
