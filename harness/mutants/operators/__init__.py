"""The operators: what a mutant does to one place of the syntax tree."""

from harness.mutants.operators.operator import Change, Operator

__all__ = ["Change", "Operator"]
