"""Requests to Code Assist and its answers, against the stand-in."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from services.abort import AbortController, AbortError
from services.clock import SystemClock
from services.code_assist.errors import CodeAssistError
from services.code_assist.generator import CodeAssistContentGenerator
from services.code_assist.server import CodeAssistServer, service_address
from services.code_assist.setup import UserData
from services.model.classification import classify_google_error
from services.model.errors import (
    ApiError,
    FatalAuthenticationError,
    NetworkError,
    UnauthorizedError,
    error_message,
)
from services.model.generator import EmbedRequest, ModelRequest
from services.sign_in.accounts import FixedAccount, MetadataAccount
from services.sign_in.endpoints import GoogleEndpoints, OAuthClient
from services.sign_in.token_server import TokenServer
from services.wire import JsonObject
from tests.security.asking import prompt
from tests.security.loopback import Answer
from tests.services.sign_in.stand_ins import ACCESS, PROJECT, SAID, Google, google, refused, says

RETRY = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "3s"}
EVENTS = {"content-type": "text/event-stream"}


@asynccontextmanager
async def asking(**changes: Any) -> AsyncIterator[tuple[Google, CodeAssistContentGenerator]]:
    clock = SystemClock()
    async with google() as server:
        for name, value in changes.items():
            setattr(server, name, value)
        server.lifetime = 3600
        account = MetadataAccount(server.variables, clock)
        address = service_address(server.variables)
        code_assist = CodeAssistServer(account, address, {"X-Mine": "1"}, clock)
        user = UserData(project=PROJECT, tier="free-tier")
        try:
            yield server, CodeAssistContentGenerator(code_assist, user, "session-1")
        finally:
            await code_assist.aclose()


async def streamed(
    generator: CodeAssistContentGenerator, request: ModelRequest | None = None
) -> list[JsonObject]:
    stream = await generator.generate_content_stream(request or prompt())
    async with aclosing(stream):
        return [chunk async for chunk in stream]


async def test_a_request_has_the_published_shape() -> None:
    config: JsonObject = {
        "temperature": 0,
        "topP": None,
        "systemInstruction": "be brief",
        "tools": [{"functionDeclarations": []}],
        "toolConfig": {"a": 1},
        "thinkingConfig": {"includeThoughts": True},
        "abortSignal": "not sent",
    }
    request = replace(prompt(), config=config)
    async with asking() as (server, generator):
        answer = await generator.generate_content(request)
        [sent] = server.asked(":generateContent")
    assert sent.path == "/v1internal:generateContent"
    assert sent.headers["authorization"] == f"Bearer {ACCESS}-1"
    assert sent.headers["x-mine"] == "1"
    assert sent.json() == {
        "model": "gemini-2.5-flash",
        "project": PROJECT,
        "user_prompt_id": "p",
        "request": {
            "contents": list(request.contents),
            "systemInstruction": {"role": "user", "parts": [{"text": "be brief"}]},
            "tools": [{"functionDeclarations": []}],
            "toolConfig": {"a": 1},
            "generationConfig": {"temperature": 0, "thinkingConfig": {"includeThoughts": True}},
            "session_id": "session-1",
        },
    }
    assert answer == {"responseId": "trace-1", **says(SAID)["response"]}


@pytest.mark.parametrize(
    ("part", "sent"),
    [
        ({"text": "a", "thoughtSignature": "s"}, {"text": "a", "thoughtSignature": "s"}),
        ({"text": "a", "thought": True}, {"text": "a\n[Thought: true]"}),
        ({"thought": True}, {"text": "[Thought: true]"}),
        (
            {"functionCall": {"name": "f"}, "thought": True, "thoughtSignature": "s"},
            {"functionCall": {"name": "f"}, "thoughtSignature": "s"},
        ),
    ],
)
async def test_thoughts_are_sent_as_text(part: Any, sent: JsonObject) -> None:
    request = replace(prompt(), contents=[{"role": "model", "parts": [part]}])
    async with asking() as (server, generator):
        await generator.count_tokens(request)
        [body] = server.bodies(":countTokens")
    assert body == {
        "request": {
            "model": "models/gemini-2.5-flash",
            "contents": [{"role": "model", "parts": [sent]}],
        }
    }


async def test_a_stream_ends_with_its_last_chunk() -> None:
    async with asking(chunks=[says("a"), {"traceId": "t"}, says("b")]) as (server, generator):
        found = await streamed(generator)
        [sent] = server.asked(":streamGenerateContent")
    assert sent.path == "/v1internal:streamGenerateContent?alt=sse"
    assert [chunk["candidates"] for chunk in found] == [
        says("a")["response"]["candidates"],
        [],
        says("b")["response"]["candidates"],
    ]


async def test_an_event_that_is_no_json_is_left_out() -> None:
    good = json.dumps(says("b"))
    lines = f"data: {{broken\n\n: comment\nid: 4\ndata: {good}\r\n\r\ndata: 3\n\n"

    def answer(_: object) -> Answer:
        return Answer(lines.encode(), headers=EVENTS)

    async with asking(methods={"streamGenerateContent": answer}) as (_, generator):
        [found] = await streamed(generator)
    assert found["responseId"] == "trace-1"


async def test_a_stream_that_breaks_is_a_lost_connection() -> None:
    def pieces() -> Iterator[bytes]:
        yield f"data: {json.dumps(says('a'))}\n\n".encode()

    def answer(_: object) -> Answer:
        # One byte is missing.
        headers = {**EVENTS, "Content-Length": str(len(next(pieces())) + 1)}
        return Answer(headers=headers, pieces=pieces)

    async with asking(methods={"streamGenerateContent": answer}) as (_, generator):
        stream = await generator.generate_content_stream(prompt())
        async with aclosing(stream):
            assert (await anext(stream))["candidates"]
            with pytest.raises(NetworkError, match=r"^terminated$"):
                await anext(stream)


async def test_a_stream_that_is_left_early_ends_its_connection() -> None:
    left = asyncio.Event()

    def pieces() -> Iterator[bytes]:
        try:
            while True:
                yield f"data: {json.dumps(says('a'))}\n\n".encode()
        finally:
            left.set()

    answer = Answer(headers=EVENTS, pieces=pieces)
    async with asking(methods={"streamGenerateContent": lambda _: answer}) as (_, generator):
        async with aclosing(await generator.generate_content_stream(prompt())) as stream:
            await anext(stream)
        async with asyncio.timeout(30):
            await left.wait()


async def test_a_refused_token_is_renewed_once() -> None:
    async with asking() as (server, generator):
        await generator.count_tokens(prompt())
        server.valid.clear()
        assert await generator.count_tokens(prompt()) == {"totalTokens": 12}
        tokens = [each.headers["authorization"] for each in server.asked(":countTokens")]
        assert tokens == [f"Bearer {ACCESS}-{number}" for number in (1, 1, 2)]


@pytest.mark.parametrize("streams", [True, False])
async def test_a_token_that_stays_refused_is_one_sentence(streams: bool) -> None:
    def answer(_: object) -> Answer:
        return refused(401, "Request had invalid authentication credentials.")

    methods = dict.fromkeys(("streamGenerateContent", "generateContent"), answer)
    async with asking(methods=methods) as (server, generator):
        with pytest.raises(CodeAssistError) as found:
            await (streamed(generator) if streams else generator.generate_content(prompt()))
        assert len(server.asked("GenerateContent") + server.asked(":generateContent")) == 2
    assert error_message(found.value) == "Request had invalid authentication credentials."
    assert found.value.status == 401


async def test_a_fixed_token_that_is_refused_names_its_variable() -> None:
    async with asking() as (server, _):
        account = FixedAccount("expired", "GOOGLE_CLOUD_ACCESS_TOKEN")
        address = service_address(server.variables)
        code_assist = CodeAssistServer(account, address, {}, SystemClock())
        with pytest.raises(UnauthorizedError, match=r"^The token in GOOGLE_CLOUD_ACCESS"):
            await code_assist.call("loadCodeAssist", {})
        await code_assist.aclose()


@pytest.mark.parametrize(
    ("answer", "name"),
    [
        (refused(429, "Quota exceeded", "QUOTA_EXHAUSTED"), "TerminalQuotaError"),
        (refused(429, "Slow down", "RATE_LIMIT_EXCEEDED", RETRY), "RetryableQuotaError"),
        (refused(429, "No credits", "INSUFFICIENT_G1_CREDITS_BALANCE"), "TerminalQuotaError"),
        (refused(404, "No such model"), "ModelNotFoundError"),
    ],
)
async def test_refusals_are_classified_as_the_apis(answer: Answer, name: str) -> None:
    async with asking(methods={"streamGenerateContent": lambda _: answer}) as (_, generator):
        with pytest.raises(CodeAssistError) as found:
            await streamed(generator)
    assert type(classify_google_error(found.value)).__name__ == name


async def test_a_proxys_page_is_cut() -> None:
    page = Answer(b"<html>" + b"x" * 100_000, 502)
    async with asking(methods={"generateContent": lambda _: page}) as (_, generator):
        with pytest.raises(CodeAssistError) as found:
            await generator.generate_content(prompt())
    assert found.value.status == 502
    assert len(str(found.value)) < 5000


@pytest.mark.parametrize("body", [b"", b"<html>", b"[" * 200_000])
async def test_an_answer_that_is_no_json_is_an_error(body: bytes) -> None:
    methods = {"generateContent": lambda _: Answer(body)}
    async with asking(methods=methods) as (_, generator):
        with pytest.raises(NetworkError, match=r"^Code Assist's answer cannot be read"):
            await generator.generate_content(prompt())


@pytest.mark.parametrize("streams", [True, False])
async def test_an_abort_ends_the_request(streams: bool) -> None:
    abort = AbortController()
    begun = asyncio.Event()

    def pieces() -> Iterator[bytes]:
        begun.set()
        while True:
            yield b": still working\n"

    answer = Answer(headers=EVENTS, pieces=pieces)
    methods = dict.fromkeys(("streamGenerateContent", "generateContent"), lambda _: answer)
    request = replace(prompt(), signal=abort.signal)
    async with asking(methods=methods) as (_, generator), asyncio.TaskGroup() as group:
        ask = streamed(generator, request) if streams else generator.generate_content(request)
        task = group.create_task(_aborted(ask))
        await begun.wait()
        abort.abort()
        await task


async def _aborted(ask: Any) -> None:
    with pytest.raises(AbortError):
        await ask


async def test_no_texts_are_embedded() -> None:
    async with asking() as (_, generator):
        request = EmbedRequest(model="m", contents=["a"], signal=AbortController().signal)
        with pytest.raises(ApiError, match="embeds no texts"):
            await generator.embed_content(request)


@pytest.mark.parametrize(
    ("variables", "address"),
    [
        ({}, "https://cloudcode-pa.googleapis.com/v1internal"),
        (
            {"CODE_ASSIST_ENDPOINT": "https://e.example/", "CODE_ASSIST_API_VERSION": "v9"},
            "https://e.example/v9",
        ),
    ],
)
def test_the_address_can_be_replaced(variables: dict[str, str], address: str) -> None:
    assert service_address(variables) == address
    with pytest.raises(FatalAuthenticationError, match=r"CODE_ASSIST_ENDPOINT must be an https:"):
        service_address({"CODE_ASSIST_ENDPOINT": "http://e.example"})


async def test_tokens_and_prompts_follow_no_redirect_to_another_origin() -> None:
    async with google() as other:
        moved = Answer(status=307, headers={"location": f"{other.server.url}/elsewhere"})
        methods = dict.fromkeys(("generateContent", "token"), lambda _: moved)
        async with asking() as (server, generator):
            await generator.count_tokens(prompt())
            server.methods.update(methods)
            with pytest.raises(NetworkError, match="redirects to another origin"):
                await generator.generate_content(prompt())
            variables = server.variables
            tokens = TokenServer(
                GoogleEndpoints.of(variables), OAuthClient.of(variables), SystemClock()
            )
            with pytest.raises(FatalAuthenticationError, match="refused the request: HTTP 307"):
                await tokens.refresh("refresh")
        assert other.server.asked == []
