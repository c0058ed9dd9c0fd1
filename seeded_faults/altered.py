"""`Altered`: an object with some of its members exchanged, for one runtime only.

A runtime shares its services with the rest of the session, where its faults must not show.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

__all__ = ["Altered", "given", "holding", "remade"]


class Altered:
    """A proxy of `original` with other `members`."""

    def __init__(self, original: Any, **members: Any) -> None:
        self.__dict__.update(members)
        self.__dict__["_original"] = original

    def __getattr__(self, name: str) -> Any:
        return getattr(self._original, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._original, name, value)


def given(**changes: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Wrap an `__init__(self, services, …)`; `changes` maps parts of the services to new ones."""

    def wrap(init: Any) -> Any:
        def broken(self: Any, services: Any, *args: Any, **kwargs: Any) -> None:
            parts = {name: change(getattr(services, name)) for name, change in changes.items()}
            init(self, dataclasses.replace(services, **parts), *args, **kwargs)

        return broken

    return wrap


def remade(**members: Callable[[Any], Any]) -> Callable[[type], type]:
    """Replace a class by a subclass; `members` maps members of the class to new ones."""

    def wrap(kind: type) -> type:
        made = {name: change(getattr(kind, name)) for name, change in members.items()}
        return type(kind.__name__, (kind,), made)

    return wrap


def holding(attribute: str, **members: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Wrap an `__init__`: the object in `attribute` gets a class that is `remade`."""
    remake = remade(**members)

    def wrap(init: Any) -> Any:
        def broken(self: Any, *args: Any, **kwargs: Any) -> None:
            init(self, *args, **kwargs)
            held = getattr(self, attribute)
            held.__class__ = remake(type(held))

        return broken

    return wrap
