"""The runtime's own plugins in an app of others: what a client sees of stock ADK with one of them.

Each plugin owns its rule, and also works in a stock `App` (docs/adk.md). The runtime drives the
rules by itself, so that no other probe calls these callbacks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from google.adk.plugins.base_plugin import BasePlugin
from google.adk.tools.function_tool import FunctionTool
from google.genai import types

from parity_tests.adk_probes.clients import Items
from parity_tests.adk_probes.probe import MODEL, Answer, Noting, Probe, calls, chunk, text
from parity_tests.adk_probes.stock import Ground, run_stock
from runtimes.adk.plugins.child import CompleteTaskAdkPlugin
from runtimes.adk.plugins.limits import MaxTimeAdkPlugin, MaxTurnsAdkPlugin, TokenLimitAdkPlugin
from runtimes.adk.plugins.steering import SteeringAdkPlugin
from services.clock import VirtualClock, virtual_loop
from services.model.errors import ApiError
from services.steering import InjectionService, InjectionSource
from services.subagents.recovery import TASK_COMPLETED
from services.subagents.steering_inbox import SteeringInbox
from services.wire import JsonObject

__all__ = ["ELSEWHERE", "Elsewhere"]

_GROUND: Final = Ground(instruction="Help.", config={}, declarations=())
_UNASKED: Any = None
"""Tokens of a text are estimated, without a model."""
_NEARLY_FULL: Final = {"promptTokenCount": 127_995}
"""Of the 128,000 tokens of the model's window."""
_DOTS: Final = {"inlineData": {"mimeType": "image/png", "data": "ZG90cw=="}}
_TASKS: Final = "tasks"


@dataclass(frozen=True, slots=True, kw_only=True)
class Elsewhere:
    """One plugin in a stock app."""

    name: str
    plugins: Callable[[], Sequence[BasePlugin]]
    script: Sequence[Answer]
    messages: Sequence[str | Sequence[JsonObject]] = ("hello",)
    model: str = MODEL
    result: Items
    """What a client must see: see `clients.Items`."""
    last: Sequence[str]
    """The kinds of the parts of the last request's last content, if there is a request."""
    end: JsonObject | None = None
    """The custom metadata of the last event, which must end its turn; `None` is not looked at."""
    notes: Sequence[Any] | None = ()
    """Of the plugins, but for the numbers of tasks; `None` is not looked at."""

    def differs(self) -> tuple[str, ...]:
        """Run it once; return what is not as it must be, a line each."""
        probe = Probe(
            name=self.name,
            row="",
            plugins=self.plugins,
            script=self.script,
            messages=self.messages,
            model=self.model,
        )
        seen, _ = run_stock(probe, _GROUND, [], loop_factory=virtual_loop)
        tasks = sorted({note[1] for note in seen.notes if note[0] == _TASKS})
        last = [part for each in seen.requests[-1:] for part in each["contents"][-1]["parts"]]
        end = None if self.end is None else seen.events[-1]
        notes = None
        if self.notes is not None:
            notes = [note for note in seen.notes if note[0] != _TASKS]
        pairs: Sequence[tuple[str, Any, Any]] = (
            ("result", seen.result, self.result),
            ("last", [next(iter(part)) for part in last], [*self.last]),
            ("end", end and end.get("custom_metadata"), self.end),
            ("end of turn", end and end.get("turn_complete"), end and True),
            ("notes", notes, self.notes if self.notes is None else [*self.notes]),
            # What a run leaves running is there when the next one begins.
            ("tasks", tasks, tasks[:1]),
            ("unfinished work", seen.unfinished, []),
        )
        return tuple(
            f"{what}: the app has {found}, and must have {wanted}"
            for what, found, wanted in pairs
            if found != wanted
        )


class Tools(Noting):
    """Adds the tools that the scripts call, and notes how many tasks run when a run begins."""

    def __init__(self, clock: VirtualClock) -> None:
        super().__init__("tools")
        self._clock = clock

    async def before_run_callback(self, *, invocation_context: Any) -> None:
        self.note(_TASKS, len(asyncio.all_tasks()))

    async def look(self, path: str) -> str:
        """Looks for two seconds."""
        await self._clock.sleep(2_000)
        return path

    async def complete_task(self, result: str) -> dict[str, Any]:
        """Completes the task, with a result that says something."""
        if not result:
            return {"error": "no result"}
        return {"result": int(result) if result.isdigit() else result}

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        llm_request.append_tools([FunctionTool(self.look), FunctionTool(self.complete_task)])


class Hinting(Tools):
    """Has the user give a hint while the tool looks."""

    def __init__(self, clock: VirtualClock, steering: InjectionService) -> None:
        super().__init__(clock)
        self._steering = steering

    async def before_tool_callback(self, *, tool: Any, tool_args: Any, tool_context: Any) -> None:
        self._steering.add("use b", InjectionSource.USER_STEERING)


class Emptying(Noting):
    """Leaves the choice of the model to the model layer, and requests without contents or parts."""

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        llm_request.model = None
        empty: dict[str, list[types.Content]] = {"none": [], "bare": [types.Content(role="user")]}
        said = (llm_request.contents[-1].parts or [types.Part()])[-1].text
        llm_request.contents = empty.get(said or "", llm_request.contents)


class Completed(Noting):
    """Notes the result that a plugin has before and after each run."""

    def __init__(self, completing: CompleteTaskAdkPlugin) -> None:
        super().__init__("completed")
        self._completing = completing

    async def before_run_callback(self, *, invocation_context: Any) -> None:
        self.note("before", self._completing.result)

    async def after_run_callback(self, *, invocation_context: Any) -> None:
        self.note("after", self._completing.result)


def _limited_time(ms: int) -> list[BasePlugin]:
    clock = VirtualClock()
    return [Tools(clock), MaxTimeAdkPlugin(clock, ms)]


def _completing() -> list[BasePlugin]:
    completing = CompleteTaskAdkPlugin()
    return [completing, Tools(VirtualClock()), Completed(completing)]


def _steered_child() -> list[BasePlugin]:
    clock = VirtualClock()
    steering = InjectionService(clock, steering=True)
    return [SteeringAdkPlugin(SteeringInbox(steering)), Hinting(clock, steering)]


def _steered() -> list[BasePlugin]:
    clock = VirtualClock()
    steering = InjectionService(clock, steering=True, interactive=True)
    steering.add("use b", InjectionSource.USER_STEERING)
    return [SteeringAdkPlugin(steering.main), Tools(clock)]


_LOOK: Final = calls(("look", {"path": "a"}))
_LOOKED: Final[Items] = [["call", "look", {"path": "a"}], ["tool", "look", False, []]]
_END: Final[list[Any]] = ["end", "completed"]

ELSEWHERE: Final = (
    Elsewhere(
        name="max-turns-elsewhere",
        plugins=lambda: [MaxTurnsAdkPlugin(1)],
        script=[text("one")],
        messages=("hello", "again"),
        result=[
            ["text", "one"],
            _END,
            ["error", "The run ends: max_turns", "MAX_TURNS_EXCEEDED"],
            _END,
        ],
        last=["text"],
        end={"code": "MAX_TURNS_EXCEEDED"},
    ),
    Elsewhere(
        name="no-turns-elsewhere",
        plugins=lambda: [MaxTurnsAdkPlugin(0)],
        script=[],
        result=[["error", "The run ends: max_turns", "MAX_TURNS_EXCEEDED"], _END],
        last=[],
        end={"code": "MAX_TURNS_EXCEEDED", "maxTurns": 0, "turnCount": 0},
    ),
    Elsewhere(
        name="token-limit-elsewhere",
        plugins=lambda: [TokenLimitAdkPlugin(_UNASKED)],
        script=[
            [
                chunk({"text": "one "}, finish=None),
                chunk({"text": "two"}, usageMetadata={"candidatesTokenCount": 2}),
            ],
            [chunk({"text": "three"}, usageMetadata=_NEARLY_FULL)],
        ],
        messages=([_DOTS], "hello", "longer than what is left"),
        model="gpt-4o",
        result=[
            *(["text", "one two"], ["usage", "gpt-4o", None, 2, None], _END),
            *(["text", "three"], ["usage", "gpt-4o", 127_995, None, None], _END),
            [
                "error",
                "Context window will overflow (estimated: 6, remaining: 5)",
                "CONTEXT_WINDOW_OVERFLOW",
            ],
            _END,
        ],
        last=["text"],
    ),
    Elsewhere(
        name="odd-requests-elsewhere",
        plugins=lambda: [Emptying(), TokenLimitAdkPlugin(_UNASKED), *_steered()],
        script=[text("one"), text("two"), text("three")],
        messages=("none", "bare", "hello"),
        result=[
            each
            for words in ("one", "two", "three")
            for each in (["text", words], ["end", "completed"])
        ],
        last=["text"],
    ),
    Elsewhere(
        name="max-time-elsewhere",
        plugins=lambda: _limited_time(1_000),
        script=[_LOOK],
        result=[*_LOOKED, ["error", "The run ends: max_time", "MAX_TIME_EXCEEDED"], _END],
        last=["text"],
    ),
    Elsewhere(
        name="max-time-of-each-run-elsewhere",
        plugins=lambda: _limited_time(3_000),
        script=[_LOOK, text("one"), ApiError(400, "no"), _LOOK, _LOOK],
        messages=("hello", "again", "at last"),
        result=[
            *(*_LOOKED, ["text", "one"], _END, ["error", "no", None], ["end", "failed"]),
            *(*_LOOKED, *_LOOKED, ["error", "The run ends: max_time", "MAX_TIME_EXCEEDED"], _END),
        ],
        last=["functionResponse"],
    ),
    Elsewhere(
        name="steering-elsewhere",
        plugins=_steered,
        script=[_LOOK, text("b")],
        result=[*_LOOKED, ["text", "b"], _END],
        last=["text", "functionResponse"],
    ),
    Elsewhere(
        name="steering-once-elsewhere",
        plugins=_steered,
        script=[_LOOK, _LOOK, text("b")],
        result=[*_LOOKED, *_LOOKED, ["text", "b"], _END],
        last=["functionResponse"],
    ),
    Elsewhere(
        name="steering-child-elsewhere",
        plugins=_steered_child,
        script=[_LOOK, text("b")],
        result=[*_LOOKED, ["text", "b"], _END],
        last=["text", "functionResponse"],
    ),
    Elsewhere(
        name="complete-task-elsewhere",
        plugins=_completing,
        script=[_LOOK, *(calls(("complete_task", {"result": each})) for each in ("", "done", "5"))],
        messages=("hello", "again"),
        result=[
            *_LOOKED,
            ["call", "complete_task", {"result": ""}],
            ["tool", "complete_task", False, []],
            ["call", "complete_task", {"result": "done"}],
            ["tool", "complete_task", False, []],
            _END,
            ["call", "complete_task", {"result": "5"}],
            ["tool", "complete_task", False, []],
            _END,
        ],
        last=["text"],
        notes=[
            *(["before", None], ["after", "done"]),
            # What is no text is no result.
            *(["before", "done"], ["after", TASK_COMPLETED]),
        ],
    ),
)
"""The plugins that need nothing else of the product."""
