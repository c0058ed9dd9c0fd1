"""`Altered`: an object with one or two of its members exchanged, for one runtime's eyes alone.

What a runtime is given is shared with the rest of the session: a fault of the runtime must not
show to anybody else who holds the same service.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

__all__ = ["Altered", "given", "holding", "remade"]


class Altered:
    """Stands before `original`: has the members named, and all the others of the original."""

    def __init__(self, original: Any, **members: Any) -> None:
        self.__dict__.update(members)
        self.__dict__["_original"] = original

    def __getattr__(self, name: str) -> Any:
        return getattr(self._original, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._original, name, value)


def given(**changes: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Wrap an `__init__(self, services, …)`: the object gets services with parts exchanged.

    Args:
        changes: By the part's name, what is made of it.
    """

    def wrap(init: Any) -> Any:
        def broken(self: Any, services: Any, *args: Any, **kwargs: Any) -> None:
            parts = {name: change(getattr(services, name)) for name, change in changes.items()}
            init(self, dataclasses.replace(services, **parts), *args, **kwargs)

        return broken

    return wrap


def remade(**members: Callable[[Any], Any]) -> Callable[[type], type]:
    """Wrap a class: a subclass of it has members exchanged. Both runtimes may use the class itself.

    Args:
        members: By the member's name, what is made of it.
    """

    def wrap(kind: type) -> type:
        made = {name: change(getattr(kind, name)) for name, change in members.items()}
        return type(kind.__name__, (kind,), made)

    return wrap


def holding(attribute: str, **members: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Wrap an `__init__`: what the object holds in `attribute` is of a class that is `remade`."""
    remake = remade(**members)

    def wrap(init: Any) -> Any:
        def broken(self: Any, *args: Any, **kwargs: Any) -> None:
            init(self, *args, **kwargs)
            held = getattr(self, attribute)
            held.__class__ = remake(type(held))

        return broken

    return wrap
