"""Faults of the ADK runtime in loop detection, limits and next-speaker checks."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, Final

from agent_protocol.content import TextPart
from agent_protocol.events import Message
from seeded_faults import Behaviour, Faults, Site
from seeded_faults.wrappers import instead, keeps, passing, put, result, returns, then
from services.history.transforms import has_function_response

fault = Faults(Site.ADK, Behaviour.LOOPS)
held_out = Faults(Site.ADK, Behaviour.LOOPS, held_out=True)
_WATCH: Final = "services.loop_detection.detector:LoopDetector.add_parts"

loop_feedback_without_detail = fault.wrap(
    "runtimes.adk.continuation:loop_feedback",
    passing(detail=lambda _: None),
    says="The feedback after a loop does not say what was repeated.",
    origin="a verdict that crosses a layer as a bare flag",
)
zero_turns_read_as_unlimited = fault.wrap(
    "runtimes.adk.plugins.limits:MaxTurnsAdkPlugin.turn_started",
    instead(lambda begin, self: None if self._limit == 0 else begin(self)),
    says="A limit of 0 turns does not end the send.",
    origin="upstream reads 0 in two ways, the port in one",
)
loop_not_cleared = fault.wrap(
    "runtimes.adk.continuation:Continuation._after_loop",
    keeps("_conversation.loops._flagged"),
    says="After the feedback, the same loop is detected at once and ends the prompt.",
    origin="a recovery that sends the feedback but does not reset the detector",
)
model_never_goes_on = fault.wrap(
    "runtimes.adk.continuation:Continuation._model_goes_on",
    returns(False),
    says="An unfinished answer ends the prompt.",
    origin="google-adk's loop ends with an answer that has no tool calls",
)
turn_limit_without_figures = fault.wrap(
    "runtimes.adk.plugins.limits:MaxTurnsAdkPlugin.turn_started",
    result(lambda data: None if data is None else {"code": data["code"]}),
    says="The end event at the turn limit does not name the limit.",
    origin="two limits of upstream with different ends, treated alike",
)
limit_begins_anew_at_reset = held_out.wrap(
    "runtimes.adk.runtime:AdkRuntime.reset",
    then(put("_factory._session_turns.count", 0)),
    says="A reset restarts the count against the session's turn limit.",
    origin="counters moved into an object that a reset replaces",
)
follow_ups_count_as_turns = held_out.wrap(
    "runtimes.adk.run:Run.follow_up",
    then(put("follows_up", False)),
    says="An automatic follow-up is a separate turn: it counts, and drops earlier calls.",
    origin="google-adk's invocations: each looks like a turn",
)
compression_forgets_repetitions = held_out.wrap(
    "runtimes.adk.conversation:Conversation.start",
    then(lambda self, *args: self.loops.reset(self._services.state.last_prompt_id or "")),
    says="A compression in the middle of a prompt resets the loop detector.",
    origin="a detector tied to a chat instead of the conversation",
)


@fault(_WATCH, origin="seen in agent migrations: the consolidated event repeating calls")
def calls_watched_twice(watch: Any, self: Any, parts: Any) -> Any:
    """The loop detector gets each call twice, and reports a loop at the third call."""
    verdict = watch(self, parts)
    again = not verdict.count and any("functionCall" in part for part in parts)
    return watch(self, parts) if again else verdict


@fault(_WATCH, origin="seen in agent migrations: narration resetting the counter")
def narration_resets_loop(watch: Any, self: Any, parts: Any) -> Any:
    """Text between identical calls resets the loop detector."""
    if any((part.get("text") or "").strip() for part in parts):
        self._calls.clear()
    return watch(self, parts)


@fault(
    "runtimes.adk.plugins.limits:MaxTurnsAdkPlugin.request_started",
    origin="seen in agent migrations: off by one at every threshold",
)
def session_limit_off_by_one(count: Any, self: Any) -> Any:
    """A conversation may make one request more than the limit."""
    self._session.count -= 1
    stopped = count(self)
    self._session.count += 1
    return stopped


@fault(
    "runtimes.adk.stream:Stream.read",
    origin="an event made by the runner's caller, out of step with the stream",
)
def second_loop_told_late(read: Any, self: Any, event: Any, run: Any) -> Any:
    """A second loop is reported after the answer ended, so an abort then undoes nothing."""
    return True if event.partial and event.error_code else read(self, event, run)


@held_out(
    "runtimes.adk.continuation:Continuation.after",
    origin="google-adk's user events do not say who typed them",
)
async def follow_ups_told_as_the_users(after: Any, self: Any, stream: Any, run: Any) -> Any:
    """Automatic follow-ups are emitted to clients as messages of the user."""
    following = await after(self, stream, run)
    if isinstance(following, list) and not has_function_response({"parts": following}):
        said = tuple(TextPart(text=part.get("text") or "") for part in following)
        stream.emit(Message(**stream.translator.fields(), role="user", content=said))
    return following


@held_out(
    "runtimes.adk.run:Step.cut_off",
    origin="google-adk's plugins can change an event, but not end its stream",
)
def loop_does_not_cut_off_the_answer(_: Any, self: Any, verdict: Any) -> None:
    """An answer in a loop is read to its end and kept."""
    self.loop = verdict


@held_out(
    "runtimes.adk.processors.conversation:LimitsProcessor._refused",
    origin="counting and hooks in the other order",
    closed_by="limits/turns_and_blocked_prompts",
)
def refused_prompts_count(refused: Any, self: Any, *args: Any) -> Any:
    """A prompt that a hook refuses counts towards the session's turn limit."""
    self._max_turns._session.count += 1
    return refused(self, *args)


@held_out(
    "runtimes.adk.run:Run.begin_turn",
    origin="a flag of the turn that is not reset with the turn",
    closed_by="tools/empty_after_text_and_response",
)
def text_before_tools_counts_after_them(begin_turn: Any, self: Any) -> None:
    """An empty answer to tool results counts as valid if text preceded the tools."""
    seen = self.visible_text
    begin_turn(self)
    self.answers.append(SimpleNamespace(calls=(), finish_reason=None, visible_text=seen))
