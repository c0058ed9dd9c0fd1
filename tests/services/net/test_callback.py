"""The listener for a browser's redirect, with raw connections."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

import pytest

from services.confinement import Confinement, Refused, confined
from services.net.callback import CallbackError, CallbackListener, open_callback

FOREVER_S = 100.0
AT_ONCE_S = 0.01


async def _visit(listener: CallbackListener, target: str, method: str = "GET") -> str:
    reader, writer = await asyncio.open_connection("127.0.0.1", listener.port)
    writer.write(f"{method} {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    answer = (await reader.read()).decode()
    writer.close()
    return answer


def _with_listener(work: Callable[[CallbackListener], Awaitable[None]]) -> None:
    async def run() -> None:
        async with open_callback() as listener:
            listener.expect("s1")
            await work(listener)

    asyncio.run(run())


def test_the_right_answer_is_taken() -> None:
    async def work(listener: CallbackListener) -> None:
        page = await _visit(listener, "/oauth/callback?code=c%201&state=s1&iss=https%3A%2F%2Fa")
        assert page.startswith("HTTP/1.1 200 OK")
        assert "Authentication Successful!" in page
        given = await listener.answer(FOREVER_S)
        assert given == {"code": "c 1", "state": "s1", "iss": "https://a"}

    _with_listener(work)


@pytest.mark.parametrize(
    ("target", "status"),
    [
        ("/", "404"),
        ("/favicon.ico", "404"),
        ("/oauth/callback", "400"),
        ("/oauth/callback?code=c", "400"),
        ("/oauth/callback?error=denied&state=other", "200"),
    ],
)
def test_other_visits_do_not_end_the_wait(target: str, status: str) -> None:
    async def work(listener: CallbackListener) -> None:
        assert (await _visit(listener, target)).startswith(f"HTTP/1.1 {status}")
        await _visit(listener, "/oauth/callback?code=c&state=s1")
        assert (await listener.answer(FOREVER_S))["code"] == "c"

    _with_listener(work)


@pytest.mark.parametrize("sent", [b"\x16\x03\x01 no http", b"POST / HTTP/1.1\r\n\r\n", b""])
def test_what_is_no_request_is_dropped(sent: bytes) -> None:
    async def work(listener: CallbackListener) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", listener.port)
        writer.write(sent)
        writer.write_eof()
        assert await reader.read() == b""
        writer.close()
        await _visit(listener, "/oauth/callback?code=c&state=s1")
        assert (await listener.answer(FOREVER_S))["code"] == "c"

    _with_listener(work)


def test_a_head_without_end_is_dropped() -> None:
    async def work(listener: CallbackListener) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", listener.port)
        writer.write(b"GET /" + b"a" * 200_000)
        # The listener closes before it has read everything, which some systems call a reset.
        with suppress(ConnectionError):
            assert await reader.read() == b""
        writer.close()
        await _visit(listener, "/oauth/callback?code=c&state=s1")
        assert (await listener.answer(FOREVER_S))["code"] == "c"

    _with_listener(work)


def test_a_foreign_state_is_refused() -> None:
    async def work(listener: CallbackListener) -> None:
        page = await _visit(listener, "/oauth/callback?code=c&state=s2")
        assert page.startswith("HTTP/1.1 400")
        with pytest.raises(CallbackError, match="State mismatch - possible CSRF attack"):
            await listener.answer(FOREVER_S)

    _with_listener(work)


def test_an_error_is_shown_as_text() -> None:
    async def work(listener: CallbackListener) -> None:
        target = "/oauth/callback?error=%3Cb%3E&error_description=no&state=s1"
        page = await _visit(listener, target)
        assert "Error: &lt;b&gt; - no" in page
        with pytest.raises(CallbackError, match=r"^OAuth error: <b> - no$"):
            await listener.answer(FOREVER_S)

    _with_listener(work)


def test_no_answer_in_time_is_an_error() -> None:
    async def work(listener: CallbackListener) -> None:
        with pytest.raises(CallbackError, match="OAuth callback timeout"):
            await listener.answer(AT_ONCE_S)

    _with_listener(work)


def test_a_taken_port_is_an_error_of_the_system() -> None:
    async def work(listener: CallbackListener) -> None:
        with pytest.raises(OSError, match="in use"):
            async with open_callback(listener.port):
                pass

    _with_listener(work)


def test_a_confined_session_listens_to_nothing() -> None:
    async def run() -> None:
        with confined(Confinement(lambda refusal: None)), pytest.raises(Refused):
            async with open_callback():
                pass

    asyncio.run(run())
