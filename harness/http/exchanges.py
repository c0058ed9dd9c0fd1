"""Recorded HTTP exchanges as values: what was asked, and what is served when it is asked again."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from services.model.parts import function_calls
from services.model.replay.steps import StepMethod
from services.wire import Json, JsonObject

__all__ = ["HttpExchange", "HttpRecording", "RawExchange", "SkippedRecording"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RawExchange:
    """One exchange as a file has it, whatever the file's format."""

    index: int
    """Place in the file, from 0."""
    method: str
    """Upper case."""
    url: str
    """Absolute, or only a path where the format records no host."""
    request: Json = None
    """The request's body, decoded; None where there is none or it is not JSON."""
    status: int
    reason: str = ""
    body: bytes
    """The response's body, decompressed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpExchange:
    """One model call of a recording, in the form in which it is replayed."""

    index: int
    method: StepMethod
    """The call that it answers. `STREAM` also for a recorded `generateContent`: `translated`."""
    recorded_as: str
    """The API's method in the recording: `generateContent`, `streamGenerateContent`, …"""
    model: str
    request: JsonObject
    """The recorded request's body; empty where it was not JSON."""
    status: int
    reason: str
    body: bytes
    """The response's body as it is served: an event stream for a successful `STREAM`."""
    chunks: tuple[JsonObject, ...] = field(repr=False)
    """The successful response, parsed; empty for an error."""

    @property
    def translated(self) -> bool:
        """True where a whole answer is served as a stream of one event."""
        return self.method is StepMethod.STREAM and self.recorded_as == "generateContent"

    @property
    def calls_tools(self) -> bool:
        """True when the model asked for a tool."""
        return any(function_calls(chunk) for chunk in self.chunks)

    @property
    def is_retried(self) -> bool:
        """True when a runtime asks again by itself: a passing error, as status or as event."""
        errors = [chunk["error"] for chunk in self.chunks if isinstance(chunk.get("error"), dict)]
        codes = [self.status, *(error.get("code") for error in errors)]
        return any(isinstance(code, int) and (code in (429, 499) or code >= 500) for code in codes)


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRecording:
    """The model calls of one file, in recorded order."""

    file: Path
    format: str
    exchanges: tuple[HttpExchange, ...]
    contract: tuple[str, ...] = ()
    """Ids of behaviours that the file says it exercises: a key of ours, which vcrpy passes over."""
    skipped: tuple[str, ...] = ()
    """What of the file is not replayed, and why: one line for each exchange left out."""

    @property
    def name(self) -> str:
        """The file's name without its ending."""
        return self.file.stem

    @property
    def model(self) -> str:
        """The model that the recorded client asked."""
        return self.exchanges[0].model

    @property
    def streamed(self) -> bool:
        """True when an answer was recorded as a stream."""
        return any(
            exchange.recorded_as == "streamGenerateContent" for exchange in self.model_exchanges()
        )

    @property
    def tool_loop(self) -> bool:
        """True when the model asked for a tool and was asked again."""
        exchanges = list(self.model_exchanges())
        return any(exchange.calls_tools for exchange in exchanges[:-1])

    def model_exchanges(self) -> Iterator[HttpExchange]:
        """The exchanges that a runtime's conversation asks for."""
        return (each for each in self.exchanges if each.method is StepMethod.STREAM)

    def sends(self) -> tuple[str, ...]:
        """What the user has to say so that the recorded answers are asked for one after another.

        A runtime goes on by itself after an answer that calls tools or an error that passes;
        after any other, somebody must say something. The texts are the recorded client's where
        the request has one.
        """
        texts: list[str] = []
        waiting = True
        for exchange in self.model_exchanges():
            if waiting:
                texts.append(_last_user_text(exchange.request) or f"(recorded {len(texts)})")
            waiting = not (exchange.calls_tools or exchange.is_retried)
        return tuple(texts)

    def document(self) -> JsonObject:
        """A cassette (format 1) of the user's side, for a run whose model is this recording.

        Its `model` steps are empty: the answers come from the generator that is put in their
        place (`harness.http.replay.open_http_generator`).
        """
        name = re.sub(r"[^A-Za-z0-9._+@=-]+", "_", self.name).strip("_") or "recording"
        return {
            "cassette": 1,
            "name": f"http/{name}",
            "provenance": {"kind": "recorded", "source": self.file.name},
            "session": {"model": self.model},
            "script": [{"send": text} for text in self.sends()],
            "model": [],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedRecording:
    """A file of which nothing can be replayed."""

    file: Path
    reason: str
    """One line; the same words for the same reason, so that it can be counted."""
    details: tuple[str, ...] = ()


def _last_user_text(request: Mapping[str, Json]) -> str:
    contents = request.get("contents")
    if isinstance(contents, dict):
        contents = [contents]
    for content in reversed(contents if isinstance(contents, list) else []):
        if not isinstance(content, dict) or content.get("role", "user") != "user":
            continue
        parts = content.get("parts")
        parts = parts if isinstance(parts, list) else [parts]
        texts = [part["text"] for part in parts if isinstance(part, dict) and part.get("text")]
        joined = "\n".join(text for text in texts if isinstance(text, str)).strip()
        if joined:
            return joined
    return ""
