"""Callbacks of a plugin that replace something, or end the run."""

from __future__ import annotations

from typing import Any, Final

from google.adk.events.event import Event
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.genai import types

from parity_tests.adk_probes.probe import Noting, Probe, calls, chunk, text, thought
from runtimes.adk.plugins.named import named_plugins
from services.model.errors import ApiError

__all__ = ["GROUP", "PROBES"]

GROUP: Final = "Callbacks that replace something"

_CALL: Final = calls(("read_file", {"file_path": "a.txt"}))
_FAILS: Final = calls(("read_file", {"file_path": "none.txt"}))
_TURNS: Final = (_CALL, text("it is alpha"))
_REFUSED: Final = ApiError(400, "no such request")
_TWICE: Final = ("hello", "again")
_USAGE: Final = {"promptTokenCount": 5, "candidatesTokenCount": 2, "totalTokenCount": 7}


def _content(words: str, role: str = "model") -> types.Content:
    return types.Content(role=role, parts=[types.Part(text=words)])


class UserMessage(Noting):
    async def on_user_message_callback(
        self, *, invocation_context: Any, user_message: Any
    ) -> types.Content:
        return _content(f"{user_message.parts[0].text}, please", "user")


class BeforeRun(Noting):
    async def before_run_callback(self, *, invocation_context: Any) -> types.Content:
        return _content("not now")


class OnEventWhole(Noting):
    async def on_event_callback(self, *, invocation_context: Any, event: Event) -> Event | None:
        if event.partial or not event.is_final_response():
            return None
        return Event(author=event.author, content=_content("as a plugin has it"))


class OnEventPartial(Noting):
    async def on_event_callback(self, *, invocation_context: Any, event: Event) -> Event | None:
        if not (event.partial and event.content and event.content.parts):
            return None
        return Event(author=event.author, partial=True, content=_content("delta of a plugin"))


class OnEventMetadata(Noting):
    async def on_event_callback(self, *, invocation_context: Any, event: Event) -> Event | None:
        if event.partial:
            return None
        event.custom_metadata = {"seen by": "a plugin"}
        return event


class OnEventCopied(Noting):
    """Puts a copy in place of each answer's event, which has all the fields and nothing else."""

    async def on_event_callback(self, *, invocation_context: Any, event: Event) -> Event | None:
        if event.partial or not event.is_final_response():
            return None
        return Event.model_validate(event.model_dump())


class OnEventLonger(Noting):
    """Adds to the text of each answer."""

    async def on_event_callback(self, *, invocation_context: Any, event: Event) -> Event | None:
        if event.partial or not event.is_final_response():
            return None
        said = event.model_dump()
        said["content"]["parts"][0]["text"] += " three"
        return Event.model_validate(said)


class OnEventFailed(Noting):
    """Puts an error into every event of the answer."""

    async def on_event_callback(self, *, invocation_context: Any, event: Event) -> Event | None:
        if not (event.content and event.content.parts):
            return None
        content = types.Content.model_validate(event.content.model_dump())
        return Event(
            author=event.author,
            partial=event.partial,
            content=content,
            error_code="ODD",
            error_message="a plugin frowns",
        )


class BeforeAgent(Noting):
    async def before_agent_callback(self, *, agent: Any, callback_context: Any) -> types.Content:
        return _content("no agent today")


class AfterAgent(Noting):
    async def after_agent_callback(self, *, agent: Any, callback_context: Any) -> types.Content:
        return _content("and goodbye")


class BeforeModel(Noting):
    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> Any:
        if llm_request.contents[-1].parts[-1].text == "hello":
            return LlmResponse(content=_content("from a cache"))
        return None


class BeforeModelCalls(Noting):
    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> Any:
        if llm_request.contents[-1].parts[-1].text != "hello":
            return None
        call = types.FunctionCall(id="c1", name="read_file", args={"file_path": "a.txt"})
        content = types.Content(role="model", parts=[types.Part(function_call=call)])
        return LlmResponse(content=content)


class BeforeModelCallsTwo(Noting):
    """Answers with two calls, one of them without an id."""

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> Any:
        if llm_request.contents[-1].parts[-1].text != "hello":
            return None
        wanted = types.FunctionCall(name="read_file", args={"file_path": "a.txt"})
        calls = (wanted, wanted.model_copy(update={"id": "c1"}))
        parts = [types.Part(function_call=call) for call in calls]
        return LlmResponse(content=types.Content(role="model", parts=parts))


class BeforeModelCutOff(Noting):
    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> Any:
        if llm_request.contents[-1].parts[-1].text != "hello":
            return None
        usage = types.GenerateContentResponseUsageMetadata.model_validate(_USAGE)
        finish = types.FinishReason.MAX_TOKENS
        content = _content("from a cache, and")
        return LlmResponse(content=content, finish_reason=finish, usage_metadata=usage)


class BeforeModelError(Noting):
    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> Any:
        return LlmResponse(error_code="NOT_ALLOWED", error_message="a plugin says no")


class AfterModelPartial(Noting):
    async def after_model_callback(self, *, callback_context: Any, llm_response: Any) -> Any:
        parts = llm_response.content and llm_response.content.parts
        if not (llm_response.partial and parts and parts[0].text):
            return None
        return LlmResponse(content=_content(parts[0].text.upper()), partial=True)


class AfterModelInPlace(Noting):
    """Changes the texts of responses, and returns nothing."""

    async def after_model_callback(self, *, callback_context: Any, llm_response: Any) -> None:
        for part in (llm_response.content and llm_response.content.parts) or ():
            if part.text:
                part.text = part.text.upper()


class AfterModelWhole(Noting):
    async def after_model_callback(self, *, callback_context: Any, llm_response: Any) -> Any:
        if llm_response.partial:
            return None
        return LlmResponse(content=_content("what history has"))


class AfterModelDropsCall(Noting):
    async def after_model_callback(self, *, callback_context: Any, llm_response: Any) -> Any:
        if llm_response.partial or not llm_response.get_function_calls():
            return None
        return LlmResponse(content=_content("no tools here"))


class AfterModelChangesCall(Noting):
    """Has the first call of an answer read another file."""

    async def after_model_callback(self, *, callback_context: Any, llm_response: Any) -> Any:
        if llm_response.partial or not llm_response.get_function_calls():
            return None
        content = llm_response.content.model_copy(deep=True)
        content.parts[0].function_call.args = {"file_path": "b.txt"}
        return llm_response.model_copy(update={"content": content})


class ModelError(Noting):
    async def on_model_error_callback(
        self, *, callback_context: Any, llm_request: Any, error: Exception
    ) -> LlmResponse:
        self.note(type(error).__name__)
        return LlmResponse(content=_content(f"sorry: {error}"))


class AgentsModelError(Noting):
    """Gives the agent a callback of its own, as `LlmAgent(on_model_error_callback=...)` does."""

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        async def sorry(callback_context: Any, llm_request: Any, error: Exception) -> LlmResponse:
            self.note(type(error).__name__)
            return LlmResponse(content=_content(f"sorry: {error}"))

        callback_context._invocation_context.agent.on_model_error_callback = sorry


class AgentsModel(Noting):
    """Gives the agent model callbacks of its own."""

    async def before_agent_callback(self, *, agent: Any, callback_context: Any) -> None:
        async def before(callback_context: Any, llm_request: Any) -> None:
            self.note("before", len(llm_request.contents[-1].parts))
            llm_request.append_instructions(["Be brief."])

        async def after(callback_context: Any, llm_response: Any) -> LlmResponse | None:
            if llm_response.partial:
                return None
            return LlmResponse(content=_content("what the agent has it say"))

        agent.before_model_callback = before
        agent.after_model_callback = after


class AgentsConfig(Noting):
    """Gives the agent a configuration of generation that is colder."""

    async def before_agent_callback(self, *, agent: Any, callback_context: Any) -> None:
        config = agent.generate_content_config or types.GenerateContentConfig()
        agent.generate_content_config = config.model_copy(update={"temperature": 0.25})


class AgentsTool(Noting):
    """Gives the agent tool callbacks of its own."""

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        agent = callback_context._invocation_context.agent

        async def before(*, tool: Any, args: Any, tool_context: Any) -> None:
            self.note("before", tool.name, args)

        async def after(*, tool: Any, args: Any, tool_context: Any, tool_response: Any) -> Any:
            self.note("after", tool.name, tool_response)
            return {"output": "the agent's own"}

        agent.before_tool_callback = before
        agent.after_tool_callback = after


class BeforeToolArguments(Noting):
    async def before_tool_callback(self, *, tool: Any, tool_args: Any, tool_context: Any) -> None:
        tool_args["file_path"] = "b.txt"


class BeforeTool(Noting):
    async def before_tool_callback(self, *, tool: Any, tool_args: Any, tool_context: Any) -> Any:
        return {"output": "never read"}


class BeforeOneTool(Noting):
    async def before_tool_callback(self, *, tool: Any, tool_args: Any, tool_context: Any) -> Any:
        return {"output": "never read"} if tool_args["file_path"] == "none.txt" else None


class AfterTool(Noting):
    async def after_tool_callback(
        self, *, tool: Any, tool_args: Any, tool_context: Any, result: Any
    ) -> Any:
        return {"output": result["output"].upper()}


class ToolError(Noting):
    async def on_tool_error_callback(
        self, *, tool: Any, tool_args: Any, tool_context: Any, error: Exception
    ) -> Any:
        return {"output": "an empty file"}


class SkipSummarization(Noting):
    async def after_tool_callback(
        self, *, tool: Any, tool_args: Any, tool_context: Any, result: Any
    ) -> None:
        tool_context.actions.skip_summarization = True


# A plugin that can be called, but is neither a class nor a factory of one.
POLITE: Final = type("Polite", (AfterAgent,), {"__call__": None})("polite")


def loud() -> BasePlugin:
    """Makes a plugin."""
    return AfterTool("loud")


def _named() -> list[BasePlugin]:
    """Two plugins, as `--adk-plugin` finds them."""
    return named_plugins(f"{__name__}:loud, {__name__}:POLITE")


def _probe(name: str, plugin: type[Noting], row: str, script: Any = _TURNS, **more: Any) -> Probe:
    return Probe(name=f"replace-{name}", row=row, plugins=lambda: [plugin()], script=script, **more)


PROBES: Final = (
    _probe("user-message", UserMessage, "`on_user_message`: another message"),
    _probe("before-run", BeforeRun, "`before_run`: a content that ends the run", ()),
    _probe(
        "event",
        OnEventWhole,
        "`on_event`: another event in place of the answer",
        (text("mine"), text("mine")),
        messages=_TWICE,
    ),
    _probe(
        "partial-event",
        OnEventPartial,
        "`on_event`: another partial event",
        (text("mine"), text("yours")),
        messages=_TWICE,
    ),
    _probe("event-metadata", OnEventMetadata, "`on_event`: `custom_metadata` added"),
    _probe(
        "event-copied",
        OnEventCopied,
        "`on_event`: a copy of the answer's event",
        (_CALL, [chunk({"text": "it is alpha"}, usageMetadata=_USAGE)], text("three")),
        messages=_TWICE,
    ),
    _probe(
        "event-longer",
        OnEventLonger,
        "`on_event`: a text added to the answer's event",
        ([chunk({"text": "one "}, finish=None), chunk({"text": "two"})], text("four")),
        messages=_TWICE,
        shown=("' three'",),
    ),
    _probe(
        "event-failed",
        OnEventFailed,
        "`on_event`: the same events with an error",
        ([chunk({"text": "one "}, finish=None), chunk({"text": "two"})],),
    ),
    _probe("before-agent", BeforeAgent, "`before_agent`: a content instead of the agent", ()),
    _probe("after-agent", AfterAgent, "`after_agent`: one more content", (text("hm"),)),
    _probe(
        "before-model",
        BeforeModel,
        "`before_model`: a response instead of the model's",
        (text("really"),),
        messages=_TWICE,
    ),
    _probe(
        "before-model-calls",
        BeforeModelCalls,
        "`before_model`: a response that calls a tool",
        (text("it is alpha"),),
    ),
    _probe(
        "before-model-calls-two",
        BeforeModelCallsTwo,
        "`before_model`: a response with two calls, one without an id",
        (text("it is alpha"),),
    ),
    _probe(
        "before-model-cut-off",
        BeforeModelCutOff,
        "`before_model`: a response with a finish reason and usage",
        (text("really"),),
        messages=_TWICE,
    ),
    _probe("before-model-error", BeforeModelError, "`before_model`: a response with an error", ()),
    _probe(
        "partial-response",
        AfterModelPartial,
        "`after_model`: another partial response",
        ([chunk({"text": "one "}, finish=None), chunk({"text": "two"})], text("three")),
        messages=_TWICE,
    ),
    _probe(
        "response-in-place",
        AfterModelInPlace,
        "`after_model`: texts changed in place",
        ([chunk({"text": "one "}, finish=None), chunk({"text": "two"})], text("three")),
        messages=_TWICE,
        counted=False,
    ),
    _probe(
        "whole-response",
        AfterModelWhole,
        "`after_model`: another whole response",
        ([chunk(thought("hm"), {"text": "what was said"})], text("three")),
        messages=_TWICE,
    ),
    _probe(
        "whole-response-call",
        AfterModelDropsCall,
        "`after_model`: a text in place of a call",
        (_CALL, text("three")),
        messages=_TWICE,
    ),
    _probe(
        "changed-call",
        AfterModelChangesCall,
        "`after_model`: one call of two with other arguments",
        (
            calls(("read_file", {"file_path": "a.txt"}), ("read_file", {"file_path": "c.txt"})),
            text("both"),
        ),
        files={"b.txt": "beta\n", "c.txt": "gamma\n"},
    ),
    _probe(
        "model-error",
        ModelError,
        "`on_model_error`: a response instead of the error",
        (_REFUSED, text("three")),
        messages=_TWICE,
    ),
    _probe(
        "model-error-after-tool",
        ModelError,
        "`on_model_error`: a response, after a tool",
        (_CALL, _REFUSED, text("three")),
        messages=_TWICE,
    ),
    _probe(
        "agents-model-error",
        AgentsModelError,
        "the agent's `on_model_error_callback`",
        (_REFUSED, text("three")),
        messages=_TWICE,
    ),
    _probe(
        "agents-model",
        AgentsModel,
        "the agent's `before_model_callback`, `after_model_callback`",
        (text("one"), text("three")),
        messages=_TWICE,
        counted=False,
    ),
    _probe("agents-config", AgentsConfig, "the agent's `generate_content_config`"),
    _probe(
        "agents-model-error-alone",
        AgentsModelError,
        "the agent's `on_model_error_callback`, with no plugin that has one",
        (_REFUSED, text("three")),
        messages=_TWICE,
        counted=False,
    ),
    _probe(
        "agents-tool-alone",
        AgentsTool,
        "the agent's callbacks of tools, with no plugin that has one",
        counted=False,
    ),
    _probe(
        "tool-alone",
        AfterTool,
        "`after_tool` of the only plugin",
        counted=False,
        shown=("ALPHA",),
    ),
    _probe("agents-tool", AgentsTool, "the agent's `before_tool_callback`, `after_tool_callback`"),
    _probe(
        "tool-arguments",
        BeforeToolArguments,
        "`before_tool`: other arguments",
        files={"b.txt": "beta\n"},
    ),
    _probe("before-tool", BeforeTool, "`before_tool`: a result instead of the call"),
    _probe(
        "before-one-tool",
        BeforeOneTool,
        "`before_tool`: a result instead of one call of two",
        (
            calls(("read_file", {"file_path": "none.txt"}), ("read_file", {"file_path": "a.txt"})),
            text("both"),
        ),
    ),
    _probe("after-tool", AfterTool, "`after_tool`: another result", shown=("ALPHA",)),
    _probe(
        "tool-error", ToolError, "`on_tool_error`: a result instead of it", (_FAILS, text("ok"))
    ),
    Probe(
        name="replace-named",
        row="`after_tool` and `after_agent` of plugins that are found by name",
        plugins=_named,
        script=_TURNS,
        shown=("ALPHA", "and goodbye"),
    ),
    _probe("skip-summarization", SkipSummarization, "`skip_summarization` of a tool", (_CALL,)),
)
