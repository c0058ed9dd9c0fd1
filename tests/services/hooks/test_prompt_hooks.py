from __future__ import annotations

import json
from typing import Any

from services.hooks.prompt_hooks import PromptHooks, with_hook_context
from tests.services.hooks.stand_ins import OpenSession, Session

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

    await hooks.begin("p", [{"text": "q"}, {"inlineData": {}}, {"text": "!"}])
    hooks.note_response("p", "a")
    await after(hooks, has_pending_calls=True)
    hooks.leave("p", has_pending_calls=True, aborted=False)
    await hooks.begin("p", [{"functionResponse": {}}])
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

    await hooks.begin("p", "q")
    hooks.note_response("p", "a")
    await after(hooks)
    hooks.resume_after_block("p")
    await hooks.begin("p", [{"text": "why"}])
    hooks.note_response("p", "b")
    await after(hooks, stop_hook_active=True)
    hooks.leave("p", has_pending_calls=False, aborted=False)
    await hooks.begin("p", "again")

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

    await hooks.begin("p", "q")
    await hooks.begin("p", "why")
    await after(hooks, stop_hook_active=True, response_text="a")

    assert fired(session)[1] == ("AfterAgent", "q", "a", True)


async def test_only_the_outermost_call_ends_a_prompt(open_session: OpenSession) -> None:
    session, hooks = prompts(open_session)

    await hooks.begin("p", "q")
    await hooks.begin("p", "Please continue.")
    await after(hooks)
    hooks.leave("p", has_pending_calls=False, aborted=False)
    await after(hooks, response_text="inner")

    assert fired(session) == [("BeforeAgent", "q"), ("AfterAgent", "q", "inner", False)]


async def test_without_any_text_the_response_is_named_so(open_session: OpenSession) -> None:
    session, hooks = prompts(open_session)

    await hooks.begin("p", "")
    await after(hooks)

    assert fired(session)[1] == ("AfterAgent", "later", "[no response text]", False)


async def test_a_refused_call_is_never_left_so_its_id_is_used_up(
    open_session: OpenSession,
) -> None:
    session, hooks = prompts(open_session)

    await hooks.begin("p", "x")
    await hooks.begin("p", "y")
    await after(hooks)
    hooks.leave("p", has_pending_calls=False, aborted=False)

    assert fired(session) == [("BeforeAgent", "x")]


async def test_an_ended_or_forgotten_prompt_starts_afresh(open_session: OpenSession) -> None:
    session, hooks = prompts(open_session)

    await hooks.begin("p", "one")
    hooks.leave("p", has_pending_calls=True, aborted=True)
    await hooks.begin("p", "two")
    hooks.forget("p")
    await hooks.begin("p", "three")

    assert [prompt for _, prompt in fired(session)] == ["one", "two", "three"]


def test_a_context_comes_after_the_request() -> None:
    context = {"text": "<hook_context>c</hook_context>"}

    assert with_hook_context("q", "c") == ["q", context]
    assert with_hook_context({"text": "q"}, "c") == [{"text": "q"}, context]
    assert with_hook_context([{"text": "q"}], "c") == [{"text": "q"}, context]
