"""An agent that is an asynchronous generator over google-genai's client, as its author has it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from decimal import Decimal
from typing import Any

import httpx
import pytest
from google import genai
from google.genai import errors, types

from adapters import AgentSession, Emit, agent_runtime
from adapters.problems import AgentBroke
from parity_tests.stage import answer, calls, chunks, message
from services.clock import VirtualClock
from tests.adapters.stage import kinds, plain, play, stage

BUSY = {"error": {"status": 503, "message": "busy", "grpc": "UNAVAILABLE"}}


class Hand:
    """A loop over the asynchronous client, with a retry and a tool."""

    def __init__(self) -> None:
        self.client = genai.Client(api_key="local")
        self.history: list[Any] = []

    async def answer(self, text: str) -> AsyncIterator[Any]:
        self.history.append(types.Content(role="user", parts=[types.Part(text=text)]))
        while True:
            parts: list[Any] = []
            async for chunk in self.stream():
                yield chunk
                parts += (chunk.candidates[0].content.parts or []) if chunk.candidates else []
            self.history.append(types.Content(role="model", parts=parts))
            asked = [part.function_call for part in parts if part.function_call]
            if not asked:
                return
            for call in asked:
                yield {"type": "tool_response", "name": call.name, "result": {"left": 3}}
            results = [
                types.Part.from_function_response(name=call.name, response={"left": 3})
                for call in asked
            ]
            self.history.append(types.Content(role="user", parts=results))

    async def stream(self) -> AsyncIterator[Any]:
        for seconds in (1, 2, None):
            try:
                chunks = await self.client.aio.models.generate_content_stream(
                    model="gemini-2.5-flash", contents=self.history
                )
                async for chunk in chunks:
                    yield chunk
                return
            except errors.ServerError:
                if seconds is None:
                    raise
                await asyncio.sleep(seconds)


async def say(text: str) -> AsyncIterator[str]:
    yield text


def of(function: Callable[..., Any], **options: Any) -> Any:
    return agent_runtime(lambda: function, **options)


def test_a_loop_with_a_tool_and_a_retry() -> None:
    async def scene() -> None:
        hand = agent_runtime(lambda: Hand().answer)
        steps = [BUSY, calls(("stock", {"item": "tea"})), chunks("Three ", "left.")]
        async with stage(hand, *steps) as on:
            events = await on.say("how many?")

            shown = [event for event in events if event.type != "usage"]
            assert kinds(shown) == ["tool_request", "tool_response", "message", "agent_end"]
            called, got, said, ended = map(plain, shown[2:])
            assert (called["name"], called["args"]) == ("stock", {"item": "tea"})
            assert (got["requestId"], got["data"]) == (called["requestId"], {"left": 3})
            assert said["content"] == [{"type": "text", "text": "Three left."}]
            assert ended == {"reason": "completed"}
            assert [each.request.model for each in on.requests] == ["gemini-2.5-flash"] * 3
            # The second that the loop slept is virtual.
            assert on.services.clock.now_ms() - VirtualClock().now_ms() == 1_000 + len(on.requests)

    play(scene)


def test_the_request_arrives_as_the_services_have_it() -> None:
    async def ask(text: str) -> AsyncIterator[Any]:
        config = types.GenerateContentConfig(
            system_instruction="Sell tea.",
            temperature=0.5,
            tools=[types.Tool(google_search=types.GoogleSearch())],
        )
        client = genai.Client(api_key="local")
        yield await client.aio.models.generate_content(
            model="gemini-x", contents=text, config=config
        )

    async def scene() -> None:
        async with stage(of(ask), chunks("a", "b")) as on:
            events = await on.say("hi")

            request = on.requests[0].request
            assert (request.model, list(request.contents)) == (
                "gemini-x",
                [{"role": "user", "parts": [{"text": "hi"}]}],
            )
            assert request.config == {
                "systemInstruction": "Sell tea.",
                "temperature": 0.5,
                "tools": [{"googleSearch": {}}],
                "stream": False,
            }
            assert plain(events[2])["content"] == [{"type": "text", "text": "ab"}]

    play(scene)


@pytest.mark.parametrize("thread", [False, True])
def test_a_synchronous_client_works_in_the_loop_and_in_a_thread(thread: bool) -> None:
    def ask(text: str) -> str:
        client = genai.Client(api_key="local")
        return str(client.models.generate_content(model="gemini-x", contents=text).text)

    async def agent(text: str) -> str:
        return await asyncio.to_thread(ask, text) if thread else ask(text)

    async def scene() -> None:
        async with stage(of(agent), answer("hello", delay_ms=500 if thread else 0)) as on:
            events = await on.say("hi")

            assert plain(events[2])["content"] == [{"type": "text", "text": "hello"}]

    play(scene)


def test_a_synchronous_client_in_the_loop_cannot_wait() -> None:
    async def agent(text: str) -> str:
        client = genai.Client(api_key="local")
        return str(client.models.generate_content(model="gemini-x", contents=text).text)

    async def scene() -> None:
        async with stage(of(agent), answer("hello", delay_ms=5)) as on:
            events = await on.say("hi")

            assert "call it in a thread (asyncio.to_thread)" in plain(events[2])["message"]

    play(scene)


@pytest.mark.parametrize(
    ("step", "status", "message"),
    [
        (BUSY, "UNAVAILABLE", "busy"),
        ({"error": {"status": 429, "message": "slow down"}}, "RESOURCE_EXHAUSTED", "slow down"),
        ({"error": {"name": "TypeError", "message": "fetch failed"}}, "INTERNAL", "fetch failed"),
        ({**chunks("a"), "then_error": {"status": 500, "message": "oops"}}, "INTERNAL", "oops"),
        (
            {**chunks("a"), "then_error": {"name": "Error", "message": "reset"}},
            "INTERNAL",
            "reset",
        ),
    ],
)
def test_a_failure_of_the_model_is_the_clients_own_error(
    step: dict[str, Any], status: str, message: str
) -> None:
    async def ask(text: str) -> AsyncIterator[Any]:
        client = genai.Client(api_key="local")
        stream = await client.aio.models.generate_content_stream(model="x", contents=text)
        async for chunk in stream:
            yield chunk

    async def scene() -> None:
        async with stage(of(ask), step) as on:
            events = await on.say("hi")

            error = plain(events[-2])
            assert (error["status"], error["message"]) == (status, message)
            assert error["_meta"]["stack"].splitlines()[1].startswith("    at ")
            assert plain(events[-1]) == {"reason": "failed"}

    play(scene)


def test_an_answer_has_what_every_real_one_has() -> None:
    async def ask(text: str) -> AsyncIterator[Any]:
        client = genai.Client(api_key="local")
        yield await client.aio.models.generate_content(model="gemini-x", contents=text)

    async def scene() -> None:
        async with stage(of(ask), chunks("a")) as on:
            events = await on.say("hi")

            usage = {"model": "gemini-x", "inputTokens": 0, "outputTokens": 0}
            assert [plain(event) for event in events if event.type == "usage"] == [usage]

    play(scene)


def test_an_answer_that_is_dropped_is_closed_at_the_end() -> None:
    async def ask(text: str) -> AsyncIterator[Any]:
        client = genai.Client(api_key="local")
        stream = await client.aio.models.generate_content_stream(model="x", contents=text)
        yield (await anext(stream)).text

    async def scene() -> None:
        async with stage(of(ask), {"stream": [{"candidates": []}, {"hang": True}]}) as on:
            assert kinds(await on.say("hi")) == ["agent_end"]
        assert len(asyncio.all_tasks()) == 1

    play(scene)


def test_a_refusal_keeps_its_details() -> None:
    quota = {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": []}
    refused = {"status": 429, "message": "a", "grpc": "RESOURCE_EXHAUSTED", "details": [quota]}

    async def ask(text: str) -> AsyncIterator[Any]:
        client = genai.Client(api_key="local")
        try:
            await client.aio.models.generate_content(model="x", contents=text)
        except errors.ClientError as error:
            yield {"type": "custom", "kind": "refused", "data": error.details}

    async def scene() -> None:
        async with stage(of(ask), {"error": refused}) as on:
            events = await on.say("hi")
            found = plain(events[2])["data"]["error"]
            assert found["details"] == [quota]

    play(scene)


def test_an_error_of_the_agent_names_its_line() -> None:
    async def agent(text: str) -> AsyncIterator[str]:
        yield "one"
        raise KeyError("x")

    async def scene() -> None:
        async with stage(of(agent)) as on:
            events = await on.say("hi")

            assert kinds(events) == ["message", "error", "agent_end"]
            stack = plain(events[3])["_meta"]["stack"]
            assert "test_agent.py, line " in stack

    play(scene)


def test_an_abort_ends_the_answer_where_it_is() -> None:
    closed: list[str] = []

    async def agent(text: str) -> AsyncIterator[str]:
        try:
            yield "one"
            await asyncio.sleep(3600)
            yield "two"
        finally:
            closed.append("closed")

    async def scene() -> None:
        async with stage(of(agent, pieces=True)) as on:
            await on.agent.send(message("hi"))
            await on.services.clock.sleep(10)
            await on.agent.abort()
            await on.runtime.settled()

            assert [event.type for event in on.agent.events][2:] == ["message", "agent_end"]
            assert plain(on.agent.events[-1]) == {"reason": "aborted"}
            assert closed == ["closed"]
            assert kinds(await on.say("again"))[0] == "message"

    play(scene)


def test_an_abort_at_an_event_comes_before_the_agent_goes_on() -> None:
    went_on: list[str] = []

    async def agent(text: str) -> AsyncIterator[Any]:
        yield {"type": "tool_request", "name": "order", "args": {}}
        went_on.append("ordered")
        yield "done"

    async def scene() -> None:
        async with stage(of(agent)) as on:

            def abort(event: Any) -> None:
                if event.type == "tool_request":
                    _at_once(on.agent.abort())

            on.agent.subscribe(abort)
            events = await on.say("hi")

            assert kinds(events) == ["tool_request", "agent_end"]
            assert went_on == []

    play(scene)


def _at_once(call: Any) -> None:
    with pytest.raises(StopIteration):
        call.send(None)


def test_leaving_ends_what_runs() -> None:
    async def agent(text: str) -> AsyncIterator[str]:
        await asyncio.sleep(3600)
        yield "late"

    async def scene() -> None:
        async with stage(of(agent)) as on:
            await on.agent.send(message("hi"))
            await asyncio.sleep(0)
        assert plain(on.agent.events[-1]) == {"reason": "aborted"}
        assert len(asyncio.all_tasks()) == 1

    play(scene)


def test_a_reset_begins_another_conversation() -> None:
    begun: list[AgentSession] = []

    def start(session: AgentSession) -> Any:
        begun.append(session)
        return say

    async def scene() -> None:
        async with stage(agent_runtime(start)) as on:
            await on.say("a")
            await on.say("b")
            assert len(begun) == 1
            await on.runtime.reset()
            await on.say("c")
            assert len(begun) == 2
            assert begun[0].workspace == on.services.workspace.root

    play(scene)


def test_custom_channels_read_what_the_adapter_left() -> None:
    def start(session: AgentSession) -> Any:
        session.state["orders"] = orders = []

        async def agent(text: str) -> AsyncIterator[str]:
            orders.append({"item": text})
            yield "ok"

        return agent

    shop = agent_runtime(start, shows={"orders": lambda session: session.state["orders"]})

    async def scene() -> None:
        async with stage(shop) as on:
            await on.say("tea")
            assert on.runtime.shown() == {"orders": [{"item": "tea"}]}

    play(scene)
    assert shop.traits.custom == {"orders"}


class Order:
    """What some agent yields."""

    def __init__(self, price: object) -> None:
        self.price = price


def on_order(order: Order, emit: Emit) -> None:
    emit.custom("order", {"price": order.price})


def test_a_row_says_what_an_item_means() -> None:
    async def agent(text: str) -> AsyncIterator[Any]:
        yield "a"
        yield Order(3)
        yield None

    async def scene() -> None:
        async with stage(of(agent, table={Order: on_order})) as on:
            events = await on.say("hi")
            assert kinds(events) == ["message", "custom", "agent_end"]
            assert plain(events[3]) == {"kind": "order", "data": {"price": 3}}

    play(scene)


@pytest.mark.parametrize(
    ("items", "problem"),
    [
        ([Order(1)], "emits a tests.adapters.test_agent.Order, for which its event table has no"),
        ([{"type": "x", "a": 1}], "emits an object with the keys 'type', 'a', for which its event"),
        ([{"type": "text", "txt": "a"}], "emits an object of type 'text' that misfits: text() got"),
        ([{"type": "text", "text": 3}], "emits a text that is no text but of type int"),
        ([{"type": "tool_response", "result": 1}], "out of order: a tool_update or tool_response"),
        (
            [{"type": "tool_request", "name": "a", "args": {"x": Decimal(1)}}],
            "emits a value that is not JSON, in args: Object of type Decimal is not JSON",
        ),
        (
            [{"type": "custom", "kind": "a", "data": {"x": float("nan")}}],
            "emits a value that is not JSON, in data: Out of range float values",
        ),
    ],
)
def test_what_no_agent_may_emit_is_one_sentence_with_its_line(
    items: list[Any], problem: str
) -> None:
    async def agent(text: str) -> AsyncIterator[Any]:
        for item in items:
            yield item

    async def scene() -> None:
        async with stage(of(agent)) as on:
            await on.say("hi")

    says = broken(scene)
    assert problem in says
    assert says.startswith("at ")
    assert "test_agent.py, line " in says


def broken(scene: Callable[[], Any]) -> str:
    """What an agent broke in a scene."""
    with pytest.raises(ExceptionGroup) as raised:
        play(scene)
    error: BaseException = raised.value
    while isinstance(error, BaseExceptionGroup):
        (error,) = error.exceptions
    assert isinstance(error, AgentBroke)
    return str(error)


def test_what_is_no_generator_is_refused() -> None:
    async def scene() -> None:
        async with stage(of(lambda text: [text])) as on:
            await on.say("hi")

    assert broken(scene).endswith("answers with a list instead of an asynchronous generator")


def test_a_replay_connects_to_no_other_machine() -> None:
    async def agent(text: str) -> AsyncIterator[str]:
        async with httpx.AsyncClient() as client:
            await client.get("https://example.org/price")
        yield "never"

    async def scene() -> None:
        async with stage(of(agent)) as on:
            events = await on.say("hi")
            assert plain(events[2])["message"] == (
                "a replay connects to no other machine: GET example.org/price"
            )

    play(scene)


def test_elsewhere_clients_do_what_they_did() -> None:
    async def scene() -> None:
        async with stage(of(say)) as on:
            await on.say("hi")
        with pytest.raises(httpx.UnsupportedProtocol):
            await httpx.AsyncClient().get("nothing://x")

    play(scene)
