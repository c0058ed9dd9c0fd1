"""Which hooks of an event run, and how. Source: core `hooks/hookPlanner.ts`."""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from services.outside_patterns import PatternBudget, PatternLimit
from services.settings.hooks import CommandHook, HookDefinition
from services.tools.js_regex import JsRegexError, compile_js
from services.wire import js_trim

__all__ = ["HookPlan", "Subject", "make_plan"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The text for matchers: a tool's name, or the trigger of the event."""

    tool: str = ""
    trigger: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HookPlan:
    """The hooks to run, in order."""

    hooks: tuple[CommandHook, ...] = ()
    sequential: bool = False


_NO_SUBJECT: Final = Subject()
_ATOMS: Final = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]", re.DOTALL)
_PYTHON_ONLY: Final = re.compile(r"(?:[*+?]|\{\d+(?:,\d*)?\})\+|\(\?(?![:=!<])")
"""Possessive repeats and groups that JavaScript's engine refuses."""


def make_plan(
    definitions: Sequence[HookDefinition],
    disabled: Collection[str],
    subject: Subject = _NO_SUBJECT,
) -> HookPlan:
    """Choose among `definitions`, all of one event.

    Of hooks with the same name and command the first runs. One chosen hook of a definition with
    `sequential` makes all hooks run one after another.
    """
    hooks: dict[str, CommandHook] = {}
    sequential = False
    budget = PatternBudget()
    for definition in definitions:
        if not _matches(definition.matcher, subject, budget):
            continue
        for hook in definition.hooks:
            if hook.shown_name in disabled or hook.key in hooks:
                continue
            hooks[hook.key] = hook
            sequential = sequential or definition.sequential
    return HookPlan(hooks=tuple(hooks.values()), sequential=sequential)


def _matches(matcher: str | None, subject: Subject, budget: PatternBudget) -> bool:
    pattern = js_trim(matcher or "")
    if pattern in ("", "*"):
        return True
    if subject.tool:
        return _found(pattern, subject.tool, budget)
    return not subject.trigger or pattern == subject.trigger


def _found(pattern: str, tool: str, budget: PatternBudget) -> bool:
    """Whether `pattern` matches anywhere in `tool`. An invalid pattern must equal it.

    A search that reaches its time limit counts as found, since hooks guard calls.
    """
    try:
        compiled = compile_js(pattern)
        if _PYTHON_ONLY.search(_ATOMS.sub("x", pattern)) is None:
            return compiled.search(tool, budget) is not None
    except JsRegexError:
        pass
    except PatternLimit as problem:
        logger.warning("Hook matcher: %s", problem)
        return True
    return pattern == tool
