"""Values that hold inside a `with` block, for the task that enters it and the tasks it starts.

Tasks that run side by side do not see each other's values.

Source: core `config/scoped-config.ts`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Generic, TypeVar

__all__ = ["Scoped"]

T = TypeVar("T")


class Scoped(Generic[T]):
    """A value that is `default` outside of scopes. Define it at the top of a module."""

    def __init__(self, name: str, default: T) -> None:
        self._variable: ContextVar[T] = ContextVar(name, default=default)

    @property
    def value(self) -> T:
        """The innermost scope's value."""
        return self._variable.get()

    @contextmanager
    def set(self, value: T) -> Iterator[None]:
        """Hold `value` inside the `with` block."""
        token = self._variable.set(value)
        try:
            yield
        finally:
            self._variable.reset(token)
