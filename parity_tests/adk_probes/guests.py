"""What the checks of `within` bring into the runtime: plugins, tools and operations of others."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any, Final

from google.adk.events.event import Event
from google.adk.models.llm_response import LlmResponse
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.base_toolset import BaseToolset
from google.adk.tools.function_tool import FunctionTool
from google.adk.tools.tool_context import ToolContext
from google.genai import types
from pydantic import BaseModel

from parity_tests.adk_probes.observing import said
from parity_tests.adk_probes.probe import Noting
from parity_tests.adk_probes.watching import kinds_of
from runtimes.chat_runtime import ChatRuntime
from runtimes.contract import ConversationCommands, Runtime
from services.clock import VIRTUAL_EPOCH_MS, VirtualClock

__all__ = [
    "USAGE",
    "Aborting",
    "Answered",
    "Answering",
    "AppState",
    "BetweenMasked",
    "Calls",
    "Children",
    "Citations",
    "Closing",
    "Copying",
    "EmptyTool",
    "Endings",
    "Equipping",
    "Ids",
    "Names",
    "OtherMessage",
    "Partial",
    "Placing",
    "Quiet",
    "Removing",
    "Report",
    "Reporting",
    "Sorry",
    "Thinking",
    "Times",
    "Unsendable",
    "Voice",
    "add",
    "compress",
    "other_model",
    "pause",
    "picture",
    "picture_and_more",
    "read_file",
    "reset",
    "rewind",
    "tokens_are_recorded",
    "words",
    "words_and_more",
]

USAGE: Final = {"promptTokenCount": 5, "candidatesTokenCount": 2, "totalTokenCount": 7}


class Names(Noting):
    """Notes the plugins of each agent that runs."""

    async def before_run_callback(self, *, invocation_context: Any) -> None:
        session, agent = invocation_context.session, invocation_context.agent
        most = invocation_context.run_config.max_llm_calls
        names = session.app_name, session.user_id, agent.name, agent.canonical_model.model
        self.note(*names, most, session.id.partition("/")[2])
        self.note(*(plugin.name for plugin in invocation_context.plugin_manager.plugins))


class Ids(Noting):
    """Notes the ids of the session's events before each request, and sets state."""

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        events: Sequence[Event] = callback_context.session.events
        self.note(*(f"{event.invocation_id} {event.id}" for event in events))

    async def before_agent_callback(self, *, agent: Any, callback_context: Any) -> None:
        callback_context.state["seen"] = True


class Copying(Noting):
    """Puts copies in place of a request's contents."""

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        llm_request.contents = copy.deepcopy(llm_request.contents)


class Removing(Noting):
    """Removes one of the product's tools from each request."""

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        (tool,) = llm_request.config.tools
        tool.function_declarations = [
            each for each in tool.function_declarations if each.name != "activate_skill"
        ]


class EmptyTool(Noting):
    """Puts an empty tool in place of the request's."""

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        llm_request.config.tools = [types.Tool()]


class Unsendable(Noting):
    """Puts something into the request that is no instruction."""

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        llm_request.config.system_instruction = 7


class Report(BaseModel):
    """What an answer has to be."""

    title: str


class Reporting(Noting):
    """Asks for an answer of a class."""

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        llm_request.config.response_schema = Report


class Quiet(Noting):
    """Takes the content out of the partial responses of an answer."""

    async def after_model_callback(self, *, callback_context: Any, llm_response: Any) -> Any:
        return LlmResponse(partial=True) if llm_response.partial else None


class Children(Noting):
    """Notes what children's callbacks see, and alters results of tools."""

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        last = kinds_of(list.__getitem__(llm_request.contents, -1))
        self.note("asks", last, sorted(llm_request.tools_dict))

    async def after_model_callback(self, *, callback_context: Any, llm_response: Any) -> None:
        if not llm_response.partial:
            names = [call.name for call in llm_response.get_function_calls()]
            self.note("answers", names)

    async def after_tool_callback(
        self, *, tool: Any, tool_args: Any, tool_context: Any, result: Any
    ) -> Any:
        self.note("after", tool.name, tool_context.function_call_id)
        tool_context.actions.skip_summarization = tool.name == "get_internal_docs"
        return {**result, "altered": True}


def add(a: int, b: int, tool_context: ToolContext) -> dict[str, Any]:
    """Adds two numbers."""
    confirmed = tool_context.tool_confirmation
    return {"sum": a + b, "confirmed": confirmed is not None and confirmed.confirmed}


def words() -> dict[str, Any]:
    """Returns what tools of the product return."""
    return {"output": "nothing but words"}


def words_and_more() -> dict[str, Any]:
    """Returns more than that."""
    return {"output": "some words", "more": 1}


def picture() -> Any:
    """Returns media."""
    return types.Part.from_bytes(data=b"dots", mime_type="image/png")


def picture_and_more() -> Any:
    """Returns media, and something about it."""
    return {"image": picture(), "of": "dots"}


def read_file(file_path: str) -> dict[str, Any]:
    """Has the name of one of the product's tools."""
    return {"output": file_path}


class Closing(BaseToolset):
    """A toolset that notes when it is closed."""

    def __init__(self, note: Callable[..., None]) -> None:
        super().__init__()
        self._note = note

    async def get_tools(self, readonly_context: Any = None) -> list[BaseTool]:
        """One tool."""
        return [FunctionTool(add)]

    async def close(self) -> None:
        """Note it."""
        self._note("toolset closed")


class Equipping(Noting):
    """Gives each agent a toolset, and notes when it is closed itself."""

    async def before_agent_callback(self, *, agent: Any, callback_context: Any) -> None:
        if not any(isinstance(each, Closing) for each in agent.tools):
            agent.tools.append(Closing(self.note))

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        agent = callback_context._invocation_context.agent
        tools = await agent.canonical_tools(callback_context)
        self.note(sorted(llm_request.tools_dict), sorted(tool.name for tool in tools))

    async def close(self) -> None:
        """Note it."""
        self.note("plugin closed")


class OtherMessage(Noting):
    """Replaces the first message, and notes what the session says before each request."""

    async def on_user_message_callback(
        self, *, invocation_context: Any, user_message: Any
    ) -> types.Content | None:
        if user_message.parts != [types.Part(text="hello")]:
            return None
        return types.Content(role="user", parts=[types.Part(text="hello, please")])

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        events: Sequence[Event] = callback_context.session.events
        self.note(*said(event.content for event in events if event.content))


class Aborting(Noting):
    """Aborts the send as a user does, and says something else in place of a delta."""

    async def after_model_callback(self, *, callback_context: Any, llm_response: Any) -> Any:
        signal = callback_context._invocation_context.agent.model._parts.link.run.signal
        signal._abort(None)
        content = types.Content(role="model", parts=[types.Part(text="too late")])
        return LlmResponse(content=content, partial=True)

    async def on_run_error_callback(self, *, invocation_context: Any, error: Exception) -> None:
        self.note(str(error))


class Answered(Noting):
    """Notes every response of the model."""

    async def after_model_callback(self, *, callback_context: Any, llm_response: Any) -> None:
        self.note(llm_response.partial, llm_response.error_code, *kinds_of(llm_response.content))


class Calls(Noting):
    """Notes the calls of each whole answer."""

    async def after_model_callback(self, *, callback_context: Any, llm_response: Any) -> None:
        if not llm_response.partial:
            found = llm_response.get_function_calls()
            self.note(*([call.id, call.name, call.args] for call in found))


class BetweenMasked(Noting):
    """Ends the first run after its tool, speaks in place of the second, and notes what tools said.

    What it says stands behind the tool's response, which is masked later.
    """

    async def after_tool_callback(
        self, *, tool: Any, tool_args: Any, tool_context: Any, result: Any
    ) -> None:
        tool_context.actions.skip_summarization = not self.seen

    async def before_agent_callback(self, *, agent: Any, callback_context: Any) -> Any:
        message = callback_context.user_content.parts[0].text
        if message != "again":
            return None
        return types.Content(role="model", parts=[types.Part(text="not now")])

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        events: Sequence[Event] = callback_context.session.events
        answers = [answer.response for each in events for answer in each.get_function_responses()]
        if answers:
            self.note(*("<tool_output_masked>" in str(answer) for answer in answers))


class Times(Noting):
    """Notes at last how many milliseconds after the session's begin each of its events was."""

    async def before_agent_callback(self, *, agent: Any, callback_context: Any) -> None:
        callback_context.state["seen"] = True
        if callback_context.user_content.parts[0].text == "at last":
            events: Sequence[Event] = callback_context.session.events
            self.note(*(round(event.timestamp * 1000) - VIRTUAL_EPOCH_MS for event in events))


class Voice(Noting):
    """Notes the voice that each request asks for, and changes it in place."""

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        voice = llm_request.config.speech_config.voice_config.prebuilt_voice_config
        self.note(voice.voice_name)
        voice.voice_name = "Puck"


class Sorry(Noting):
    """Answers in place of an error of the model."""

    async def on_model_error_callback(
        self, *, callback_context: Any, llm_request: Any, error: Exception
    ) -> LlmResponse:
        content = types.Content(role="model", parts=[types.Part(text=f"sorry: {error}")])
        return LlmResponse(content=content)


class AppState(Noting):
    """Counts its runs in the state of the application."""

    async def before_agent_callback(self, *, agent: Any, callback_context: Any) -> None:
        callback_context.state["app:runs"] = callback_context.state.get("app:runs", 0) + 1


class Answering(Noting):
    """Answers the first request in place of the model."""

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> Any:
        if llm_request.contents[-1].parts[-1].text != "hello":
            return None
        usage = types.GenerateContentResponseUsageMetadata.model_validate(USAGE)
        content = types.Content(role="model", parts=[types.Part(text="from a cache")])
        return LlmResponse(content=content, usage_metadata=usage)


class Partial(Noting):
    """Notes which events are partial."""

    async def on_event_callback(self, *, invocation_context: Any, event: Event) -> None:
        self.note(event.partial, *kinds_of(event.content))


class Placing(Noting):
    """Gives each answer a place in a workflow, and notes those that the session's events have."""

    async def on_event_callback(self, *, invocation_context: Any, event: Event) -> Event | None:
        if event.partial:
            return None
        event.node_info.path = "flow/answer"
        return event

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        events: Sequence[Event] = callback_context.session.events
        self.note(*(event.node_info.path for event in events))


class Thinking(Noting):
    """Notes how much the model is asked to think."""

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        asked = llm_request.config.thinking_config
        self.note(llm_request.model, asked.thinking_budget, asked.thinking_level)


class Citations(Noting):
    """Notes the sources of partial responses."""

    async def after_model_callback(self, *, callback_context: Any, llm_response: Any) -> None:
        found = llm_response.citation_metadata
        if found is not None:
            self.note(llm_response.partial, *(each.uri for each in found.citations))


class Endings(Noting):
    """Notes the events that are no deltas."""

    async def on_event_callback(self, *, invocation_context: Any, event: Event) -> None:
        if not event.partial:
            self.note(event.error_code, *kinds_of(event.content))


async def compress(runtime: Runtime) -> None:
    """Compress the history."""
    assert isinstance(runtime, ConversationCommands)
    await runtime.compress()


async def tokens_are_recorded(runtime: Runtime) -> None:
    """Look at the tokens of the only answer that was counted."""
    assert isinstance(runtime, ChatRuntime)
    assert [message["tokens"]["input"] for message in runtime.recorded if "tokens" in message] == [
        5
    ]


async def other_model(runtime: Runtime) -> None:
    """Choose another model, as a user does."""
    assert isinstance(runtime, ChatRuntime)
    runtime._services.state.set_model("gemini-3-flash-preview")


async def pause(runtime: Runtime) -> None:
    """Let a second pass."""
    assert isinstance(runtime, ChatRuntime)
    clock = runtime._services.clock
    assert isinstance(clock, VirtualClock)
    clock.advance(1000)


async def reset(runtime: Runtime) -> None:
    """Begin the conversation anew."""
    await runtime.reset()


async def rewind(runtime: Runtime) -> None:
    """Go back to before the first message."""
    assert isinstance(runtime, ConversationCommands)
    await runtime.rewind(1)
