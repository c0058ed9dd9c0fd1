"""Folders of recorded HTTP traffic of other projects, and facts about one recording."""

from __future__ import annotations

from pathlib import Path

from harness.errors import CassetteFormatError
from harness.http.exchanges import HttpExchange, HttpRecording, SkippedRecording
from harness.http.vcr_cassettes import load_recording
from services.model.replay.steps import StepMethod

__all__ = ["has_tool_loop", "is_streamed", "is_translated", "load_recordings"]

_SUFFIXES = {".yaml", ".yml", ".responses", ".json", ".txt"}


def load_recordings(folder: Path) -> tuple[list[HttpRecording], list[SkippedRecording]]:
    """The recordings below `folder` that can be replayed, and the others, ordered by path."""
    loaded: list[HttpRecording] = []
    skipped: list[SkippedRecording] = []
    for file in sorted(folder.rglob("*.*")):
        if file.suffix not in _SUFFIXES or file.name in ("manifest.json", "LICENSE.txt"):
            continue
        try:
            recording = load_recording(file)
        except CassetteFormatError as error:
            recording = SkippedRecording(file=file, reason=f"damaged: {error.problem}")
        if isinstance(recording, HttpRecording):
            loaded.append(recording)
        else:
            skipped.append(recording)
    return loaded, skipped


def is_streamed(recording: HttpRecording) -> bool:
    """True when an answer was recorded as a stream."""
    return any(each.recorded_as == "streamGenerateContent" for each in recording.model_exchanges())


def has_tool_loop(recording: HttpRecording) -> bool:
    """True when the model called a tool and received another request."""
    return any(each.calls_tools for each in [*recording.model_exchanges()][:-1])


def is_translated(exchange: HttpExchange) -> bool:
    """True where a recorded whole answer is served as a stream of one event."""
    return exchange.method is StepMethod.STREAM and exchange.recorded_as == "generateContent"
