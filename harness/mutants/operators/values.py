"""Values: constants, arguments, copies."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from harness.mutants.operators.operator import Change, Operator, Probe, Watch
from harness.mutants.source import Source

__all__ = ["in_await", "in_call", "in_constant", "in_display", "in_format"]

_COPIERS: Final = frozenset({"copy", "deepcopy", "dict", "list", "set", "tuple"})
"""Called with one argument they return an equal value."""
_FORGOTTEN: Final = (ast.Attribute, ast.Name, ast.Subscript)
"""What may be handed on without its copy: a value that somebody else holds too."""
_IN_ANY_ORDER: Final = frozenset({"max", "min"})
"""Functions whose arguments can come in any order: of equal ones either is as good."""


def in_constant(source: Source, node: ast.Constant, *, default: bool) -> Iterator[Change]:
    """A constant: a truth value the other way, a number one more or less, a text with a mark."""
    value = node.value
    changed = Operator.CHANGE_DEFAULT if default else Operator.CHANGE_CONSTANT
    stepped = Operator.CHANGE_DEFAULT if default else Operator.OFF_BY_ONE
    probe = None if default else Probe(Watch.EVALUATED, *source.span(node))
    if isinstance(value, bool):
        yield Change(changed, (source.replaced(node, repr(not value)),), probe)
    elif isinstance(value, int):
        yield Change(stepped, (source.replaced(node, repr(value + 1)),), probe)
        if value > 0:
            yield Change(stepped, (source.replaced(node, repr(value - 1)),), probe)
    elif isinstance(value, float):
        yield Change(changed, (source.replaced(node, repr(value * 2 if value else 1.0)),), probe)
    elif isinstance(value, str | bytes):
        yield Change(changed, (source.replaced(node, repr(_marked(value))),), probe)


def in_format(source: Source, node: ast.JoinedStr) -> Iterator[Change]:
    """A formatted text gets a mark behind it.

    What is formatted is left alone: before Python 3.12 its place in the source is not known.
    """
    yield Change(
        Operator.CHANGE_CONSTANT, (source.replaced(node, f'({source.segment(node)} "_")'),)
    )


def in_call(source: Source, node: ast.Call) -> Iterator[Change]:
    """A call: neighbouring positional arguments swapped, a copy forgotten, a type not caught."""
    name = _called(node.func)
    if name == "cast":
        return
    commutes = isinstance(node.func, ast.Name) and name in _IN_ANY_ORDER
    starred = any(isinstance(each, ast.Starred) for each in node.args)
    for one, other in pairwise([] if commutes or starred else node.args):
        texts = source.segment(one), source.segment(other)
        if texts[0] != texts[1]:
            edits = source.replaced(one, texts[1]), source.replaced(other, texts[0])
            yield Change(Operator.SWAP_ARGUMENTS, edits)
    original = _original(node, name)
    if original is not None:
        yield Change(Operator.FORGET_COPY, (source.replaced(node, source.segment(original)),))
    if name == "suppress":
        for dropped in node.args:
            kept = ", ".join(source.segment(each) for each in node.args if each is not dropped)
            text = f"{source.segment(node.func)}({kept})"
            yield Change(Operator.DROP_EXCEPTION_TYPE, (source.replaced(node, text),))


def in_display(source: Source, node: ast.List | ast.Tuple | ast.Set | ast.Dict) -> Iterator[Change]:
    """`[*x]` and `{**x}`, which copy, become `x`."""
    original: ast.expr | None = None
    if isinstance(node, ast.Dict):
        if node.keys == [None]:
            original = node.values[0]
    elif len(node.elts) == 1 and isinstance(node.elts[0], ast.Starred):
        original = node.elts[0].value
    if isinstance(original, _FORGOTTEN):
        yield Change(Operator.FORGET_COPY, (source.replaced(node, source.segment(original)),))


def in_await(source: Source, node: ast.Await) -> Iterator[Change]:
    """An `await` whose value is not used: the coroutine is made and never run."""
    text = source.segment(node.value)
    yield Change(Operator.DROP_AWAIT, (source.replaced(node, text),))


def _marked(value: str | bytes) -> str | bytes:
    return value + "_" if isinstance(value, str) else value + b"_"


def _called(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _original(node: ast.Call, name: str) -> ast.expr | None:
    """What a call copies; `None` where it copies nothing."""
    if node.keywords or name not in _COPIERS:
        return None
    if name == "copy" and not node.args and isinstance(node.func, ast.Attribute):
        return node.func.value
    only = node.args[0] if len(node.args) == 1 else None
    return only if isinstance(only, _FORGOTTEN) else None
