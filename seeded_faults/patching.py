"""`replaced`: wrap one function of the runtimes or services temporarily.

Targets are named by text, because the harness must not import a runtime's modules.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

from parity import own_name

__all__ = ["Reach", "UnknownTarget", "all_of", "replaced", "watched"]


class UnknownTarget(LookupError):
    """A fault's target does not exist any more; the fault must be adapted."""


@dataclass(slots=True)
class Reach:
    """The replacements made while `watched`, and which of them were called.

    Calls of functions, methods and properties are counted. Uses of constants and classes cannot be,
    so such targets are `uncounted`.
    """

    put_in: set[str] = field(default_factory=set)
    called: set[str] = field(default_factory=set)
    uncounted: set[str] = field(default_factory=set)


_watching: list[Reach] = []


@contextmanager
def watched() -> Iterator[Reach]:
    """Record the replacements that are made in the meantime, and their calls."""
    reach = Reach()
    _watching.append(reach)
    try:
        yield reach
    finally:
        _watching.remove(reach)


@contextmanager
def replaced(target: str, wrap: Callable[[Any], Any]) -> Iterator[None]:
    """Replace `target` with `wrap(original)` temporarily.

    Args:
        target: `package.module:Class.method` or `package.module:name`; for an imported name, the
            module that uses it.
        wrap: Returns the broken object. For a static or class method it gets the plain function.

    Raises:
        UnknownTarget: there is no such attribute.
    """
    owner, name, kept = _found(target)
    kind = type(kept) if isinstance(kept, staticmethod | classmethod | property) else None
    if kind is property:
        getter = _counted(target, kept.fget, wrap(kept.fget))
        broken: Any = property(getter, kept.fset, kept.fdel, kept.__doc__)
    elif kind is not None:
        broken = kind(_counted(target, kept.__func__, wrap(kept.__func__)))
    else:
        broken = _counted(target, kept, wrap(kept))
    inherited = inspect.isclass(owner) and name not in vars(owner)
    setattr(owner, name, broken)
    try:
        yield
    finally:
        if inherited:
            delattr(owner, name)
        else:
            setattr(owner, name, kept)


def all_of(*parts: AbstractContextManager[None]) -> AbstractContextManager[None]:
    """Several replacements as one fault."""

    @contextmanager
    def together() -> Iterator[None]:
        with ExitStack() as stack:
            for part in parts:
                stack.enter_context(part)
            yield

    return together()


def _counted(target: str, kept: Any, broken: Any) -> Any:
    """`broken`, with its calls reported to the watchers, if there are any.

    A function that replaces a class is not counted, as uses of the class itself cannot be.
    """
    watchers = tuple(_watching)
    countable = inspect.isfunction(kept) and inspect.isfunction(broken)
    for reach in watchers:
        reach.put_in.add(target)
        if not countable:
            reach.uncounted.add(target)
    if not watchers or not countable:
        return broken

    def note() -> None:
        for reach in watchers:
            reach.called.add(target)

    # Some callers ask whether what they call is a coroutine function, and act on the answer.
    if inspect.iscoroutinefunction(broken):

        @functools.wraps(broken)
        async def awaited(*args: Any, **kwargs: Any) -> Any:
            note()
            return await broken(*args, **kwargs)

        return awaited

    @functools.wraps(broken)
    def called(*args: Any, **kwargs: Any) -> Any:
        note()
        return broken(*args, **kwargs)

    return called


def _found(target: str) -> tuple[Any, str, Any]:
    module, _, path = target.partition(":")
    *owners, name = path.split(".")
    try:
        owner: Any = importlib.import_module(own_name(module))
        for part in owners:
            owner = getattr(owner, part)
        return owner, name, inspect.getattr_static(owner, name)
    except (ImportError, AttributeError) as error:
        raise UnknownTarget(f"a fault wraps {target}, which is not there: {error}") from error
