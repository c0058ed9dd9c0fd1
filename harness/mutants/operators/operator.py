"""The names of the operators, and `Change`: one thing that an operator does to a node."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from harness.mutants.source import Edit

__all__ = ["Change", "Operator"]


class Operator(StrEnum):
    """What is done to a place."""

    NEGATE_CONDITION = "negate-condition"
    DROP_CONDITION = "drop-condition"
    """A condition always or never holds, or one of its operands is gone."""
    DROP_STATEMENT = "drop-statement"
    DROP_AWAIT = "drop-await"
    """A coroutine is made and never run."""
    SWAP_ARGUMENTS = "swap-arguments"
    """Two neighbouring positional arguments."""
    OFF_BY_ONE = "off-by-one"
    """A whole number, or whether a bound belongs to what it bounds."""
    CHANGE_CONSTANT = "change-constant"
    CHANGE_DEFAULT = "change-default"
    """The default of a parameter or of a field."""
    RETURN_EARLY = "return-early"
    """A function returns before a statement, or nothing instead of a value."""
    SKIP_RESET = "skip-reset"
    """A statement that clears, removes or ends something is gone."""
    SKIP_FINALLY = "skip-finally"
    SWAP_STATEMENTS = "swap-statements"
    """Two neighbouring statements."""
    DROP_EXCEPTION_TYPE = "drop-exception-type"
    """An exception is no longer caught."""
    FORGET_COPY = "forget-copy"
    """A copy is the original."""


@dataclass(frozen=True, slots=True)
class Change:
    """One way in which an operator changes a place."""

    operator: Operator
    edits: tuple[Edit, ...]
