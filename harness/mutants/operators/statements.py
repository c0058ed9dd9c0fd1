"""Statements: dropped, swapped, not reached because the function has returned."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from typing import Final

from harness.mutants.operators.operator import Change, Operator, Probe, Watch, probe_without
from harness.mutants.source import Edit, Source

__all__ = [
    "bound_names",
    "dropped",
    "finally_skipped",
    "handler_narrowed",
    "returned_before",
    "returned_empty",
    "swapped",
]

_SIMPLE: Final = (ast.AnnAssign, ast.Assign, ast.AugAssign, ast.Delete, ast.Expr)
_LEAVING: Final = (ast.Break, ast.Continue, ast.Raise)
_ENDINGS: Final = frozenset(
    {"cancel", "clear", "close", "discard", "pop", "release", "remove", "reset", "stop", "unwatch"}
)
"""Methods that let go of something."""
_EMPTYING: Final = frozenset({"clear", "discard"})
"""Methods of collections that do nothing where the collection is empty."""
_EMPTY: Final = {
    "bool": "False",
    "dict": "{}",
    "frozenset": "frozenset()",
    "int": "0",
    "list": "[]",
    "str": '""',
    "tuple": "()",
}
"""By the annotation of a function's result: what it returns instead."""


def dropped(
    source: Source, node: ast.stmt, bound: Collection[str], *, last: bool
) -> Iterator[Change]:
    """The statement left out, where code below it does not stumble over the missing name.

    Args:
        source: The module.
        node: The statement.
        bound: Names that are bound before it.
        last: It is the last one of its function.
    """
    if not _droppable(node, bound, last=last):
        return
    operator = Operator.SKIP_RESET if _resets(node) else Operator.DROP_STATEMENT
    yield Change(operator, (source.replaced(node, "pass"),), _dropping(source, node))


def swapped(
    source: Source, node: ast.stmt, following: ast.stmt, *, making: bool = False
) -> Iterator[Change]:
    """Two neighbours in the other order, where both do something.

    Two assignments of plain values do the same in either order. So do two statements of an
    `__init__` (`making`) that both assign values which do not name `self`, or call the base's
    `__init__`, if one assigns a plain value, or if neither calls anything: what computes a value
    does not have the object yet, and a base fills attributes of its own.
    """
    if not isinstance(node, _SIMPLE) or not isinstance(following, _SIMPLE):
        return
    both = node, following
    plain = [_assigns_plainly(each) for each in both]
    if all(plain) or (making and all(map(_fills, both)) and (any(plain) or not _calls(both))):
        return
    if not (_acts(node) and _acts(following)) or not (_stores(node) or _stores(following)):
        return
    if bound_names(node) & _loaded(following) or bound_names(following) & _loaded(node):
        return
    one, other = source.span(node), source.span(following)
    texts = source.segment(node), source.segment(following)
    if texts[0] != texts[1]:
        yield Change(Operator.SWAP_STATEMENTS, (Edit(*one, texts[1]), Edit(*other, texts[0])))


def returned_before(source: Source, node: ast.stmt) -> Iterator[Change]:
    """`return` before a statement of a function that returns nothing.

    Nothing can stand before an `elif`, which the syntax tree has as an `if`.
    """
    start, _ = source.span(node)
    if source.text.startswith("elif", start):
        return
    indent = " " * node.col_offset
    yield Change(Operator.RETURN_EARLY, (Edit(start, start, f"return\n{indent}"),))


def returned_empty(
    source: Source, node: ast.Return, annotation: ast.expr | None
) -> Iterator[Change]:
    """`return` of nothing instead of a value, as far as the function's annotation allows it."""
    empty = _empty(annotation)
    if node.value is None or empty is None or source.segment(node.value) == empty:
        return
    probe = probe_without(Watch.NOT_EMPTY, source, node.value, empty)
    yield Change(Operator.RETURN_EARLY, (source.replaced(node.value, empty),), probe)


def finally_skipped(source: Source, node: ast.Try) -> Iterator[Change]:
    """The body of a `finally` left out."""
    start, _ = source.span(node.finalbody[0])
    _, end = source.span(node.finalbody[-1])
    lines = source.text.count("\n", start, end)
    yield Change(Operator.SKIP_FINALLY, (Edit(start, end, "pass" + "\n" * lines),))


def handler_narrowed(source: Source, handler: ast.ExceptHandler) -> Iterator[Change]:
    """A handler without one of its types; one of a single type catches nothing."""
    kind = handler.type
    if isinstance(kind, ast.Tuple):
        for gone in kind.elts:
            kept = [source.segment(each) for each in kind.elts if each is not gone]
            text = f"({', '.join(kept)},)" if kept else "()"
            yield Change(Operator.DROP_EXCEPTION_TYPE, (source.replaced(kind, text),))
    elif kind is not None:
        yield Change(Operator.DROP_EXCEPTION_TYPE, (source.replaced(kind, "()"),))


def bound_names(node: ast.stmt) -> set[str]:
    """The names that a statement binds, in its blocks as well, but not within comprehensions."""
    inner = {
        name
        for each in ast.walk(node)
        if isinstance(each, ast.comprehension)
        for name in ast.walk(each.target)
    }
    found: set[str] = set()
    for each in ast.walk(node):
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
            found |= set() if each in inner else {each.id}
        elif isinstance(each, ast.ExceptHandler):
            found |= {each.name} if each.name else set()
        elif isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(each.name)
    return found


def _dropping(source: Source, node: ast.stmt) -> Probe | None:
    """What says whether a statement does anything, where its values do."""
    if isinstance(node, ast.Expr):
        called = node.value.func if isinstance(node.value, ast.Call) else None
        if isinstance(called, ast.Attribute) and called.attr in _EMPTYING:
            return probe_without(Watch.HOLDS, source, called.value)
        return None
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target = node.targets[0]
    elif isinstance(node, ast.AnnAssign):
        target = node.target
    else:
        return None
    assert node.value is not None
    if isinstance(target, ast.Name):
        return probe_without(Watch.STORED, source, node.value, target.id)
    if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
        more = f"{target.value.id}, {target.attr!r}"
        return probe_without(Watch.STORED, source, node.value, more)
    return None


def _droppable(node: ast.stmt, bound: Collection[str], *, last: bool) -> bool:
    if isinstance(node, ast.Return):
        return not last
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Await | ast.Call | ast.Yield | ast.YieldFrom)
    if isinstance(node, ast.Assign | ast.AnnAssign):
        return node.value is not None and bound_names(node) <= set(bound)
    return isinstance(node, (ast.AugAssign, ast.Delete, *_LEAVING))


def _resets(node: ast.stmt) -> bool:
    if isinstance(node, ast.Delete):
        return True
    if isinstance(node, ast.Expr):
        value = node.value.value if isinstance(node.value, ast.Await) else node.value
        called = value.func if isinstance(value, ast.Call) else None
        return isinstance(called, ast.Attribute) and called.attr.lstrip("_") in _ENDINGS
    if isinstance(node, ast.Assign | ast.AnnAssign) and _stores(node):
        return node.value is not None and _is_empty(node.value)
    return False


def _is_empty(value: ast.expr) -> bool:
    if isinstance(value, ast.Constant):
        return not value.value
    if isinstance(value, ast.Dict):
        return not value.keys
    if isinstance(value, ast.List | ast.Tuple | ast.Set):
        return not value.elts
    return isinstance(value, ast.Call) and not value.args and not value.keywords


def _acts(node: ast.stmt) -> bool:
    """Whether a statement can have an effect that another one sees."""
    return _stores(node) or _calls([node])


def _calls(nodes: Iterable[ast.stmt]) -> bool:
    kinds = (ast.Await, ast.Call, ast.Yield, ast.YieldFrom)
    return any(isinstance(each, kinds) for node in nodes for each in ast.walk(node))


def _stores(node: ast.stmt) -> bool:
    """Whether a statement is there for its effect, not for a name that it binds."""
    if isinstance(node, ast.Expr):
        return not isinstance(node.value, ast.Constant)  # what documents an attribute
    if isinstance(node, ast.Delete):
        return True
    kept = (ast.Attribute, ast.Subscript)
    return any(
        isinstance(each, kept) and isinstance(each.ctx, ast.Store) for each in ast.walk(node)
    )


def _assigns_plainly(node: ast.stmt) -> bool:
    """Whether a statement does nothing but give names or attributes values that run no code."""
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AnnAssign):
        targets = [node.target]
    else:
        return False
    return all(isinstance(each, ast.Name | ast.Attribute) for each in targets) and _is_plain(
        node.value
    )


def _fills(node: ast.stmt) -> bool:
    """Whether a statement assigns a value computed without `self`, or has a base do its part."""
    if isinstance(node, ast.Expr):
        called = node.value.func if isinstance(node.value, ast.Call) else None
        return isinstance(called, ast.Attribute) and called.attr == "__init__"
    if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
        return False
    named = {each.id for each in ast.walk(node.value) if isinstance(each, ast.Name)}
    return not named & {"self", "super"}


def _is_plain(value: ast.expr | None) -> bool:
    """Whether evaluating an expression runs no code: names, constants, displays of these."""
    if isinstance(value, ast.List | ast.Tuple):
        return all(map(_is_plain, value.elts))
    if isinstance(value, ast.Dict):
        return all(map(_is_plain, value.keys)) and all(map(_is_plain, value.values))
    return isinstance(value, ast.Constant | ast.Name)


def _loaded(node: ast.stmt) -> set[str]:
    return {
        each.id
        for each in ast.walk(node)
        if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Store)
    }


def _empty(annotation: ast.expr | None) -> str | None:
    """What is empty by an annotation; `None` where nothing is."""
    if isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):
        sides = annotation.left, annotation.right
        if any(isinstance(side, ast.Constant) and side.value is None for side in sides):
            return "None"
        return _empty(annotation.right) or _empty(annotation.left)
    if isinstance(annotation, ast.Subscript):
        return _empty(annotation.value)
    return _EMPTY.get(annotation.id) if isinstance(annotation, ast.Name) else None
