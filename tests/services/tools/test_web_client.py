"""Fetching over HTTP, and asking the model, with a network and a model made for the test."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import httpx
import pytest

from services.abort import AbortController
from services.clock import VirtualClock, virtual_loop
from services.model.errors import ApiError, ModelError, NetworkError
from services.routing.opening import open_models
from services.state import ApprovalMode, CoreEvents, RetryAttempt, SessionState
from services.tools.web_client import HttpPages
from services.tools.web_model import ClientModel
from services.workspace import Workspace
from tests.services.sessions import session_at

PUBLIC = "http://93.184.216.34"


class Resolved(HttpPages):
    """Resolves names from a table."""

    names = {"a.example": ["93.184.216.34"], "trap.example": ["93.184.216.34", "127.0.0.1"]}  # noqa: RUF012

    async def addresses(self, host: str) -> list[str]:
        return self.names[host]


async def fetched(handler: Callable[[httpx.Request], httpx.Response], url: str):
    signal = AbortController().signal
    return await Resolved(httpx.MockTransport(handler)).get(url, {"User-Agent": "t"}, signal)


async def test_the_connection_goes_to_the_checked_address():
    seen: list[httpx.Request] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, text="hi", headers={"X-B": "1", "A": "2"})

    page = await fetched(handler, "https://a.example:8443/p?q#f")
    (request,) = seen
    assert str(request.url) == "https://93.184.216.34:8443/p?q"
    assert request.headers["host"] == "a.example:8443"
    assert request.extensions["sni_hostname"] == "a.example"
    assert (page.status, page.text, page.headers["x-b"]) == (200, "hi", "1")


async def test_a_name_with_a_private_address_is_refused():
    with pytest.raises(ModelError, match=r"private IP 127\.0\.0\.1 \(resolved from trap\.example"):
        await fetched(lambda request: httpx.Response(200), "http://trap.example/")


@pytest.mark.parametrize("target", ["http://10.0.0.1/", "http://x.internal/"])
async def test_a_redirect_into_a_private_network_is_refused(target):
    def handler(request: httpx.Request) -> httpx.Response:
        assert request.url.host == "93.184.216.34"
        return httpx.Response(302, headers={"location": target})

    with pytest.raises(ModelError, match="is blocked"):
        await fetched(handler, f"{PUBLIC}/")


async def test_redirects_are_followed_up_to_a_limit():
    def handler(request: httpx.Request) -> httpx.Response:
        if request.url.path == "/end":
            return httpx.Response(200, text="there")
        target = "/end" if request.url.path == "/a" else str(request.url)
        return httpx.Response(307, headers={"location": target})

    assert (await fetched(handler, f"{PUBLIC}/a")).text == "there"
    with pytest.raises(NetworkError, match="fetch failed"):
        await fetched(handler, f"{PUBLIC}/loop")


@pytest.mark.parametrize("announced", [True, False])
async def test_a_page_above_ten_megabytes_is_refused(announced):
    class Flood(httpx.AsyncByteStream):
        async def __aiter__(self):
            for _ in range(11):
                yield b"x" * 1024 * 1024

    def handler(request: httpx.Request) -> httpx.Response:
        headers = {"content-length": "11534336"} if announced else {}
        return httpx.Response(200, stream=Flood(), headers=headers)

    with pytest.raises(ModelError, match="Content exceeds size limit of 10485760 bytes"):
        await fetched(handler, f"{PUBLIC}/")


@pytest.mark.parametrize(
    ("failure", "message"),
    [
        (httpx.ConnectError("refused"), "fetch failed"),
        (httpx.ReadTimeout("slow"), "Request timed out after 10000ms"),
    ],
)
async def test_failures_have_the_messages_of_fetch(failure, message):
    def handler(request: httpx.Request) -> httpx.Response:
        raise failure

    with pytest.raises(NetworkError, match=message):
        await fetched(handler, f"{PUBLIC}/")


class Generator:
    """Raises or returns what it is given, in turn, and keeps the requests."""

    def __init__(self, *answers: object) -> None:
        self.answers, self.requests = list(answers), []

    async def generate_content(self, request):
        self.requests.append(request)
        given = self.answers.pop(0)
        if isinstance(given, Exception):
            raise given
        return given


def asked(generator: Generator, key: str = "web-fetch"):
    """The answer or error of one question, and the retries on the way."""
    events, clock = CoreEvents(), VirtualClock()
    retries: list[RetryAttempt] = []
    events.subscribe(lambda event: retries.append(event))  # type: ignore[arg-type]  # any event
    state = SessionState(
        session_id="s",
        model="gemini-2.5-flash",
        approval_mode=ApprovalMode.YOLO,
        interactive=False,
        events=events,
    )
    folder = Path("/nowhere")
    session = replace(
        session_at(Workspace.at(folder, folder), state=state, events=events, clock=clock),
        content_generator=generator,  # type: ignore[arg-type]  # only what is called
    )
    model = ClientModel(
        session=session,
        models=open_models(session, auth_type="gemini-api-key", observer=None),
        system_instruction=lambda: "Be brief.",
    )

    async def main():
        clock.watch()
        return await model.generate_content(key, "Q", AbortController().signal)

    with asyncio.Runner(loop_factory=virtual_loop) as runner:
        try:
            return runner.run(main()), retries
        except ModelError as error:
            return error, retries


def test_the_model_is_asked_with_the_tools_config_and_the_sessions_prompt():
    generator = Generator({"candidates": []})
    assert asked(generator) == ({"candidates": []}, [])
    (request,) = generator.requests
    assert request.role == "utility_tool"
    assert request.prompt_id == "s"
    assert request.contents == [{"role": "user", "parts": [{"text": "Q"}]}]
    assert request.config["tools"] == [{"urlContext": {}}]
    assert request.config["systemInstruction"] == "Be brief."


def test_failures_are_retried_and_each_retry_is_reported():
    busy = ApiError(503, "busy")
    answer, retries = asked(Generator(busy, {"candidates": []}))
    assert answer == {"candidates": []}
    assert [(retry.attempt, retry.max_attempts, retry.error) for retry in retries] == [
        (1, 10, "busy")
    ]


def test_a_refusal_names_the_model():
    error, _ = asked(Generator(ApiError(400, "bad")))
    assert isinstance(error, ModelError)
    assert str(error).startswith("Failed to generate content with model gemini-")
    assert str(error).endswith(": bad")
