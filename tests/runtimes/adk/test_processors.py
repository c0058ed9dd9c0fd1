"""Each request processor by what it does to a run."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events.event import Event
from google.adk.flows.llm_flows._base_llm_processor import BaseLlmRequestProcessor
from google.adk.models.llm_request import LlmRequest

from runtimes.adk.conversation import Conversation
from runtimes.adk.processors.contents import ContentsProcessor
from runtimes.adk.processors.conversation import ToolOutputMaskingProcessor, ToolsProcessor
from runtimes.adk.run import Run, RunLink
from runtimes.adk.session_events import live_events
from runtimes.adk.sessions import GcliSessionService
from runtimes.adk.tools import AdkTool, Toolbox
from services.abort import AbortController
from services.model.errors import ApiError
from services.model.sdk_contents import WireContent, wire_of
from services.tools.declaring import ToolDeclarations


def test_early_stop_removes_the_pending_event_at_once(kit, monkeypatch):
    left = []

    def settle(self, session):
        left.append([event.author for event in live_events(session.events)])

    monkeypatch.setattr(GcliSessionService, "settle", settle)
    kit.play([], max_session_turns=0)
    assert left == [["gemini_cli_agent"]]


async def test_toolbox_declares_anew_only_when_something_changed(kit):
    async with kit.services() as played:
        services = played.services
        box = Toolbox(ToolDeclarations(services.tools, services.state))
        first = box.declared("gemini-2.5-flash")
        assert box.declared("gemini-2.5-flash") is first
        assert box.declared("gemini-2.5-pro") is not first
        assert cast("AdkTool", first.by_name["glob"]).wire in first.wire[0]["functionDeclarations"]
        declaration: Any = first.by_name["glob"]._get_declaration()
        assert declaration.name == "glob"
        assert declaration.parameters_json_schema["type"] == "object"


async def test_tools_are_never_run_one_by_one():
    tool = AdkTool({"name": "t", "description": "d"})
    with pytest.raises(RuntimeError, match="run by the scheduler"):
        await tool.run_async(args={}, tool_context=cast("Any", None))


def test_live_events_stay_few(kit, monkeypatch):
    sizes = []
    plain = ContentsProcessor.run_async

    async def measured(self, context: InvocationContext, request):
        sizes.append(len(live_events(context.session.events)))
        async for event in plain(self, context, request):
            yield event

    monkeypatch.setattr(ContentsProcessor, "run_async", measured)
    ask = kit.parts_chunk(kit.call("glob", {"pattern": "*"}), finish="STOP")
    steps = []
    for _ in range(5):
        steps += [[ask], [ask], [kit.text("x", "STOP")]]
    played = kit.play(steps, *"abcde", disable_loop_detection=True)
    assert len(played.model.requests) == 15
    assert len(played.transcript) == 30
    assert set(sizes) == {1}


def test_invocation_that_failed_leaves_nothing_in_the_session(kit, monkeypatch):
    seen = []
    plain = ToolsProcessor.run_async

    async def peek(self, context, request):
        seen.append([event.author for event in context.session.events])
        async for event in plain(self, context, request):
            yield event

    monkeypatch.setattr(ToolsProcessor, "run_async", peek)
    refused = ApiError.from_parts(400, "bad")
    kit.play([refused, [kit.text("x", "STOP")]], "one", "two")
    assert seen == [["user"], ["user"]]


def test_masked_response_reaches_the_event_that_holds_it_and_no_other(kit):
    def answer(output):
        response = {"id": "f__1", "name": "f", "response": {"output": output}}
        return {"role": "user", "parts": [{"functionResponse": response}]}

    def output(event):
        return wire_of(event.content)["parts"][0]["functionResponse"]["response"]["output"]

    long, pending = answer("x" * 40_000), answer("x" * 40_000)
    asked = {"role": "model", "parts": [kit.call("f", {}, id="f__1")]}
    said = {"role": "model", "parts": [{"text": "well"}]}

    async def go():
        async with kit.services(
            masking_protection_tokens=100,
            masking_min_prunable_tokens=100,
            masking_protect_latest_turn=False,
        ) as played:
            conversation = Conversation(played.services)
            conversation.start()
            for content in (asked, long, said):
                conversation.add_history(content)
            sessions = GcliSessionService(conversation, played.services.clock)
            session = sessions.open(app_name="app", user_id="u", session_id="s")
            session.events.append(
                Event(author="user", invocation_id="i", content=WireContent.of(pending))
            )
            context: Any = SimpleNamespace(session=session)
            link = RunLink()
            link.begin(Run("p", AbortController().signal))
            masking = ToolOutputMaskingProcessor(played.services, conversation, sessions, link)
            async for _ in masking.run_async(context, LlmRequest()):
                pass
            sessions.refresh(session)
            return session, conversation.shown_history()

    session, history = kit.in_loop(go)
    masked = history[2]["parts"][0]["functionResponse"]["response"]["output"]
    assert masked.startswith("<tool_output_masked>")
    settled, (waiting,) = session.events[1], live_events(session.events)
    assert len(session.events) == 4
    part = (settled.content.parts or [])[0]
    assert output(settled) == masked
    assert part.function_response.response == {"output": masked}
    assert waiting.content is not None
    assert wire_of(waiting.content) is pending


def test_request_typed_for_adk_follows_a_replaced_history(kit, monkeypatch):
    seen = []
    plain = ToolsProcessor.run_async

    async def peek(self, context, request):
        seen.append([wire_of(content) for content in request.contents])
        async for event in plain(self, context, request):
            yield event

    monkeypatch.setattr(ToolsProcessor, "run_async", peek)

    async def script(played, runtime):
        agent = runtime.agent()
        kit.listen(agent, played)
        for words in ("one", "two"):
            await agent.send(kit.message(words))
            await runtime.settled()
        conversation = runtime._conversation
        kept = conversation.shown_history()
        changed = {"role": "model", "parts": [{"text": "changed"}]}
        conversation.replace_history([kept[0], changed, *kept[2:]])
        await agent.send(kit.message("three"))
        await runtime.settled()

    played = kit.run(script, [[kit.text(words, "STOP")] for words in "abc"])
    assert seen[2][1]["parts"] == [{"text": "changed"}]
    assert [content["role"] for content in seen[2]] == [
        content["role"] for content in played.model.requests[2].contents
    ]


def test_our_processors_have_names_of_their_own_or_adks():
    assert issubclass(ContentsProcessor, BaseLlmRequestProcessor)
    assert (ContentsProcessor.name, ToolsProcessor.name) == ("contents", "agent_tools")
