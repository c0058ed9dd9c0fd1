"""Values that hold while something runs, for the task that runs it and those it starts.

What runs side by side does not see another's values. A `Scope` is several of them, entered one
inside the other, so that an inner one can build on what an outer one has set.

Source: core `config/scoped-config.ts`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from typing import Generic, TypeVar

__all__ = ["Entered", "Scope", "Scoped"]

T = TypeVar("T")

Entered = Callable[[], AbstractContextManager[object]]
"""One value of a scope: calling it makes what sets the value on entering and unsets it after."""


class Scoped(Generic[T]):
    """A value that is `default` unless a scope says otherwise. Make one per meaning, at the top."""

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


class Scope:
    """Values to be held together, outermost first."""

    def __init__(self, *values: Entered) -> None:
        self._values = values

    @contextmanager
    def entered(self) -> Iterator[None]:
        """Hold the values inside the `with` block.

        Raises:
            Exception: what a value raises that cannot be set; none is held then.
        """
        with ExitStack() as stack:
            for value in self._values:
                stack.enter_context(value())
            yield

    async def run(self, work: Callable[[], Awaitable[T]]) -> T:
        """Await what `work` makes, with the values held from before it is made to its end."""
        with self.entered():
            return await work()
