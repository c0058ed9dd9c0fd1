from __future__ import annotations

import json
from typing import Any

from services.abort import AbortController
from services.hooks.prompt_hooks import PromptHooks
from services.wire import Part
from tests.services.hooks.stand_ins import OpenSession, Session, defined, says

LOGGED = {"type": "command", "command": "cat >> log; echo >> log"}


def prompts(open_session: OpenSession) -> tuple[Session, PromptHooks]:
    session = open_session(
        {"BeforeAgent": [{"hooks": [LOGGED]}], "AfterAgent": [{"hooks": [LOGGED]}]}
    )
    return session, PromptHooks(session.hooks)


def fired(session: Session) -> list[tuple[Any, ...]]:
    log = session.root / "log"
    given = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    return [(each["hook_event_name"], *(each[key] for key in list(each)[5:])) for each in given]


async def begin(hooks: PromptHooks, *parts: Part) -> Any:
    return await hooks.admit("p", list(parts), AbortController().signal)


async def after(hooks: PromptHooks, **fields: Any) -> None:
    await hooks.after_agent(
        "p",
        [{"text": "later"}],
        **{
            "response_text": "",
            "has_pending_calls": False,
            "stop_hook_active": False,
            **fields,
        },
    )


async def test_a_prompt_of_several_calls_fires_each_event_once(open_session: OpenSession) -> None:
    session, hooks = prompts(open_session)

    await begin(hooks, {"text": "q"}, {"inlineData": {}}, {"text": "!"})
    hooks.note_response("p", "a")
    await after(hooks, has_pending_calls=True)
    hooks.leave("p", has_pending_calls=True, aborted=False)
    await begin(hooks, {"functionResponse": {}})
    hooks.note_response("p", "")
    hooks.note_response("p", "b")
    await after(hooks)
    hooks.leave("p", has_pending_calls=False, aborted=False)

    assert fired(session) == [
        ("BeforeAgent", "q!"),
        ("AfterAgent", "q!", "a\nb", False),
    ]


async def test_a_blocked_end_goes_on_with_the_prompt_it_had(open_session: OpenSession) -> None:
    session, hooks = prompts(open_session)

    await begin(hooks, {"text": "q"})
    hooks.note_response("p", "a")
    await after(hooks)
    hooks.resume_after_block("p")
    await begin(hooks, {"text": "why"})
    hooks.note_response("p", "b")
    await after(hooks, stop_hook_active=True)
    hooks.leave("p", has_pending_calls=False, aborted=False)
    await begin(hooks, {"text": "again"})

    assert fired(session) == [
        ("BeforeAgent", "q"),
        ("AfterAgent", "q", "a", False),
        ("BeforeAgent", "why"),
        ("AfterAgent", "q", "a\nb", True),
        ("BeforeAgent", "again"),
    ]


async def test_a_call_that_goes_on_after_a_block_counts_as_outermost(
    open_session: OpenSession,
) -> None:
    session, hooks = prompts(open_session)

    await begin(hooks, {"text": "q"})
    await begin(hooks, {"text": "why"})
    await after(hooks, stop_hook_active=True, response_text="a")

    assert fired(session)[1] == ("AfterAgent", "q", "a", True)


async def test_only_the_outermost_call_ends_a_prompt(open_session: OpenSession) -> None:
    session, hooks = prompts(open_session)

    await begin(hooks, {"text": "q"})
    await begin(hooks, {"text": "Please continue."})
    await after(hooks)
    hooks.leave("p", has_pending_calls=False, aborted=False)
    await after(hooks, response_text="inner")

    assert fired(session) == [("BeforeAgent", "q"), ("AfterAgent", "q", "inner", False)]


async def test_without_a_text_after_agent_gets_a_placeholder(open_session: OpenSession) -> None:
    session, hooks = prompts(open_session)

    await begin(hooks)
    await after(hooks)

    assert fired(session)[1] == ("AfterAgent", "later", "[no response text]", False)


async def test_a_refused_call_is_never_left_so_its_id_is_used_up(
    open_session: OpenSession,
) -> None:
    session, hooks = prompts(open_session)

    await begin(hooks, {"text": "x"})
    await begin(hooks, {"text": "y"})
    await after(hooks)
    hooks.leave("p", has_pending_calls=False, aborted=False)

    assert fired(session) == [("BeforeAgent", "x")]


async def test_an_ended_or_forgotten_prompt_starts_afresh(open_session: OpenSession) -> None:
    session, hooks = prompts(open_session)

    await begin(hooks, {"text": "one"})
    hooks.leave("p", has_pending_calls=True, aborted=True)
    await begin(hooks, {"text": "two"})
    hooks.forget("p")
    await begin(hooks, {"text": "three"})

    assert [prompt for _, prompt in fired(session)] == ["one", "two", "three"]


async def test_a_context_comes_after_the_request(open_session: OpenSession) -> None:
    session = open_session(
        {"BeforeAgent": defined(says({"hookSpecificOutput": {"additionalContext": "c"}}))}
    )

    parts = await begin(PromptHooks(session.hooks), {"text": "q"})

    assert parts == [{"text": "q"}, {"text": "<hook_context>c</hook_context>"}]


async def test_without_hooks_a_request_stays_as_it_is() -> None:
    assert await begin(PromptHooks(None), {"text": "q"}) == [{"text": "q"}]
