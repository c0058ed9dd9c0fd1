"""What `WireServer` needs of a provider's format."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import parse_qs, urlsplit

from services.model.replay.steps import StepMethod
from services.providers.exchange import Asked
from services.providers.provider import Provider
from services.providers.refusals import Refusal
from services.wire import Json, JsonObject

__all__ = ["Dialect", "HttpAnswer", "StreamWriter", "WireCall", "WireRequest"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WireRequest:
    """An HTTP request."""

    path: str
    query: Mapping[str, Sequence[str]]
    body: Json
    """The JSON of the body; `None` without a body."""

    @classmethod
    def to(cls, url: str, body: Json = None) -> WireRequest:
        """Return a request to `url`."""
        parts = urlsplit(url)
        return cls(path=parts.path, query=parse_qs(parts.query), body=body)


@dataclass(frozen=True, slots=True, kw_only=True)
class WireCall:
    """A call of a model, as a request states it."""

    method: StepMethod
    asked: Asked
    texts: tuple[str, ...] = ()
    """The texts of a call for embeddings."""
    more: JsonObject = field(default_factory=dict)
    """What the dialect needs to answer in the form that the request asks for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpAnswer:
    """A whole HTTP answer with a JSON body."""

    body: JsonObject
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


class StreamWriter(Protocol):
    """Writes one answer as an event stream."""

    def feed(self, chunk: JsonObject) -> bytes:
        """Return the events of a chunk of the Gemini API; empty where it makes none."""
        ...

    def end(self) -> bytes:
        """Return the events at the end."""
        ...

    def broken(self, refusal: Refusal) -> bytes:
        """Return the event of an error, after which nothing follows."""
        ...


class Dialect(Protocol):
    """The format of a provider's API, as its server speaks it."""

    @property
    def provider(self) -> Provider:
        """The provider."""
        ...

    def serves(self, path: str) -> bool:
        """Whether a request to that path calls a model of the provider."""
        ...

    def read(self, request: WireRequest) -> WireCall:
        """Read a request.

        Raises:
            UnreadableMessage: it is not in the format, or asks for what is not served.
        """
        ...

    def whole(
        self, call: WireCall, chunks: Sequence[JsonObject], new_id: Callable[[], str] | None
    ) -> JsonObject:
        """Return a whole answer from its chunks; a count or embeddings are a single one."""
        ...

    def stream(
        self, call: WireCall, created: int, new_id: Callable[[], str] | None
    ) -> StreamWriter:
        """Return a writer of a stream.

        Args:
            call: What is answered.
            created: The time of the answer, in seconds since the Unix epoch.
            new_id: Returns an id for a call of a function that has none; `None` leaves it so.
        """
        ...

    def refused(self, refusal: Refusal) -> HttpAnswer:
        """Return the answer of a refusal."""
        ...
