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

from parity_tests.adk_probes.clients import Items
from parity_tests.adk_probes.probe import Answer, Noting, Probe, calls, chunk, text
from parity_tests.adk_probes.stock import Ground, run_stock
from runtimes.adk.plugins.child import CompleteTaskAdkPlugin
from runtimes.adk.plugins.limits import MaxTimeAdkPlugin, MaxTurnsAdkPlugin, TokenLimitAdkPlugin
from runtimes.adk.plugins.steering import SteeringAdkPlugin
from services.clock import VirtualClock, virtual_loop
from services.model.errors import ApiError
from services.steering import InjectionService, InjectionSource

__all__ = ["ELSEWHERE", "Elsewhere"]

_GROUND: Final = Ground(instruction="Help.", config={}, declarations=())
_UNASKED: Any = None
"""Tokens of a text are estimated, without a model."""
_NEARLY_FULL: Final = {"promptTokenCount": 1_048_571}
"""Of the 1,048,576 tokens of the model's window."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Elsewhere:
    """One plugin in a stock app."""

    name: str
    plugins: Callable[[], Sequence[BasePlugin]]
    script: Sequence[Answer]
    messages: Sequence[str] = ("hello",)
    result: Items
    """What a client must see: see `clients.Items`."""
    last: Sequence[str]
    """The kinds of the parts of the last request's last content."""

    def differs(self) -> tuple[str, ...]:
        """Run it once; return what is not as it must be, a line each."""
        probe = Probe(
            name=self.name,
            row="",
            plugins=self.plugins,
            script=self.script,
            messages=self.messages,
        )
        seen, _ = run_stock(probe, _GROUND, [], loop_factory=virtual_loop)
        tasks = sorted({count for (count,) in seen.notes})
        last = [next(iter(part)) for part in seen.requests[-1]["contents"][-1]["parts"]]
        pairs: Sequence[tuple[str, Any, Any]] = (
            ("result", seen.result, self.result),
            ("last", last, [*self.last]),
            # What a run leaves running is there when the next one begins.
            ("tasks", tasks, tasks[:1]),
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
        self.note(len(asyncio.all_tasks()))

    async def look(self, path: str) -> str:
        """Looks for two seconds."""
        await self._clock.sleep(2_000)
        return path

    async def complete_task(self, result: str) -> dict[str, str]:
        """Completes the task, with a result that says something."""
        return {"result": result} if result else {"error": "no result"}

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        llm_request.append_tools([FunctionTool(self.look), FunctionTool(self.complete_task)])


class Unnamed(Noting):
    """Leaves the choice of the model to the model layer."""

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        llm_request.model = None


def _limited_time(ms: int) -> list[BasePlugin]:
    clock = VirtualClock()
    return [Tools(clock), MaxTimeAdkPlugin(clock, ms)]


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
    ),
    Elsewhere(
        name="token-limit-elsewhere",
        plugins=lambda: [Unnamed(), TokenLimitAdkPlugin(_UNASKED)],
        script=[[chunk({"text": "one"}, usageMetadata=_NEARLY_FULL)]],
        messages=("hello", "longer than what is left"),
        result=[
            ["text", "one"],
            ["usage", "gemini-2.5-flash", 1_048_571, None, None],
            _END,
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
        name="complete-task-elsewhere",
        plugins=lambda: [CompleteTaskAdkPlugin(), Tools(VirtualClock())],
        script=[_LOOK, *(calls(("complete_task", {"result": each})) for each in ("", "done"))],
        result=[
            *_LOOKED,
            ["call", "complete_task", {"result": ""}],
            ["tool", "complete_task", False, []],
            ["call", "complete_task", {"result": "done"}],
            ["tool", "complete_task", False, []],
            _END,
        ],
        last=["functionResponse"],
    ),
)
"""The plugins that need nothing else of the product."""
