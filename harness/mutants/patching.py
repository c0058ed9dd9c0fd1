"""Puts a mutant into this process: into the functions that are there, or by importing anew.

A function's code is exchanged where a live function has it, however it was decorated or bound. What
is computed while a module is imported (constants, class bodies, defaults, decorators) cannot be put
in afterwards: then all of our modules are forgotten and imported again, the changed one from the
changed text. Both happen in a forked process, which ends with the mutant.
"""

from __future__ import annotations

import functools
import gc
import importlib
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, Final, TypeAlias

from parity import OWN, OwnLoader, own_name, short_name

__all__ = ["Exchange", "LiveCode", "Text", "exchanges", "import_anew", "put_in"]

Exchange: TypeAlias = tuple[FunctionType, CodeType]
"""A function, and the code that it gets."""

_MUTATED: Final = ("runtimes", "services")
"""The packages that mutants are of: what their functions cache may be of a mutant's making."""


@dataclass(frozen=True, slots=True)
class Text:
    """A module's source as it is and as a mutant has it."""

    module: str
    """The name by which this process has it."""
    file: Path
    original: str
    changed: str


class LiveCode:
    """The functions of this process that have code of our files, and caches of what is mutated."""

    def __init__(self, root: Path) -> None:
        """Look at all objects; takes a tenth of a second. The collector is left frozen."""
        self._functions: defaultdict[tuple[str, CodeType], list[FunctionType]] = defaultdict(list)
        self._caches: list[Any] = []
        folder = f"{root}/"
        gc.unfreeze()
        for each in gc.get_objects():
            if isinstance(each, FunctionType):
                code = each.__code__
                if code.co_filename.startswith(folder):
                    self._functions[code.co_filename, code].append(each)
            elif isinstance(each, functools._lru_cache_wrapper):
                module = getattr(each, "__module__", None) or ""
                if short_name(module).partition(".")[0] in _MUTATED:
                    self._caches.append(each)
        gc.freeze()

    def clear_caches(self) -> None:
        """Forget what functions of runtimes and services have kept since they were imported."""
        for cache in self._caches:
            cache.cache_clear()

    def of(self, file: Path, code: CodeType) -> Sequence[FunctionType]:
        """The functions that have this code."""
        return self._functions.get((str(file), code), ())


def exchanges(text: Text, function: str, live: LiveCode) -> list[Exchange] | None:
    """What to exchange so that a function, and what is defined in it, has the changed code.

    Args:
        text: The module.
        function: Qualified name of an outermost function.
        live: The functions of this process.

    Returns:
        `None` where exchanging code is not enough.
    """
    if text.module not in sys.modules:
        return None
    found: list[Exchange] = []
    for old, new in _pairs(text, function):
        for each in live.of(text.file, old):
            if new is None or len(new.co_freevars) != len(old.co_freevars):
                return None
            found.append((each, new))
    there = any(each.__code__.co_qualname == function for each, _ in found)
    return found if there else None


def put_in(found: Sequence[Exchange]) -> None:
    """Exchange code."""
    for function, code in found:
        function.__code__ = code


def import_anew(text: Text | None, modules: Iterable[str]) -> None:
    """Forget all of our modules, and import `modules` again with the changed text in force.

    What imports a changed module must be imported anew, and what that has.

    Raises:
        Exception: whatever the changed module raises when it is imported.
    """
    for name in [name for name in sys.modules if short_name(name).partition(".")[0] in OWN]:
        del sys.modules[name]
    if text is not None:
        sys.meta_path.insert(0, _Finder(text))
    for name in modules:
        importlib.import_module(own_name(name))


def _pairs(text: Text, function: str) -> Iterator[tuple[CodeType, CodeType | None]]:
    """The code of a function and of what is in it, and what each becomes; `None`: not known."""
    old, new = (_by_name(each, text, function) for each in (text.original, text.changed))
    for name, codes in old.items():
        changed = new.get(name, [])
        if len(changed) == len(codes):
            yield from zip(codes, changed, strict=True)
        else:
            yield from ((code, None) for code in codes)


def _by_name(source: str, text: Text, function: str) -> Mapping[str, list[CodeType]]:
    found: defaultdict[str, list[CodeType]] = defaultdict(list)
    whole = compile(source, str(text.file), "exec", dont_inherit=True)
    for code in _nested(whole):
        name = code.co_qualname
        if name == function or name.startswith(f"{function}.<locals>."):
            found[name].append(code)
    return found


def _nested(code: CodeType) -> Iterator[CodeType]:
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield each
            yield from _nested(each)


class _Finder(MetaPathFinder):
    """Finds the changed module, and no other."""

    def __init__(self, text: Text) -> None:
        self._text = text

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module's spec, with a loader of the changed text."""
        if fullname != self._text.module:
            return None
        return spec_from_file_location(fullname, self._text.file, loader=_Loader(self._text))


class _Loader(OwnLoader):
    def __init__(self, text: Text) -> None:
        super().__init__(text.module, str(text.file))
        self._text = text

    def get_code(self, fullname: str) -> CodeType:
        """The code of the changed text; nothing that was compiled before is looked at."""
        return compile(self._text.changed, str(self._text.file), "exec", dont_inherit=True)
