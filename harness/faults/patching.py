"""`replaced`: one function of the runtimes or services, wrapped for a while.

Targets are named by text, because the harness must not import a runtime's modules: a fault is the
one thing that knows them from inside, and it goes when the runtime goes.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Any

__all__ = ["UnknownTarget", "all_of", "replaced"]


class UnknownTarget(LookupError):
    """What a fault wraps is not there any more: the fault must follow the code."""


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
        broken: Any = property(wrap(kept.fget))
    elif kind is not None:
        broken = kind(wrap(kept.__func__))
    else:
        broken = wrap(kept)
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
