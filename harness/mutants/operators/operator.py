"""The names of the operators, and `Change`: one thing that an operator does to a node."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from harness.mutants.source import Edit, Source

__all__ = ["Change", "Operator", "Probe", "Watch", "probe_without"]

_FUNCTIONS: Final = frozenset(
    {"all", "any", "bool", "float", "frozenset", "getattr", "hasattr", "int", "isinstance"}
    | {"issubclass", "len", "list", "max", "min", "set", "sorted", "str", "sum", "tuple", "type"}
)
_METHODS: Final = frozenset(
    {"done", "endswith", "get", "is_absolute", "is_set", "isdigit", "isspace", "items", "keys"}
    | {"lower", "lstrip", "partition", "removeprefix", "removesuffix", "rstrip", "split"}
    | {"splitlines", "startswith", "strip", "upper", "values"}
)
"""What is called for its result alone."""


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


class Watch(StrEnum):
    """When the value of an expression shows that a run with the change would differ."""

    EVALUATED = "evaluated"
    """Whenever it is evaluated."""
    TRUE = "true"
    FALSE = "false"
    BOUND = "bound"
    """The left side of a comparison: it equals the right side."""
    NOT_EMPTY = "not empty"
    """It is not an immutable value equal to the one given."""
    STORED = "stored"
    """It is stored, and what was there is another value."""
    HOLDS = "holds"
    """A collection that a reset would empty: it holds something."""


@dataclass(frozen=True, slots=True)
class Probe:
    """An expression of the unchanged code whose value says whether the change matters to a run."""

    watch: Watch
    start: int
    end: int
    """Offsets of the expression in the source."""
    more: str = ""
    """Further arguments of what looks at the value, as source."""


def probe_without(watch: Watch, source: Source, node: ast.expr, more: str = "") -> Probe | None:
    """A probe of an expression that the change leaves out; `None` where that has effects."""
    return Probe(watch, *source.span(node), more) if _without_effect(node) else None


def _without_effect(node: ast.expr) -> bool:
    for each in ast.walk(node):
        if isinstance(each, ast.Await | ast.NamedExpr | ast.Yield | ast.YieldFrom):
            return False
        if isinstance(each, ast.Call):
            called = each.func
            known = isinstance(called, ast.Name) and called.id in _FUNCTIONS
            if not known and not (isinstance(called, ast.Attribute) and called.attr in _METHODS):
                return False
    return True


@dataclass(frozen=True, slots=True)
class Change:
    """One way in which an operator changes a place."""

    operator: Operator
    edits: tuple[Edit, ...]
    probe: Probe | None = None
    """`None` where nothing but a run with the change in force says whether it matters."""
