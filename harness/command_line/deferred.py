"""Functions that are named here and imported when they are called."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from parity import own_name

__all__ = ["command", "deferred"]


def deferred(target: str) -> Callable[..., Any]:
    """The function or class `target`, as `package.module:name`, imported when it is called."""
    module, _, name = target.partition(":")

    def call(*args: Any, **kwargs: Any) -> Any:
        return getattr(importlib.import_module(own_name(module)), name)(*args, **kwargs)

    call.__name__ = name  # as the type of an option, it names the option's value
    return call


def command(
    target: str,
    name: str | None = None,
    group: click.Group | None = None,
    cls: type[click.Command] | None = None,
) -> Callable[[Callable[[], None]], click.Command]:
    """A decorator that makes a click command of a function with options and a help, and no body.

    Args:
        target: The function that runs, `module:name` in `harness.commands`. Its parameters are the
            options.
        name: The command's name; by default the decorated function's.
        group: The command that it is a part of.
        cls: The class of the command.
    """
    made = click.command if group is None else group.command
    runs = deferred(f"harness.commands.{target}")
    return lambda declared: made(name, cls=cls)(wraps(declared)(runs))
