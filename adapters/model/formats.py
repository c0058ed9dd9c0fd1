"""What the model seam knows of a provider's wire format: `WireFormat`, and the known ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from services.model.errors import ApiError
from services.model.generator import ModelRequest
from services.wire import JsonObject

__all__ = ["Call", "HttpRequest", "WireFormat"]


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request that an agent's client is about to send."""

    method: str
    host: str
    path: str
    """Decoded, without the query."""
    query: str
    body: bytes


class Call(Protocol):
    """One call of a provider's API for a model, read from its request."""

    @property
    def request(self) -> ModelRequest:
        """The request as the services have it."""
        ...

    @property
    def streams(self) -> bool:
        """Whether the client wants the answer as it comes."""
        ...

    @property
    def counts(self) -> bool:
        """Whether it asks for a number of tokens instead of an answer."""
        ...

    def chunk(self, chunk: JsonObject) -> bytes:
        """Return a piece of the answer as the provider streams it."""
        ...

    def end(self) -> bytes:
        """Return what ends a stream; may be empty."""
        ...

    def whole(self, chunks: Sequence[JsonObject]) -> bytes:
        """Return the whole answer as the provider's body."""
        ...

    def count(self, counted: JsonObject) -> bytes:
        """Return the body with a number of tokens."""
        ...

    def error(self, error: ApiError) -> bytes:
        """Return the body of a refusal."""
        ...

    def late_error(self, error: ApiError) -> bytes:
        """Return a refusal in the middle of a stream."""
        ...


class WireFormat(Protocol):
    """Reads the calls of one provider's API."""

    def read(self, request: HttpRequest) -> Call | None:
        """Return the call; `None` if the request is not one of this API.

        Raises:
            ValueError: it is one, but its body cannot be read.
        """
        ...
