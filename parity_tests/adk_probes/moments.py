"""What the checks of `rare` bring into the runtime: plugins, tools and operations of others."""

from __future__ import annotations

import copy
import logging
import warnings
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any, Final

from google.adk.events.event import Event
from google.adk.flows.llm_flows._base_llm_processor import BaseLlmRequestProcessor
from google.adk.flows.llm_flows.base_llm_flow import BaseLlmFlow
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.tools.tool_context import ToolContext
from google.genai import types

from agent_protocol.agent import MessageSend
from agent_protocol.content import TextPart
from parity_tests.adk_probes.observing import said
from parity_tests.adk_probes.probe import Noting, Operation
from parity_tests.adk_probes.tooling import Weighing
from parity_tests.adk_probes.watching import kinds_of
from runtimes.adk import open_runtime, tool_round
from runtimes.chat_runtime import ChatRuntime
from runtimes.contract import ConversationCommands, Runtime, RuntimeUnavailable
from services.message_bus import ToolCallsUpdate
from services.scheduler.calls import CallStatus

__all__ = [
    "Afterwards",
    "Compressing",
    "ErrorsOfTools",
    "FailingResponse",
    "Held",
    "InFront",
    "Late",
    "Renewing",
    "Saving",
    "Silent",
    "SorryCode",
    "Texts",
    "Transcribing",
    "Uncallable",
    "Unwatching",
    "Updates",
    "Visits",
    "Warned",
    "before_again",
    "changed_recording",
    "leave",
    "namesakes",
    "note_folders",
    "second_agent",
    "weighing_flow",
]

_LIBRARIES: Final = ("google_adk", "google_genai")


class Held:
    """Gives plugins the runtime of their run."""

    def __init__(self) -> None:
        self._runtime: Runtime | None = None

    async def _hold(self, runtime: Runtime) -> None:
        self._runtime = runtime

    @property
    def taken(self) -> Operation:
        """Takes the runtime; the first of a probe's messages."""
        return Operation(self._hold)

    @property
    def runtime(self) -> ChatRuntime:
        """The runtime of the run under way."""
        assert isinstance(self._runtime, ChatRuntime)
        return self._runtime


class Afterwards(Noting):
    """Asks the product's toolset for its tools when the runtime is closed."""

    async def before_agent_callback(self, *, agent: Any, callback_context: Any) -> None:
        self._toolset = agent.tools[0]

    async def close(self) -> None:
        """Ask."""
        try:
            self.note(*(tool.name for tool in await self._toolset.get_tools()))
        except RuntimeError as error:
            self.note(str(error))


class FailingResponse(Noting):
    """Fails with the results of tools."""

    async def on_event_callback(self, *, invocation_context: Any, event: Event) -> None:
        if event.get_function_responses():
            raise ValueError("no results, please")


class Visits(Noting):
    """Notes the number of the session when a run begins, and what its events say."""

    async def before_run_callback(self, *, invocation_context: Any) -> None:
        session = invocation_context.session
        events: Sequence[Event] = session.events
        self.note(session.id.partition("/")[2], *(kinds_of(event.content) for event in events))


class Silent(Noting):
    """Has the libraries pass on their logs and warnings again before the runtime is opened."""

    def __init__(self) -> None:
        super().__init__("silent")
        for name in _LIBRARIES:
            logging.getLogger(name).propagate = True
        kept = [each for each in warnings.filters if "google" not in str(each[3])]
        warnings.resetwarnings()
        warnings.filters[:] = kept  # type: ignore[index] # a list, whatever its type says

    async def before_run_callback(self, *, invocation_context: Any) -> None:
        self.note(*(logging.getLogger(name).propagate for name in _LIBRARIES))
        with warnings.catch_warnings(record=True) as caught:
            for module in ("google.adk", "google.genai.types"):
                warnings.warn_explicit("old", UserWarning, "x.py", 1, module=module, registry={})
        self.note(len(caught))


class Uncallable(Noting):
    """Puts something into the request that is no tool."""

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        llm_request.config.tools.append(len)


class Renewing(Noting):
    """Removes one of the product's tools from each request, and has the product get another one."""

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        (tool,) = llm_request.config.tools
        tool.function_declarations = [
            each for each in tool.function_declarations if each.name != "activate_skill"
        ]
        registry = callback_context._invocation_context.agent.model._parts.services.tools
        known = registry.get("read_file")
        later = copy.copy(known)
        later.name = "read_later"
        registry.register(later, even_unlisted=True)


class InFront(Noting):
    """Says something of its own before the event of the user's message."""

    async def on_user_message_callback(self, *, invocation_context: Any, user_message: Any) -> None:
        context = invocation_context
        event = Event(
            author="probe",
            invocation_id=context.invocation_id,
            content=types.Content(role="model", parts=[types.Part(text="in front")]),
        )
        await context.session_service.append_event(context.session, event)

    async def before_run_callback(self, *, invocation_context: Any) -> None:
        events: Sequence[Event] = invocation_context.session.events
        self.note(*([event.author, *kinds_of(event.content)] for event in events))


class Saving(Noting):
    """Saves each message as an artifact; notes it, and how many events the session has."""

    async def before_agent_callback(self, *, agent: Any, callback_context: Any) -> None:
        (part,) = callback_context.user_content.parts
        before = await callback_context.load_artifact("message")
        self.note(before and before.text, len(callback_context.session.events))
        await callback_context.save_artifact("message", types.Part(text=part.text))


class ErrorsOfTools(Noting):
    """Notes what it gets of a call that failed."""

    async def on_tool_error_callback(
        self, *, tool: Any, tool_args: Any, tool_context: Any, error: Any
    ) -> None:
        self.note(tool.name, tool.description[:15], tool_args, str(error.error_type))


class Warned(Noting):
    """Notes what the runtime logs about the actions of tools."""

    def __init__(self) -> None:
        super().__init__("warned")
        logging.getLogger(tool_round.__name__).addFilter(self._noted)

    def _noted(self, record: logging.LogRecord) -> bool:
        self.note(record.getMessage())
        return True

    async def close(self) -> None:
        """Stop."""
        logging.getLogger(tool_round.__name__).removeFilter(self._noted)


class Updates(Noting):
    """Notes how clients of the scheduler show the result of each call."""

    async def before_agent_callback(self, *, agent: Any, callback_context: Any) -> None:
        agent.model._parts.services.bus.subscribe(ToolCallsUpdate, self._take)

    def _take(self, update: Any) -> None:
        for call in update.calls:
            if call.status is CallStatus.SUCCESS and call.tool is not None:
                self.note(call.tool.name, call.tool.is_output_markdown)


def leave(to: str, tool_context: ToolContext) -> dict[str, Any]:
    """Asks for another agent, which the product has none of."""
    if to:
        tool_context.actions.transfer_to_agent = to
    tool_context.state["left"] = to
    return {"output": "left"}


class Unwatching(Noting):
    """Notes the calls that are about to be run."""

    async def before_tool_callback(self, *, tool: Any, tool_args: Any, tool_context: Any) -> None:
        self.note("before", tool.name)


class SorryCode(Noting):
    """Answers an error of the model with another error, and notes the responses."""

    async def on_model_error_callback(
        self, *, callback_context: Any, llm_request: Any, error: Exception
    ) -> LlmResponse:
        return LlmResponse(error_code="SORRY", error_message=f"sorry: {error}")

    async def after_model_callback(self, *, callback_context: Any, llm_response: Any) -> None:
        self.note(llm_response.error_code, llm_response.content is None)


class _Equipping(BaseLlmRequestProcessor):
    name = "equipping"

    async def run_async(
        self, invocation_context: Any, llm_request: LlmRequest
    ) -> AsyncGenerator[Event, None]:
        llm_request.append_tools([Weighing()])
        return
        yield


def weighing_flow(flow: BaseLlmFlow) -> None:
    """Add a tool before the product's own are there."""
    flow.insert_request_processor_before("agent_tools", _Equipping())


class Transcribing(Noting):
    """Notes the runtime's transcript before each call."""

    def __init__(self, held: Held) -> None:
        super().__init__("transcribing")
        self._held = held

    async def before_tool_callback(self, *, tool: Any, tool_args: Any, tool_context: Any) -> None:
        said_so_far = self._held.runtime.transcript()[1:]
        self.note(*([each["role"], *map(sorted, each["parts"])] for each in said_so_far))


class Compressing(Transcribing):
    """Sets state when a run begins, and compresses the conversation while a tool's result waits."""

    async def before_agent_callback(self, *, agent: Any, callback_context: Any) -> None:
        callback_context.state["runs"] = callback_context.state.get("runs", 0) + 1

    async def before_tool_callback(self, *, tool: Any, tool_args: Any, tool_context: Any) -> None:
        await self._held.runtime.compress()

    async def after_run_callback(self, *, invocation_context: Any) -> None:
        events: Sequence[Event] = invocation_context.session.events
        self.note(*(event.actions.state_delta.get("runs") for event in events))


class Texts(Noting):
    """Notes what the session says before each request."""

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        events: Sequence[Event] = callback_context.session.events
        self.note(*said(event.content for event in events if event.content))


class Late(Noting):
    """Notes the author of each event of the session before each request."""

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        events: Sequence[Event] = callback_context.session.events
        self.note(*(event.author for event in events))


async def second_agent(runtime: Runtime) -> None:
    """Have another agent over the same conversation answer."""
    agent = runtime.agent()
    await agent.send(MessageSend(content=(TextPart(text="and you?"),)))
    await runtime.settled()


async def note_folders(runtime: Runtime) -> None:
    """Add a turn to the history that is no message."""
    assert isinstance(runtime, ChatRuntime)
    await runtime.note_folders()


async def before_again(runtime: Runtime) -> None:
    """Go back to before the second message."""
    assert isinstance(runtime, ConversationCommands)
    await runtime.rewind(2)


async def namesakes(runtime: Runtime) -> None:
    """Try to open another runtime, with two plugins of one name."""
    assert isinstance(runtime, ChatRuntime)
    with suppress(RuntimeUnavailable):
        async with open_runtime(runtime._services, plugins=[Noting("twin"), Noting("twin")]):
            raise AssertionError("the runtime was opened")


def changed_recording(old: str, new: str) -> Callable[[Runtime], Awaitable[None]]:
    """Change a text in the conversation's recording, and go on from that."""

    async def change(runtime: Runtime) -> None:
        assert isinstance(runtime, ChatRuntime)
        assert isinstance(runtime, ConversationCommands)
        path = runtime._chats.current.recording.path
        assert path is not None
        path.write_text(path.read_text().replace(old, new))
        await runtime.resume(None)

    return change
