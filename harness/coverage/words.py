"""What the modules of probes share: words for names of probes, and texts and parts of values.

Names of probes go into journals and reports, so they come from closed sets or have a narrow form.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from services.policy.tool_names import BUILT_IN_TOOLS

__all__ = [
    "HOOK_EVENT",
    "answered",
    "ends_of",
    "objects_in",
    "texts_in",
    "tier_of",
    "tool_word",
    "word_of",
]

HOOK_EVENT: Final = re.compile(r'"hook_event_name":\s*"([A-Za-z]{1,40})"')
"""The name of its event in the input that a hook wrote into a file."""

_WORD: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,39}")
_TIERS: Final = ("flash-lite", "flash", "pro")
_BUILT_IN: Final = frozenset(
    (*BUILT_IN_TOOLS, "list_background_processes", "read_background_output")
)
"""With the two tools for background processes, which the policy has no names for."""
_END: Final = 600


def word_of(value: Any) -> str:
    """`value` if it is a short word, else `other`."""
    return value if isinstance(value, str) and _WORD.fullmatch(value) else "other"


def answered(question: Mapping[str, Any]) -> str:
    """The question and outcome of a side event `confirmation`, as in `exec.unanswered`."""
    outcome = question.get("outcome")
    answer = "unanswered" if outcome is None else word_of(outcome)
    return f"{word_of(question.get('type'))}.{answer}"


def tier_of(model: Any) -> str:
    """The tier of a model's name: `flash-lite`, `flash`, `pro`, or `other` for whatever else."""
    name = model if isinstance(model, str) else ""
    if not name.startswith("gemini-"):
        return "other"
    return next((tier for tier in _TIERS if tier in name), "other")


def tool_word(name: Any) -> str:
    """A built-in tool's own name, `mcp` for a server's tool, `unknown` for any other."""
    if not isinstance(name, str):
        return "unknown"
    if name in _BUILT_IN:
        return name
    return "mcp" if name.startswith("mcp_") else "unknown"


def objects_in(values: Any) -> list[dict[str, Any]]:
    """The JSON objects in a list, such as the parts of a content; none in any other value."""
    found = values if isinstance(values, (list, tuple)) else ()
    return [each for each in found if isinstance(each, dict)]


def ends_of(text: str) -> str:
    """The first and last 600 characters of a text."""
    return text if len(text) <= 2 * _END else f"{text[:_END]}\n{text[-_END:]}"


def texts_in(value: Any, depth: int = 6) -> Iterator[str]:
    """Every text in a JSON value, to a small depth."""
    if isinstance(value, str):
        yield value
    elif depth and isinstance(value, dict):
        for item in value.values():
            yield from texts_in(item, depth - 1)
    elif depth and isinstance(value, (list, tuple)):
        for item in value:
            yield from texts_in(item, depth - 1)
