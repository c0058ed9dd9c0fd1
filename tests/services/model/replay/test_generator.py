from __future__ import annotations

import asyncio
import json
from contextlib import aclosing
from typing import Any

import pytest

from services.abort import AbortController, AbortError
from services.clock import VirtualClock, virtual_loop
from services.model.errors import ApiError, NetworkError
from services.model.generator import EmbedRequest, LlmRole, ModelRequest
from services.model.replay.generator import ReplayedContentGenerator, copy_json
from services.model.replay.responses import (
    FakeResponsesError,
    FakeResponsesGenerator,
    ResponsesFormatError,
    parse_responses,
    read_responses,
)
from services.model.replay.steps import parse_steps


def run(coroutine):
    with asyncio.Runner(loop_factory=virtual_loop) as runner:
        return runner.run(coroutine)


def ask(role="main", thread="main", controller=None, model="m"):
    return ModelRequest(
        model=model,
        contents=[{"role": "user", "parts": [{"text": "q"}]}],
        role=LlmRole(role),
        prompt_id="p",
        signal=(controller or AbortController()).signal,
        thread=thread,
    )


def replayed(steps, clock=None, **options):
    return ReplayedContentGenerator(parse_steps(steps), clock=clock or VirtualClock(0), **options)


async def read(generator, request=None):
    async with aclosing(await generator.generate_content_stream(request or ask())) as stream:
        return [text_of(chunk) async for chunk in stream]


def text_of(response):
    return response["candidates"][0]["content"]["parts"][0]["text"]


def chunk(text):
    return {"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}}]}


def test_steps_answer_in_their_order():
    async def main():
        model = replayed([{"text": "a"}, {"json": "b"}, {"count_tokens": {"totalTokens": 4}}])
        assert await read(model) == ["a"]
        assert text_of(await model.generate_content(ask("utility_router"))) == "b"
        assert await model.count_tokens(ask()) == {"totalTokens": 4}
        assert model.unused_steps() == []
        assert model.request_count == 3

    run(main())


def test_time_moves_on_one_millisecond_per_request():
    async def main():
        clock = VirtualClock(1000)
        seen = []
        model = replayed(
            [{"text": "a"}, {"text": "b"}],
            clock,
            on_request=lambda request: seen.append((request.index, clock.now_ms())),
        )
        await read(model)
        await read(model)
        assert seen == [(0, 1001), (1, 1002)]

    run(main())


def test_in_order_each_request_must_match_the_next_step():
    async def main():
        model = replayed([{"json": "later"}, {"text": "a"}])
        with pytest.raises(ApiError) as caught:
            await read(model)
        assert caught.value.status == 400
        body = json.loads(str(caught.value))["error"]
        assert body["status"] == "INVALID_ARGUMENT"
        assert "request 0 (generateContentStream, role main)" in body["message"]
        assert "step 0: method: the step answers generateContent" in body["message"]
        (note,) = model.notes
        assert (note.request_index, note.step_index, note.message) == (0, 0, body["message"])
        assert len(note.differences) == 1
        assert model.unused_steps() == [0, 1]

    run(main())


def test_a_miss_names_role_and_thread_too():
    async def main():
        model = replayed([{"text": "a", "role": "subagent", "thread": "0/0"}], match="by_role")
        with pytest.raises(ApiError):
            await read(model)
        assert model.notes[0].differences == (
            "role: the step is for subagent, the request from main",
            "thread: the step is for 0/0, the request from main",
        )

    run(main())


def test_by_role_takes_the_first_unused_step_that_fits_and_names_the_nearest():
    async def main():
        model = replayed(
            [{"json": "j"}, {"text": "sub", "role": "subagent"}, {"text": "main"}], match="by_role"
        )
        assert await read(model) == ["main"]
        assert model.unused_steps() == [0, 1]
        with pytest.raises(ApiError, match="nearest is step 0"):
            await read(model)
        assert await read(model, ask("subagent")) == ["sub"]

    run(main())


def test_a_request_after_the_last_step_is_an_error():
    async def main():
        model = replayed([])
        with pytest.raises(ApiError, match="every step is used"):
            await read(model)
        assert model.notes[0].step_index is None

    run(main())


def test_each_thread_has_its_own_queue_whatever_the_order():
    async def main():
        model = replayed(
            [
                {"text": "first child", "thread": "0/0"},
                {"text": "second child", "thread": "0/1"},
                {"text": "main", "thread": "main"},
                {"text": "first child again", "thread": "0/0"},
            ]
        )
        assert await read(model, ask("subagent", "0/1")) == ["second child"]
        assert await read(model, ask("subagent", "0/0")) == ["first child"]
        assert await read(model, ask("subagent", "0/0")) == ["first child again"]
        assert await read(model) == ["main"]

    run(main())


def test_a_step_without_thread_blocks_every_thread_behind_it():
    async def main():
        model = replayed([{"json": "any"}, {"text": "child", "thread": "0/0"}])
        with pytest.raises(ApiError):
            await read(model, ask("subagent", "0/0"))

    run(main())


def test_responses_are_copies():
    async def main():
        model = replayed([{"stream": [chunk("a")], "repeat": 2}])
        async with aclosing(await model.generate_content_stream(ask())) as stream:
            async for got in stream:
                got["candidates"][0]["content"]["parts"][0]["text"] = "changed"
        assert await read(model) == ["a"]

    run(main())


def test_copy_json_is_deep():
    original: dict[str, Any] = {"a": [{"b": 1}], "c": None}
    copy = copy_json(original)
    assert copy == original
    assert copy["a"][0] is not original["a"][0]


def test_errors_are_raised_by_the_call_and_then_errors_by_the_stream():
    async def main():
        model = replayed(
            [
                {"error": {"status": 500, "message": "internal"}},
                {
                    "stream": [chunk("half")],
                    "then_error": {"message": "reset", "code": "ECONNRESET"},
                },
            ]
        )
        with pytest.raises(ApiError):
            await model.generate_content_stream(ask())
        stream = await model.generate_content_stream(ask())
        assert text_of(await anext(stream)) == "half"
        with pytest.raises(NetworkError, match="reset"):
            await anext(stream)

    run(main())


def test_delays_and_sleeps_pass_in_virtual_time():
    async def main():
        clock = VirtualClock(0)
        model = replayed([{"stream": [{"$sleep": 500}, chunk("a")], "delay_ms": 3000}], clock)
        await read(model)
        assert clock.now_ms() == 3501

    run(main())


@pytest.mark.parametrize(
    "step",
    [
        {"hang": True},
        {"text": "x", "delay_ms": 99999},
        {"stream": [{"$hang": True}]},
        {"stream": [{"$sleep": 99999}]},
    ],
)
def test_an_abort_ends_every_wait_at_once(step):
    async def main():
        clock = VirtualClock(0)
        controller = AbortController()
        model = replayed([step], clock)

        async def abort_later():
            await clock.sleep(40)
            controller.abort()

        async with asyncio.TaskGroup() as group:
            group.create_task(abort_later())
            with pytest.raises(AbortError):
                await read(model, ask(controller=controller))
        assert clock.now_ms() == 41
        assert model.unused_steps() == []

    run(main())


def test_a_request_under_an_aborted_signal_is_counted_and_not_answered():
    async def main():
        controller = AbortController()
        controller.abort()
        model = replayed([{"text": "a"}])
        with pytest.raises(AbortError):
            await read(model, ask(controller=controller))
        assert model.request_count == 1
        assert model.unused_steps() == [0]

    run(main())


def test_an_abort_at_the_request_uses_the_step_up():
    async def main():
        controller = AbortController()
        model = replayed([{"text": "a"}], on_request=lambda _: controller.abort())
        with pytest.raises(AbortError):
            await read(model, ask(controller=controller))
        assert model.unused_steps() == []

    run(main())


def test_on_chunk_is_called_when_the_consumer_asks_for_the_next_chunk():
    async def main():
        seen = []
        model = replayed(
            [{"stream": [chunk("a"), {"$sleep": 1}, chunk("b")]}],
            on_chunk=lambda request, index: seen.append((request, index)),
        )
        stream = await model.generate_content_stream(ask())
        await anext(stream)
        assert seen == []
        await anext(stream)
        assert seen == [(0, 0)]
        await stream.aclose()
        assert seen == [(0, 0)]

    run(main())


def test_embeddings_are_answered_by_generate_steps_of_that_method():
    async def main():
        model = replayed(
            [{"generate": {"embeddings": [{"values": [1]}]}, "method": "embedContent"}]
        )
        request = EmbedRequest(model="e", contents=["x"], signal=AbortController().signal)
        assert await model.embed_content(request) == {"embeddings": [{"values": [1]}]}
        with pytest.raises(ApiError, match="request 1 \\(embedContent\\)"):
            await model.embed_content(request)

    run(main())


LINES = """
{"method":"generateContentStream","response":[{"candidates":[]}]}

{"method":"countTokens","response":{"totalTokens":9}}
{"method":"generateContent","response":{"candidates":[]}}
"""


async def chunks(generator):
    return [chunk async for chunk in await generator.generate_content_stream(ask())]


def test_a_strict_file_answers_line_by_line():
    async def main():
        fake = FakeResponsesGenerator(parse_responses(LINES))
        assert await chunks(fake) == [{"candidates": []}]
        assert await fake.count_tokens(ask()) == {"totalTokens": 9}
        assert await fake.generate_content(ask()) == {"candidates": []}
        with pytest.raises(FakeResponsesError) as caught:
            await fake.generate_content(ask(model="g"))
        assert str(caught.value) == (
            "No more mock responses for generateContent, got request:\n"
            '{"model":"g","contents":[{"role":"user","parts":[{"text":"q"}]}],"config":{}}'
        )

    run(main())


def test_a_strict_file_moves_on_at_a_call_of_the_wrong_kind():
    async def main():
        fake = FakeResponsesGenerator(parse_responses(LINES))
        with pytest.raises(FakeResponsesError) as caught:
            await fake.generate_content(ask())
        assert str(caught.value) == (
            "Unexpected response type, next response was for generateContentStream "
            "but expected generateContent"
        )
        assert await fake.count_tokens(ask()) == {"totalTokens": 9}

    run(main())


def test_a_lenient_file_gives_the_first_line_with_the_method():
    async def main():
        fake = FakeResponsesGenerator(parse_responses(LINES), strict=False)
        assert await fake.count_tokens(ask()) == {"totalTokens": 9}
        with pytest.raises(FakeResponsesError, match="No more mock responses for countTokens"):
            await fake.count_tokens(ask())
        assert await chunks(fake) == [{"candidates": []}]

    run(main())


def test_embeddings_come_from_a_file_too(tmp_path):
    async def main():
        path = tmp_path / "a.responses"
        path.write_text('{"method":"embedContent","response":{"embeddings":[]}}\n')
        fake = FakeResponsesGenerator.from_file(path)
        request = EmbedRequest(model="e", contents=["x"], signal=AbortController().signal)
        assert await fake.embed_content(request) == {"embeddings": []}
        with pytest.raises(FakeResponsesError, match=r'"contents":\["x"\]}$'):
            await fake.embed_content(request)

    run(main())


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "line 1: not JSON"),
        ("[1]", "must be an object"),
        ('{"method":"other","response":{}}', "unknown method 'other'"),
        ('{"method":"generateContentStream","response":{}}', "list of objects"),
        ('{"method":"generateContent","response":[]}', "is an object"),
        ('{"method":"generateContent","response":{"a":NaN}}', "NaN"),
    ],
)
def test_a_line_that_is_no_response_is_refused(line, problem):
    with pytest.raises(ResponsesFormatError) as caught:
        parse_responses(line)
    assert problem in str(caught.value)


def test_a_file_that_is_not_utf8_is_refused(tmp_path):
    path = tmp_path / "a.responses"
    path.write_bytes(b"\xff")
    with pytest.raises(ResponsesFormatError, match="not UTF-8"):
        read_responses(path)
