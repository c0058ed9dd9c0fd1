"""`ModelCallHooks`: what the hooks around a model request change."""

from __future__ import annotations

from typing import Any

import pytest

from services.hooks.model_call import (
    AgentExecutionBlocked,
    AgentExecutionStopped,
    HookVerdict,
    ModelCallHooks,
)
from services.hooks.translation import HookModelRequest
from tests.services.hooks.stand_ins import CHUNK, REQUEST, OpenSession, defined, says


async def test_without_hooks_request_and_chunk_stay_as_they_are(open_session: OpenSession) -> None:
    hooks = ModelCallHooks(open_session({}).hooks)

    assert await hooks.before_attempt(REQUEST, nudge="again") is REQUEST
    assert await hooks.after_chunk(REQUEST, CHUNK) is CHUNK


async def test_a_failing_hook_is_reported_once_per_answer(open_session: OpenSession) -> None:
    session = open_session({"AfterModel": defined(says("", then="; exit 1"))})
    hooks = ModelCallHooks(session.hooks)

    for _ in range(2):
        await hooks.after_chunk(REQUEST, CHUNK)
    other = HookModelRequest(model="m", config={}, contents=[])
    await hooks.after_chunk(other, CHUNK)

    assert len(session.warnings) == 2


async def test_a_stop_before_the_model_goes_before_a_block(open_session: OpenSession) -> None:
    said = {"continue": False, "decision": "deny", "stopReason": "halt"}
    session = open_session({"BeforeModel": defined(says(said))})

    with pytest.raises(AgentExecutionStopped) as stopped:
        await ModelCallHooks(session.hooks).before_attempt(REQUEST)

    assert (stopped.value.reason, stopped.value.response) == ("halt", None)


async def test_a_block_may_answer_instead_of_the_model(open_session: OpenSession) -> None:
    answers = [{"content": {"parts": ["a"]}}, {"content": {"parts": []}, "finishReason": "OTHER"}]
    said = {"decision": "deny", "hookSpecificOutput": {"llm_response": {"candidates": answers}}}
    session = open_session({"BeforeModel": defined(says(said))})

    with pytest.raises(AgentExecutionBlocked) as blocked:
        await ModelCallHooks(session.hooks).before_attempt(REQUEST)

    assert blocked.value.response == {
        "candidates": [
            {"content": {"role": "model", "parts": [{"text": "a"}]}, "finishReason": "STOP"},
            {"content": {"role": "model", "parts": []}, "finishReason": "OTHER"},
        ]
    }


@pytest.mark.parametrize("response", [{}, {"candidates": [{}]}])
async def test_a_block_with_a_broken_answer_is_no_block(
    response: Any, open_session: OpenSession
) -> None:
    said = {"decision": "deny", "hookSpecificOutput": {"llm_response": response}}
    session = open_session({"BeforeModel": defined(says(said))})

    assert await ModelCallHooks(session.hooks).before_attempt(REQUEST, nudge="again") is REQUEST


async def test_an_output_without_changes_keeps_model_config_and_contents(
    open_session: OpenSession,
) -> None:
    session = open_session({"BeforeModel": defined(says({}))})

    asked = await ModelCallHooks(session.hooks).before_attempt(REQUEST)

    assert (asked.model, asked.config) == (REQUEST.model, REQUEST.config)
    assert asked.contents is REQUEST.contents


async def test_any_output_before_the_model_resolves_the_name_and_adds_the_nudge(
    open_session: OpenSession,
) -> None:
    said = {"hookSpecificOutput": {"llm_request": {"model": "alias"}}}
    session = open_session({"BeforeModel": defined(says(said))})

    asked = await ModelCallHooks(session.hooks).before_attempt(
        REQUEST, concrete=lambda name: f"concrete-{name}", nudge="again"
    )

    assert asked.model == "concrete-alias"
    assert asked.contents == [{"role": "user", "parts": [{"text": "hé"}, {"text": "\nagain"}]}]


async def test_a_tool_selection_replaces_the_choice_and_names_the_tools(
    open_session: OpenSession,
) -> None:
    choice = {"mode": "ANY", "allowedFunctionNames": ["b", "a"]}
    said = {"hookSpecificOutput": {"toolConfig": choice}}
    session = open_session({"BeforeToolSelection": defined(says(said))})

    asked = await ModelCallHooks(session.hooks).before_attempt(REQUEST)

    assert asked.config["toolConfig"] == {
        "functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["a", "b"]}
    }
    assert asked.config["tools"] == REQUEST.config["tools"]


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        ({"continue": False, "decision": "deny"}, AgentExecutionStopped),
        ({"decision": "block"}, AgentExecutionBlocked),
    ],
)
async def test_after_the_model_a_chunk_may_be_stopped_or_blocked(
    said: Any, verdict: type[HookVerdict], open_session: OpenSession
) -> None:
    session = open_session({"AfterModel": defined(says(said))})

    with pytest.raises(verdict) as raised:
        await ModelCallHooks(session.hooks).after_chunk(REQUEST, CHUNK)

    assert raised.value.response is (CHUNK if verdict is AgentExecutionBlocked else None)


@pytest.mark.parametrize(("parts", "text"), [(["X"], "X"), ([], "hi"), ("X", "hi")])
async def test_after_the_model_a_chunk_may_be_replaced(
    parts: Any, text: str, open_session: OpenSession
) -> None:
    response = {"candidates": [{"content": {"parts": parts}}]}
    said = {"hookSpecificOutput": {"llm_response": response}}
    session = open_session({"AfterModel": defined(says(said))})

    chunk = await ModelCallHooks(session.hooks).after_chunk(REQUEST, CHUNK)

    assert chunk["candidates"][0]["content"]["parts"] == [{"text": text}]
