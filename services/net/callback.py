"""A listener for one browser redirect to this machine: the end of an OAuth authorization.

It listens on the loopback address only; the published core (0.61.0) listens on all addresses.

Source: core `utils/oauth-flow.ts` (`startCallbackServer`), RFC 8252.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from html import escape
from typing import Final
from urllib.parse import parse_qsl, urlsplit

from services.confinement import may_connect

__all__ = ["CALLBACK_PATH", "CallbackError", "CallbackListener", "open_callback"]

CALLBACK_PATH: Final = "/oauth/callback"
"""The path of the redirect."""

_HOST: Final = "127.0.0.1"
_LONGEST: Final = 64 * 1024
_SLOWEST_S: Final = 10.0
"""How long a browser may take to send its request."""
_DONE: Final = "Authentication Successful!"
_FAILED: Final = "Authentication Failed"


class CallbackError(Exception):
    """The authorization failed; the message says why, and has no secret in it."""


class CallbackListener:
    """Waits for the redirect. Made by `open_callback`."""

    def __init__(self) -> None:
        self.port = 0
        self._state: str | None = None
        self._answer: asyncio.Future[Mapping[str, str]] = asyncio.get_running_loop().create_future()

    def expect(self, state: str) -> None:
        """Accept a redirect with this `state` only; before this call none is accepted."""
        self._state = state

    async def answer(self, timeout_s: float) -> Mapping[str, str]:
        """The parameters of the redirect: `code`, `state`, perhaps `iss`.

        Raises:
            CallbackError: the user or the server refused, the redirect is not an answer to our
                request, or none came in time.
        """
        await asyncio.wait([self._answer], timeout=timeout_s)
        if not self._answer.done():
            raise CallbackError("OAuth callback timeout")
        return self._answer.result()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one connection of a browser."""
        try:
            async with asyncio.timeout(_SLOWEST_S):
                target = await _target(reader)
            status, title, words = self._take(target)
            page = (
                f"<html><body><h1>{escape(title)}</h1><p>{escape(words)}</p>"
                "<p>You can close this window.</p></body></html>"
            ).encode()
            head = (
                f"HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\n"
                f"Content-Length: {len(page)}\r\nCache-Control: no-store\r\n"
                "Connection: close\r\n\r\n"
            )
            writer.write(head.encode() + page)
            await writer.drain()
        except (
            OSError,
            ValueError,
            asyncio.IncompleteReadError,
            asyncio.LimitOverrunError,
        ):
            # Not a browser, or one that has left; the next connection may be the right one.
            return
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    def close(self) -> None:
        """Stop waiting."""
        if not self._answer.cancel() and not self._answer.cancelled():
            # Perhaps no caller waited for the failure.
            self._answer.exception()

    def _take(self, target: str) -> tuple[str, str, str]:
        parts = urlsplit(target)
        if parts.path != CALLBACK_PATH:
            return "404 Not Found", "Not found", "This address is for the end of a sign-in."
        given = dict(parse_qsl(parts.query))
        if "error" in given:
            said = " - ".join(filter(None, (given["error"], given.get("error_description"))))
            # Without this check any web page in the same browser could end the sign-in.
            if given.get("state", self._state) == self._state:
                self._fail(f"OAuth error: {said}")
            return "200 OK", _FAILED, f"Error: {said}"
        if not given.get("code") or not given.get("state"):
            return "400 Bad Request", _FAILED, "Missing code or state parameter"
        if self._state is None or given["state"] != self._state:
            self._fail("State mismatch - possible CSRF attack")
            return "400 Bad Request", _FAILED, "Invalid state parameter"
        if not self._answer.done():
            self._answer.set_result(given)
        return "200 OK", _DONE, "You can return to the terminal."

    def _fail(self, problem: str) -> None:
        if not self._answer.done():
            self._answer.set_exception(CallbackError(problem))


@asynccontextmanager
async def open_callback(port: int = 0) -> AsyncIterator[CallbackListener]:
    """Listen on `port` of the loopback address, or on any free one; leaving stops it.

    Raises:
        Refused: the session is confined.
        OSError: the port is in use or not allowed.
    """
    may_connect(f"http://localhost:{port}")
    listener = CallbackListener()
    server = await asyncio.start_server(listener.serve, _HOST, port, limit=_LONGEST)
    listener.port = server.sockets[0].getsockname()[1]
    try:
        yield listener
    finally:
        listener.close()
        server.close()


async def _target(reader: asyncio.StreamReader) -> str:
    """The target of a GET request.

    Raises:
        ValueError: it is another request.
    """
    head = await reader.readuntil(b"\r\n\r\n")
    words = head.partition(b"\r\n")[0].decode("latin-1").split(" ")
    if len(words) != 3 or words[0] != "GET":
        raise ValueError("not a GET request")
    return words[1]
