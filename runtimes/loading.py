"""Loads a runtime's module, factory and traits from its entry point.

A fault of a third party's runtime is reported in one sentence that names the entry point, and every
other runtime stays usable.
"""

from __future__ import annotations

import importlib
import inspect
import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import reduce
from importlib.metadata import EntryPoint
from types import ModuleType
from typing import Any, Final, cast

from runtimes.contract import (
    Runtime,
    RuntimeFactory,
    RuntimeTraits,
    RuntimeUnavailable,
    UnusableRuntime,
)
from runtimes.error_places import with_place
from runtimes.project_file import PROJECT_FILE

__all__ = [
    "check_engine",
    "checked",
    "described",
    "factory_of",
    "imported",
    "needed_modules",
    "openable",
    "shaped_factory",
    "traits_of",
]

logger = logging.getLogger(__name__)

_MEMBERS: Final = ("agent", "transcript", "reset", "settled")
"""The members of `Runtime`."""
_MOST_OF_A_MESSAGE: Final = 200


def imported(point: EntryPoint, module: str | None = None) -> ModuleType:
    """The module that an entry point names, or another module of the same package.

    Raises:
        UnusableRuntime: its import fails.
    """
    name = _module(point) if module is None else module
    return cast("ModuleType", _guarded(point, f"importing {name}", importlib.import_module, name))


def factory_of(point: EntryPoint) -> RuntimeFactory:
    """The factory that an entry point names.

    Raises:
        UnusableRuntime: its import fails, or the module has nothing of that name to call.
    """
    return shaped_factory(point, _named(point))


def _named(point: EntryPoint) -> object:
    """The object that an entry point names.

    Raises:
        UnusableRuntime: the import of its module fails, or it has nothing of that name.
    """
    module = imported(point)
    if not point.attr:
        raise _unusable(point, f"it names no factory in {point.module}")
    try:
        return reduce(getattr, point.attr.split("."), cast("Any", module))
    except AttributeError:
        raise _unusable(point, f"{point.module} has no {point.attr}") from None


def shaped_factory(point: EntryPoint, found: object) -> RuntimeFactory:
    """`found`, if it can be called as the factory of a runtime.

    Raises:
        UnusableRuntime: it cannot be called, not with the services alone, or not without `await`.
    """
    if not callable(found):
        problem = f"its factory is no function but {_kind(found)}"
        raise _unusable(point, problem)
    if inspect.iscoroutinefunction(found) or inspect.isasyncgenfunction(found):
        problem = "its factory is an async function without contextlib.asynccontextmanager"
        raise _unusable(point, problem)
    try:
        inspect.signature(found).bind(None)
    except TypeError as error:
        problem = f"its factory does not take the services as its only argument ({error})"
        raise _unusable(point, problem) from None
    except ValueError:  # a callable in C does not describe its arguments
        pass
    return cast("RuntimeFactory", found)


def traits_of(point: EntryPoint, variant: str | None) -> RuntimeTraits:
    """The attribute `traits` of a factory, else `traits(variant)` or `TRAITS` of its module.

    Without any of these, these are the usual traits.

    Raises:
        UnusableRuntime: they are not `RuntimeTraits`, or making them fails.
    """
    own = getattr(_named(point), "traits", None) if point.attr else None
    if isinstance(own, RuntimeTraits):
        return own
    module = imported(point)
    make = getattr(module, "traits", None)
    if make is None:
        found = getattr(module, "TRAITS", RuntimeTraits())
    else:
        found = _guarded(point, f"calling {module.__name__}.traits", make, variant)
    if not isinstance(found, RuntimeTraits):
        raise _unusable(point, f"its traits are no RuntimeTraits but {_kind(found)}")
    return found


def checked(point: EntryPoint, variant: str | None) -> None:
    """Call `check(variant)` of a runtime's factory or else of its module, where it has one.

    Raises:
        UnusableRuntime: the check itself fails.
        RuntimeUnavailable: the check says that something is missing.
    """
    module = imported(point)
    factory = _named(point) if point.attr else None
    check = getattr(factory, "check", None) or getattr(module, "check", None)
    if check is not None:
        _guarded(point, f"calling {module.__name__}.check", check, variant)


def needed_modules(point: EntryPoint) -> tuple[str, ...]:
    """The modules that a factory wants to be imported before it is called.

    Raises:
        UnusableRuntime: the import of its own module fails.
    """
    factory = _named(point) if point.attr else None
    return tuple(getattr(factory, "modules", ()))


def openable(point: EntryPoint, made: object) -> AbstractAsyncContextManager[Runtime]:
    """Return what a factory returned, if it can be opened.

    Raises:
        UnusableRuntime: it is not an async context manager.
    """
    if not isinstance(made, AbstractAsyncContextManager):
        if inspect.iscoroutine(made):
            made.close()
        problem = f"its factory returned no async context manager but {_kind(made)}"
        raise _unusable(point, problem)
    return made


def check_engine(point: EntryPoint, engine: object) -> None:
    """Make sure that an opened engine has the members of `Runtime`.

    Raises:
        UnusableRuntime: members are missing; the message names them.
    """
    lacking = [name for name in _MEMBERS if not callable(getattr(engine, name, None))]
    if lacking:
        problem = f"its factory opened {_kind(engine)}, which has no {', '.join(lacking)}"
        raise _unusable(point, problem)


def described(point: EntryPoint) -> str:
    """Name a runtime of a third party in a sentence: its name, and where it is declared."""
    if point.group == PROJECT_FILE:
        return f"the runtime {point.name!r} ({PROJECT_FILE}: `{point.name} = {point.value!r}`)"
    of = "" if point.dist is None else f" of {point.dist.name} {point.dist.version}"
    return f"the runtime {point.name!r} (entry point `{point.name} = {point.value}`{of})"


def _module(point: EntryPoint) -> str:
    try:
        return point.module
    except AttributeError:  # the text is not an entry point
        raise _unusable(point, "it is not written as `module:factory`") from None


def _guarded(
    point: EntryPoint, doing: str, function: Callable[..., object], what: object
) -> object:
    try:
        return function(what)
    except RuntimeUnavailable:
        raise
    except (Exception, SystemExit) as error:
        logger.debug("%s failed", doing, exc_info=error)
        says = error.msg if isinstance(error, SyntaxError) else str(error)
        first = (says.splitlines() or [""])[0][:_MOST_OF_A_MESSAGE]
        problem = f"{doing} failed with {type(error).__name__}: {first}".rstrip(": ")
        package = _module(point).partition(".")[0]
        raise _unusable(point, with_place(problem, error, package)) from error


def _unusable(point: EntryPoint, problem: str) -> UnusableRuntime:
    mend = "mend that package or uninstall it; `parity --debug run` shows the traceback"
    if point.group == PROJECT_FILE:
        mend = "mend it; `parity --debug run` shows the traceback"
    return UnusableRuntime(f"{described(point)} cannot be used: {problem}", mend)


def _kind(value: object) -> str:
    return "None" if value is None else f"an object of type {type(value).__name__}"
