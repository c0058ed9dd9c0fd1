"""What a server sends that is no answer: the seam's errors, under the real SDKs, never others."""

import json

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.model.errors import ApiError, ModelError, NetworkError
from services.providers.provider import Provider
from tests.services.providers.asking import Recorded, asked, over, read

OPENAI, ANTHROPIC = Provider.OPENAI, Provider.ANTHROPIC
BOTH = pytest.mark.parametrize("provider", [OPENAI, ANTHROPIC])
JSON = {"content-type": "application/json"}
EVENTS = {"content-type": "text/event-stream"}


async def whole(provider, content, *, status=200, headers=JSON):
    """The answer, or the error's class and words."""
    server = Recorded(lambda _: httpx2.Response(status, headers=headers, content=content))
    async with over(provider, server) as generator:
        try:
            return await generator.generate_content(asked())
        except ModelError as error:
            return error


async def streamed(provider, content, *, status=200, headers=EVENTS):
    """The chunks, or the error."""
    server = Recorded(lambda _: httpx2.Response(status, headers=headers, content=content))
    async with over(provider, server) as generator:
        try:
            return await read(generator)
        except ModelError as error:
            return error


def events(*given):
    """An event stream in the form of both."""
    return b"".join(event(each.get("type", "message"), each) for each in given)


def event(kind, body):
    """One event."""
    if isinstance(body, dict) and kind != "message":
        body = {**body, "type": kind}
    return f"event: {kind}\ndata: {json.dumps(body)}\n\n".encode()


@BOTH
@pytest.mark.parametrize("ask", [whole, streamed])
async def test_what_is_not_json_is_a_broken_network(provider, ask):
    found = await ask(provider, b"event: message_start\ndata: {not json}\n\n")
    assert isinstance(found, NetworkError)


@BOTH
@pytest.mark.parametrize("body", [b"[1]", b'"words"', b"7", b"null", b""])
async def test_an_answer_that_is_no_object_is_a_broken_network(provider, body):
    assert isinstance(await whole(provider, body), NetworkError)


@BOTH
async def test_a_page_in_place_of_an_answer_is_a_broken_network(provider):
    page = {"content-type": "text/html"}
    found = await whole(provider, b"<html>sign in</html>", headers=page)
    assert isinstance(found, NetworkError)
    assert "<html>sign in</html>" in str(found)


@BOTH
async def test_a_page_in_place_of_a_stream_is_an_empty_stream(provider):
    """The runtimes refuse it as one without a finish reason, and ask again."""
    page = {"content-type": "text/html"}
    assert await streamed(provider, b"<html>sign in</html>", headers=page) == []


@BOTH
async def test_an_object_without_anything_known_is_an_empty_answer(provider):
    assert await whole(provider, b'{"surprise": 1}') == {}
    assert await streamed(provider, events({"surprise": 1}, {"type": "of_tomorrow"})) == []


CUT = {
    OPENAI: b'data: {"choices": [{"delta": {"content": "hel"}}]}\n\ndata: {"choices": [{"del',
    ANTHROPIC: events(
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "text_delta", "text": "hel"},
        },
    )
    + b'event: content_block_delta\ndata: {"type": "content_bl',
}


@BOTH
async def test_a_stream_that_breaks_off_is_a_lost_connection_or_an_unfinished_answer(provider):
    server = Recorded(lambda _: httpx2.Response(200, headers=EVENTS, content=CUT[provider]))
    found, failed = [], None
    async with over(provider, server) as generator:
        stream = await generator.generate_content_stream(asked())
        try:
            async for chunk in stream:
                found.append(chunk)  # noqa: PERF401 -- what came before the failure stays
        except ModelError as error:
            failed = error
        await stream.aclose()
    assert (
        "".join(p["text"] for c in found for p in c["candidates"][0]["content"]["parts"]) == "hel"
    )
    assert failed is None or isinstance(failed, NetworkError)
    assert not any("finishReason" in c["candidates"][0] for c in found)


CALLED = {
    OPENAI: lambda arguments: (
        events(
            {
                "choices": [
                    {
                        "delta": {
                            "tool_calls": [
                                {
                                    "index": 0,
                                    "id": "c",
                                    "function": {"name": "f", "arguments": arguments},
                                }
                            ]
                        }
                    }
                ]
            },
            {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]},
        )
        + b"data: [DONE]\n\n"
    ),
    ANTHROPIC: lambda arguments: events(
        {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "tool_use", "id": "c", "name": "f", "input": {}},
        },
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "input_json_delta", "partial_json": arguments},
        },
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {}},
        {"type": "message_stop"},
    ),
}


@BOTH
@pytest.mark.parametrize("arguments", ["{", "[1]", "words", "7", '{"a": NaN}', "null"])
async def test_arguments_of_a_wrong_type_make_a_malformed_call(provider, arguments):
    """Both runtimes ask again after `MALFORMED_FUNCTION_CALL`."""
    (chunk,) = await streamed(provider, CALLED[provider](arguments))
    candidate = chunk["candidates"][0]
    assert candidate["finishReason"] == "MALFORMED_FUNCTION_CALL"
    assert candidate["content"]["parts"] == []


@BOTH
async def test_arguments_that_are_an_object_are_those_of_the_call(provider):
    chunks = await streamed(provider, CALLED[provider]('{"a": 1}'))
    (part,) = chunks[0]["candidates"][0]["content"]["parts"]
    assert part == {"functionCall": {"id": "c", "name": "f", "args": {"a": 1}}}
    assert chunks[-1]["candidates"][0]["finishReason"] == "STOP"


@BOTH
@pytest.mark.parametrize("ask", [whole, streamed])
@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"<html>bad gateway</html>", "<html>bad gateway</html>"),
        (b"", "502"),
        (b'{"detail": "down"}', "d"),
        (b"[1, 2]", "502"),
        (b'{"error": {"message": "of the API"}}', "of the API"),
    ],
)
async def test_a_refusal_with_any_body_is_an_error_with_its_status(provider, ask, body, words):
    found = await ask(provider, body, status=502)
    assert isinstance(found, ApiError)
    assert found.status == 502
    assert words in str(found)


SAID = {
    OPENAI: {"error": {"message": "Busy.", "type": "server_error", "code": 503}},
    ANTHROPIC: {"type": "error", "error": {"type": "overloaded_error", "message": "Busy."}},
}


@BOTH
async def test_an_error_within_a_stream_is_a_refusal(provider):
    found = await streamed(provider, events(SAID[provider]))
    assert isinstance(found, ApiError)
    assert found.status == 503
    assert "Busy." in str(found)


ANY = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.text("ab", max_size=2)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=2),
        st.dictionaries(
            st.sampled_from(
                [
                    "type",
                    "index",
                    "delta",
                    "content",
                    "text",
                    "choices",
                    "message",
                    "tool_calls",
                    "function",
                    "name",
                    "id",
                    "arguments",
                    "usage",
                    "content_block",
                    "input",
                    "partial_json",
                    "thinking",
                    "signature",
                    "model",
                    "error",
                    "code",
                    "finish_reason",
                    "stop_reason",
                    "prompt_tokens",
                    "input_tokens",
                    "prompt_tokens_details",
                    "reasoning_content",
                    "data",
                ]
            ),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=12,
)
KINDS = st.sampled_from(
    [
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
        "error",
        "ping",
    ]
)


@BOTH
@given(body=ANY)
async def test_any_json_is_an_answer_or_an_error_of_the_seam(provider, body):
    found = await whole(provider, json.dumps(body).encode())
    assert isinstance(found, dict | ModelError)


@BOTH
@given(given=st.lists(st.tuples(st.one_of(KINDS, st.just("x")), ANY), max_size=4))
async def test_any_events_are_chunks_or_an_error_of_the_seam(provider, given):
    found = await streamed(provider, b"".join(event(kind, body) for kind, body in given))
    assert isinstance(found, list | ModelError)


@BOTH
@given(body=ANY, status=st.sampled_from([400, 401, 404, 429, 500, 529]))
async def test_any_body_of_a_refusal_is_an_error_of_the_seam(provider, body, status):
    found = await whole(provider, json.dumps(body).encode(), status=status)
    assert isinstance(found, ModelError)
