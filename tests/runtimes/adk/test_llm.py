"""`GcliAgentModel`: what ADK gets of a model call, and what the model is asked."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from google.adk.models.llm_request import LlmRequest
from google.genai import types

from runtimes.adk.child.termination import ChildCall
from runtimes.adk.conversation import Conversation
from runtimes.adk.llm import GcliAgentModel
from runtimes.adk.model_call import ModelParts
from runtimes.adk.notes import Answer, Delta, Retrying, Stopped
from runtimes.adk.plugins.hook_bridge import hook_bridge
from runtimes.adk.run import Run, RunLink
from runtimes.adk.tools import Toolbox
from services.abort import AbortController, AbortError
from services.history.transforms import NO_RESPONSE_TEXT_NUDGE, THINKING_ONLY_NUDGE
from services.model.configs import ModelConfigKey
from services.model.errors import ApiError, InvalidStreamError, ModelNotFoundError, NetworkError
from services.model.generator import LlmRole
from services.model.sdk_contents import WireContent
from services.scheduler.calls import ToolCallRequest
from services.state import ApprovalMode


class Bench:
    """A model over a started conversation, with one pending turn."""

    def __init__(self, played) -> None:
        services = played.services
        self.played = played
        self.controller = AbortController()
        self.run = Run(prompt_id="p", signal=self.controller.signal)
        self.run.step.key = ModelConfigKey(model="gemini-2.5-flash", is_chat_model=True)
        self.link = RunLink()
        self.link.begin(self.run)
        self.conversation = Conversation(services)
        self.conversation.start()
        self.pending: Any = None
        self.say({"text": "hello"})
        self.tools = Toolbox(self.conversation.declarations)
        self.model = GcliAgentModel.over(
            ModelParts(
                services=services,
                conversation=self.conversation,
                pending=lambda: self.pending,
                link=self.link,
                tools=self.tools,
                instruction=services.prompts.system_instruction,
                hooks=next(iter(hook_bridge(services.hooks)), None),
            )
        )

    def say(self, *parts) -> None:
        self.pending = WireContent.of({"role": "user", "parts": list(parts)})

    def request(self) -> LlmRequest:
        request = LlmRequest(model="gemini-2.5-flash")
        typed = [WireContent.of(content) for content in self.conversation.view.curated()]
        self.run.step.base.write_contents(request, typed, self.pending)
        request.config.system_instruction = "from the flow"
        self.run.step.base.write_tools(request, self.tools.declared("gemini-2.5-flash"))
        return request

    async def ask(self, request: LlmRequest | None = None) -> list:
        asked = self.model.generate_content_async(request or self.request(), stream=True)
        async with aclosing(asked) as responses:
            return [response async for response in responses]

    def ask_as_child(self) -> None:
        self.model._parts = replace(self.model._parts, child_call=ChildCall)

    @property
    def turns(self) -> int:
        return len(self.conversation.view)


def bench(kit, steps, script, **options):
    @asynccontextmanager
    async def opened():
        async with kit.services(steps, **options) as played:
            yield Bench(played)

    async def go():
        async with opened() as made:
            return await script(made)

    return kit.in_loop(go)


def test_partials_then_exactly_one_consolidated_answer(kit):
    async def script(b):
        got = await b.ask()
        assert [response.partial for response in got] == [True, True, None]
        assert got[0].content.note == Delta(part={"text": "Hel"})
        assert got[1].content.note == Delta(part={"text": "lo"}, finish_reason="STOP", usage=usage)
        final = got[-1]
        assert isinstance(final.content.note, Answer)
        assert final.content.wire == {"role": "model", "parts": [{"text": "Hello"}]}
        assert final.finish_reason is types.FinishReason.STOP
        assert final.usage_metadata.prompt_token_count == 7
        assert final.model_version == "gemini-2.5-flash"

    usage = {"promptTokenCount": 7}
    bench(kit, [[kit.text("Hel"), kit.text("lo", "STOP", usageMetadata=usage)]], script)


def test_chunk_of_usage_alone_still_gives_a_delta_that_adk_does_not_drop(kit):
    async def script(b):
        got = await b.ask()
        assert [response.content.note for response in got[:2]] == [
            Delta(part={"text": "x"}, finish_reason="STOP"),
            Delta(),
        ]
        assert got[1].partial
        assert got[1].content is not None
        assert not got[1].content.parts
        assert got[-1].usage_metadata.total_token_count == 9

    bench(kit, [[kit.text("x", "STOP"), {"usageMetadata": {"totalTokenCount": 9}}]], script)


def test_unknown_finish_reasons_are_no_obstacle(kit):
    async def script(b):
        final = (await b.ask())[-1]
        assert final.finish_reason is None
        assert final.content.note.turn.finish_reason == "SOMETHING_NEW"

    bench(kit, [[kit.text("x", "SOMETHING_NEW")]], script)


def test_function_calls_have_one_id_on_partial_and_final(kit):
    async def script(b):
        first, second, final = await b.ask()
        made = first.content.parts[0].function_call.id
        assert made == "glob__glob_1767225600001_0"
        assert final.content.parts[0].function_call.id == made
        assert second.content.parts[0].function_call.id == "glob__mine"
        calls = b.run.step.answer.calls
        assert [call.call_id for call in calls] == [made, "glob__mine"]
        assert [call.display.name for call in calls] == ["FindFiles", "FindFiles"]

    chunk = kit.parts_chunk(
        kit.call("glob", {"pattern": "*"}), kit.call("glob", {}, id="mine"), finish="STOP"
    )
    bench(kit, [[chunk]], script)


def test_request_carries_the_pending_turn_instruction_and_tools(kit):
    async def script(b):
        await b.ask()
        request = b.played.model.requests[0]
        assert [kit.shape(content) for content in request.contents] == ["user:text+text"]
        assert request.config["systemInstruction"] == "from the flow"
        names = [d["name"] for d in request.config["tools"][0]["functionDeclarations"]]
        assert "read_file" in names
        assert request.config["thinkingConfig"] == {
            "includeThoughts": True,
            "thinkingBudget": 8192,
        }
        assert "labels" not in request.config
        assert request.prompt_id == "p"

    bench(kit, [[kit.text("x", "STOP")]], script)


def test_instruction_and_tools_are_those_of_the_moment_of_asking(kit):
    async def script(b):
        state = b.played.services.state

        def change(event):
            state.set_approval_mode(ApprovalMode.YOLO)

        b.played.services.events.subscribe(change)
        request = b.request()
        said = b.played.services.prompts.system_instruction()
        request.config.system_instruction = b.run.step.base.write_instruction(said)
        await b.ask(request)
        first, second = (request.config for request in b.played.model.requests)
        assert "need your user's approval" in first["systemInstruction"]
        assert "approved in advance" in second["systemInstruction"]
        count = [len(c["tools"][0]["functionDeclarations"]) for c in (first, second)]
        assert count[0] < count[1]

    bench(kit, [ApiError.from_parts(500, "boom"), [kit.text("x", "STOP")]], script)


def test_signature_of_a_part_is_kept_as_it_came(kit):
    async def script(b):
        part = (await b.ask())[-1].content.wire["parts"][0]
        assert part["thoughtSignature"] == "not+base64/at all"
        assert part["someNewField"] == {"x": 1}

    chunk = kit.parts_chunk(
        {**kit.call("glob", {}), "thoughtSignature": "not+base64/at all", "someNewField": {"x": 1}}
    )
    bench(kit, [[chunk]], script)


@pytest.mark.parametrize(
    ("first", "nudge"),
    [
        ({"text": "hm", "thought": True}, THINKING_ONLY_NUDGE),
        ({"text": ""}, NO_RESPONSE_TEXT_NUDGE),
    ],
)
def test_invalid_answer_is_asked_for_again_with_a_nudge(kit, first, nudge):
    async def script(b):
        await b.ask()
        last = b.played.model.requests[1].contents[-1]["parts"][-1]
        assert last == {"text": f"\n{nudge}"}
        assert b.conversation.view.raw[-1]["parts"] == [{"text": "hello"}]
        assert b.played.retries[0].max_attempts == 4

    bench(kit, [[kit.parts_chunk(first, finish="STOP")], [kit.text("x", "STOP")]], script)


def test_retry_takes_the_retrys_config(kit):
    async def script(b):
        await b.ask()
        first, second = (request.config["temperature"] for request in b.played.model.requests)
        assert (first, second) == (1, 1)
        assert b.played.services.clock.now_ms() == 1767225600002 + 1000

    bench(kit, [[kit.text("")], [kit.text("x", "STOP")]], script)


def test_stream_that_breaks_off_is_asked_for_again_without_a_nudge(kit):
    async def script(b):
        got = await b.ask()
        assert [r.content.wire["parts"] for r in got] == [
            [{"text": "one"}],
            [{"text": "two"}],
            [{"text": "two"}],
        ]
        assert b.played.model.requests[1].contents == b.played.model.requests[0].contents
        assert b.played.retries[0].error == "ECONNRESET"

    broken = [kit.text("one"), NetworkError("terminated", code="ECONNRESET")]
    bench(kit, [broken, [kit.text("two", "STOP")]], script)


def test_adk_is_shown_the_calls_that_only_a_failed_attempt_asked_for(kit):
    async def script(b):
        final = (await b.ask())[-1]
        assert final.content.wire["parts"] == [{"text": "two"}]
        assert final.content.parts[1].function_call.id == "f__1"

    async def with_request(b):
        request = ToolCallRequest(call_id="f__1", name="f", args={}, prompt_id="p")
        b.run.step.answer.see(Delta(request=request))
        await script(b)

    bench(kit, [[kit.text("two", "STOP")]], with_request)


def test_connecting_is_retried_by_the_backoff(kit):
    async def script(b):
        await b.ask()
        retry = b.played.retries[0]
        assert (retry.attempt, retry.max_attempts, retry.delay_ms) == (1, 10, 5000)
        assert retry.model == "gemini-2.5-flash"

    bench(kit, [ApiError.from_parts(500, "boom"), [kit.text("x", "STOP")]], script)


def test_attempts_of_a_stream_are_capped_by_the_settings(kit):
    async def script(b):
        with pytest.raises(InvalidStreamError) as failed:
            await b.ask()
        assert b.run.step.failure is failed.value
        assert [retry.delay_ms for retry in b.played.retries] == [1000]

    bench(kit, [[kit.text("")]] * 2, script, max_attempts=2)


def test_failure_takes_the_pending_turn_back(kit):
    async def script(b):
        with pytest.raises(ModelNotFoundError) as failed:
            await b.ask()
        assert b.run.step.failure is failed.value
        assert b.turns == 1

    bench(kit, [ApiError.from_parts(404, "none")], script)


def test_closing_early_takes_the_pending_turn_back_and_closes_the_stream(kit):
    async def script(b):
        asking = b.model.generate_content_async(b.request(), stream=True)
        await anext(asking)
        assert b.turns == 2
        assert b.played.model.open_streams == 1
        await asking.aclose()
        assert b.turns == 1
        assert b.played.model.open_streams == 0

    bench(kit, [[kit.text("one"), kit.text("two", "STOP")]], script)


def test_complete_answer_is_kept_even_if_the_caller_stops_reading(kit):
    async def script(b):
        asking = b.model.generate_content_async(b.request(), stream=True)
        while (await anext(asking)).partial:
            pass
        await asking.aclose()
        assert b.turns == 2

    bench(kit, [[kit.text("one", "STOP")]], script)


def test_abort_before_another_attempt_ends_the_call_after_its_wait(kit):
    async def script(b):
        async def abort_soon():
            await b.played.services.clock.sleep(300)
            b.controller.abort()

        async with asyncio.TaskGroup() as group:
            group.create_task(abort_soon())
            with pytest.raises(AbortError):
                await b.ask()
        assert b.played.services.clock.now_ms() == 1767225600001 + 1000
        assert len(b.played.model.requests) == 1

    bench(kit, [[kit.text("")]], script)


def test_foreign_cancellation_is_translated(kit):
    async def script(b):
        with pytest.raises(AbortError) as failed:
            await b.ask()
        assert b.run.step.failure is failed.value

    bench(kit, [asyncio.CancelledError()], script)


def test_our_own_cancellation_goes_through(kit):
    async def script(b):
        task = asyncio.get_running_loop().create_task(b.ask())
        for _ in range(10):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert b.turns == 1

    bench(kit, [[kit.text("x"), kit.HANG]], script)


def test_contents_that_somebody_edited_are_what_is_sent(kit):
    async def script(b):
        request = b.request()
        request.contents[0] = types.Content(role="user", parts=[types.Part(text="other")])
        request.contents.append(
            types.Content(
                role="model",
                parts=[types.Part(function_call=types.FunctionCall(id="f__1", name="f", args={}))],
            )
        )
        await b.ask(request)
        first, call = b.played.model.requests[0].contents
        assert first["parts"] == [{"text": "other"}, {"text": "hello"}]
        assert call["parts"][0]["functionCall"]["id"] == "1"
        assert call["parts"][0]["thoughtSignature"] == "skip_thought_signature_validator"

    bench(kit, [[kit.text("x", "STOP")]], script)


def test_nothing_pending_or_not_routed_is_a_fault_of_the_flow(kit):
    async def script(b):
        b.pending = None
        with pytest.raises(RuntimeError, match="nothing to send"):
            await b.ask(LlmRequest())
        b.run.step.key = None
        with pytest.raises(AssertionError, match="not routed"):
            await b.ask(LlmRequest())

    bench(kit, [], script)


def test_model_claims_no_capability_that_adk_would_act_on(kit):
    async def script(b):
        assert b.model.capabilities.output_schema_and_tools is not True

    bench(kit, [], script)


def test_calls_of_a_child_keep_the_ids_that_they_came_with(kit):
    async def script(b):
        b.ask_as_child()
        answer = (await b.ask())[-1].content.note
        assert "id" not in answer.turn.parts[0]["functionCall"]

    bench(kit, [[kit.parts_chunk(kit.call("glob", {}), finish="STOP")]], script)


def test_child_asks_in_the_role_of_a_subagent(kit):
    async def script(b):
        b.ask_as_child()
        await b.ask()
        assert b.played.model.requests[0].role is LlmRole.SUBAGENT

    bench(kit, [[kit.text("x", "STOP")]], script)


def test_attempt_after_the_first_is_announced_in_a_child(kit):
    async def script(b):
        b.ask_as_child()
        notes = [type(response.content.note) for response in await b.ask()]
        assert notes == [Delta, Retrying, Delta, Answer]

    bench(kit, [[kit.text("")], [kit.text("x", "STOP")]], script)


def test_history_of_a_child_stays_after_a_stop(kit):
    async def script(b):
        b.ask_as_child()
        *_, stopped, last = await b.ask()
        assert isinstance(stopped.content.note, Stopped)
        assert last.error_code == "AGENT_EXECUTION_STOPPED"
        assert b.turns == 2

    stop = 'echo \'{"continue": false, "stopReason": "enough"}\''
    hooks = {"BeforeModel": [{"hooks": [{"type": "command", "command": stop}]}]}
    bench(kit, [[kit.text("x", "STOP")]], script, hooks=hooks)
