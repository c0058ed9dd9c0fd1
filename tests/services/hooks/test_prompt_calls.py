"""The calls of a send: which of them AfterAgent fires for, and with what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from services.abort import AbortController
from services.hooks.prompt_calls import PromptCalls
from services.hooks.prompt_hooks import PromptHooks
from services.hooks.results import HookOutput
from tests.services.hooks.stand_ins import OpenSession


@dataclass
class Answer:
    text: str
    asked: bool = False


def command(output: str) -> dict[str, Any]:
    return {"hooks": [{"type": "command", "command": f"echo '{output}'"}]}


def calls_of(open_session: OpenSession, **hooks: str) -> PromptCalls:
    session = open_session({event: [command(output)] for event, output in hooks.items()})
    return PromptCalls(PromptHooks(session.hooks), "p", AbortController().signal)


BLOCK = '{"decision": "block", "reason": "go on"}'


async def test_a_call_that_a_hook_refuses_is_not_entered(open_session: OpenSession) -> None:
    calls = calls_of(open_session, BeforeAgent=BLOCK)

    said = await calls.enter([{"text": "q"}], 100)

    assert isinstance(said, HookOutput)
    assert (said.blocks, said.shown_reason, calls.under_way) == (True, "go on", False)


async def test_a_hooks_context_comes_after_the_request(open_session: OpenSession) -> None:
    context = '{"hookSpecificOutput": {"additionalContext": "c"}}'
    calls = calls_of(open_session, BeforeAgent=context)

    entered = await calls.enter([{"text": "q"}], 100)

    assert entered == [{"text": "q"}, {"text": "<hook_context>c</hook_context>"}]


async def test_what_follows_a_block_is_a_call_of_its_own(open_session: OpenSession) -> None:
    calls = calls_of(open_session, AfterAgent=BLOCK)

    await calls.enter([{"text": "q"}], 100)
    calls.ask_model(Answer("a"))
    first = await calls.after_agent()
    left = calls.left
    calls.resume_after_block()
    await calls.enter([{"text": "go on"}], 99)
    answer = Answer("b", asked=True)
    calls.ask_model(answer)

    assert first is not None
    assert (first.reason, left, calls.left) == ("go on", 100, 99)
    assert await calls.after_agent() is None
    assert calls.leave_for_tools(answer) is True


async def test_calls_before_a_batch_are_left_up_to_one_that_asked_for_none(
    open_session: OpenSession,
) -> None:
    calls = calls_of(open_session, AfterAgent=BLOCK)

    await calls.enter([{"text": "q"}], 100)
    await calls.enter([{"text": "Please continue."}], 99)
    calls.ask_model(Answer("a"))
    calls.resume_after_block()
    await calls.enter([{"text": "go on"}], 98)
    answer = Answer("b", asked=True)
    calls.ask_model(answer)

    assert calls.leave_for_tools(answer) is False
    assert calls.left == 100
    calls.abandon()
    assert calls.under_way is False


@pytest.mark.parametrize(("asked", "left"), [(True, True), (False, False)])
async def test_without_hooks_calls_are_only_counted(asked: bool, left: bool) -> None:
    calls = PromptCalls(PromptHooks(None), "p", AbortController().signal)
    parts = [{"text": "q"}]

    assert await calls.enter(parts, 100) is parts
    answer = Answer("a", asked=asked)
    calls.ask_model(answer)

    assert await calls.after_agent() is None
    assert calls.leave_for_tools(answer) is left
