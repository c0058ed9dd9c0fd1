"""Session state and artifacts: as google-adk's own in-memory services keep them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from google.adk.agents.llm_agent import LlmAgent
from google.adk.apps.app import App
from google.adk.artifacts.in_memory_artifact_service import InMemoryArtifactService
from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.runners import Runner
from google.adk.sessions.in_memory_session_service import InMemorySessionService
from google.adk.sessions.session import Session
from google.genai import types

from runtimes.adk.agent import USER_ID
from runtimes.adk.root import APP_NAME
from services.model.errors import ApiError

from .adk_contract import over_nothing
from .session_kit import MASKING, answers, converse, reading, register, session_of

__all__ = ["converse", "register"]

KEY: dict[str, Any] = {"app_name": "app", "user_id": "u", "session_id": "s"}


class Writing(BasePlugin):
    """Writes state of every scope and a file, and notes what it finds when a run begins."""

    def __init__(self) -> None:
        super().__init__("writing")
        self.found: list[dict[str, Any]] = []
        self.run = 0

    async def before_run_callback(self, *, invocation_context):
        self.run += 1
        self.found.append(dict(invocation_context.session.state))

    async def before_agent_callback(self, *, agent, callback_context):
        callback_context.state["begun"] = self.run

    async def before_model_callback(self, *, callback_context, llm_request):
        state = callback_context.state
        state["count"] = state.get("count", 0) + 1
        state[f"only in {self.run}"] = True
        for scope in ("app", "user", "temp"):
            state[f"{scope}:count"] = state.get(f"{scope}:count", 0) + 1
        part = types.Part(text=f"run {self.run}")
        await callback_context.save_artifact("note.txt", part)


def after(runs: int) -> dict[str, Any]:
    """The state after so many runs of one request each."""
    if not runs:
        return {}
    only = {f"only in {number}": True for number in range(1, runs + 1)}
    return {"begun": runs, "count": runs, **only, "app:count": runs, "user:count": runs}


@pytest.fixture
def writing(register) -> Writing:
    plugin = Writing()
    register(plugin)
    return plugin


def test_each_run_finds_what_those_before_it_wrote(kit, writing):
    kit.play([reading(kit), *answers(kit, "a", "b", "c")], "one", "two", "three")
    assert writing.found[0] == {}
    assert writing.found[1] == {**after(1), "count": 2, "app:count": 2, "user:count": 2}
    assert writing.found[2]["count"] == 3
    assert writing.found[2]["only in 2"] is True


def test_agents_of_one_conversation_share_its_state(kit, writing):
    kit.play(answers(kit, "a", "b", "c"), "one", "two", "three", own_prompt_ids=True)
    assert writing.found == [after(0), after(1), after(2)]


def test_a_failed_run_keeps_what_its_events_wrote(kit, writing):
    kit.play([ApiError.from_parts(400, "bad"), *answers(kit, "a")], "one", "two")
    assert writing.found[1] == {"begun": 1}


def test_state_survives_compression_and_masking(kit, converse, writing):
    used = {"promptTokenCount": 600_000}
    steps = [
        reading(kit),
        *answers(kit, "a"),
        [kit.text("b", "STOP", usageMetadata=used)],
        kit.text("short", "STOP"),
        kit.text("verified", "STOP"),
        *answers(kit, "c"),
        kit.text("short", "STOP"),
        kit.text("verified", "STOP"),
        *answers(kit, "d"),
    ]

    async def script(played, runtime, say):
        await say("one", "two", "three")
        await runtime.compress()
        await say("four")
        session = await session_of(played, runtime)
        return session.state, [event.actions.state_delta for event in session.events]

    state, deltas = converse(steps, script, **MASKING)
    assert [found.get("count") for found in writing.found] == [None, 2, 3, 4]
    assert state["count"] == 5
    replayed: dict[str, Any] = {}
    for delta in deltas:
        replayed.update(delta)
    assert replayed == {name: state[name] for name in replayed}
    assert set(replayed) == set(state)


def test_reset_leaves_only_what_is_not_the_sessions(kit, converse, writing):
    async def script(played, runtime, say):
        await say("one")
        await runtime.reset()
        await say("two")

    converse(answers(kit, "a", "b"), script)
    assert writing.found == [{}, {"app:count": 1, "user:count": 1}]


@pytest.mark.parametrize("other", [False, True])
def test_resume_keeps_the_state_of_this_conversation_alone(kit, converse, writing, other):
    async def script(played, runtime, say):
        await say("one")
        path = runtime._conversation.recording.path
        await runtime.resume(path if other else None)
        await say("two")

    converse(answers(kit, "a", "b"), script)
    kept = {} if other else after(1)
    assert writing.found[1] == {**kept, "app:count": 1, "user:count": 1}


class Echo(BaseLlm):
    """Answers each request at once."""

    async def generate_content_async(self, llm_request, stream=False):
        content = types.Content(role="model", parts=[types.Part(text="answer")])
        yield LlmResponse(content=content)


async def stock_rewind() -> tuple[dict[str, Any], str]:
    """State and file of a stock agent that is rewound to before its second of three runs."""
    sessions, artifacts = InMemorySessionService(), InMemoryArtifactService()
    app = App(
        name="app", root_agent=LlmAgent(name="a", model=Echo(model="echo")), plugins=[Writing()]
    )
    runner = Runner(app=app, session_service=sessions, artifact_service=artifacts)
    await sessions.create_session(**KEY)
    for words in ("one", "two", "three"):
        message = types.Content(role="user", parts=[types.Part(text=words)])
        async for _ in runner.run_async(user_id="u", session_id="s", new_message=message):
            pass
    session = await sessions.get_session(**KEY)
    assert session is not None
    second = list(dict.fromkeys(event.invocation_id for event in session.events))[1]
    await runner.rewind_async(user_id="u", session_id="s", rewind_before_invocation_id=second)
    session = await sessions.get_session(**KEY)
    assert session is not None
    file = await artifacts.load_artifact(**KEY, filename="note.txt")
    assert file is not None
    return session.state, file.text or ""


async def test_rewind_takes_state_and_artifacts_back_as_stock_adk_does(kit, converse, writing):
    async def script(played, runtime, say):
        await say("one", "two", "three")
        messages = runtime._conversation.recording.messages
        await runtime.rewind(next(m["id"] for m in messages if m["content"] == [{"text": "two"}]))
        session = await session_of(played, runtime)
        file = await runtime._sessions.artifacts.load_artifact(
            app_name=APP_NAME, user_id=USER_ID, session_id=session.id, filename="note.txt"
        )
        return dict(session.state), file.text

    ours = await asyncio.to_thread(lambda: converse(answers(kit, *"abc"), script))
    stock = await stock_rewind()
    assert ours == stock
    assert stock[0]["count"] == 1
    assert stock[0]["only in 2"] is None
    assert stock[1] == "run 1"


async def scoped_states(
    service: InMemorySessionService, make: Callable[[str, str], Awaitable[Session]]
) -> list[dict[str, Any]]:
    """What values of an app and a user become in four sessions, one of them another user's."""
    first, other = await make("u", "s"), await make("u", "t")
    for session, state in (
        (first, {"app:a": 1, "user:b": 2, "temp:d": 4}),
        (other, {"app:a": [5], "temp:e": 6}),
    ):
        event = Event(author="a", invocation_id="i", actions=EventActions(state_delta=state))
        await service.append_event(session, event)
    stranger, third = await make("v", "s"), await make("u", "x")
    third.state["app:a"].append("not stored")
    user = await service.get_user_state(app_name="app", user_id="u")
    fourth = await make("u", "y")
    return [session.state for session in (first, other, stranger, fourth)] + [user]


async def test_app_and_user_state_is_shared_as_in_memory_sessions_share_it():
    stock, ours = InMemorySessionService(), over_nothing()

    async def created(user_id: str, session_id: str) -> Session:
        return await stock.create_session(app_name="app", user_id=user_id, session_id=session_id)

    async def opened(user_id: str, session_id: str) -> Session:
        return ours.open(app_name="app", user_id=user_id, session_id=session_id)

    found = await scoped_states(ours, opened)
    assert found == await scoped_states(stock, created)
    assert found[-2] == {"app:a": [5], "user:b": 2}
