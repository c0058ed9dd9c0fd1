"""The mutable places of a module: what each operator can do where.

Left out is what is no behaviour: docstrings and annotations; imports, `__all__` and `__slots__`;
bodies of protocols, abstract and overloaded functions; `if TYPE_CHECKING`; types that are made
(`TypeVar`, the first argument of `cast`) and how a dataclass and its fields are declared; names of
tasks, which only a debugger shows; assertions, which state what cannot happen, as
`zip(…, strict=True)` does; what is written to Python's log or to the session's log for telemetry,
which no channel records, by functions called `_log`, `_logged` or `log_…` too.

A place inside a formatted text is none of its own, see `operators.values.in_format`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Final, TypeAlias

from harness.mutants.operators import Change, conditions, statements, values
from harness.mutants.source import Source

__all__ = ["Place", "places_of"]

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef

_DECLARED: Final = frozenset({"__all__", "__slots__", "__match_args__"})
_TYPES: Final = frozenset({"NewType", "ParamSpec", "TypeVar", "namedtuple", "getLogger"})
"""Functions that declare something: no run shows their arguments."""
_NO_BODY: Final = frozenset({"abstractmethod", "overload"})
_LOGGERS: Final = frozenset({"_logger", "logger", "logging"})
_SESSION_LOGS: Final = frozenset({"_state", "state"})
"""What has the method `SessionState.log`: only telemetry reads what it emits."""
_LOGS: Final = re.compile(r"_log|_logged|_?log_\w+|Logged")
"""Functions that only write to such a log, and what makes a record of it."""
_DECLARING: Final = {
    "create_task": {"name"},
    "field": {"compare", "hash", "init", "kw_only", "repr"},
    "start": {"name"},
}
"""By function: the arguments that no behaviour follows from."""
_DEFINITIONS: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_BLOCKS: Final = ("body", "orelse", "finalbody")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One mutable place: a node of the syntax tree, and what operators do to it."""

    module: str
    file: str
    qualname: str
    """Of the innermost function or class; empty at the level of the module."""
    function: str
    """Of the outermost function that it is run in; empty for what is run when it is imported."""
    statement: str
    """The statement's head, in one form however it is written."""
    lines: tuple[int, int]
    """First and last line of the statement's head. For what a function's definition computes, of
    the function's body."""
    line: int
    """Where the place itself is."""
    names: frozenset[str] = frozenset()
    """What the statement binds, where it is run when it is imported."""
    owner: str = ""
    """The class whose attribute that is."""
    is_field: bool = False
    """The attribute is annotated: what makes an object reads it without its name."""
    changes: tuple[Change, ...] = ()

    @property
    def imported(self) -> bool:
        """Whether it is run when its module is imported."""
        return not self.function


@dataclass(frozen=True, slots=True, kw_only=True)
class _Scope:
    """Where a statement stands."""

    names: tuple[str, ...] = ()
    """Qualified name, in parts."""
    function: Function | None = None
    """The innermost one."""
    outermost: str = ""
    """Qualified name of the outermost one."""
    bound: frozenset[str] = frozenset()
    """Names that are bound before the statement in its function."""
    owner: str = ""
    """The class around, at the level of the module."""
    returns_nothing: bool = False
    first: ast.stmt | None = None
    """The function's first statement."""
    last: ast.stmt | None = None

    @property
    def qualname(self) -> str:
        return ".".join(self.names)


def places_of(source: Source) -> Iterator[Place]:
    """Yield the places of a module in their order."""
    for place in _Places(source).in_block(source.tree.body, _Scope()):
        if place.changes:
            yield place


@dataclass(slots=True)
class _Places:
    source: Source
    _tests: set[ast.expr] = field(default_factory=set)
    """Expressions that are tests: their negation is the test's."""

    def in_block(self, body: Sequence[ast.stmt], scope: _Scope) -> Iterator[Place]:
        bound = set(scope.bound)
        for index, node in enumerate(body):
            here = replace(scope, bound=frozenset(bound))
            following = body[index + 1] if index + 1 < len(body) else None
            if not _declares(node):
                yield from self._in_statement(node, following, here)
            if scope.function is not None:
                bound |= statements.bound_names(node)

    def _in_statement(
        self, node: ast.stmt, following: ast.stmt | None, scope: _Scope
    ) -> Iterator[Place]:
        if isinstance(node, ast.ClassDef):
            yield from self._in_class(node, scope)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from self._in_function(node, scope)
        else:
            about = self._about(node, scope)
            if scope.function is not None:
                changes = tuple(self._of_statement(node, following, scope))
                yield replace(about, changes=changes)
            for expression in _head(node):
                yield from self._in_expression(expression, about, scope, node)
            yield from self._in_blocks(node, about, scope)

    def _in_blocks(self, node: ast.stmt, about: Place, scope: _Scope) -> Iterator[Place]:
        for name in _BLOCKS:
            block = getattr(node, name, None)
            if isinstance(block, list):
                yield from self.in_block(block, scope)
        if isinstance(node, ast.Try) and node.finalbody:
            first = node.finalbody[0].lineno
            skipped = tuple(statements.finally_skipped(self.source, node))
            span = first, node.finalbody[-1].end_lineno or first
            yield replace(about, statement="finally", lines=span, line=first, changes=skipped)
        for handler in getattr(node, "handlers", []):
            kind = "" if handler.type is None else ast.unparse(handler.type)
            span = handler.lineno, handler.lineno
            head = replace(about, statement=f"except {kind}", lines=span, line=handler.lineno)
            yield replace(head, changes=tuple(statements.handler_narrowed(self.source, handler)))
            yield from self.in_block(handler.body, scope)
        for case in getattr(node, "cases", []):
            if case.guard is not None:
                head = replace(about, statement=f"case if {ast.unparse(case.guard)}")
                span = case.guard.lineno, case.guard.end_lineno
                yield from self._test(case.guard, replace(head, lines=span), scope, alone=True)
            yield from self.in_block(case.body, scope)

    def _in_class(self, node: ast.ClassDef, scope: _Scope) -> Iterator[Place]:
        if any(_name(base) == "Protocol" for base in node.bases):
            return
        names = (*scope.names, node.name)
        inside = replace(scope, names=names, owner=node.name)
        yield from self.in_block(node.body, inside)

    def _in_function(self, node: Function, scope: _Scope) -> Iterator[Place]:
        if any(_name(each) in _NO_BODY for each in node.decorator_list):
            return
        if _LOGS.fullmatch(node.name):
            return
        names = (*scope.names, node.name)
        body = node.body[1:] if _is_docstring(node.body[0]) else node.body
        if not body:
            return
        span = body[0].lineno, body[-1].end_lineno or body[-1].lineno
        about = replace(
            self._about(node, replace(scope, names=names)),
            lines=span if scope.function is None else (node.lineno, body[0].lineno),
            statement=f"def {node.name}({ast.unparse(node.args)})",
        )
        for default in chain(node.args.defaults, filter(None, node.args.kw_defaults)):
            yield from self._in_expression(default, about, scope, node, default=True)
        outermost = scope.outermost or ".".join(names)
        parts = (*names, "<locals>")
        inside = _Scope(
            names=parts,
            function=node,
            outermost=outermost,
            bound=frozenset(_parameters(node)) | scope.bound,
            returns_nothing=_returns_nothing(node),
            first=body[0],
            last=body[-1],
        )
        yield from self.in_block(body, inside)

    def _about(self, node: ast.stmt, scope: _Scope) -> Place:
        """A place without changes, for the statement as a whole."""
        bound = statements.bound_names(node) if scope.function is None else set()
        qualname = scope.qualname.removesuffix(".<locals>")
        return Place(
            module=self.source.module,
            file=self.source.file,
            qualname=qualname,
            function=scope.outermost,
            statement=_normalised(node),
            lines=(node.lineno, _head_end(node)),
            line=node.lineno,
            names=frozenset(bound),
            owner=scope.owner if scope.function is None else "",
            is_field=isinstance(node, ast.AnnAssign) and bool(scope.owner),
        )

    def _of_statement(
        self, node: ast.stmt, following: ast.stmt | None, scope: _Scope
    ) -> Iterator[Change]:
        source, function = self.source, scope.function
        assert function is not None
        if not _logs(node):
            yield from statements.dropped(source, node, scope.bound, last=node is scope.last)
            if following is not None and not _logs(following):
                making = function.name == "__init__"
                yield from statements.swapped(source, node, following, making=making)
        if isinstance(node, ast.Return):
            yield from statements.returned_empty(source, node, function.returns)
            if _name(function.returns) == "bool" and node.value is not None:
                yield from conditions.returned_truth(source, node.value)
        elif (
            scope.returns_nothing
            and node is not scope.first
            and not _ends(node, scope.last)
            # What only logs before the function returns anyway is no behaviour.
            and not (_logs(node) and isinstance(following, ast.Return))
        ):
            yield from statements.returned_before(source, node)

    def _in_expression(
        self,
        node: ast.expr,
        about: Place,
        scope: _Scope,
        statement: ast.stmt,
        *,
        default: bool = False,
    ) -> Iterator[Place]:
        if isinstance(node, ast.Call) and (_logged(node) or _name(node.func) in _TYPES):
            return
        here = replace(about, line=node.lineno)
        alone = isinstance(statement, ast.If) and not statement.orelse
        if isinstance(statement, ast.If | ast.While) and node is statement.test:
            loop = isinstance(statement, ast.While)
            yield from self._test(node, here, scope, loop=loop, alone=alone, statement=statement)
            return
        field_default = scope.function is None and isinstance(statement, ast.AnnAssign)
        is_default = default or (field_default and bool(scope.owner))
        changes = tuple(self._of_node(node, statement, default=is_default))
        yield replace(here, changes=changes)
        if isinstance(node, ast.JoinedStr):
            return
        for child, is_test in _children(node):
            if is_test:
                yield from self._test(child, about, scope, alone=True, statement=statement)
            else:
                yield from self._in_expression(child, about, scope, statement, default=default)

    def _test(
        self,
        node: ast.expr,
        about: Place,
        scope: _Scope,
        *,
        loop: bool = False,
        alone: bool,
        statement: ast.stmt | None = None,
    ) -> Iterator[Place]:
        """The places of a condition: the whole of it is one, and so is each part."""
        here = replace(about, line=node.lineno)
        self._tests.add(node)
        whole = tuple(conditions.of_test(self.source, node, loop=loop, alone=alone))
        changes = (*whole, *self._of_node(node, statement))
        yield replace(here, changes=changes)
        for child, is_test in _children(node):
            if is_test:
                yield from self._test(child, about, scope, alone=True, statement=statement)
            else:
                yield from self._in_expression(child, about, scope, statement or ast.Pass())

    def _of_node(
        self, node: ast.expr, statement: ast.stmt | None, *, default: bool = False
    ) -> Iterator[Change]:
        source, is_test = self.source, node in self._tests
        match node:
            case ast.BoolOp():
                yield from conditions.in_bool_op(source, node, is_test=is_test)
            case ast.Compare():
                yield from conditions.in_compare(source, node, is_test=is_test)
            case ast.UnaryOp():
                yield from conditions.in_negation(source, node, is_test=is_test)
            case ast.Constant():
                yield from values.in_constant(source, node, default=default)
            case ast.JoinedStr():
                yield from values.in_format(source, node)
            case ast.Call():
                yield from values.in_call(source, node)
            case ast.List() | ast.Tuple() | ast.Set() | ast.Dict():
                yield from values.in_display(source, node)
            case ast.Await() if isinstance(statement, ast.Expr) and statement.value is node:
                yield from values.in_await(source, node)


def _children(node: ast.expr) -> Iterator[tuple[ast.expr, bool]]:
    """The expressions directly in an expression, and whether each is a test."""
    if isinstance(node, ast.Call) and _name(node.func) == "cast":
        yield from ((each, False) for each in node.args[1:])
        return
    for name, value in ast.iter_fields(node):
        if name == "annotation" or (isinstance(node, ast.Lambda) and name == "args"):
            continue
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, ast.expr):
                yield each, isinstance(node, ast.IfExp) and name == "test"
            elif isinstance(each, ast.comprehension):
                yield each.iter, False
                yield from ((test, True) for test in each.ifs)
            elif isinstance(each, ast.keyword) and not _is_declaration(node, each):
                yield each.value, False


def _is_declaration(call: ast.AST, keyword: ast.keyword) -> bool:
    """Whether an argument changes nothing that a run does, but where `zip` gets other lengths."""
    if not isinstance(call, ast.Call):
        return False
    if _name(call.func) == "zip" and keyword.arg == "strict":
        return isinstance(keyword.value, ast.Constant) and keyword.value.value is True
    return keyword.arg in _DECLARING.get(_name(call.func), ())


def _head(node: ast.stmt) -> Iterator[ast.expr]:
    """The expressions of a statement that are not in its blocks and are evaluated."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "cases", "handlers", *_BLOCKS):
            continue
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, ast.withitem):
                yield each.context_expr
            elif isinstance(each, ast.expr):
                yield each


def _head_end(node: ast.stmt) -> int:
    """The last line before a statement's blocks."""
    if not hasattr(node, "body"):
        return node.end_lineno or node.lineno
    return max([node.lineno, *(each.end_lineno or each.lineno for each in _head(node))])


def _normalised(node: ast.stmt) -> str:
    if not hasattr(node, "body"):
        return ast.unparse(node)
    parts = [ast.unparse(each) for each in _head(node)]
    return " ".join([type(node).__name__.lower(), *parts])


def _declares(node: ast.stmt) -> bool:
    """Whether a statement is no behaviour at all."""
    if isinstance(
        node, ast.Assert | ast.Global | ast.Import | ast.ImportFrom | ast.Nonlocal | ast.Pass
    ):
        return True
    if isinstance(node, ast.If) and _name(node.test) == "TYPE_CHECKING":
        return True
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return True  # a docstring, or `...`
    if isinstance(node, ast.AnnAssign) and _name(node.annotation) == "TypeAlias":
        return True
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return any(_name(each) in _DECLARED for each in targets)


def _is_docstring(node: ast.stmt) -> bool:
    value = node.value if isinstance(node, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def _name(node: ast.AST | None) -> str:
    """The last part of a name, `b` of `a.b`, of `b[c]` and of `b()`; empty for anything else."""
    if isinstance(node, ast.Subscript):
        return _name(node.value)
    if isinstance(node, ast.Call):
        return _name(node.func)
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _logs(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and _logged(node.value)


def _logged(node: ast.Call) -> bool:
    if _LOGS.fullmatch(_name(node.func)):
        return True
    if not isinstance(node.func, ast.Attribute):
        return False
    holder = _name(node.func.value)
    return holder in _LOGGERS or (node.func.attr == "log" and holder in _SESSION_LOGS)


def _parameters(node: Function) -> Iterator[str]:
    given = node.args
    every = chain(given.posonlyargs, given.args, given.kwonlyargs, [given.vararg, given.kwarg])
    return (each.arg for each in every if each is not None)


def _returns_nothing(node: Function) -> bool:
    """Whether `return` without a value can stand anywhere in a function."""
    for each in _own(node.body):
        if isinstance(each, ast.Yield | ast.YieldFrom):
            return False
        if isinstance(each, ast.Return) and each.value is not None:
            return False
    returns = node.returns
    return isinstance(returns, ast.Constant) and returns.value is None


def _own(body: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """All nodes of a function that are in none of the functions in it."""
    for node in body:
        yield node
        if not isinstance(node, (*_DEFINITIONS, ast.Lambda)):
            yield from _own(list(ast.iter_child_nodes(node)))


def _ends(node: ast.stmt, last: ast.stmt | None) -> bool:
    """Whether `return` before a statement does what leaving the statement out does, or nothing."""
    return node is last or isinstance(node, (ast.Return, ast.Raise, ast.Continue, ast.Break))
