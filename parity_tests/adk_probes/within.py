"""ADK code of others in the runtime, where stock ADK has nothing to compare the runtime with.

Subagents, ids, the runtime's own plugins and commands of the conversation are the product's. Each
check plays a script under the runtime alone, and states what is to be seen of it.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from google.adk.events.event import Event
from google.adk.models.llm_response import LlmResponse
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.base_toolset import BaseToolset
from google.adk.tools.function_tool import FunctionTool
from google.adk.tools.tool_context import ToolContext
from google.genai import types

from parity_tests.adk_probes.clients import Items
from parity_tests.adk_probes.observing import said
from parity_tests.adk_probes.ours import run_ours
from parity_tests.adk_probes.probe import (
    Again,
    Answer,
    Noting,
    Operation,
    Probe,
    calls,
    chunk,
    text,
    thought,
)
from parity_tests.adk_probes.replacing import BeforeModelCalls, OnEventFailed
from parity_tests.adk_probes.watching import kinds_of
from runtimes.chat_runtime import ChatRuntime
from runtimes.contract import ConversationCommands, Runtime
from services.model.errors import ApiError
from services.wire import Content, JsonObject, Part

__all__ = ["WITHIN", "Watched", "Within"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Within:
    """One use of ADK in the runtime, and what must be seen of it. `None` is not looked at."""

    probe: Probe
    notes: Sequence[Any] | None = None
    """Of the probe's plugins."""
    result: Items | None = None
    """What a client must see: see `clients.Items`."""
    session: Sequence[tuple[str, Sequence[str]]] | None = None
    """Of each event that the session has at the end: author, and the kinds of its parts."""
    contents: Sequence[Sequence[Content]] | None = None
    """Of the last request, if there is one, without the first, which describes the workspace."""
    state: dict[str, Any] | None = None
    """Of the session, at the end."""

    @property
    def name(self) -> str:
        """The probe's."""
        return self.probe.name

    def differs(self) -> tuple[str, ...]:
        """Run it once; return what is not as it must be, a line each."""
        seen = run_ours(self.probe)
        session = [(event["author"], event["parts"]) for event in seen.session]
        pairs: Sequence[tuple[str, Any, Any]] = (
            ("notes", seen.notes, self.notes),
            ("result", seen.result, self.result),
            ("session", session, self.session),
            ("state", seen.state, self.state),
            ("contents", [each["contents"][1:] for each in seen.requests[-1:]], self.contents),
            ("client", seen.client, []),
        )
        return tuple(
            f"{what}: the runtime has {found}, and must have {wanted}"
            for what, found, wanted in pairs
            if wanted is not None and found != wanted
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """A script under plugins that only look: nothing may be other than without them."""

    probe: Probe

    @property
    def name(self) -> str:
        """The probe's."""
        return self.probe.name

    def differs(self) -> tuple[str, ...]:
        """Run it with and without the plugin that has every callback."""
        with_plugins, without = (
            run_ours(replace(self.probe, counted=each)) for each in (True, False)
        )
        return tuple(
            f"{what}: with plugins the runtime has {found}, and without {wanted}"
            for what in ("requests", "emitted", "session", "state")
            if (found := getattr(with_plugins, what)) != (wanted := getattr(without, what))
        )


class Names(Noting):
    """Notes the plugins of each agent that runs."""

    async def before_run_callback(self, *, invocation_context: Any) -> None:
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


class Unsendable(Noting):
    """Puts something into the request that is no instruction."""

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        llm_request.config.system_instruction = 7


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


class Adding(Noting):
    """Adds tools to each request, and has no other callback."""

    def __init__(self, *tools: BaseTool) -> None:
        super().__init__("adding")
        self._tools = tools

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        llm_request.append_tools(list(self._tools))


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


class Answering(Noting):
    """Answers the first request in place of the model."""

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> Any:
        if llm_request.contents[-1].parts[-1].text != "hello":
            return None
        usage = types.GenerateContentResponseUsageMetadata.model_validate(_USAGE)
        content = types.Content(role="model", parts=[types.Part(text="from a cache")])
        return LlmResponse(content=content, usage_metadata=usage)


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


async def _compress(runtime: Runtime) -> None:
    assert isinstance(runtime, ConversationCommands)
    await runtime.compress()


async def _tokens_are_recorded(runtime: Runtime) -> None:
    assert isinstance(runtime, ChatRuntime)
    assert [message["tokens"]["input"] for message in runtime.recorded if "tokens" in message] == [
        5
    ]


async def _reset(runtime: Runtime) -> None:
    await runtime.reset()


async def _rewind(runtime: Runtime) -> None:
    assert isinstance(runtime, ConversationCommands)
    await runtime.rewind(1)


def _probe(name: str, plugins: Any, script: Any, **more: Any) -> Probe:
    fields = {"counted": False, **more}
    return Probe(name=f"within-{name}", row="", plugins=plugins, script=script, **fields)


def _watched(name: str, *script: Answer, **more: Any) -> Watched:
    return Watched(
        probe=Probe(name=f"watched-{name}", row="", plugins=tuple, script=script, **more)
    )


_READ: Final = calls(("read_file", {"file_path": "a.txt"}))
_CHILD: Final = calls(("invoke_agent", {"agent_name": "cli_help", "prompt": "what is new?"}))
_DOCS: Final = calls(("get_internal_docs", {}))
_DONE: Final = calls(("complete_task", {"report": {"answer": "Nothing.", "sources": []}}))
_AGENTS: Final = {"core_tools": ("invoke_agent", "read_file")}
_IDS: Final = [f"e-adk-event-1 adk-event-{number}" for number in (2, 3, 5, 7, 9)]
_NO_INSTRUCTION: Final = (
    "llm_request.config.system_instruction cannot be sent: it takes a text, parts, or a "
    "google.genai.types.Content, not int"
)
_LONG: Final = "\n".join(map(str, range(3000)))
_MANY: Final = {"promptTokenCount": 50_000}
_USAGE: Final = {"promptTokenCount": 5, "candidatesTokenCount": 2, "totalTokenCount": 7}
_SOURCES: Final = {
    "citations": [{"uri": "https://example.com/b"}, {"uri": "https://example.com/a"}]
}


def _called(path: str, call_id: str) -> Part:
    return {"functionCall": {"id": call_id, "name": "read_file", "args": {"file_path": path}}}


def _cited(*parts: Part, **more: Any) -> JsonObject:
    made = chunk(*parts, **more)
    made["candidates"][0]["citationMetadata"] = _SOURCES
    return made


WITHIN: Final = (
    Within(
        probe=_probe("names", lambda: [Names()], (_CHILD, _DONE, text("ok")), settings=_AGENTS),
        notes=[
            ["max_turns", "token_limit", "loop_detection", "steering", "probe"],
            ["max_turns", "max_time", "complete_task", "steering", "probe"],
        ],
    ),
    Within(
        probe=_probe(
            "ids",
            lambda: [Ids()],
            (_READ, text("one"), text("two"), text("three")),
            messages=("hello", "again", Operation(_rewind), "and then"),
        ),
        notes=[
            _IDS[:2],
            _IDS[:4],
            [*_IDS, "e-adk-event-11 adk-event-12", "e-adk-event-11 adk-event-13"],
            # The rewind to the first message leaves an event of its own, for the state.
            [
                "e-adk-event-16 adk-event-17",
                "e-adk-event-18 adk-event-19",
                "e-adk-event-18 adk-event-20",
            ],
        ],
        state={"seen": True},
    ),
    Within(
        probe=_probe(
            "reset-at-the-end",
            lambda: [Ids()],
            (_READ, text("one")),
            messages=("hello", Operation(_reset)),
        ),
        session=[],
        state={},
    ),
    Within(
        probe=_probe(
            "child",
            lambda: [Children()],
            (_CHILD, _DOCS, _DONE, text("ok")),
            settings=_AGENTS,
            shown=("Nothing.",),
        ),
        notes=[
            ["asks", ["text"], ["activate_skill", "invoke_agent", "read_file"]],
            ["answers", ["invoke_agent"]],
            ["asks", ["text"], ["complete_task", "get_internal_docs"]],
            ["answers", ["get_internal_docs"]],
            ["after", "get_internal_docs", "get_internal_docs__c1"],
            # A child goes on after a result that is not to be summarised.
            ["asks", ["response get_internal_docs"], ["complete_task", "get_internal_docs"]],
            ["answers", ["complete_task"]],
            ["after", "complete_task", "complete_task__c1"],
            ["after", "invoke_agent", "invoke_agent__c1"],
            ["asks", ["response invoke_agent"], ["activate_skill", "invoke_agent", "read_file"]],
            ["answers", []],
        ],
    ),
    Within(
        probe=_probe(
            "confirmed",
            lambda: [Adding(FunctionTool(add, require_confirmation=True))],
            (calls(("add", {"a": 1, "b": 2}), ("add", {"a": 3, "b": 4})), text("done")),
            shown=('{"sum":3,"confirmed":true}', '{"sum":7,"confirmed":true}'),
        ),
    ),
    Within(
        probe=_probe(
            "displays",
            lambda: [Adding(*map(FunctionTool, (words, words_and_more, picture)))],
            (calls(("words", {}), ("words_and_more", {}), ("picture", {})), text("done")),
            shown=("'text': 'nothing but words'", """'text': '{"output":"some words","more":1}'"""),
        ),
        result=[
            *(["call", name, {}] for name in ("words", "words_and_more", "picture")),
            *(["tool", name, False, []] for name in ("words", "words_and_more")),
            ["tool", "picture", False, [["media", "image/png", "ZG90cw=="]]],
            *(["text", "done"], ["end", "completed"]),
        ],
    ),
    Within(
        probe=_probe(
            "closed",
            lambda: [Equipping()],
            (_READ, text("one")),
        ),
        notes=[
            *[[["activate_skill", "add", "read_file"]] * 2] * 2,
            *(["toolset closed"], ["plugin closed"]),
        ],
    ),
    Within(
        probe=_probe(
            "plan-mode",
            lambda: [Equipping()],
            (calls(("enter_plan_mode", {})), text("one")),
            settings={"core_tools": ("enter_plan_mode", "exit_plan_mode", "read_file")},
        ),
        notes=[
            [["activate_skill", "add", "enter_plan_mode", "read_file"]] * 2,
            [["add", "exit_plan_mode", "read_file"]] * 2,
            *(["toolset closed"], ["plugin closed"]),
        ],
    ),
    Within(
        probe=_probe(
            "unanswered-other-message",
            lambda: [OtherMessage()],
            (ApiError(400, "no"), text("two")),
            messages=("hello", "again"),
        ),
        notes=[[["user", ["hello, please"]]], [["user", ["again"]]]],
    ),
    Within(
        probe=_probe(
            "quiet",
            lambda: [Quiet()],
            (
                [chunk(thought("hm"), {"text": "one "}, finish=None), chunk({"text": "two"})],
                text("x"),
            ),
            messages=("hello", "again"),
        ),
        result=[["end", "completed"], ["end", "completed"]],
        session=[("user", ["text"]), ("gemini_cli_agent", ["text"])] * 2,
    ),
    Within(
        probe=_probe(
            "contents-copied",
            lambda: [Copying()],
            ([chunk({"text": "one", "thoughtSignature": "c2lnbmVk"})], text("two")),
            messages=("hello", "again"),
        ),
        contents=[
            [
                {"role": "model", "parts": [{"text": "one", "thoughtSignature": "c2lnbmVk"}]},
                {"role": "user", "parts": [{"text": "again"}]},
            ]
        ],
    ),
    Within(
        probe=_probe(
            "answered",
            lambda: [Answering()],
            (text("two"),),
            messages=("hello", Operation(_tokens_are_recorded), "again"),
        ),
    ),
    Within(
        probe=_probe("called", lambda: [BeforeModelCalls()], (text("done"),)),
        result=[
            ["call", "read_file", {"file_path": "a.txt"}],
            *(["tool", "read_file", False, []], ["text", "done"], ["end", "completed"]),
        ],
    ),
    Within(
        probe=_probe("citations", lambda: [Citations()], ([_cited({"text": "one"})],)),
        notes=[[True, "https://example.com/b", "https://example.com/a"]],
    ),
    Within(
        probe=_probe(
            "event-failed",
            lambda: [OnEventFailed()],
            (text("one"),),
            shown=("'status': 'INTERNAL'", "'a plugin frowns'"),
        ),
    ),
    Within(
        probe=_probe("loop", lambda: [Endings()], (*[_READ] * 5, text("done"))),
        notes=[
            *[[None, "call read_file"], [None, "response read_file"]] * 4,
            ["LOOP_DETECTED"],
            [None, "text"],
        ],
    ),
    Within(
        probe=_probe(
            "compression-at-the-end",
            lambda: [Endings()],
            (text("one"), text(_LONG), [chunk({"text": "three"}, usageMetadata=_MANY)]),
            messages=("hello", "again", "and then", Operation(_compress)),
        ),
        session=[("user", ["text"]), ("gemini_cli_agent", ["text"])] * 2,
    ),
    Within(
        probe=_probe("unsendable", lambda: [Unsendable()], ()),
        result=[
            ["error", _NO_INSTRUCTION, None],
            ["end", "failed"],
        ],
    ),
    _watched(
        "deltas",
        [
            chunk(thought("**Look** around"), {"text": "one "}, finish=None),
            chunk(_called("a.txt", "c1"), {"text": "two ", "odd": 1}, finish=None),
            _cited({"text": "three"}, {"executableCode": {"code": "x", "language": "PYTHON"}}),
            chunk(finish=None, usageMetadata=_USAGE),
        ],
        [_cited({"text": "four"}, usageMetadata=_USAGE)],
        [chunk({"text": "five"}, finish="MAX_TOKENS", usageMetadata={"oddCount": 1})],
        messages=("hello", "again"),
    ),
    _watched(
        "calls",
        [
            chunk(
                _called("none.txt", "c1"), _called("a.txt", "c2"), {"functionCall": {"name": "odd"}}
            )
        ],
        [chunk({"text": ""})],
        text("one"),
        text("two"),
        messages=("hello", "again"),
    ),
    _watched(
        "children",
        calls(*[("invoke_agent", {"agent_name": "cli_help", "prompt": each}) for each in "ab"]),
        *(_DOCS, _DONE, _DONE),
        text("both"),
        settings=_AGENTS,
    ),
    _watched(
        "attempts",
        Again(ApiError(503, "broken"), connected=True),
        [chunk({"text": "one "}, finish=None)],
        text("two"),
        ApiError(400, "no"),
        text("three"),
        messages=("hello", "again", "and then"),
    ),
)
