"""Measurements of cost as ratios within one run; see README.md."""
