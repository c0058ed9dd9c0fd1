"""The real client against the stand-in: what leaves, what comes back, what goes wrong."""

import asyncio
import base64
import subprocess
import sys
from contextlib import aclosing, asynccontextmanager
from typing import Any

import pytest

from harness.http.standin import open_standin
from services.abort import AbortController, AbortError
from services.clock import SystemClock, VirtualClock, virtual_loop
from services.model.auth import AuthConfig, AuthType
from services.model.errors import ApiError, NetworkError
from services.model.event_stream import event_stream
from services.model.gemini import GeminiContentGenerator
from services.model.generator import EmbedRequest, LlmRole, ModelRequest

HELLO = {"role": "user", "parts": [{"text": "hello"}]}
SKIP_SIGNATURE = "skip_thought_signature_validator"


def said(text, **more):
    candidate = {"content": {"role": "model", "parts": [{"text": text}]}, "index": 0, **more}
    return {"candidates": [candidate]}


def asked(*contents, signal=None, **config):
    return ModelRequest(
        model="gemini-2.5-flash",
        contents=contents or (HELLO,),
        role=LlmRole.MAIN,
        prompt_id="p########0",
        signal=signal or AbortController().signal,
        config=config,
    )


@asynccontextmanager
async def api(*steps, clock=None, vertexai=False):
    """A generator and the stand-in that it talks to."""
    async with open_standin(steps) as standin:
        auth = AuthConfig(
            type=AuthType.USE_GEMINI, api_key="k", base_url=standin.base_url, vertexai=vertexai
        )
        generator = GeminiContentGenerator(auth, clock or SystemClock())
        try:
            yield generator, standin
        finally:
            await generator.aclose()


async def read(generator, request=None):
    stream = await generator.generate_content_stream(request or asked())
    async with aclosing(stream):
        return [chunk async for chunk in stream]


async def test_a_stream_comes_back_chunk_by_chunk_as_plain_json():
    chunks = [
        said("Hel"),
        {
            **said("lo ✓ 𝄞", finishReason="STOP"),
            "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 2},
            "modelVersion": "gemini-2.5-flash",
            "responseId": "r1",
        },
    ]
    async with api({"stream": chunks}) as (generator, standin):
        assert await read(generator) == chunks
    (seen,) = standin.requests
    assert (seen.method, seen.model, seen.query) == (
        "streamGenerateContent",
        "gemini-2.5-flash",
        "alt=sse",
    )
    assert seen.headers["x-goog-api-key"] == "k"
    assert seen.body["contents"] == [HELLO]


@pytest.mark.parametrize("step", [1, 7])
async def test_a_stream_cut_anywhere_reads_the_same(step):
    chunks = [said("é✓𝄞"), said("ü", finishReason="STOP")]
    cuts = range(1, len(event_stream(chunks)), step)
    async with api({"stream": chunks, "cuts": cuts}) as (generator, _):
        assert await read(generator) == chunks


async def test_a_whole_answer_a_count_and_embeddings_come_back_as_plain_json():
    steps = (
        {"generate": said("yes", finishReason="STOP")},
        {"count_tokens": {"totalTokens": 7}},
        {"embed": {"embeddings": [{"values": [0.5, 1.0]}, {"values": [2.0]}]}},
    )
    async with api(*steps) as (generator, standin):
        assert await generator.generate_content(asked()) == said("yes", finishReason="STOP")
        assert await generator.count_tokens(asked()) == {"totalTokens": 7}
        embedded = await generator.embed_content(
            EmbedRequest(model="e", contents=["a", "b"], signal=AbortController().signal)
        )
    assert embedded == {"embeddings": [{"values": [0.5, 1.0]}, {"values": [2.0]}]}
    methods = [request.method for request in standin.requests]
    assert methods == ["generateContent", "countTokens", "batchEmbedContents"]
    assert len(standin.requests[2].body["requests"]) == 2


async def test_a_tool_call_and_its_answer_make_the_round_trip():
    call = {"functionCall": {"id": "c1", "name": "read_file", "args": {"path": "a", "n": None}}}
    called = {"candidates": [{"content": {"role": "model", "parts": [call]}}]}
    answer = {
        "functionResponse": {
            "id": "c1",
            "name": "read_file",
            "response": {"output": "text", "none": None},
            "parts": [{"inlineData": {"mimeType": "image/png", "data": "+/+/"}}],
        }
    }
    tools = [
        {
            "functionDeclarations": [
                {"name": "read_file", "parametersJsonSchema": {"type": "object"}}
            ]
        }
    ]
    async with api({"stream": [called]}, {"text": "done"}) as (generator, standin):
        (chunk,) = await read(generator, asked(tools=tools, systemInstruction="be brief"))
        assert chunk == called
        history = (HELLO, chunk["candidates"][0]["content"], {"role": "user", "parts": [answer]})
        await read(generator, asked(*history, tools=tools))
    first, second = (request.body for request in standin.requests)
    (declared,) = first["tools"][0]["functionDeclarations"]
    assert declared["name"] == "read_file"
    assert {"type": "object"} in declared.values()
    assert first["systemInstruction"]["parts"] == [{"text": "be brief"}]
    assert second["contents"][1] == {"role": "model", "parts": [call]}
    sent = second["contents"][2]["parts"][0]["functionResponse"]
    assert sent["response"] == {"output": "text", "none": None}
    assert sent["id"] == "c1"
    (nested,) = sent["parts"]
    data = nested.get("inlineData", nested.get("inline_data"))["data"]
    assert base64.urlsafe_b64decode(data) == b"\xfb\xff\xbf"


@pytest.mark.parametrize(
    ("text", "wire"),
    [("+/+/AA==", "-_-_AA=="), ("-_-_AA", "-_-_AA=="), (SKIP_SIGNATURE, SKIP_SIGNATURE)],
)
async def test_a_signature_leaves_with_the_same_bytes(text, wire):
    content: dict[str, Any] = {
        "role": "model",
        "parts": [{"text": "t", "thoughtSignature": text}],
    }
    async with api({"text": "ok"}) as (generator, standin):
        await read(generator, asked(HELLO, content, HELLO))
    assert standin.requests[0].body["contents"][1]["parts"][0]["thoughtSignature"] == wire
    assert content["parts"][0]["thoughtSignature"] == text


async def test_a_signature_and_inline_data_come_back_in_the_standard_alphabet():
    parts = [
        {"text": "t", "thoughtSignature": "+/+/AA=="},
        {"inlineData": {"mimeType": "image/png", "data": "+/8="}},
    ]
    chunk = {"candidates": [{"content": {"role": "model", "parts": parts}}]}
    async with api({"stream": [chunk]}) as (generator, _):
        assert await read(generator) == [chunk]


async def test_a_signature_that_is_no_base64_and_unknown_fields_are_left_out():
    content = {
        "role": "model",
        "shiny": 1,
        "parts": [{"text": "t", "thoughtSignature": "no!", "callIndex": 3}, {"text": "u"}],
    }
    async with api({"text": "ok"}) as (generator, standin):
        tools = [{"functionDeclarations": [{"name": "f", "zoo": 1}]}, {"googleSearch": {}}]
        thinking = {"includeThoughts": True, "nope": 1}
        await read(generator, asked(content, tools=tools, thinkingConfig=thinking, odd=True))
    body = standin.requests[0].body
    assert body["contents"] == [{"role": "model", "parts": [{"text": "t"}, {"text": "u"}]}]
    assert {"functionDeclarations": [{"name": "f"}]} in body["tools"]
    assert "include" in str(body["generationConfig"]["thinkingConfig"]).lower()
    assert "nope" not in str(body)


async def test_a_known_field_of_a_wrong_type_is_a_bad_request():
    async with api() as (generator, standin):
        with pytest.raises(ApiError, match="temperature") as caught:
            await generator.generate_content_stream(asked(temperature="hot"))
    assert caught.value.status == 400
    assert standin.requests == []


@pytest.mark.parametrize(
    ("status", "grpc"),
    [(400, "INVALID_ARGUMENT"), (429, "RESOURCE_EXHAUSTED"), (500, "INTERNAL"), (503, None)],
)
@pytest.mark.parametrize("streaming", [True, False])
async def test_a_refusal_is_an_api_error_with_the_body_as_its_message(status, grpc, streaming):
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "7s"}]
    error = {"status": status, "message": "nö", "grpc": grpc, "details": details}
    async with api({"error": error}) as (generator, standin):
        ask = generator.generate_content_stream if streaming else generator.generate_content
        with pytest.raises(ApiError) as caught:
            await ask(asked())
    expected = ApiError.from_parts(status, "nö", grpc, details)
    assert (caught.value.status, str(caught.value)) == (status, str(expected))
    assert len(standin.requests) == 1


async def test_an_error_in_the_middle_is_raised_by_the_stream():
    error = {"status": 503, "message": "overloaded", "grpc": "UNAVAILABLE"}
    async with api({"stream": [said("a")], "then_error": error}) as (generator, _):
        stream = await generator.generate_content_stream(asked())
        assert await anext(stream) == said("a")
        with pytest.raises(ApiError, match=r'got status: UNAVAILABLE\. \{"error":') as caught:
            await anext(stream)
    assert caught.value.status == 503


async def test_an_error_that_is_the_first_event_is_raised_by_the_stream_too():
    error = {"status": 429, "message": "slow down", "grpc": "RESOURCE_EXHAUSTED"}
    async with api({"stream": [], "then_error": error}) as (generator, _):
        stream = await generator.generate_content_stream(asked())
        with pytest.raises(ApiError, match="slow down"):
            await anext(stream)


async def test_a_reset_in_the_middle_is_a_network_error_of_the_stream():
    chunks = [said("a"), said("b")]
    position = len(event_stream(chunks[:1])) + 5
    async with api({"stream": chunks, "reset_at": position}) as (generator, _):
        stream = await generator.generate_content_stream(asked())
        assert await anext(stream) == said("a")
        with pytest.raises(NetworkError, match="terminated") as caught:
            await anext(stream)
    assert caught.value.code == "ECONNRESET"
    with pytest.raises(StopAsyncIteration):
        await anext(stream)


async def test_a_stream_that_ends_in_the_middle_of_an_event_is_incomplete():
    chunks = [said("a"), said("b")]
    position = len(event_stream(chunks)) - 10
    async with api({"stream": chunks, "end_at": position}) as (generator, _):
        with pytest.raises(NetworkError, match="Incomplete JSON segment at the end"):
            await read(generator)


@pytest.mark.parametrize(
    ("raw", "name"),
    [
        ("data: {'no': json}\r\n\r\n", "SyntaxError"),
        ('data: {"candidates": [7]}\r\n\r\n', "Error"),
        ('data: {"error": {"message": "no code"}}\r\n\r\n', "Error"),
    ],
)
async def test_a_malformed_chunk_is_a_network_error(raw, name):
    async with api({"raw": raw}) as (generator, _):
        with pytest.raises(NetworkError) as caught:
            await read(generator)
    assert caught.value.name == name


async def test_a_closed_port_is_a_refused_connection():
    async with open_standin([]) as standin:
        url = standin.base_url
    auth = AuthConfig(type=AuthType.USE_GEMINI, api_key="k", base_url=url)
    generator = GeminiContentGenerator(auth, SystemClock())
    with pytest.raises(NetworkError, match="fetch failed") as caught:
        await generator.generate_content_stream(asked())
    assert caught.value.code == "ECONNREFUSED"
    await generator.aclose()


@pytest.mark.parametrize("step", [{"hang": True}, {"stream": [said("a")], "hang_at": 3}])
async def test_an_abort_before_the_first_chunk_ends_the_exchange(step):
    async with api(step) as (generator, standin):
        controller = AbortController()
        task = asyncio.create_task(
            generator.generate_content_stream(asked(signal=controller.signal))
        )
        await standin.asked.wait()
        controller.abort()
        with pytest.raises(AbortError):
            await task
        await standin.disconnected.wait()


async def test_an_abort_in_the_middle_leaves_no_connection_and_no_task():
    chunks = [said("a"), said("b")]
    step = {"stream": chunks, "hang_at": len(event_stream(chunks[:1]))}
    async with api(step) as (generator, standin):
        before = asyncio.all_tasks()
        controller = AbortController()
        stream = await generator.generate_content_stream(asked(signal=controller.signal))
        assert await anext(stream) == said("a")
        waiting = asyncio.create_task(anext(stream))
        await asyncio.sleep(0)
        controller.abort()
        with pytest.raises(AbortError):
            await waiting
        await standin.disconnected.wait()
        await asyncio.sleep(0)
        serving = {task for task in asyncio.all_tasks() if "connected" in repr(task)}
        assert asyncio.all_tasks() - before - serving == set()
    assert standin.open_connections == 0


async def test_aclose_closes_an_unread_stream():
    step = {"stream": [said("a"), said("b")], "hang_at": len(event_stream([said("a")]))}
    async with api(step) as (generator, standin):
        stream = await generator.generate_content_stream(asked())
        await stream.aclose()
        await standin.disconnected.wait()
        assert [chunk async for chunk in stream] == []


async def test_an_aborted_signal_sends_nothing():
    controller = AbortController()
    controller.abort()
    async with api({"text": "x"}) as (generator, standin):
        with pytest.raises(AbortError):
            await generator.generate_content_stream(asked(signal=controller.signal))
    assert standin.requests == []


def test_virtual_time_stands_still_while_the_api_is_asked():
    async def run():
        clock = VirtualClock()
        sleeper = asyncio.create_task(clock.sleep(60_000))
        async with api({"text": "x"}, clock=clock) as (generator, _):
            start = clock.now_ms()
            stream = await generator.generate_content_stream(asked())
            assert clock.now_ms() == start
            assert not sleeper.done()
            assert not clock.held
            assert len([chunk async for chunk in stream]) == 1
            assert not clock.held
        await sleeper

    with asyncio.Runner(loop_factory=virtual_loop) as runner:
        runner.run(run())


async def test_characters_that_look_like_line_ends_come_through():
    chunks = [said("a\u2028b\x85c\u2029d\x0be", finishReason="STOP")]
    async with api({"stream": chunks}) as (generator, _):
        assert await read(generator) == chunks


async def test_vertex_has_its_own_path_and_takes_the_key():
    async with api({"text": "x"}, vertexai=True) as (generator, standin):
        await read(generator)
    (seen,) = standin.requests
    assert seen.path.endswith("/publishers/google/models/gemini-2.5-flash:streamGenerateContent")
    assert seen.headers["x-goog-api-key"] == "k"


async def test_a_cancelled_reader_ends_the_exchange():
    step = {"stream": [said("a"), said("b")], "hang_at": len(event_stream([said("a")]))}
    async with api(step) as (generator, standin):
        reading = asyncio.create_task(read(generator))
        await standin.asked.wait()
        for _ in range(50):
            await asyncio.sleep(0)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        await standin.disconnected.wait()


async def test_a_gateway_without_a_key_gets_an_empty_key_header():
    async with open_standin([{"text": "x"}]) as standin:
        auth = AuthConfig(
            type=AuthType.GATEWAY, api_key="", base_url=standin.base_url, headers={"X-Team": "t"}
        )
        generator = GeminiContentGenerator(auth, SystemClock())
        await read(generator)
        await generator.aclose()
    headers = standin.requests[0].headers
    assert (headers["x-goog-api-key"], headers["x-team"]) == ("", "t")


def test_a_surface_without_a_model_does_not_import_the_sdk():
    modules = "surfaces.headless.model, harness.http.case"
    code = f"import sys, {modules}; sys.exit('google.genai' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
