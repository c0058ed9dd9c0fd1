"""The turns of a history: what of them a request carries, and in which form."""

from __future__ import annotations

from typing import Any, Final

from parity_tests.core_answers.subject import Subject
from services.history.binary import split_binary_injections
from services.history.transforms import (
    NO_RESPONSE_TEXT_NUDGE,
    SYNTHETIC_THOUGHT_SIGNATURE,
    THINKING_ONLY_NUDGE,
    apply_retry_nudge,
    coalesce,
    curated_history,
    ensure_signatures,
    strip_call_id_prefixes,
    strip_thoughts,
)
from services.history.view import RequestView
from services.recording.records import content_text
from services.wire import Content

__all__ = ["SUBJECTS"]


def steps(contents: list[Content]) -> list[Any]:
    """The contents after each single step on the way to a request."""
    return [
        curated_history(contents),
        strip_thoughts(contents),
        coalesce(contents),
        ensure_signatures(contents),
        strip_call_id_prefixes(contents),
    ]


def nudged(asked: list[Any]) -> list[Content]:
    """The contents with a nudge at their end."""
    contents, nudge = asked
    return apply_retry_nudge(contents, nudge)


def nudges(_asked: None) -> list[str]:
    """The fixed texts."""
    return [THINKING_ONLY_NUDGE, NO_RESPONSE_TEXT_NUDGE, SYNTHETIC_THOUGHT_SIGNATURE]


def binaries(parts: list[Any]) -> list[Any]:
    """The parts without the data that they carry, and the data."""
    return list(split_binary_injections(parts))


def words(content: Any) -> str:
    """A recorded message's content as text."""
    return content_text(content)


def view(script: list[list[Any]]) -> list[Any]:
    """What a growing history shows at each look of a script."""
    shown: list[Any] = []
    history = RequestView()
    for name, *given in script:
        if name == "append":
            history.append(given[0])
        elif name == "truncate":
            history.truncate(given[0])
        elif name == "replace":
            history.replace([*history.raw[: given[0]], *given[1]])
        elif name == "modern":
            history.set_strip_thoughts(given[0])
        else:
            shown.append(_look(history, name))
    return shown


def _look(history: RequestView, kind: str) -> list[Content]:
    if kind == "whole":
        return history.whole()
    if kind == "curated":
        return history.curated()
    return list(history.contents(signed=kind == "signed"))


SUBJECTS: Final = (
    Subject("turns.steps", steps),
    Subject("turns.nudged", nudged),
    Subject("turns.nudges", nudges),
    Subject("turns.binaries", binaries),
    Subject("turns.words", words),
    Subject("turns.view", view),
)
