"""The usual wraps: each takes the good function and returns the broken one.

For a coroutine function they return a coroutine function, as some callers check that.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import reduce
from typing import Any, TypeAlias

__all__ = [
    "Wrap",
    "around",
    "changed",
    "during",
    "first",
    "instead",
    "keeps",
    "only_when",
    "passing",
    "put",
    "result",
    "returns",
    "then",
    "twice",
]

Wrap: TypeAlias = Callable[[Any], Any]


def instead(replacement: Callable[..., Any]) -> Wrap:
    """`replacement(original, …)` is called instead of the original. It may be a coroutine function.

    Usable as a decorator of a function that several faults share.
    """

    def wrap(original: Any) -> Any:
        async def awaited(*args: Any, **kwargs: Any) -> Any:
            found = replacement(original, *args, **kwargs)
            return await found if inspect.isawaitable(found) else found

        def called(*args: Any, **kwargs: Any) -> Any:
            return replacement(original, *args, **kwargs)

        either = (original, replacement)
        return awaited if any(map(inspect.iscoroutinefunction, either)) else called

    return wrap


def returns(value: object) -> Wrap:
    """The original is not called; `value` is the result."""
    return instead(lambda _original, *_args, **_kwargs: value)


def result(change: Callable[[Any], Any]) -> Wrap:
    """The result is `change(result of the original)`."""

    def wrap(original: Any) -> Any:
        async def awaited(*args: Any, **kwargs: Any) -> Any:
            return change(await original(*args, **kwargs))

        def called(*args: Any, **kwargs: Any) -> Any:
            return change(original(*args, **kwargs))

        return awaited if inspect.iscoroutinefunction(original) else called

    return wrap


def only_when(condition: Callable[..., Any]) -> Wrap:
    """The original is called only if `condition(arguments)` holds."""

    def broken(original: Any, /, *args: Any, **kwargs: Any) -> Any:
        return original(*args, **kwargs) if condition(*args, **kwargs) else None

    return instead(broken)


def passing(**changes: Callable[[Any], Any]) -> Wrap:
    """The original is called with changed arguments; `changes` maps parameters to functions."""

    def wrap(original: Any) -> Any:
        signature = inspect.signature(original)

        def broken(original: Any, /, *args: Any, **kwargs: Any) -> Any:
            given = signature.bind(*args, **kwargs)
            given.apply_defaults()
            for name, change in changes.items():
                given.arguments[name] = change(given.arguments[name])
            return original(*given.args, **given.kwargs)

        return instead(broken)(original)

    return wrap


def twice(original: Any) -> Any:
    """The original is called twice; the second result counts."""

    async def awaited(*args: Any, **kwargs: Any) -> Any:
        await original(*args, **kwargs)
        return await original(*args, **kwargs)

    def called(*args: Any, **kwargs: Any) -> Any:
        original(*args, **kwargs)
        return original(*args, **kwargs)

    return awaited if inspect.iscoroutinefunction(original) else called


def around(context: Callable[..., AbstractContextManager[object]]) -> Wrap:
    """Each call of the original runs within `context(arguments)`."""

    def wrap(original: Any) -> Any:
        async def awaited(*args: Any, **kwargs: Any) -> Any:
            with context(*args, **kwargs):
                return await original(*args, **kwargs)

        def called(*args: Any, **kwargs: Any) -> Any:
            with context(*args, **kwargs):
                return original(*args, **kwargs)

        return awaited if inspect.iscoroutinefunction(original) else called

    return wrap


def first(action: Callable[..., Any]) -> Wrap:
    """`action(arguments)` runs before each call of the original."""

    @contextmanager
    def context(*args: Any, **kwargs: Any) -> Iterator[None]:
        action(*args, **kwargs)
        yield

    return around(context)


def then(action: Callable[..., Any]) -> Wrap:
    """`action(arguments)` runs after each successful call of the original."""

    @contextmanager
    def context(*args: Any, **kwargs: Any) -> Iterator[None]:
        yield
        action(*args, **kwargs)

    return around(context)


def put(path: str, value: object) -> Callable[..., None]:
    """An action for `first` and `then`: `self.path`, which may be dotted, becomes `value`."""

    def action(self: Any, *_args: Any, **_kwargs: Any) -> None:
        owner, name = _owner(self, path)
        setattr(owner, name, value)

    return action


def keeps(path: str) -> Wrap:
    """Changes of `self.path` by a successful call of the original are undone."""

    @contextmanager
    def context(self: Any, *_args: Any, **_kwargs: Any) -> Iterator[None]:
        owner, name = _owner(self, path)
        kept = getattr(owner, name)
        yield
        owner, name = _owner(self, path)
        setattr(owner, name, kept)

    return around(context)


def during(path: str, value: object) -> Wrap:
    """`self.path` is `value` while the original runs."""
    return changed(path, lambda _: value)


def changed(path: str, change: Callable[[Any], Any]) -> Wrap:
    """`self.path` is `change` of its value while the original runs."""

    @contextmanager
    def context(self: Any, *_args: Any, **_kwargs: Any) -> Iterator[None]:
        owner, name = _owner(self, path)
        kept = getattr(owner, name)
        setattr(owner, name, change(kept))
        try:
            yield
        finally:
            owner, name = _owner(self, path)
            setattr(owner, name, kept)

    return around(context)


def _owner(holder: Any, path: str) -> tuple[Any, str]:
    *owners, name = path.split(".")
    return reduce(getattr, owners, holder), name
