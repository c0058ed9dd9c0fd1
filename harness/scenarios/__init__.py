"""Scenarios nobody wrote: a grammar, two ways to draw from it, and what becomes of a finding."""
