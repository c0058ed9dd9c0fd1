"""The operators: what a mutant does to one place of the syntax tree."""

from harness.mutants.operators.operator import Change, Operator, Probe, Watch

__all__ = ["Change", "Operator", "Probe", "Watch"]
