"""Each request processor by what it does to a run."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from google.adk.agents.invocation_context import InvocationContext
from google.adk.events.event import Event
from google.adk.flows.llm_flows._base_llm_processor import BaseLlmRequestProcessor

from agent_protocol.agent import MessageSend
from agent_protocol.content import MediaPart, TextPart
from runtimes.adk.conversation import Conversation
from runtimes.adk.notes import WireContent, wire_of
from runtimes.adk.processors.contents import ContentsProcessor
from runtimes.adk.processors.masking import ToolOutputMaskingProcessor
from runtimes.adk.processors.tools import ToolsProcessor
from runtimes.adk.sessions import GcliSessionService
from runtimes.adk.tools import Toolbox, to_adk_tool
from services.model.errors import ApiError
from services.state import ApprovalMode
from services.tools.declaring import ToolDeclarations


def test_early_stop_leaves_no_trace_in_history(kit):
    played = kit.play([[kit.text("x", "STOP")]], "one", "two", max_session_turns=1)
    assert played.ends[1][0] == "max_turns"
    assert [kit.shape(content) for content in played.transcript] == ["user:text+text", "model:text"]
    assert [line["type"] for line in played.lines if "type" in line] == ["user", "gemini"]


def test_early_stop_removes_the_pending_event_at_once(kit, monkeypatch):
    left = []

    def settle(self, session):
        left.append([event.author for event in session.events])

    monkeypatch.setattr(GcliSessionService, "settle", settle)
    kit.play([], max_session_turns=0)
    assert left == [["gemini_cli_agent"]]


def test_media_is_counted_by_the_model_before_it_is_sent(kit):
    payload = MessageSend(
        content=(TextPart(text="look"), MediaPart(data="AAAA", mime_type="image/png"))
    )
    played = kit.play([], payload)
    assert played.model.counted == 1
    assert played.errors[0].message.startswith("Context window will overflow (estimated: 5000000,")
    assert played.model.requests == []


def test_model_sticks_to_a_prompt_until_it_is_changed(kit):
    answer = [kit.text("x", "STOP")]

    async def script(played, runtime):
        agent = runtime.agent()
        kit.listen(agent, played)
        for number in range(3):
            if number == 2:
                played.services.state.set_model("gemini-2.5-pro")
            await agent.send(kit.message("x"))
            await runtime.settled()

    played = kit.run(script, [answer, answer, answer])
    assert [e.model for e in played.events if e.type == "session_update"] == [
        "gemini-2.5-flash",
        "gemini-2.5-pro",
    ]
    assert [request.model for request in played.model.requests] == [
        "gemini-2.5-flash",
        "gemini-2.5-flash",
        "gemini-2.5-pro",
    ]
    assert played.services.state.sequence_model == "gemini-2.5-pro"


def test_alias_is_announced_and_asked_as_the_model_it_stands_for(kit):
    played = kit.play([[kit.text("x", "STOP")]], model="flash")
    assert played.events[2].model == played.model.requests[0].model == "gemini-3.8-flash"


def test_approval_mode_decides_the_declared_tools(kit):
    def names(request):
        return {d["name"] for d in request.config["tools"][0]["functionDeclarations"]}

    answer = [kit.text("x", "STOP")]

    async def script(played, runtime):
        agent = runtime.agent()
        kit.listen(agent, played)
        for mode in (ApprovalMode.DEFAULT, ApprovalMode.YOLO):
            played.services.state.set_approval_mode(mode)
            await agent.send(kit.message("x"))
            await runtime.settled()

    played = kit.run(script, [answer, answer])
    careful, trusting = (names(request) for request in played.model.requests)
    assert "write_file" not in careful
    assert "write_file" in trusting


def test_thoughts_follow_the_configured_models_family(kit):
    thinking = kit.parts_chunk({"text": "t", "thought": True}, {"text": "x"}, finish="STOP")
    played = kit.play([[thinking], [kit.text("y", "STOP")]], "1", "2", model="gemini-1.5-pro")
    assert played.shapes[1] == ["user:text+text", "model:text", "user:text"]


async def test_toolbox_declares_anew_only_when_something_changed(kit):
    async with kit.services() as played:
        services = played.services
        box = Toolbox(ToolDeclarations(services.tools, services.state))
        first = box.declared("gemini-2.5-flash")
        assert box.declared("gemini-2.5-flash") is first
        assert box.declared("gemini-2.5-pro") is not first
        assert first.by_name["glob"].wire in first.wire[0]["functionDeclarations"]
        declaration = first.by_name["glob"]._get_declaration()
        assert declaration.name == "glob"
        assert declaration.parameters_json_schema["type"] == "object"


async def test_tools_are_never_run_one_by_one():
    tool = to_adk_tool({"name": "t", "description": "d"})
    with pytest.raises(RuntimeError, match="run by the scheduler"):
        await tool.run_async(args={}, tool_context=None)


def test_session_that_the_runner_sees_stays_small(kit, monkeypatch):
    sizes = []
    plain = ContentsProcessor.run_async

    async def measured(self, context: InvocationContext, request):
        sizes.append(len(context.session.events))
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


def test_masked_outputs_stay_masked_in_history_request_and_recording(kit):
    long = "".join(f"line {number}\n" for number in range(3000))

    async def script(played, runtime):
        (played.services.workspace.root / "long.txt").write_text(long)
        agent = runtime.agent()
        kit.listen(agent, played)
        for words in ("one", "two", "three"):
            await agent.send(kit.message(words))
            await runtime.settled()

    ask = kit.parts_chunk(kit.call("read_file", {"file_path": "long.txt"}), finish="STOP")
    steps = [[ask], [kit.text("a", "STOP")], [kit.text("b", "STOP")], [kit.text("c", "STOP")]]
    settings = {"masking_protection_tokens": 100, "masking_min_prunable_tokens": 100}
    played = kit.run(script, steps, **settings)
    outputs = [
        [
            part["functionResponse"]["response"]["output"]
            for content in request.contents
            for part in content["parts"]
            if "functionResponse" in part
        ]
        for request in played.model.requests
    ]
    assert len(outputs[1][0]) > 10_000
    assert outputs[2][0].startswith("<tool_output_masked>")
    assert outputs[3] == outputs[2]
    stored = played.transcript[2]["parts"][0]["functionResponse"]["response"]["output"]
    assert stored == outputs[2][0]
    checkpoints = [
        line["$set"]["messages"] for line in played.lines if "messages" in str(line)[:30]
    ]
    assert "<tool_output_masked>" in str(checkpoints[-1])


def test_masked_response_is_written_to_the_live_event_that_still_holds_it(kit):
    def answer(output):
        response = {"id": "f__1", "name": "f", "response": {"output": output}}
        return {"role": "user", "parts": [{"functionResponse": response}]}

    def output(event):
        return wire_of(event.content)["parts"][0]["functionResponse"]["response"]["output"]

    long, pending = answer("x" * 40_000), answer("y" * 40_000)
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
            sessions = GcliSessionService(played.services.clock)
            session = sessions.open(app_name="app", user_id="u", session_id="s")
            sessions.attach(session, conversation)
            for content in (long, pending):
                session.events.append(
                    Event(author="user", invocation_id="i", content=WireContent.of(content))
                )
            context = SimpleNamespace(session=session)
            async for _ in ToolOutputMaskingProcessor(sessions).run_async(context, None):
                pass
            return session, conversation.shown_history()

    session, history = kit.in_loop(go)
    masked = history[2]["parts"][0]["functionResponse"]["response"]["output"]
    assert masked.startswith("<tool_output_masked>")
    assert output(session.events[0]) == masked
    assert wire_of(session.events[1].content) is pending
    adks_own = session.events[0].content.parts[0].function_response.response
    assert adks_own == {"output": masked}


def test_long_history_is_summarised_before_the_request_and_measured_after_it(kit):
    used = {"promptTokenCount": 600_000}
    steps = [
        [kit.text("a", "STOP", usageMetadata=used)],
        kit.text("short", "STOP"),
        kit.text("verified", "STOP"),
        [kit.text("b", "STOP")],
    ]
    played = kit.play(steps, "one", "two")
    assert len(played.model.utility) == 2
    last = played.model.requests[-1].contents
    assert [kit.shape(content) for content in last][-1] == "user:text"
    assert "verified" in str(last)
    assert played.services.state.last_prompt_tokens < 600_000
    assert [kind for kind in played.kinds if kind == "error"] == []
    assert len(list((played.services.workspace.project_temp / "chats").glob("*.jsonl"))) == 1


def test_context_management_leaves_compression_to_others(kit):
    used = {"promptTokenCount": 600_000}
    steps = [[kit.text("a", "STOP", usageMetadata=used)], [kit.text("b", "STOP")]]
    played = kit.play(steps, "one", "two", context_management=True)
    assert played.model.utility == []
    assert len(played.model.requests) == 2


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
