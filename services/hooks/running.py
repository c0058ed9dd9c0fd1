"""Runs the hooks of a plan, at the same time or one after another.

Source: core `hooks/hookRunner.ts`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from services.abort import AbortSignal
from services.clock import Clock
from services.hooks.command import HookPlaces, expand_command, hook_variables
from services.hooks.events import HookEvent
from services.hooks.outputs import HookFields, parse_output
from services.hooks.planning import HookPlan
from services.hooks.process import Ending, run_hook_process
from services.hooks.values import has, spread
from services.node_errors import error_code
from services.settings.hooks import CommandHook
from services.wire import JsonObject, js_json

__all__ = ["HookResult", "HookRunner", "next_input"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class HookResult:
    """One hook's end. A hook that timed out, was aborted or did not start has no output."""

    hook: CommandHook
    success: bool
    output: HookFields | None = None
    aborted: bool = False
    exit_code: int | None = None
    stdout: str = ""
    stderr: str = ""
    duration_ms: int = 0
    error: str | None = None
    """Why there is no exit code."""


Started = Callable[[CommandHook, int], None]
Ended = Callable[[HookResult], None]

_JSON_ERRORS: Final = "backslashreplace"
"""A lone surrogate is written as its escape, which is how JSON.stringify writes it."""


class HookRunner:
    """Runs hooks as children of this process."""

    def __init__(
        self, *, clock: Clock, variables: Mapping[str, str], started: Started, ended: Ended
    ) -> None:
        """Prepare.

        Args:
            clock: Stands still while a hook runs.
            variables: The environment that children may have.
            started: Called with each hook that starts and its place in the plan, from 0.
            ended: Called with each result as it comes.
        """
        self._clock = clock
        self._variables = variables
        self._started = started
        self._ended = ended

    async def run(
        self,
        plan: HookPlan,
        event: HookEvent,
        given: JsonObject,
        places: HookPlaces,
        signal: AbortSignal | None,
    ) -> list[HookResult]:
        """Run all hooks of `plan`; the results are in the plan's order.

        An abort ends the running hooks and starts no more. A signal that was aborted before the
        call has no effect: upstream runs hooks after an abort too.

        Raises:
            HookOutputError: a hook's output cannot be passed to the next; the rest do not run.
        """
        if signal is not None and signal.aborted:
            signal = None
        if not plan.sequential:
            text = _stdin(given)
            async with asyncio.TaskGroup() as group:
                tasks = [
                    group.create_task(self._run(hook, index, event, text, places, signal))
                    for index, hook in enumerate(plan.hooks)
                ]
            return [task.result() for task in tasks]
        results: list[HookResult] = []
        for index, hook in enumerate(plan.hooks):
            if signal is not None and signal.aborted:
                break
            result = await self._run(hook, index, event, _stdin(given), places, signal)
            results.append(result)
            if result.success and result.output is not None:
                given = next_input(given, result.output, event)
        return results

    async def _run(
        self,
        hook: CommandHook,
        index: int,
        event: HookEvent,
        given: bytes,
        places: HookPlaces,
        signal: AbortSignal | None,
    ) -> HookResult:
        self._started(hook, index)
        began_ms = self._clock.now_ms()
        result = await self._result(hook, event, given, places, signal)
        result = replace(result, duration_ms=self._clock.now_ms() - began_ms)
        self._ended(result)
        return result

    async def _result(
        self,
        hook: CommandHook,
        event: HookEvent,
        given: bytes,
        places: HookPlaces,
        signal: AbortSignal | None,
    ) -> HookResult:
        try:
            with self._clock.real_work():
                outcome = await run_hook_process(
                    expand_command(hook.command, places),
                    given=given,
                    folder=Path(places.cwd),
                    environment=hook_variables(self._variables, places, hook.env),
                    limit_ms=hook.limit_ms,
                    signal=signal,
                )
        except (OSError, ValueError) as error:
            why = error_code(error) if isinstance(error, OSError) else error
            logger.warning("%s hook %s did not start: %s", event, hook.shown_name, why)
            return HookResult(hook=hook, success=False, error=str(why))
        if outcome.ending is not Ending.BY_ITSELF:
            logger.warning("%s hook %s: %s", event, hook.shown_name, outcome.ending.name)
            aborted = outcome.ending is Ending.ABORTED
            how = "was aborted" if aborted else f"timed out after {hook.limit_ms}ms"
            return HookResult(hook=hook, success=False, aborted=aborted, error=f"Hook {how}")
        return HookResult(
            hook=hook,
            success=outcome.exit_code == 0,
            output=parse_output(outcome.stdout, outcome.stderr, outcome.exit_code),
            exit_code=outcome.exit_code,
            stdout=outcome.stdout,
            stderr=outcome.stderr,
        )


def _stdin(given: JsonObject) -> bytes:
    return js_json(given).encode("utf-8", _JSON_ERRORS)


def next_input(given: JsonObject, output: HookFields, event: HookEvent) -> JsonObject:
    """The input of the next hook after `output`."""
    own = output.get("hookSpecificOutput")
    if not own:
        return given
    if event is HookEvent.BEFORE_AGENT:
        if has(own, "additionalContext") and isinstance(own["additionalContext"], str):
            return {**given, "prompt": f"{given['prompt']}\n\n{own['additionalContext']}"}
    elif event in (HookEvent.BEFORE_MODEL, HookEvent.BEFORE_TOOL):
        key = "llm_request" if event is HookEvent.BEFORE_MODEL else "tool_input"
        if has(own, key) and own[key]:
            return {**given, key: {**given[key], **spread(own[key])}}
    return given
