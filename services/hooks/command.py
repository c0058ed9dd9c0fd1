"""A hook's command line and variables. Source: core `hooks/hookRunner.ts`, shell-quote `quote`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from services.wire import js_trim

__all__ = ["HookPlaces", "expand_command", "hook_variables", "shell_quoted"]

_SPECIAL: Final = re.compile(r"""([A-Za-z]:)?([#!"$&'()*,:;<=>?@\[\\\]^`{|}])""")


@dataclass(frozen=True, slots=True, kw_only=True)
class HookPlaces:
    """Facts about the session for a hook's command line and environment."""

    cwd: str
    plans: str
    session_id: str


def expand_command(command: str, places: HookPlaces) -> str:
    """`command` with five `$NAME`s replaced by quoted values, one name after the other."""
    for name, value in (
        ("GEMINI_PROJECT_DIR", places.cwd),
        ("GEMINI_CWD", places.cwd),
        ("GEMINI_PLANS_DIR", places.plans),
        ("GEMINI_SESSION_ID", places.session_id),
        ("CLAUDE_PROJECT_DIR", places.cwd),
    ):
        command = command.replace(f"${name}", shell_quoted(value))
    return command


def hook_variables(
    inherited: Mapping[str, str], places: HookPlaces, own: Mapping[str, str]
) -> dict[str, str]:
    """A hook's environment: what children may have, its session's facts, then its own."""
    return {
        **inherited,
        "GEMINI_PROJECT_DIR": places.cwd,
        "GEMINI_PLANS_DIR": places.plans,
        "GEMINI_CWD": places.cwd,
        "GEMINI_SESSION_ID": places.session_id,
        "CLAUDE_PROJECT_DIR": places.cwd,
        **own,
    }


def shell_quoted(text: str) -> str:
    """Quote `text` as one word of a shell; an empty text stays empty."""
    if not text:
        return ""
    spaced = any(not js_trim(character) for character in text)
    if (spaced or '"' in text or "\\" in text) and "'" not in text:
        return f"'{text}'"
    if '"' in text or "'" in text:
        return '"' + re.sub(r'(["\\$`!])', r"\\\1", text) + '"'
    return _SPECIAL.sub(r"\1\\\2", text)
