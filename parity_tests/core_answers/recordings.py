"""Chat recordings: what a file holds, and the history that it stands for."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, Final

from parity_tests.core_answers.subject import Subject
from services.clock import VirtualClock
from services.recording.conversion import convert_session_to_client_history
from services.recording.describing import describe_recording
from services.recording.loading import load_conversation_record

__all__ = ["SUBJECTS"]

_KEPT: Final = (
    "sessionId",
    "projectHash",
    "startTime",
    "lastUpdated",
    "summary",
    "memoryScratchpad",
    "directories",
    "kind",
)
_FACTS: Final = (
    "messageCount",
    "userMessageCount",
    "memoryScratchpadIsStale",
    "firstUserMessage",
    "hasResumableContent",
)


def loaded(text: str) -> list[Any]:
    """A recording as it is resumed, and as a list of sessions describes it."""
    with tempfile.TemporaryDirectory(prefix="answers-") as folder:
        file = Path(folder) / "session-x.jsonl"
        file.write_text(text, "utf-8")
        clock = VirtualClock()
        whole = load_conversation_record(file, clock)
        about = describe_recording(file, clock)
    return [
        None if whole is None else {**_of(whole.fields, _KEPT), "messages": whole.messages},
        None if about is None else _of(about.fields, (*_KEPT, *_FACTS)),
    ]


def _of(fields: dict[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    return {key: fields.get(key) for key in keys}


def history(messages: list[dict[str, Any]]) -> list[list[Any]]:
    """The turns of a recorded conversation, with their ids."""
    return [list(turn) for turn in convert_session_to_client_history(messages)]


SUBJECTS: Final = (
    Subject("recordings.loaded", loaded),
    Subject("recordings.history", history),
)
