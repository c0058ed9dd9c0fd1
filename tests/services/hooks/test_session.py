"""SessionStart and SessionEnd, as a runtime fires them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from services.hooks.session import SessionHooks, SessionStarted, StartSource
from services.wire import Content
from tests.services.hooks.stand_ins import OpenSession, Session, defined, says

pytestmark = pytest.mark.contract("P-297", "P-298")

ADDS = {
    "systemMessage": "Welcome",
    "hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "a <b>"},
}
CONTEXT = "<hook_context>a &lt;b&gt;</hook_context>"
KEEP = {"type": "command", "command": "cat >> given; echo >> given", "name": "keep"}


def _fired(session: Session) -> list[tuple[str, str]]:
    inputs: list[dict[str, Any]] = [json.loads(line) for line in session.given().splitlines()]
    return [
        (each["hook_event_name"], each.get("source") or each.get("reason") or "") for each in inputs
    ]


@pytest.mark.parametrize(
    ("interactive", "history"),
    [(True, [{"role": "user", "parts": [{"text": CONTEXT}]}]), (False, [])],
)
async def test_the_context_goes_into_an_interactive_history_alone(
    open_session: OpenSession, interactive: bool, history: list[Content]
) -> None:
    session = open_session(hooks={"SessionStart": defined(says(ADDS))})
    added: list[Content] = []
    hooks = SessionHooks(session.hooks, source=StartSource.STARTUP, interactive=interactive)

    await hooks.begin(added.append)

    assert hooks.started == SessionStarted(message="Welcome", context=CONTEXT)
    assert added == history


async def test_a_session_begins_clears_and_ends(open_session: OpenSession) -> None:
    both = {"SessionStart": defined(KEEP), "SessionEnd": defined(KEEP)}
    session = open_session(hooks=both)
    hooks = SessionHooks(session.hooks, source=StartSource.RESUME, interactive=True)
    seen: list[list[tuple[str, str]]] = []

    await hooks.begin(lambda _: None)
    await hooks.cleared(lambda: seen.append(_fired(session)))
    await hooks.finish()

    began = [("SessionStart", "resume"), ("SessionEnd", "clear")]
    assert seen == [began]
    assert _fired(session) == [*began, ("SessionStart", "clear"), ("SessionEnd", "exit")]


async def test_the_begin_warns_of_hooks_that_are_new(open_session: OpenSession) -> None:
    session = open_session(hooks={"Nope": defined(KEEP)})

    await SessionHooks(session.hooks, source=StartSource.STARTUP, interactive=True).begin(
        lambda _: None
    )

    assert any("Nope" in warning for warning in session.warnings)


async def test_hooks_that_say_nothing_add_nothing(open_session: OpenSession) -> None:
    session = open_session(hooks={"SessionStart": defined(KEEP)})
    hooks = SessionHooks(session.hooks, source=StartSource.STARTUP, interactive=True)
    added: list[Content] = []

    await hooks.begin(added.append)

    assert (hooks.started, added) == (SessionStarted(), [])


async def test_without_hooks_a_conversation_is_cleared_all_the_same() -> None:
    hooks = SessionHooks(None, source=StartSource.STARTUP, interactive=True)
    cleared: list[bool] = []

    await hooks.begin(lambda _: None)
    await hooks.cleared(lambda: cleared.append(True))
    await hooks.finish()

    assert cleared == [True]


@pytest.mark.parametrize(
    ("context", "prompt", "sent"),
    [(None, "go", "go"), ("<c>", "go", "<c>\n\ngo"), ("<c>", "", "<c>"), (None, "", "")],
)
def test_the_context_comes_before_the_prompt(context: str | None, prompt: str, sent: str) -> None:
    assert SessionStarted(context=context).before(prompt) == sent
