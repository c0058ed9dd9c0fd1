"""`replaced`: one function of the runtimes or services, wrapped for a while.

Targets are named by text, because the harness must not import a runtime's modules: a fault is the
one thing that knows them from inside, and it goes when the runtime goes.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Reach", "UnknownTarget", "all_of", "replaced", "watched"]


class UnknownTarget(LookupError):
    """What a fault wraps is not there any more: the fault must follow the code."""


@dataclass(slots=True)
class Reach:
    """What became of the replacements made while `watched`: were they called at all?

    Only plain functions are counted, methods and properties among them. Of a constant or a class
    it is not known when it is looked at, so such targets are `uncounted`.
    """

    put_in: set[str] = field(default_factory=set)
    called: set[str] = field(default_factory=set)
    uncounted: set[str] = field(default_factory=set)


_watching: list[Reach] = []


@contextmanager
def watched() -> Iterator[Reach]:
    """Count what is called of the replacements that are made in the meantime."""
    reach = Reach()
    _watching.append(reach)
    try:
        yield reach
    finally:
        _watching.remove(reach)


@contextmanager
def replaced(target: str, wrap: Callable[[Any], Any]) -> Iterator[None]:
    """Put `wrap(original)` in the place of `target` for the duration.

    Args:
        target: `package.module:Class.method` or `package.module:name`; of a name imported from
            elsewhere, the module that uses it.
        wrap: Makes the broken one of the good one. A static or class method's plain function is
            handed over, and put back as what it was.

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
    """`broken`, reporting its calls to those who watch; itself where there are none.

    What stands in for a class may be a function. It is not counted: of the class itself, in a run
    without the fault, it is not known.
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
        owner: Any = importlib.import_module(module)
        for part in owners:
            owner = getattr(owner, part)
        return owner, name, inspect.getattr_static(owner, name)
    except (ImportError, AttributeError) as error:
        raise UnknownTarget(f"a fault wraps {target}, which is not there: {error}") from error
