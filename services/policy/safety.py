"""Safety checkers: requests, verdicts, and running them within a time limit.

Any error of a checker is a refusal. Source: core `safety/checker-runner.ts`,
`safety/context-builder.ts`, `safety/registry.ts`, `safety/protocol.ts`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from services.clock import Clock
from services.policy.rules import CheckerSpec, Decision
from services.wire import Content, JsonObject
from services.workspace import Workspace

__all__ = [
    "CHECKER_TIMEOUT_MS",
    "ConversationContext",
    "InProcessChecker",
    "SafetyCheckers",
    "SafetyRequest",
    "SafetyVerdict",
]

logger = logging.getLogger(__name__)

CHECKER_TIMEOUT_MS: Final = 30_000
"""How long a checker may take: time for one that asks a model."""


@dataclass(frozen=True, slots=True)
class SafetyVerdict:
    """A checker's answer; the reason is for logs."""

    decision: Decision
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SafetyRequest:
    """A request to a checker. `context` has `environment` and `history`, or one of them."""

    tool_name: str
    args: JsonObject | None
    context: Mapping[str, Any]
    config: Mapping[str, Any] | None = None

    def call(self) -> JsonObject:
        """The call that is judged."""
        return {"name": self.tool_name, **({} if self.args is None else {"args": self.args})}


class InProcessChecker(Protocol):
    """A checker that is part of the program."""

    @property
    def waits(self) -> bool:
        """Whether `check` ever waits for something."""
        ...

    async def check(self, request: SafetyRequest) -> SafetyVerdict:
        """Judge a call; any error is a refusal."""
        ...


class _Lazy(Mapping[str, Any]):
    """A mapping that computes its values on access."""

    def __init__(self, parts: Mapping[str, Callable[[], Any]]) -> None:
        self._parts = parts

    def __getitem__(self, key: str) -> Any:
        return self._parts[key]()

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)


@dataclass(slots=True)
class ConversationContext:
    """What checkers see of the session. `history` is set once there is a conversation."""

    workspace: Workspace
    history: Callable[[], Sequence[Content]] = field(default=tuple)
    question: str | None = None
    """The question of the command line, used while the history is empty."""

    def build(self, wanted: Sequence[str] | None) -> Mapping[str, Any]:
        """The context, or the known parts of it in `wanted`, each computed on access."""
        parts: dict[str, Callable[[], Any]] = {
            "environment": self._environment,
            "history": lambda: {"turns": self._turns()},
        }
        keys = parts if wanted is None else [key for key in wanted if key in parts]
        return _Lazy({key: parts[key] for key in keys})

    def _environment(self) -> JsonObject:
        folders = [str(folder) for folder in self.workspace.folders]
        return {"cwd": str(self.workspace.root), "workspaces": folders}

    def _turns(self) -> list[JsonObject]:
        turns: list[JsonObject] = []
        asked: JsonObject | None = None
        for content in self.history():
            parts = content.get("parts") or []
            if content.get("role") == "user":
                if asked is not None:
                    turns.append({"user": asked, "model": {}})
                asked = {"text": "".join(part.get("text") or "" for part in parts)}
            elif content.get("role") == "model":
                answer = {
                    "text": "".join(part.get("text") or "" for part in parts),
                    "toolCalls": [part["functionCall"] for part in parts if "functionCall" in part],
                }
                turns.append({"user": asked or {"text": ""}, "model": answer})
                asked = None
        if asked is not None:
            turns.append({"user": asked, "model": {}})
        if self.question and not turns:
            turns.append({"user": {"text": self.question}, "model": {}})
        return turns


class SafetyCheckers:
    """The checkers of a session by name; the policy engine's `runner`.

    A policy file may name external checkers, but no session has any, as in upstream.
    """

    def __init__(
        self,
        *,
        context: ConversationContext,
        clock: Clock,
        in_process: Mapping[str, InProcessChecker],
    ) -> None:
        self.context = context
        self._clock = clock
        self._in_process = in_process

    async def run(self, tool_name: str, args: JsonObject | None, checker: CheckerSpec) -> Decision:
        """The checker's decision; any error is a refusal."""
        verdict = await self.verdict(tool_name, args, checker)
        if verdict.decision is not Decision.ALLOW:
            logger.debug("checker %s: %s %s", checker.name, verdict.decision, verdict.reason)
        return verdict.decision

    async def verdict(
        self, tool_name: str, args: JsonObject | None, checker: CheckerSpec
    ) -> SafetyVerdict:
        """The checker's verdict."""
        kind = "safety checker" if checker.external else "in-process checker"
        try:
            request = SafetyRequest(
                tool_name=tool_name,
                args=args,
                context=self.context.build(checker.required_context),
                config=checker.config,
            )
            if checker.external:
                raise LookupError(f'Unknown external checker "{checker.name}".')
            return await self._run_in_process(request, checker.name)
        except Exception as problem:  # noqa: BLE001 - the border: a broken checker is a refusal
            return SafetyVerdict(Decision.DENY, f'Failed to run {kind} "{checker.name}": {problem}')

    async def _run_in_process(self, request: SafetyRequest, name: str) -> SafetyVerdict:
        checker = self._in_process.get(name)
        if checker is None:
            known = ", ".join(self._in_process)
            raise LookupError(f'Unknown in-process checker "{name}". Available: {known}')
        if not checker.waits:
            return await checker.check(request)
        loop = asyncio.get_running_loop()
        work = loop.create_task(checker.check(request))
        limit = loop.create_task(self._clock.sleep(CHECKER_TIMEOUT_MS))
        either: list[asyncio.Task[Any]] = [work, limit]
        try:
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                raise TimeoutError(f"Checker timed out after {CHECKER_TIMEOUT_MS}ms")
            return work.result()
        finally:
            for task in either:
                task.cancel()
            await asyncio.wait(either)
