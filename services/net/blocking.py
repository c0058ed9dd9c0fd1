"""One request from a thread, for libraries that have blocking calls only."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from dataclasses import dataclass

import httpx

from services.net.decoding import ACCEPTED, AnswerDecoder
from services.net.terms import Terms

__all__ = ["Fetched", "fetch"]


@dataclass(frozen=True, slots=True)
class Fetched:
    """A whole answer, decoded."""

    status: int
    reason: str
    headers: Mapping[str, str]
    body: bytes


def fetch(
    method: str,
    url: str,
    *,
    terms: Terms,
    timeout_s: float | None,
    headers: Mapping[str, str],
    body: bytes | str | None = None,
    verify: ssl.SSLContext | bool = True,
) -> Fetched:
    """Send a request and read the answer; a redirect is an answer.

    The process's environment may name proxies and certificates.

    Args:
        method: The HTTP method.
        url: The whole address.
        terms: The limits.
        timeout_s: Seconds that the server may be silent; `None`: without limit.
        headers: Sent as they are, with an `accept-encoding` of ours.
        body: The request's body.
        verify: How the server's certificate is checked.

    Raises:
        NetError: the request or the answer breaks the terms.
        Refused: the session is confined.
        httpx.HTTPError: the network failed.
    """
    terms.check_request(url)
    sent = {name: value for name, value in headers.items() if name.lower() != "accept-encoding"}
    with (
        httpx.Client(verify=verify, timeout=timeout_s) as client,
        client.stream(
            method, url, headers={**sent, "accept-encoding": ACCEPTED}, content=body
        ) as response,
    ):
        codings = response.headers.get_list("content-encoding", split_commas=True)
        decoder = AnswerDecoder(codings, terms.answer_bytes)
        read = bytearray()
        for data in response.iter_raw():
            for piece in decoder.pieces(data):
                read += piece
        return Fetched(
            response.status_code, response.reason_phrase, dict(response.headers), bytes(read)
        )
