"""The runtime's plugins that watch the model, in an app of others: hooks, and loop detection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from google.adk.plugins.base_plugin import BasePlugin
from google.adk.tools.function_tool import FunctionTool

from parity_tests.adk_probes.clients import Items
from parity_tests.adk_probes.elsewhere import Elsewhere
from parity_tests.adk_probes.guests import Report
from parity_tests.adk_probes.probe import Noting, calls, chunk, text
from parity_tests.adk_probes.watching import json_of
from runtimes.adk.plugins.hook_bridge import HookBridgePlugin
from runtimes.adk.plugins.loop_detection import LoopDetectionAdkPlugin
from services.hooks.events import HookEvent
from services.hooks.results import HookOutput
from services.hooks.system import HookSystem
from services.hooks.translation import HookModelRequest
from services.loop_detection.detector import LoopDetector
from services.wire import JsonObject

__all__ = ["HOOKED"]

_UNASKED: Any = None
"""A loop of equal calls or texts is found without a model."""
Said = Mapping[HookEvent, Sequence[JsonObject | None]]
"""What the hooks of each event answer, one firing after the other, and nothing after that."""


class Hooks(Noting):
    """Stands in for a user's `HookSystem`; notes what hooks get, and the requests that are sent."""

    def __init__(self, said: Said) -> None:
        super().__init__("hooks")
        self._said = {event: list(outputs) for event, outputs in said.items()}
        self.bridge: HookBridgePlugin | None = None

    async def before_run_callback(self, *, invocation_context: Any) -> None:
        """Note what is left of the runs before."""
        if self.bridge is not None and self.bridge._calls:
            self.note("left", *self.bridge._calls)

    async def before_model(self, request: HookModelRequest) -> HookOutput | None:
        """Note the request."""
        words = [part.get("text") for each in request.contents for part in each["parts"]]
        self.note("asked", request.model, dict(request.config), words)
        return self._next(HookEvent.BEFORE_MODEL)

    async def before_tool_selection(self, request: HookModelRequest) -> HookOutput | None:
        """Say what is next."""
        return self._next(HookEvent.BEFORE_TOOL_SELECTION)

    async def after_model(self, request: HookModelRequest, chunk: JsonObject) -> HookOutput | None:
        """Note the chunk."""
        (candidate,) = chunk["candidates"]
        ending = candidate.get("finishReason"), chunk.get("usageMetadata")
        self.note("answered", request.model, candidate["content"].get("parts"), *ending)
        return self._next(HookEvent.AFTER_MODEL)

    def _next(self, event: HookEvent) -> HookOutput | None:
        waiting = self._said.get(event)
        output = waiting.pop(0) if waiting else None
        return None if output is None else HookOutput(event, output)

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        """Note the request as the model gets it, and add a tool."""
        words = [part.text for each in llm_request.contents for part in each.parts or ()]
        config = llm_request.config
        chosen = config.temperature, config.top_k, config.top_p, json_of(config.tool_config)
        self.note("sent", llm_request.model, *chosen, words)
        llm_request.append_tools([FunctionTool(look)])

    async def on_event_callback(self, *, invocation_context: Any, event: Any) -> None:
        """Note an error."""
        if event.error_code is not None:
            self.note("refused", event.error_code, event.error_message, event.partial)


async def look(path: str) -> str:
    """Looks."""
    return path


def _hooked(said: Said) -> list[BasePlugin]:
    hooks = Hooks(said)
    hooks.bridge = HookBridgePlugin(cast("HookSystem", hooks))
    return [Choosing("choosing"), hooks.bridge, hooks]


def _answering(*words: str) -> JsonObject:
    response = {"candidates": [{"content": {"role": "model", "parts": list(words)}}]}
    return {"hookSpecificOutput": {"llm_response": response}}


class Choosing(Noting):
    """Chooses a part of the configuration before the hooks get it."""

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        """Choose it."""
        llm_request.config.temperature = 0.5
        llm_request.config.top_p = 0.75


class Requiring(Noting):
    """Requires an answer of a class, or of none."""

    def __init__(self, name: str, schema: type[Report] | None) -> None:
        super().__init__(name)
        self._schema = schema

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        """Require it."""
        llm_request.config.response_schema = self._schema


def _watched() -> list[BasePlugin]:
    detector = LoopDetector(
        model=_UNASKED,
        models=_UNASKED,
        history=list,
        disabled=False,
        is_available=lambda _: True,
        log=lambda _name, _body, _attributes: None,
    )
    return [LoopDetectionAdkPlugin(detector), Hooks({})]


_MODEL: Final = "gemini-2.5-flash"
_LOOK: Final = calls(("look", {"path": "a"}))
_LOOKED: Final[Items] = [["call", "look", {"path": "a"}], ["tool", "look", False, []]]
_END: Final[list[Any]] = ["end", "completed"]
_STOP: Final = {"continue": False, "stopReason": "enough"}
_BLOCK: Final = {"decision": "block", "reason": "not this"}
_CHANGED: Final = {
    "hookSpecificOutput": {
        "llm_request": {
            "model": "gemini-2.5-pro",
            "config": {"temperature": 0.25, "topK": 7},
            "messages": [{"role": "user", "content": "changed"}],
        }
    }
}
_NO_ANSWER: Final[JsonObject] = {"hookSpecificOutput": {"llm_response": {"candidates": []}}}
_CODE: Final = {"executableCode": {"code": "x", "language": "PYTHON"}}
_NO_TOOLS: Final = {"hookSpecificOutput": {"toolConfig": {"mode": "NONE"}}}
_TWO: Final = [chunk({"text": "one "}, finish=None), chunk({"text": "two"})]

_CALLED: Final = {"functionCall": {"id": "c1", "args": {"path": "a"}, "name": "look"}}
_CHOSEN: Final = {"temperature": 0.5, "topP": 0.75}
_TWICE: Final = ("hello", "again")
_NOT_AN_ANSWER: Final = ["hello", "again"]
"""What a request says where the first message has no answer."""


def _asked(*words: str | None) -> list[list[Any]]:
    """What hooks get of a request, and what the model gets where they change nothing."""
    return [
        ["asked", _MODEL, _CHOSEN, [*words]],
        ["sent", _MODEL, 0.5, None, 0.75, None, [*words]],
    ]


def _answered(words: str, finish: str | None = "STOP", model: str = _MODEL) -> list[Any]:
    return ["answered", model, [{"text": words}], finish, None]


def _refused(code: str, message: str, *, partial: bool | None) -> list[Any]:
    return ["refused", f"AGENT_EXECUTION_{code}", message, partial]


HOOKED: Final = (
    Elsewhere(
        name="hooks-change-a-request-elsewhere",
        plugins=lambda: _hooked(
            {HookEvent.BEFORE_MODEL: [_CHANGED], HookEvent.BEFORE_TOOL_SELECTION: [_NO_TOOLS]}
        ),
        script=[_LOOK, text("one"), text("two")],
        messages=_TWICE,
        result=[*_LOOKED, ["text", "one"], _END, ["text", "two"], _END],
        last=["text"],
        notes=[
            ["asked", _MODEL, _CHOSEN, ["hello"]],
            [
                # What the hook's configuration does not name is gone.
                *("sent", "gemini-2.5-pro", 0.25, 7.0, None),
                *({"functionCallingConfig": {"mode": "NONE"}}, ["changed"]),
            ],
            ["answered", "gemini-2.5-pro", [_CALLED], "STOP", None],
            *_asked("hello", None, None),
            _answered("one"),
            *_asked("hello", None, None, "one", "again"),
            _answered("two"),
        ],
    ),
    Elsewhere(
        name="hooks-change-deltas-elsewhere",
        plugins=lambda: _hooked(
            {HookEvent.AFTER_MODEL: [_answering("other"), None, _answering("more", "and")]}
        ),
        script=[_TWO, _TWO],
        messages=_TWICE,
        result=[["text", "othertwo"], _END, ["text", "moreandtwo"], _END],
        last=["text"],
        notes=[
            *_asked("hello"),
            *(_answered("one ", None), _answered("two")),
            *_asked("hello", "one two", "again"),
            *(_answered("one ", None), _answered("two")),
        ],
    ),
    Elsewhere(
        name="hooks-change-a-whole-answer-elsewhere",
        plugins=lambda: _hooked({HookEvent.AFTER_MODEL: [_answering("other")]}),
        script=[[chunk()], text("two")],
        messages=_TWICE,
        result=[["text", "other"], _END, ["text", "two"], _END],
        last=["text"],
        notes=[
            *_asked("hello"),
            ["answered", _MODEL, [], None, None],
            *_asked("hello", "other", "again"),
            _answered("two"),
        ],
    ),
    Elsewhere(
        name="hooks-stop-an-answer-elsewhere",
        plugins=lambda: _hooked({HookEvent.AFTER_MODEL: [None, _STOP]}),
        script=[[*_TWO, chunk({"text": "three"})], text("four")],
        messages=_TWICE,
        result=[
            *(["text", "one "], ["error", "enough", "AGENT_EXECUTION_STOPPED"], _END),
            *(["text", "four"], _END),
        ],
        last=["text"],
        notes=[
            *_asked("hello"),
            *(_answered("one ", None), _answered("two")),
            _refused("STOPPED", "enough", partial=False),
            *_asked(*_NOT_AN_ANSWER),
            _answered("four"),
        ],
    ),
    Elsewhere(
        name="hooks-block-an-answer-elsewhere",
        plugins=lambda: _hooked({HookEvent.AFTER_MODEL: [_BLOCK]}),
        script=[[*_TWO, *_LOOK], text("four")],
        messages=_TWICE,
        result=[
            *(["text", "one "], ["error", "not this", "AGENT_EXECUTION_BLOCKED"], _END),
            *(["text", "four"], _END),
        ],
        last=["text"],
        notes=[
            *_asked("hello"),
            _answered("one ", None),
            _refused("BLOCKED", "not this", partial=False),
            *_asked("hello", "one ", "again"),
            _answered("four"),
        ],
    ),
    Elsewhere(
        name="hooks-stop-a-request-elsewhere",
        plugins=lambda: _hooked({HookEvent.BEFORE_MODEL: [_STOP]}),
        script=[text("one")],
        messages=_TWICE,
        result=[
            *(["error", "enough", "AGENT_EXECUTION_STOPPED"], _END),
            *(["text", "one"], _END),
        ],
        last=["text"],
        notes=[
            _asked("hello")[0],
            _refused("STOPPED", "enough", partial=None),
            *_asked(*_NOT_AN_ANSWER),
            _answered("one"),
        ],
    ),
    Elsewhere(
        name="hooks-answer-elsewhere",
        plugins=lambda: _hooked({HookEvent.BEFORE_MODEL: [{**_BLOCK, **_answering("made up")}]}),
        script=[text("one")],
        messages=_TWICE,
        result=[
            *(["text", "made up"], ["error", "not this", "AGENT_EXECUTION_BLOCKED"], _END),
            *(["text", "one"], _END),
        ],
        last=["text"],
        notes=[
            _asked("hello")[0],
            _refused("BLOCKED", "not this", partial=None),
            *_asked("hello", "made up", "again"),
            _answered("one"),
        ],
    ),
    Elsewhere(
        name="hooks-answer-nothing-elsewhere",
        plugins=lambda: _hooked({HookEvent.BEFORE_MODEL: [{**_BLOCK, **_NO_ANSWER}]}),
        script=[],
        result=[["error", "not this", "AGENT_EXECUTION_BLOCKED"], _END],
        last=[],
        notes=[_asked("hello")[0], _refused("BLOCKED", "not this", partial=None)],
    ),
    Elsewhere(
        name="hooks-leave-a-request-elsewhere",
        # The model of the script could not write down a class.
        plugins=lambda: [Requiring("some", Report), *_hooked({}), Requiring("none", None)],
        script=[text("{}")],
        messages=[[_CODE]],
        result=[["text", "{}"], _END],
        # What hooks do not change is sent as it was, and a class never gets to them.
        last=["executableCode"],
        notes=[*_asked(None), _answered("{}")],
    ),
    Elsewhere(
        name="loop-elsewhere",
        plugins=_watched,
        script=[*[_LOOK] * 4, text("one"), *[_LOOK] * 5, text("two")],
        messages=("hello", "again", "and then"),
        result=[
            *(*_LOOKED * 4, ["text", "one"], _END),
            *_LOOKED * 4,
            ["error", "LOOP_DETECTED", "LOOP_DETECTED"],
            # A stock app's flow has the whole answer by then.
            ["call", "look", {"path": "a"}],
            ["error", "Invocation was aborted by client.", "INVOCATION_ABORTED"],
            *(_END, ["text", "two"], _END),
        ],
        last=["text"],
        notes=None,
    ),
)
"""Nothing of the product stands behind these plugins but their rules."""
