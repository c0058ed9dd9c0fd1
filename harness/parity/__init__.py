"""Comparison as values: projection, alignment, diff, waivers, verdict."""
