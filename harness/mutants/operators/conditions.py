"""Conditions: negated, dropped, without one of their operands, a bound off by one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from harness.mutants.operators.operator import Change, Operator, Probe, Watch, probe_without
from harness.mutants.source import Source

__all__ = ["in_bool_op", "in_compare", "in_negation", "of_test", "returned_truth"]

_BOUNDS: Final[dict[type[ast.cmpop], str]] = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
}
_OPPOSITES: Final[dict[type[ast.cmpop], str]] = {
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.In: "not in",
    ast.NotIn: "in",
    ast.Is: "is not",
    ast.IsNot: "is",
}


def of_test(source: Source, test: ast.expr, *, loop: bool, alone: bool) -> Iterator[Change]:
    """The test of an `if`, a loop, a conditional expression, a comprehension or a `case`.

    Args:
        source: The module.
        test: The condition.
        loop: A `while`: it may never hold, but not always.
        alone: What does not hold leaves something out, so that it may hold always or never.
    """
    if isinstance(test, ast.Constant):
        return
    evaluated = Probe(Watch.EVALUATED, *source.span(test))
    negated = source.replaced(test, _negated(source, test))
    yield Change(Operator.NEGATE_CONDITION, (negated,), evaluated)
    fixed = ("False",) if loop else ("True", "False") if alone else ("True",)
    for value in fixed:
        watch = Watch.FALSE if value == "True" else Watch.TRUE
        probe = probe_without(watch, source, test)
        yield Change(Operator.DROP_CONDITION, (source.replaced(test, value),), probe)


def returned_truth(source: Source, value: ast.expr) -> Iterator[Change]:
    """The value of a `return` in a function that is annotated with `bool`."""
    if not isinstance(value, ast.Constant | ast.Compare | ast.UnaryOp):
        yield Change(Operator.NEGATE_CONDITION, (source.replaced(value, _negated(source, value)),))


def in_bool_op(source: Source, node: ast.BoolOp, *, is_test: bool) -> Iterator[Change]:
    """`and` and `or`: each operand left out once.

    An operand that does not decide is as good as not there, but for the last one of a value.
    """
    both = isinstance(node.op, ast.And)
    word = " and " if both else " or "
    decides = Watch.FALSE if both else Watch.TRUE
    for index, operand in enumerate(node.values):
        is_value = not is_test and operand is node.values[-1]
        probe = probe_without(Watch.EVALUATED if is_value else decides, source, operand)
        kept = [each for place, each in enumerate(node.values) if place != index]
        text = word.join(f"({source.segment(each)})" for each in kept)
        yield Change(Operator.DROP_CONDITION, (source.replaced(node, f"({text})"),), probe)


def in_compare(source: Source, node: ast.Compare, *, is_test: bool) -> Iterator[Change]:
    """A comparison: its bound belongs to it or not, or it is the opposite where it is no test."""
    if len(node.ops) != 1:
        return
    kind = type(node.ops[0])
    sides = source.segment(node.left), source.segment(node.comparators[0])
    if kind in _BOUNDS:
        probe = Probe(Watch.BOUND, *source.span(node.left))
        yield _compared(source, node, Operator.OFF_BY_ONE, _BOUNDS[kind], sides, probe)
        if not is_test:
            negated = f"not ({source.segment(node)})"
            yield Change(Operator.NEGATE_CONDITION, (source.replaced(node, f"({negated})"),))
    elif not is_test:
        yield _compared(source, node, Operator.NEGATE_CONDITION, _OPPOSITES[kind], sides)


def in_negation(source: Source, node: ast.UnaryOp, *, is_test: bool) -> Iterator[Change]:
    """`not x` becomes `x` outside of tests; `of_test` does the same for tests."""
    if isinstance(node.op, ast.Not) and not is_test:
        text = f"bool({source.segment(node.operand)})"
        yield Change(Operator.NEGATE_CONDITION, (source.replaced(node, text),))


def _compared(
    source: Source,
    node: ast.Compare,
    operator: Operator,
    word: str,
    sides: tuple[str, str],
    probe: Probe | None = None,
) -> Change:
    left, right = (f"({side})" if "\n" in side else side for side in sides)
    return Change(operator, (source.replaced(node, f"({left} {word} {right})"),), probe)


def _negated(source: Source, test: ast.expr) -> str:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return f"({source.segment(test.operand)})"
    return f"(not ({source.segment(test)}))"
