"""`--adk-plugin`: ADK plugins of third parties in the adk runtime, as a diagnostic."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

import click

from harness.sides import TURNS, baseline_folder, engines_of

__all__ = ["adk_plugin_option", "with_adk_plugins"]

Command = TypeVar("Command", bound=Callable[..., Any])
_ADK: Final = "adk"
_NAME: Final = re.compile(r"\w+(\.\w+)*:\w+(\.\w+)*")


def _checked(
    ctx: click.Context, parameter: click.Parameter, given: tuple[str, ...]
) -> tuple[str, ...]:
    for name in given:
        if not _NAME.fullmatch(name):
            problem = f"{name!r} names no plugin; write it as package.module:attribute"
            raise click.BadParameter(problem, ctx, parameter)
    return given


def adk_plugin_option(words: str) -> Callable[[Command], Command]:
    """`--adk-plugin package.module:attribute`, any number of times."""
    return click.option(
        "--adk-plugin",
        "adk_plugins",
        metavar="MODULE:NAME",
        multiple=True,
        callback=_checked,
        help=words,
    )


def with_adk_plugins(side: str, plugins: Sequence[str]) -> str:
    """`side` with `plugins` in each adk runtime that plays it; without one, `side` as it is."""
    if not plugins or baseline_folder(side) is not None:
        return side
    named = f"{_ADK}@{','.join(plugins)}"
    return TURNS.join(named if engine == _ADK else engine for engine in engines_of(side))
