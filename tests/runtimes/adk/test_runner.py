"""`GcliRunner`: what it overrides of google-adk's Runner, and that each override is needed."""

from __future__ import annotations

import pytest
from google.adk.agents.llm_agent import LlmAgent
from google.adk.apps.app import App
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.runners import Runner
from google.adk.sessions.in_memory_session_service import InMemorySessionService
from google.adk.tools.base_toolset import BaseToolset
from google.genai import types

from runtimes.adk.agent import AdkAgentProtocol

from .adk_private_names import SCANS
from .session_kit import answers, made, reading, register
from .test_session_state import Echo

__all__ = ["made", "register"]


@pytest.mark.parametrize(("ours", "name"), SCANS)
def test_without_any_one_override_adk_reads_settled_events(kit, made, monkeypatch, ours, name):
    def play() -> None:
        kit.play([reading(kit), *answers(kit, "a", "b")], "one", "two")

    play()
    assert made == [], (
        "google-adk reads the events of settled turns by itself: find out where (the traceback of "
        "SettledEvent.made), and override that in runtimes/adk/runner.py"
    )
    monkeypatch.delattr(ours, name)
    play()
    assert made, (
        f"google-adk's own {name} does not look through session.events any more: "
        "the override in runtimes/adk/runner.py can go"
    )


class Calls(BasePlugin):
    """Notes every callback about a run or an agent, and the kind of agent that it names."""

    def __init__(self) -> None:
        super().__init__("calls")
        self.calls: list[tuple[str, bool, str | None]] = []

    def note(self, name: str, agent: object) -> None:
        self.calls.append((name, isinstance(agent, LlmAgent), getattr(agent, "parent_agent", None)))

    async def on_user_message_callback(self, *, invocation_context, user_message):
        self.note("on_user_message", invocation_context.agent)

    async def before_run_callback(self, *, invocation_context):
        self.note("before_run", invocation_context.agent)

    async def before_agent_callback(self, *, agent, callback_context):
        assert callback_context.agent_name == agent.name
        self.note("before_agent", agent)

    async def on_event_callback(self, *, invocation_context, event):
        if not event.partial:
            self.note("on_event", invocation_context.agent)

    async def after_agent_callback(self, *, agent, callback_context):
        self.note("after_agent", agent)

    async def after_run_callback(self, *, invocation_context):
        self.note("after_run", invocation_context.agent)


async def stock_calls() -> list[tuple[str, bool, str | None]]:
    """What a stock agent's plugin is called with in one run."""
    calls, sessions = Calls(), InMemorySessionService()
    app = App(name="app", root_agent=LlmAgent(name="a", model=Echo(model="echo")), plugins=[calls])
    await sessions.create_session(app_name="app", user_id="u", session_id="s")
    message = types.Content(role="user", parts=[types.Part(text="hello")])
    runner = Runner(app=app, session_service=sessions)
    async for _ in runner.run_async(user_id="u", session_id="s", new_message=message):
        pass
    return calls.calls


def test_callbacks_come_as_often_as_in_stock_adk_and_name_the_llm_agent(kit, register):
    calls = Calls()
    register(calls)
    kit.play(answers(kit, "a"))
    assert calls.calls == kit.in_loop(stock_calls)


class Toolset(BaseToolset):
    """Notes that it was closed."""

    closed = False

    async def get_tools(self, readonly_context=None):
        return []

    async def close(self) -> None:
        self.closed = True


def test_closing_the_runner_closes_the_agents_toolsets(kit, monkeypatch):
    toolset = Toolset()
    init = AdkAgentProtocol.__init__

    def equipped(self, *args, **options):
        init(self, *args, **options)
        self._runner._agent.tools.append(toolset)

    monkeypatch.setattr(AdkAgentProtocol, "__init__", equipped)
    kit.play(answers(kit, "a"))
    assert toolset.closed
