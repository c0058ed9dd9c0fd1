"""Runs the hooks of one event, from their input to the merged output.

Source: core `hooks/hookEventHandler.ts`.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from weakref import WeakKeyDictionary

from services.abort import AbortSignal
from services.clock import iso_timestamp
from services.hooks.aggregation import merge_outputs
from services.hooks.command import HookPlaces
from services.hooks.events import HookEnd, HookEvent, HookNotice, HookStart, HookSystemMessage
from services.hooks.planning import HookPlan, Subject, make_plan
from services.hooks.results import HookOutput
from services.hooks.running import HookResult, HookRunner
from services.hooks.translation import HookModelRequest, request_for_hooks
from services.hooks.values import HookOutputError
from services.session import Session
from services.settings.hooks import CommandHook, HookDefinition
from services.state import Logged, UserFeedback
from services.wire import JsonObject, js_text, js_truthy

__all__ = ["HookFiring"]

logger = logging.getLogger(__name__)


class _Known:
    """A request in the form for hooks, kept while its answer streams in."""

    __slots__ = ("reported", "request")

    def __init__(self, request: HookModelRequest) -> None:
        self.request = request_for_hooks(request)
        self.reported: set[str] = set()


class HookFiring:
    """Fires events. An event without hooks builds and starts nothing."""

    def __init__(
        self,
        session: Session,
        *,
        disabled: Collection[str],
        notify: Callable[[HookNotice], None],
        transcript: Callable[[], Path | None],
    ) -> None:
        """Fire nothing yet.

        Args:
            session: The session.
            disabled: The names of hooks that do not run; it may change.
            notify: Receives starts, ends and messages of hooks.
            transcript: Returns the chat's record.
        """
        self._definitions: dict[str, list[HookDefinition]] = {}
        self._session = session
        self._disabled = disabled
        self._notify = notify
        self._transcript = transcript
        self._known: WeakKeyDictionary[HookModelRequest, _Known] = WeakKeyDictionary()

    def use(self, definitions: Iterable[HookDefinition]) -> None:
        """Fire these hooks from now on."""
        found: dict[str, list[HookDefinition]] = {}
        for definition in definitions:
            found.setdefault(definition.event, []).append(definition)
        self._definitions = found

    def has_hooks(self, event: HookEvent) -> bool:
        """False when no hook of settings is for `event`."""
        return event in self._definitions

    def request_input(self, request: HookModelRequest) -> JsonObject:
        """`request` as hooks see it; made once, however many chunks its answer has."""
        return self._of(request).request

    async def fire(
        self,
        event: HookEvent,
        fields: Callable[[], JsonObject],
        *,
        subject: Subject | None = None,
        request: HookModelRequest | None = None,
        signal: AbortSignal | None = None,
    ) -> HookOutput | None:
        """Run the event's hooks and merge their outputs.

        Args:
            event: The event.
            fields: The input's own fields, after those that all events have.
            subject: The text that matchers are compared with.
            request: The request of an AfterModel event, whose failures are reported once.
            signal: Ends the hooks; their output is lost.

        Returns:
            None when no hook had any output, or one had an output that cannot be read.
        """
        session, definitions = self._session, self._definitions.get(event, ())
        plan = make_plan(definitions, self._disabled, subject or Subject())
        if not plan.hooks:
            return None
        places = HookPlaces(
            cwd=str(session.workspace.root),
            plans=str(session.plans()),
            session_id=session.state.session_id,
        )
        given = {
            "session_id": places.session_id,
            "transcript_path": str(self._transcript() or ""),
            "cwd": places.cwd,
            "hook_event_name": str(event),
            "timestamp": iso_timestamp(session.clock.now_ms()),
            **fields(),
        }
        try:
            results = await self._runner(plan, event).run(plan, event, given, places, signal)
            outputs = [result.output for result in results if result.output is not None]
            merged = merge_outputs(outputs, event)
        except HookOutputError as problem:
            logger.warning("%s hooks are ignored: %s", event, problem)
            return None
        output = None if merged is None else HookOutput(event, merged)
        for result in results:
            self._session.events.emit(_logged(event, given, result))
        self._report(event, results, output, request)
        return output

    def _runner(self, plan: HookPlan, event: HookEvent) -> HookRunner:
        def started(hook: CommandHook, index: int) -> None:
            self._notify(
                HookStart(
                    hook_name=hook.shown_name,
                    event_name=event,
                    source=hook.source,
                    hook_index=index + 1,
                    total_hooks=len(plan.hooks),
                )
            )

        def ended(result: HookResult) -> None:
            self._notify(
                HookEnd(hook_name=result.hook.shown_name, event_name=event, success=result.success)
            )

        return HookRunner(
            clock=self._session.clock,
            variables=self._session.environment.child_variables,
            started=started,
            ended=ended,
        )

    def _report(
        self,
        event: HookEvent,
        results: Sequence[HookResult],
        output: HookOutput | None,
        request: HookModelRequest | None,
    ) -> None:
        suppressed = output is not None and output.suppress_output
        if output is not None and output.system_message and not suppressed:
            logger.warning("hook system message: %s", output.system_message)
        failed = ", ".join(
            result.hook.shown_name for result in results if not (result.success or result.aborted)
        )
        if failed and self._is_news(failed, request):
            self._session.events.emit(
                UserFeedback(
                    severity="warning",
                    message=f"Hook(s) [{failed}] failed for event {event}. "
                    "Press F12 to see the debug drawer for more details.\n",
                )
            )
        for result in results:
            said = (result.output or {}).get("systemMessage")
            if js_truthy(said):
                self._notify(
                    HookSystemMessage(
                        hook_name=result.hook.shown_name,
                        event_name=event,
                        message=js_text(said),
                        suppressed=suppressed,
                    )
                )

    def _is_news(self, failed: str, request: HookModelRequest | None) -> bool:
        if request is None:
            return True
        reported = self._of(request).reported
        if failed in reported:
            return False
        reported.add(failed)
        return True

    def _of(self, request: HookModelRequest) -> _Known:
        known = self._known.get(request)
        if known is None:
            known = self._known[request] = _Known(request)
        return known


def _logged(event: HookEvent, given: JsonObject, result: HookResult) -> Logged:
    """A hook's call for the log. Source: core `telemetry/types.ts` (`HookCallEvent`)."""
    name, how = result.hook.shown_name, "succeeded" if result.success else "failed"
    return Logged(
        name="gemini_cli.hook_call",
        body=f"Hook call {event}.{_program(name)} {how} in {result.duration_ms}ms",
        attributes={
            "hook_event_name": str(event),
            "hook_type": "command",
            "hook_name": _program(name),
            "duration_ms": result.duration_ms,
            "success": result.success,
            "exit_code": result.exit_code,
            "error": result.error,
        },
        spoken={
            "hook_name": name,
            "hook_input": given,
            "hook_output": result.output,
            "stdout": result.stdout,
            "stderr": result.stderr,
        },
    )


def _program(name: str) -> str:
    """A hook's name without arguments, which can hold secrets, and without folders.

    Source: core `telemetry/sanitize.ts`.
    """
    words = name.split()
    return (re.split(r"[/\\]", words[0])[-1] if words else "") or "unknown-command"
