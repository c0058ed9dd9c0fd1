"""What a client may do, and the check of each request against it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol

from services.confinement import may_connect
from services.net.addresses import origin, require_encrypted_or_local
from services.net.decoding import AnswerDecoder
from services.net.errors import AddressRefused

__all__ = ["RECEIVED_HEADERS", "Terms"]

RECEIVED_HEADERS: Final = "parity_received_headers"
"""The key of a response's `extensions` under which its headers stand as the server sent them."""


class AnswerHeaders(Protocol):
    """The headers of an answer, as httpx and httpx2 both have them."""

    def get_list(self, key: str, split_commas: bool = ...) -> list[str]:
        """All values of a header."""
        ...

    def get(self, key: str, default: str) -> str:
        """A header's value."""
        ...

    def pop(self, key: str, default: None) -> str | None:
        """Remove a header."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """The limits of one client."""

    answer_bytes: int
    """The most bytes that one answer may hold, encoded and decoded."""
    endless_events: bool = False
    """Whether the event stream that answers a GET may go on; its reader limits each event."""
    private: bool = False
    """Whether requests carry credentials or the session's text: HTTPS or a loopback address."""
    only_origin: str | None = None
    """The one origin that requests may go to; `None` for any."""
    follows: bool = False
    """Whether the client follows redirects, which then stay on the request's origin."""

    def check_request(self, url: str) -> None:
        """Return if a request to `url` may be sent.

        Raises:
            Refused: the session is confined.
            AddressRefused: the request would carry credentials to where they must not go.
        """
        where = origin(url)
        may_connect(where)
        if self.private:
            require_encrypted_or_local(url)
        if self.only_origin is not None and where != self.only_origin:
            raise AddressRefused(
                f"a request to {where} is refused: its credentials are for {self.only_origin} only"
            )

    def check_redirect(self, url: str, target: str) -> None:
        """Return if the client may follow a redirect from `url` to `target`.

        Raises:
            AddressRefused: `target` is on another origin.
        """
        if self.follows and origin(target) != origin(url):
            raise AddressRefused(
                f"{origin(url)} redirects to another origin, {origin(target)}, and credentials "
                "and prompts go to the configured origin only; if that address is right, "
                "configure it"
            )

    def decoder_of(self, method: str, status: int, headers: AnswerHeaders) -> AnswerDecoder:
        """The decoder of an answer, within the limit of its size.

        The headers of an encoding that it undoes are removed, or the client would decode once more.

        Raises:
            UnreadableAnswer: the encoding was not offered.
        """
        codings = headers.get_list("content-encoding", split_commas=True)
        most = self.bytes_of(method, status, headers.get("content-type", ""))
        decoder = AnswerDecoder(codings, most)
        if decoder.encoded:
            headers.pop("content-encoding", None)
            headers.pop("content-length", None)
        return decoder

    def bytes_of(self, method: str, status: int, content_type: str) -> int | None:
        """How many bytes an answer may hold; `None` for any number."""
        events = content_type.partition(";")[0].strip().lower() == "text/event-stream"
        endless = self.endless_events and events and method == "GET" and 200 <= status < 300
        return None if endless else self.answer_bytes
