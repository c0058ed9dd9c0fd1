"""Request processors of others, placed by the names of the flow's own."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from typing import Any, Final

from google.adk.events.event import Event
from google.adk.flows.llm_flows._base_llm_processor import BaseLlmRequestProcessor
from google.adk.flows.llm_flows.base_llm_flow import BaseLlmFlow
from google.adk.models.llm_request import LlmRequest
from google.genai import types

from parity_tests.adk_probes.probe import Probe, calls, text

__all__ = ["GROUP", "PROBES"]

GROUP: Final = "Request processors, placed by name"

_TURNS: Final = (calls(("read_file", {"file_path": "a.txt"})), text("it is alpha"))
_ROUTING: Final = "gcli_routing"


class Colder(BaseLlmRequestProcessor):
    """Sets the temperature, and adds to the instruction."""

    name = "colder"

    async def run_async(
        self, invocation_context: Any, llm_request: LlmRequest
    ) -> AsyncGenerator[Event, None]:
        llm_request.config.temperature = 0.25
        llm_request.append_instructions(["Be brief."])
        return
        yield


class Instructing(BaseLlmRequestProcessor):
    """Adds to the instruction, which is all that stands in a request before its contents."""

    name = "instructing"

    async def run_async(
        self, invocation_context: Any, llm_request: LlmRequest
    ) -> AsyncGenerator[Event, None]:
        assert not llm_request.contents
        llm_request.append_instructions(["Be brief."])
        return
        yield


class OtherModel(BaseLlmRequestProcessor):
    """Sets another model, and drops the tools."""

    name = "other_model"

    async def run_async(
        self, invocation_context: Any, llm_request: LlmRequest
    ) -> AsyncGenerator[Event, None]:
        assert llm_request.config.tools
        llm_request.model = "gemini-2.5-flash-lite"
        llm_request.config.tools = None
        return
        yield


class Choosing(BaseLlmRequestProcessor):
    """Chooses another model."""

    name = "choosing"

    async def run_async(
        self, invocation_context: Any, llm_request: LlmRequest
    ) -> AsyncGenerator[Event, None]:
        llm_request.model = "gemini-2.5-flash-lite"
        return
        yield


class Steering(BaseLlmRequestProcessor):
    """Adds a user's turn to the conversation once, by an event."""

    name = "steering"

    def __init__(self) -> None:
        self._done = False

    async def run_async(
        self, invocation_context: Any, llm_request: LlmRequest
    ) -> AsyncGenerator[Event, None]:
        session = invocation_context.session
        if not self._done and session.events[-1].get_function_responses():
            self._done = True
            yield Event(
                invocation_id=invocation_context.invocation_id,
                author="user",
                content=types.Content(role="user", parts=[types.Part(text="and quickly")]),
            )


class Ending(BaseLlmRequestProcessor):
    """Ends the invocation with an error."""

    name = "ending"

    async def run_async(
        self, invocation_context: Any, llm_request: LlmRequest
    ) -> AsyncGenerator[Event, None]:
        invocation_context.end_invocation = True
        yield Event(
            invocation_id=invocation_context.invocation_id,
            author=invocation_context.agent.name,
            error_code="NO_MORE",
            error_message="enough for today",
        )


def _before_contents(flow: BaseLlmFlow) -> None:
    flow.insert_request_processor_before("contents", Instructing())


def _choosing(flow: BaseLlmFlow) -> None:
    flow.insert_request_processor_before("contents", Choosing())


def _after_routing(flow: BaseLlmFlow) -> None:
    """After the product's routing, which follows `contents`; `basic` has no instruction yet."""
    names = [processor.name for processor in flow.request_processors]
    flow.insert_request_processor_after(_ROUTING if _ROUTING in names else "contents", Colder())


def _at_the_end(flow: BaseLlmFlow) -> None:
    flow.insert_request_processor_after("agent_tools", OtherModel())


def _steering(flow: BaseLlmFlow) -> None:
    flow.insert_request_processor_before("contents", Steering())


def _ending(flow: BaseLlmFlow) -> None:
    flow.insert_request_processor_before("contents", Ending())


def _removing(name: str) -> Callable[[BaseLlmFlow], None]:
    def arrange(flow: BaseLlmFlow) -> None:
        flow.remove_request_processor(name)

    return arrange


def _probe(name: str, row: str, arrange: Any, script: Any = _TURNS) -> Probe:
    return Probe(
        name=f"process-{name}", row=row, plugins=tuple, script=script, arrange_flow=arrange
    )


PROBES: Final = (
    _probe("before-contents", "before `contents`: the instruction", _before_contents),
    _probe("model", "before `contents`: the model", _choosing),
    _probe("after-routing", "after `gcli_routing`: temperature and instruction", _after_routing),
    _probe("at-the-end", "after `agent_tools`: model and tools", _at_the_end, [text("hm")]),
    _probe("event", "an event of the user's, before `contents`", _steering),
    _probe("no-tools", "`agent_tools` removed", _removing("agent_tools"), [text("hm")]),
    _probe("no-instruction", "`instructions` removed", _removing("instructions"), [text("hm")]),
    _probe("end", "`end_invocation`, with an error event", _ending, ()),
)
