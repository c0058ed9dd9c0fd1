"""How a stream ends that fails, and what remains of it in history."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agent_protocol.agent import MessageSend
from runtimes.contract import Runtime
from services.abort import AbortError, AbortSignal
from services.model.errors import ApiError, UnauthorizedError
from tests.runtimes.kit import Kit, Played


def test_api_error_ends_the_stream_as_failed_and_takes_the_message_back(kit: Kit) -> None:
    refused = ApiError.from_parts(400, "bad", "INVALID_ARGUMENT")
    played = kit.play([refused, [kit.text("x", "STOP")]], "one", "two")
    error = played.errors[0]
    assert (error.status, error.fatal) == ("INVALID_ARGUMENT", True)
    assert error.message == str(refused)
    assert played.ends == [("failed", None), ("completed", None)]
    assert [part["text"] for part in played.model.requests[1].contents[0]["parts"]][1:] == ["two"]


def test_invalid_stream_is_reported_once_all_attempts_failed(kit: Kit) -> None:
    played = kit.play([[kit.text("", "STOP")]] * 4)
    error = played.errors[0]
    assert error.message == "Model stream ended with empty response text."
    assert error.meta["code"] == "INVALID_STREAM"
    assert error.meta["errorType"] == "NO_RESPONSE_TEXT"
    assert [retry.delay_ms for retry in played.retries] == [1000, 2000, 4000]
    assert played.ends == [("failed", None)]


def test_refused_credentials_are_an_unexpected_failure(inner_kit: Kit) -> None:
    played = inner_kit.play([UnauthorizedError("who are you")])
    assert played.errors[0].meta["errorName"] == "UnauthorizedError"
    assert played.errors[0].message == "who are you"
    assert played.ends == [("failed", None)]


def test_tool_response_stays_in_history_when_its_answer_fails(kit: Kit) -> None:
    ask = kit.parts_chunk(kit.call("read_file", {"file_path": "a.txt"}), finish="STOP")
    refused = ApiError.from_parts(400, "bad", "INVALID_ARGUMENT")
    played = kit.play([[ask], refused, [kit.text("x", "STOP")]], "one", "two")
    assert played.shapes[2] == [
        "user:text+text", "model:functionCall", "user:functionResponse", "model:text", "user:text",
    ]  # fmt: skip
    placeholder = played.model.requests[2].contents[3]["parts"][0]["text"]
    assert placeholder == "[The previous response was interrupted before it completed.]"


def test_unexpected_failure_in_the_loop_is_reported_with_its_stack(
    inner_kit: Kit, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def script(played: Played, runtime: Runtime) -> None:
        async def broken(requests: Any, signal: AbortSignal) -> Any:
            raise LookupError("no scheduler today")

        monkeypatch.setattr(played.services.scheduler, "schedule", broken)
        agent = runtime.agent()
        inner_kit.listen(agent, played)
        await agent.send(inner_kit.message("x"))
        await runtime.settled()

    ask = inner_kit.parts_chunk(inner_kit.call("read_file", {"file_path": "a.txt"}), finish="STOP")
    played = inner_kit.run(script, [[ask]])
    error = played.errors[0]
    assert (error.message, error.status) == ("no scheduler today", "INTERNAL")
    assert error.meta["errorName"] == "LookupError"
    assert "no scheduler today" in error.meta["stack"]
    assert played.ends == [("failed", None)]


@pytest.mark.parametrize("at", ["connecting", "in the stream"])
def test_cancelled_work_of_the_model_fails_as_an_abort_error_that_was_not_asked_for(
    inner_kit: Kit, at: str
) -> None:
    """As the published core's `Turn.run` reports an `AbortError` without an aborted signal."""

    def play(error: BaseException) -> Played:
        first = [inner_kit.text("zero", "STOP")]
        failing = error if at == "connecting" else [inner_kit.text("one"), error]
        return inner_kit.play([first, failing], "a", "b")

    cancelled, aborted = play(asyncio.CancelledError()), play(AbortError())
    assert cancelled.ends == [("completed", None), ("failed", None)]
    assert [error.message for error in cancelled.errors] == ["The operation was aborted."]
    assert [repr(event) for event in cancelled.events] == [repr(event) for event in aborted.events]
    # Both sends have one prompt id, and an abort takes the whole prompt back.
    for played in (cancelled, aborted):
        assert [inner_kit.shape(content) for content in played.transcript] == ["user:text"]
        assert len(played.lines[-1]["$set"]["messages"]) == 1


def test_abort_error_from_the_model_without_an_abort_is_reported_as_its_error(kit: Kit) -> None:
    played = kit.play([AbortError("gone")])
    assert played.errors[0].message == "gone"
    assert [end[0] for end in played.ends] == ["failed"]


def test_message_without_parts_is_refused_by_the_conversation(inner_kit: Kit) -> None:
    played = inner_kit.play([[inner_kit.text("a", "STOP")]], MessageSend(content=()), "then this")
    assert played.errors[0].message == "partOrString cannot be an empty array"
    assert [end[0] for end in played.ends] == ["failed", "completed"]
