"""A child is the same agent as its parent, made of other parts; and nothing of ADK's leaks."""

from __future__ import annotations

from contextlib import aclosing
from typing import Any, cast

import pytest
from google.adk.apps.app import App
from google.adk.events.event import Event
from google.adk.models.llm_response import LlmResponse
from google.adk.platform import time as platform_time
from google.adk.platform import uuid as platform_uuid
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.runners import Runner
from google.adk.sessions.in_memory_session_service import InMemorySessionService
from google.genai import types

from agent_protocol.agent import MessageSend
from agent_protocol.errors import UnsupportedSend
from runtimes.adk.agent import AdkAgentProtocol
from runtimes.adk.flow import RuntimeFlow
from runtimes.adk.llm import GcliAgentModel
from runtimes.adk.plugins.child import CompleteTaskAdkPlugin
from runtimes.adk.root import APP_NAME, GeminiCliAgent, HostedAgent
from services.children.calls import CallsOutcome
from services.model.aliases import ModelAlias
from services.model.errors import NetworkError
from services.model.sdk_contents import WireContent
from services.subagents.child import ChildRequest
from services.subagents.definition import (
    AgentPrompt,
    LocalAgentDefinition,
    RunLimits,
    TerminateMode,
)
from services.subagents.recovery import TASK_COMPLETED

READ = ("read_file", {"file_path": "a.txt"})


def definition(**fields) -> LocalAgentDefinition:
    prompt = AgentPrompt(system="You help.", query="${query}")
    return LocalAgentDefinition(name="helper", description="", prompt=prompt, **fields)


def made(played, runtime, *, call_id="c", on_activity=lambda activity: None, **fields):
    """A child of the runtime's factory, before its first message."""
    played.services.models.register_runtime_alias(
        "helper-config", ModelAlias(model="gemini-2.5-flash")
    )
    request = ChildRequest(
        definition=definition(**fields), parent_call_id=call_id, on_activity=on_activity
    )
    return runtime._factory.child(request)


def done(kit, result="done"):
    return [kit.parts_chunk(kit.call("complete_task", {"result": result}), finish="STOP")]


def outcome(*, completed, submitted=None) -> CallsOutcome:
    return CallsOutcome(parts=[], submitted_output=submitted, completed=completed, aborted=False)


def answered(note) -> Event:
    part = {"functionResponse": {"id": "1", "name": "f", "response": {}}}
    content = WireContent.of({"role": "user", "parts": [part]}, note)
    return Event(author=APP_NAME, invocation_id="i", content=content)


def agent_of(child):
    """An agent as each run of the child gets one."""
    return child._make_agent(child._child)[1]


def test_child_has_an_agent_of_the_same_class(kit):
    async def script(played, runtime):
        agent, main = agent_of(made(played, runtime)), runtime.agent()
        assert type(agent) is type(main) is AdkAgentProtocol
        assert agent._runner is not main._runner
        assert agent._sessions is not main._sessions
        with pytest.raises(UnsupportedSend):
            await agent.send(MessageSend(content=()))

    kit.run(script, [])


def test_child_has_no_masking_loop_check_window_check_or_loop_plugin(kit):
    async def script(played, runtime):
        runner = agent_of(made(played, runtime))._runner
        plugins = [plugin.name for plugin in runner.plugin_manager.plugins]
        assert plugins == ["max_turns", "max_time", "complete_task", "steering"]
        flow = runner.agent._hosted._llm_flow
        assert [processor.name for processor in flow.request_processors] == [
            *("limits", "basic", "instructions", "compression"),
            *("contents", "gcli_routing", "agent_tools"),
        ]

    kit.run(script, [])


def test_child_that_has_ended_is_not_among_the_children_and_its_runner_is_closed(kit, monkeypatch):
    async def script(played, runtime):
        child = made(played, runtime)
        closed = []

        async def close(agent):
            closed.append([each.type for each in child.events])
            await shut(agent)

        monkeypatch.setattr(AdkAgentProtocol, "close", close)
        await child.start({"query": "go"})
        assert runtime._factory.children == {child}
        await child.result()
        assert runtime._factory.children == set()
        (before_the_close,) = closed
        assert [each.type for each in child.events] == [*before_the_close, "agent_end"]

    shut = AdkAgentProtocol.close
    kit.run(script, [done(kit)])


def test_adks_clock_and_ids_are_each_childs_own_and_not_its_starters(kit):
    seen = {}

    async def script(played, runtime):
        async def look(chat):
            seen.setdefault(chat.recording.path, []).append(platform_uuid.new_uuid())
            assert platform_time.get_time() == played.services.clock.now_ms() / 1000

        before = platform_uuid.new_uuid()
        both = [made(played, runtime, call_id=c, on_before_turn=look) for c in ("c1", "c2")]
        for child in both:
            await child.start({"query": "go"})
        for child in both:
            await child.result()
        after = platform_uuid.new_uuid()
        assert not {before[:4], after[:4]} & {"adk-"}
        first, second = seen.values()
        assert first == second
        assert first[0].startswith("adk-event-")

    kit.run(script, [done(kit), done(kit)])


def test_abort_in_the_wait_for_another_attempt_leaves_without_an_error(kit):
    activities = []

    async def script(played, runtime):
        child = made(played, runtime, on_activity=activities.append)
        played.services.events.subscribe(lambda event: kit.abort(child))
        await child.start({"query": "go"})
        output = await child.result()
        assert output.terminate_reason is TerminateMode.ABORTED
        assert output.result == "Agent execution was terminated before completion."
        assert activities == []
        assert len(played.model.requests) == 1

    broken = [kit.text("I "), NetworkError("read ECONNRESET", code="ECONNRESET")]
    kit.run(script, [broken])


def test_calls_of_an_attempt_that_broke_off_are_made_though_the_answer_has_none(kit):
    activities = []

    async def script(played, runtime):
        child = made(played, runtime, on_activity=activities.append)
        await child.start({"query": "go"})
        assert (await child.result()).result == "done"
        names = [a.data["name"] for a in activities if a.type.value == "TOOL_CALL_START"]
        assert names == ["read_file", "complete_task"]

    broken = [kit.parts_chunk(kit.call(*READ)), NetworkError("reset", code="ECONNRESET")]
    kit.run(script, [broken, [kit.text("Hm.", "STOP")], done(kit)])


def test_limits_count_turns_of_the_task_and_not_the_recovery(kit):
    async def script(played, runtime):
        child = made(played, runtime, limits=RunLimits(max_turns=2))
        await child.start({"query": "go"})
        output = await child.result()
        assert (output.terminate_reason, output.turn_count) == (TerminateMode.GOAL, 2)
        ids = [request.prompt_id.rpartition("#")[2] for request in played.model.requests]
        assert ids == ["0", "1", "2"]

    read = [kit.parts_chunk(kit.call(*READ), finish="STOP")]
    kit.run(script, [read, read, done(kit)])


@pytest.mark.parametrize(
    ("note", "last"),
    [
        (outcome(completed=True, submitted="x"), True),
        (outcome(completed=False), False),
        (None, False),
    ],
)
async def test_plugin_marks_the_event_that_completes_the_task_as_the_last(note, last):
    event, plugin = answered(note), CompleteTaskAdkPlugin()
    assert await plugin.on_event_callback(invocation_context=cast("Any", None), event=event) is None
    assert bool(event.actions.skip_summarization) is last
    assert plugin.result == ("x" if last else None)


async def test_completion_without_an_output_has_a_result_all_the_same():
    plugin, event = CompleteTaskAdkPlugin(), answered(outcome(completed=True))
    await plugin.on_event_callback(invocation_context=cast("Any", None), event=event)
    assert plugin.result == TASK_COMPLETED


class Endless(GcliAgentModel):
    """Asks for a tool, for ever."""

    async def generate_content_async(self, llm_request, stream=False):
        asked.append(llm_request)
        call = types.FunctionCall(id=str(len(asked)), name="f", args={})
        content = types.Content(role="model", parts=[types.Part(function_call=call)])
        yield LlmResponse(content=content)


asked: list = []


class Rounds:
    """Answers every call; the second round completes the task."""

    def __init__(self) -> None:
        self.count = 0

    async def execute(self, context, call_event, llm_request):
        self.count += 1
        note = outcome(completed=self.count == 2)
        yield answered(note).model_copy(update={"invocation_id": context.invocation_id})


async def test_adk_asks_whether_an_event_is_the_last_after_plugins_have_seen_it():
    """The contract that the terminator rests on: the mark counts although it is made in place."""
    asked.clear()
    sessions, batch = InMemorySessionService(), Rounds()
    await sessions.create_session(app_name=APP_NAME, user_id="u", session_id="s")
    hosted = HostedAgent.make(Endless(model="m"), RuntimeFlow([], batch.execute), lambda: "", [])
    plugins: list[BasePlugin] = [CompleteTaskAdkPlugin()]
    app = App(name=APP_NAME, root_agent=GeminiCliAgent.around(hosted), plugins=plugins)
    runner = Runner(app=app, session_service=sessions)
    message = types.Content(role="user", parts=[types.Part(text="go")])
    events = runner.run_async(user_id="u", session_id="s", new_message=message)
    async with aclosing(events):
        seen = [event async for event in events]
    assert batch.count == 2
    assert len(asked) == 2
    assert seen[-1].actions.skip_summarization
    await runner.close()


class Reading(BasePlugin):
    """Notes, at the end of each run, the texts and calls of `session.events`, and state."""

    def __init__(self) -> None:
        super().__init__("reading")
        self.seen: list[list[str]] = []
        self.state: list[dict] = []

    async def before_model_callback(self, *, callback_context, llm_request):
        callback_context.state["turns"] = callback_context.state.get("turns", 0) + 1

    async def after_run_callback(self, *, invocation_context):
        events = invocation_context.session.events
        self.seen.append(
            [
                part.text or (part.function_call or part.function_response).name
                for event in events
                for part in event.content.parts
            ]
        )
        assert len({event.id for event in events}) == len(events)
        self.state.append(dict(invocation_context.session.state))


def test_the_session_of_a_child_shows_its_whole_task(kit, monkeypatch):
    reading = Reading()
    init: Any = AdkAgentProtocol.__init__

    def added(self, *args, plugins, **options):
        init(self, *args, plugins=(*plugins, reading), **options)

    monkeypatch.setattr(AdkAgentProtocol, "__init__", added)

    async def script(played, runtime):
        child = made(played, runtime)
        await child.start({"query": "look"})
        await child.result()

    call = kit.parts_chunk(kit.call(*READ), finish="STOP")
    recovery = [[kit.text("that is all", "STOP")], done(kit)]
    kit.run(script, [[call], *recovery])
    task = ["look", "read_file", "read_file", "that is all"]
    assert reading.seen[0] == task
    assert reading.seen[1][: len(task)] == task
    assert reading.seen[1][-2:] == ["complete_task", "complete_task"]
    assert reading.state == [{"turns": 2}, {"turns": 3}]
