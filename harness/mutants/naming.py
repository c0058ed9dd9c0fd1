"""Where functions name what is made when a module is imported: constants, classes, their members.

No trace shows a run that reads such a value. A run can read it only if it executes a line that
names it, or something that was made of it at import. Private names belong to their module. Two
other things of one name count as one: a place may count as reached by a run that does not read it,
never the other way.
"""

from __future__ import annotations

import ast
import builtins
import typing
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Final, TypeAlias

from harness.mutants.places import Place

__all__ = ["Names", "Span"]

Span: TypeAlias = tuple[str, tuple[int, int]]
"""A file and the first and last of some lines in it."""

_Line: TypeAlias = tuple[str, int]
_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
_ENUMS: Final = frozenset({"Enum", "Flag", "IntEnum", "IntFlag", "StrEnum"})
_TRACED: Final = ("agent_protocol/", "runtimes/", "services/")
"""Where it is known which lines a run executes."""
_KNOWN_BASES: Final = frozenset({"ABC", *_ENUMS, *dir(builtins), *typing.__all__})
"""Classes of others that read no attribute of their subclasses, but for the members of an enum."""


@dataclass(slots=True)
class Names:
    """An index of modules; `read` takes one in."""

    _used: defaultdict[str, set[_Line]] = field(default_factory=lambda: defaultdict(set))
    """Name to the places in functions where it stands."""
    _whole: defaultdict[str, set[_Line]] = field(default_factory=lambda: defaultdict(set))
    """The same without those that name an attribute of it: `Kind(x)`, never `Kind.READ`."""
    _made_with: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Name to what is bound at import by a statement that reads it."""
    _made_with_whole: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    _inside: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Name to the functions of modules, not the methods, in which it stands."""
    _bases: defaultdict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    _outside: set[str] = field(default_factory=set)
    """Names in functions outside of what is traced: no run shows whether they are executed."""

    def read(self, file: str, body: Iterable[ast.stmt], owner: ast.ClassDef | None = None) -> None:
        """Take in the statements of a module, or those of a class, its `owner`."""
        for node in body:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                self._read_function(file, node, owner)
            elif isinstance(node, ast.ClassDef):
                self._bases[_own(file, node.name)] |= {
                    _own(file, _last(base)) for base in node.bases
                }
                about = [*node.bases, *node.decorator_list, *(each.value for each in node.keywords)]
                self._bind(file, {_own(file, node.name)}, about)
                self.read(file, node.body, node)
            elif isinstance(node, ast.ImportFrom):
                for each in node.names:
                    self._made_with[each.name] |= {each.asname} if each.asname else set()
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                self._read_assignment(file, node, owner)

    def readers(self, place: Place) -> list[set[Span]]:
        """The lines that a run needs to read what a place computes at import: one of each set.

        A constant is read where it is named. The default of a field is read where an object of its
        class is made; another attribute of a class where both are named; a member of an enum also
        where the enum is called or searched as a whole.
        """
        if not place.owner:
            return [_spans(self._users({_own(place.file, name) for name in place.names}))]
        owner = _own(place.file, place.owner)
        needed = [] if owner in self._outside else [_spans(self._users({owner}))]
        if place.is_field or place.names & self._outside or not self._is_known(owner):
            return needed
        named = self._users(place.names)
        if self._is_enum(owner):
            return [*needed, _spans(named | self._users({owner}, whole=True))]
        return [*needed, _spans(named)] if named else needed

    def namers(self, place: Place) -> set[Span]:
        """The lines that name what a place binds at import, such as a member of an enum."""
        return _spans(line for name in place.names for line in self._used[_own(place.file, name)])

    def _read_function(self, file: str, node: _Function, owner: ast.ClassDef | None) -> None:
        if not file.startswith(_TRACED):
            self._outside |= {name for name, _ in _names(file, node)}
            return
        for each in node.body:
            for name, line in _names(file, each):
                self._used[name].add((file, line))
                self._inside[name] |= set() if owner else {_own(file, node.name)}
            for name, line in _names(file, each, whole=True):
                self._whole[name].add((file, line))
        defaults = chain(node.args.defaults, filter(None, node.args.kw_defaults))
        for name, _ in _names(file, *defaults, *node.decorator_list):
            lines = {(file, each.lineno) for each in node.body}
            self._used[name] |= lines
            self._whole[name] |= lines

    def _read_assignment(
        self, file: str, node: ast.Assign | ast.AnnAssign, owner: ast.ClassDef | None
    ) -> None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        bound = {name for name, _ in _names(file, *targets)}
        if owner is not None:
            bound.add(_own(file, owner.name))
        read = [node.value] if node.value is not None else []
        if isinstance(node, ast.AnnAssign) and owner is not None and not _is_dataclass(owner):
            read.append(node.annotation)  # a model makes values by the types of its fields
        self._bind(file, bound, read)

    def _bind(self, file: str, bound: set[str], read: Iterable[ast.expr]) -> None:
        for name, _ in _names(file, *read):
            self._made_with[name] |= bound
        for name, _ in _names(file, *read, whole=True):
            self._made_with_whole[name] |= bound

    def _users(self, names: Iterable[str], *, whole: bool = False) -> set[_Line]:
        """The places in functions of names, and of what is made with them at import."""
        known = set(names)
        waiting = list(known)
        while waiting:
            name = waiting.pop()
            made = (self._made_with_whole if whole else self._made_with)[name]
            # A function that is named at import may have been called there.
            called = {each for each in self._inside[name] if self._made_with[each]}
            for more in (made | called) - known:
                known.add(more)
                waiting.append(more)
        used = self._whole if whole else self._used
        return {line for name in known for line in used[name]}

    def _is_known(self, name: str) -> bool:
        """Whether all that a class inherits is code of ours, or reads none of its attributes."""
        return name in _KNOWN_BASES or (
            name in self._bases and all(map(self._is_known, self._bases[name] - {name}))
        )

    def _is_enum(self, name: str) -> bool:
        return name in _ENUMS or any(map(self._is_enum, self._bases[name] - {name}))


def _spans(lines: Iterable[_Line]) -> set[Span]:
    return {(file, (line, line)) for file, line in lines}


def _own(file: str, name: str) -> str:
    """A name as the index has it."""
    return f"{file} {name}" if name.startswith("_") else name


def _names(file: str, *nodes: ast.AST, whole: bool = False) -> Iterator[tuple[str, int]]:
    """The names in syntax trees; `whole`: without those whose attribute is named only."""
    for top in nodes:
        partly = {
            id(each.value) for each in ast.walk(top) if whole and isinstance(each, ast.Attribute)
        }
        for node in ast.walk(top):
            if isinstance(node, ast.Name) and id(node) not in partly:
                yield _own(file, node.id), node.lineno
            elif isinstance(node, ast.Attribute):
                yield node.attr, node.lineno
            elif isinstance(node, ast.keyword) and node.arg:
                yield node.arg, node.lineno


def _last(node: ast.expr) -> str:
    """`B` of `a.B`, `B` and `B[c]`."""
    if isinstance(node, ast.Subscript):
        return _last(node.value)
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _is_dataclass(node: ast.ClassDef) -> bool:
    made = (each.func if isinstance(each, ast.Call) else each for each in node.decorator_list)
    return any(_last(each) == "dataclass" for each in made)
