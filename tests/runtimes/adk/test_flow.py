"""The flow: processors in their places, and a contract test for each private override."""

from __future__ import annotations

from contextlib import aclosing

import pytest
from google.adk.agents.invocation_context import InvocationContext
from google.adk.agents.llm_agent import LlmAgent
from google.adk.agents.run_config import RunConfig
from google.adk.events.event import Event
from google.adk.flows.llm_flows._base_llm_processor import BaseLlmRequestProcessor
from google.adk.flows.llm_flows.base_llm_flow import BaseLlmFlow
from google.adk.flows.llm_flows.single_flow import SingleFlow
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.plugins.plugin_manager import PluginManager
from google.adk.sessions.in_memory_session_service import InMemorySessionService
from google.genai import types

from runtimes.adk.flow import PROCESSOR_ORDER, RuntimeFlow
from runtimes.adk.llm import GcliAgentModel
from runtimes.adk.notes import ToolsDone
from runtimes.adk.root import GeminiCliAgent, HostedAgent
from runtimes.adk.run import RunLink
from services.model.sdk_contents import WireContent


class Named(BaseLlmRequestProcessor):
    def __init__(self, name: str) -> None:
        self.name = name

    async def run_async(self, invocation_context, llm_request):
        return
        yield


class Batch:
    """Stands in for `Continuation.run_tools`: one response event per hand-off."""

    def __init__(self) -> None:
        self.batches = 0

    async def execute(self, context, call_event, llm_request):
        self.batches += 1
        self.given = call_event, llm_request
        parts = [{"functionResponse": {"id": "i", "name": "n", "response": {}}}]
        content = WireContent.of({"role": "user", "parts": parts}, ToolsDone(()))
        yield Event(invocation_id=context.invocation_id, author="a", content=content)


class Spy(BasePlugin):
    def __init__(self, replacement: LlmResponse | None = None) -> None:
        super().__init__(name="spy")
        self.replacement = replacement
        self.errors: list[Exception] = []
        self.seen = 0
        self.before: LlmResponse | None = None

    async def before_model_callback(self, *, callback_context, llm_request):
        return self.before

    async def on_model_error_callback(self, *, callback_context, llm_request, error):
        self.errors.append(error)
        return self.replacement

    async def after_model_callback(self, *, callback_context, llm_response):
        self.seen += 1


class Taking(GcliAgentModel):
    """Takes the response of a callback as it is."""

    async def replaced(self, response):
        return response


def make_flow(**processors: str) -> tuple[RuntimeFlow, Batch]:
    batch = Batch()
    return RuntimeFlow([Named(name) for name in processors], batch.execute), batch


async def context_with(*plugins: BasePlugin) -> InvocationContext:
    sessions = InMemorySessionService()
    session = await sessions.create_session(app_name="app", user_id="u", session_id="s")
    return InvocationContext(
        session_service=sessions,
        plugin_manager=PluginManager(plugins=list(plugins)),
        invocation_id="i",
        agent=LlmAgent(name="a", model=Taking(model="m")),
        session=session,
        run_config=RunConfig(max_llm_calls=10),
    )


async def taken(generator) -> list:
    async with aclosing(generator) as items:
        return [item async for item in items]


OURS = dict.fromkeys(
    (name for name in PROCESSOR_ORDER if name not in ("basic", "instructions")), ""
)


def test_processors_run_in_the_one_explicit_order():
    flow, _ = make_flow(**OURS)
    assert tuple(p.name for p in flow.request_processors) == PROCESSOR_ORDER
    assert flow.response_processors == []


def test_identity_and_everything_unused_is_gone():
    flow, _ = make_flow(**OURS)
    names = {processor.name for processor in flow.request_processors}
    assert not names & {"identity", "auth", "compaction", "planning", "toolset_auth"}


def test_processor_without_a_place_is_refused():
    with pytest.raises(ValueError, match=r"no place for the request processors \['mystery'\]"):
        make_flow(mystery="")


def test_processor_finds_its_place_where_its_neighbour_is_missing():
    flow, _ = make_flow(loop_check="", agent_tools="")
    names = [processor.name for processor in flow.request_processors]
    assert names == ["basic", "instructions", "contents", "loop_check", "agent_tools"]


def test_hosted_agents_flow_is_the_given_one_and_survives_a_clone():
    flow, _ = make_flow(**OURS)
    hosted = HostedAgent.make(GcliAgentModel(model="gcli"), flow, lambda: "be brief", [])
    assert hosted._llm_flow is flow
    assert hosted.clone()._llm_flow is flow
    shell = GeminiCliAgent.around(hosted)
    assert shell.name == hosted.name
    assert shell.sub_agents == []


async def test_run_and_handle_error_passes_answers_and_lets_a_plugin_replace_an_error():
    boom = ValueError("boom")
    closed = []

    async def answers():
        try:
            yield LlmResponse(partial=True)
            raise boom
        finally:
            closed.append(True)

    flow, _ = make_flow()
    spare = LlmResponse(error_code="SPARE")
    spy = Spy(spare)
    context = await context_with(spy)
    args = (context, LlmRequest(), Event(author="a", invocation_id="i"))
    got = await taken(flow._run_and_handle_error(answers(), *args))
    assert [response.error_code for response in got] == [None, "SPARE"]
    assert spy.errors == [boom]
    assert closed == [True]


async def test_run_and_handle_error_raises_an_error_without_a_replacement():
    async def answers():
        raise ValueError("boom")
        yield

    flow, _ = make_flow()
    context = await context_with(Spy())
    with pytest.raises(ValueError, match="boom"):
        await taken(
            flow._run_and_handle_error(
                answers(), context, LlmRequest(), Event(author="a", invocation_id="i")
            )
        )


async def test_run_and_handle_error_closes_the_model_with_itself():
    closed = []

    async def answers():
        try:
            while True:
                yield LlmResponse(partial=True)
        finally:
            closed.append(True)

    flow, _ = make_flow()
    context = await context_with()
    running = flow._run_and_handle_error(
        answers(), context, LlmRequest(), Event(author="a", invocation_id="i")
    )
    await anext(running)
    await running.aclose()
    assert closed == [True]


async def test_after_model_callbacks_are_asked_only_where_there_are_plugins():
    flow, _ = make_flow()
    spy = Spy()
    event = Event(author="a", invocation_id="i")
    with_spy = await context_with(spy)
    with_spy.canonical_tools_cache = []
    assert await flow._handle_after_model_callback(with_spy, LlmResponse(), event) is None
    assert spy.seen == 1
    assert (
        await flow._handle_after_model_callback(await context_with(), LlmResponse(), event) is None
    )


async def test_a_turns_calls_are_one_hand_off():
    flow, batch = make_flow()
    call = types.Part(function_call=types.FunctionCall(id="i", name="n", args={}))
    response = LlmResponse(content=types.Content(role="model", parts=[call, call]))
    event = Event(author="a", invocation_id="i")
    request = LlmRequest()
    got = await taken(flow._postprocess_async(await context_with(), request, response, event))
    assert batch.batches == 1
    assert [len(batch.given[0].get_function_calls()), batch.given[1]] == [2, request]
    assert [len(e.get_function_calls()) for e in got] == [2, 0]
    assert len(got[1].get_function_responses()) == 1


async def test_text_alone_hands_nothing_off():
    flow, batch = make_flow()
    response = LlmResponse(content=types.Content(role="model", parts=[types.Part(text="x")]))
    event = Event(author="a", invocation_id="i")
    await taken(flow._postprocess_async(await context_with(), LlmRequest(), response, event))
    assert batch.batches == 0


async def test_plugin_without_model_callbacks_costs_no_context_per_chunk(monkeypatch):
    class Listener(BasePlugin):
        async def on_event_callback(self, *, invocation_context, event):
            return None

    async def costly(*args):
        raise AssertionError("no callback asks for it")

    for name in ("_handle_after_model_callback", "_handle_before_model_callback"):
        monkeypatch.setattr(BaseLlmFlow, name, costly)
    flow, _ = make_flow()
    context = await context_with(Listener(name="listener"))
    event = Event(author="a", invocation_id="i")
    assert await flow._handle_after_model_callback(context, LlmResponse(), event) is None
    assert await flow._handle_before_model_callback(context, LlmRequest(), event) is None


async def test_before_model_callbacks_are_asked_only_where_there_are_plugins():
    flow, _ = make_flow()
    spy = Spy()
    spy.before = LlmResponse(error_code="INSTEAD")
    args = (LlmRequest(), Event(author="a", invocation_id="i"))
    got = await flow._handle_before_model_callback(await context_with(spy), *args)
    assert got is spy.before
    assert await flow._handle_before_model_callback(await context_with(), *args) is None


def test_step_is_the_flow_adk_offers():
    assert issubclass(RuntimeFlow, SingleFlow)


def test_parts_driven_without_a_send_say_so():
    with pytest.raises(RuntimeError, match="no send is under way"):
        _ = RunLink().run
