"""Recorded HTTP exchanges as values: the request, and the answer that a replay serves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from harness.cassette.find import recorded_name
from services.model.parts import function_calls
from services.model.replay.steps import StepMethod
from services.wire import Json, JsonObject

__all__ = ["ExchangeSkipped", "HttpExchange", "HttpRecording", "RawExchange", "SkippedRecording"]


class ExchangeSkipped(Exception):
    """The reason why an exchange is not replayed, as one line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RawExchange:
    """One exchange of a file, in any format."""

    index: int
    """Place in the file, from 0."""
    method: str
    """The HTTP method in upper case."""
    url: str
    """The URL: absolute, or only a path if the format records no host."""
    request: Json = None
    """The request's body, decoded; `None` if there is none or it is not JSON."""
    status: int
    reason: str = ""
    body: bytes
    """The response's body, decompressed."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """The response's headers, with names in lower case, as far as they were recorded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpExchange:
    """One model call of a recording, as it is replayed."""

    index: int
    method: StepMethod
    """The call that it answers: `STREAM` also for a recorded `generateContent`."""
    recorded_as: str
    """The API's method in the recording: `generateContent`, `streamGenerateContent`, …; of another
    provider, its name."""
    model: str
    request: JsonObject
    """The recorded request's body; empty if it was not JSON."""
    status: int
    reason: str
    body: bytes
    """The response's body as it is served: an event stream for a successful `STREAM`."""
    chunks: tuple[JsonObject, ...] = field(repr=False)
    """The successful response, parsed; empty for an error."""

    @property
    def calls_tools(self) -> bool:
        """Whether the model called a tool."""
        return any(function_calls(chunk) for chunk in self.chunks)

    @property
    def is_retried(self) -> bool:
        """Whether it is an error that a runtime retries, as a status or an event."""
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
    """Ids of the behaviours that the file's own key `contract` names; vcrpy ignores it."""
    skipped: tuple[str, ...] = ()
    """The reasons why exchanges are left out, one line each."""

    @property
    def name(self) -> str:
        """The file's name without its ending."""
        return self.file.stem

    @property
    def model(self) -> str:
        """The model of the recorded requests."""
        return self.exchanges[0].model

    def model_exchanges(self) -> Iterator[HttpExchange]:
        """Return the exchanges of a runtime's conversation."""
        return (each for each in self.exchanges if each.method is StepMethod.STREAM)

    def sends(self) -> tuple[str, ...]:
        """Return the user's messages that make a runtime request the recorded answers in order.

        A runtime continues by itself after an answer that calls tools and after an error that it
        retries. The texts are the recorded client's where the request has one.
        """
        texts: list[str] = []
        waiting = True
        for exchange in self.model_exchanges():
            if waiting:
                texts.append(_last_user_text(exchange.request) or f"(recorded {len(texts)})")
            waiting = not (exchange.calls_tools or exchange.is_retried)
        return tuple(texts)

    def document(self, found_as: str | None = None) -> JsonObject:
        """Return a cassette (format 1) of the user's side, for a run with this recording as model.

        `found_as` is the file's path below its root, without the suffix; by default its name.

        Its `model` steps are empty: `harness.http.replay.HttpReplayedGenerator` answers.
        """
        return {
            "cassette": 1,
            "name": recorded_name(found_as or self.name),
            "provenance": {"kind": "recorded", "source": self.file.name},
            "session": {"model": self.model},
            "script": [{"send": text} for text in self.sends()],
            "model": [],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class SkippedRecording:
    """A file without anything to replay, and the reason."""

    file: Path
    reason: str
    """A reason as one line; equal reasons have equal texts."""
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
