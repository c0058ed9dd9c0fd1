"""Faults of the runtimes in loop detection, limits, and who speaks next."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Final

from harness.faults.altered import given
from harness.faults.fault import Behaviour, Fault, Site
from harness.faults.patching import replaced

__all__ = ["FAULTS"]

_WATCH: Final = "services.loop_detection.detector:LoopDetector.add_parts"
_legacy = partial(Fault, site=Site.LEGACY, behaviour=Behaviour.LOOPS)
_adk = partial(Fault, site=Site.ADK, behaviour=Behaviour.LOOPS)


def _forgetting_per_request(send: Any) -> Any:
    def broken(self: Any, parts: Any, sending: Any) -> Any:
        self._loops._calls.clear()
        return send(self, parts, sending)

    return broken


def _warning_again(take: Any) -> Any:
    def broken(self: Any, verdict: Any, turns: int, after: Any) -> None:
        take(self, replace(verdict, count=1), turns, after)

    return broken


def _one_turn_more(settings: Any) -> Any:
    limit = settings.max_session_turns
    return replace(settings, max_session_turns=limit + 1 if limit >= 0 else limit)


def _one_less(number: Any) -> Any:
    return number - 1


def _counting_twice(watch: Any) -> Any:
    def broken(self: Any, parts: Any) -> Any:
        verdict = watch(self, parts)
        again = not verdict.count and any("functionCall" in part for part in parts)
        return watch(self, parts) if again else verdict

    return broken


def _narration_resetting(watch: Any) -> Any:
    def broken(self: Any, parts: Any) -> Any:
        if any((part.get("text") or "").strip() for part in parts):
            self._calls.clear()
        return watch(self, parts)

    return broken


def _without_detail(feedback: Any) -> Any:
    def broken(detail: Any) -> Any:
        return feedback(None)

    return broken


def _counted_late(count: Any) -> Any:
    def broken(self: Any) -> Any:
        self._session.count -= 1
        stopped = count(self)
        self._session.count += 1
        return stopped

    return broken


def _zero_is_none(begin: Any) -> Any:
    def broken(self: Any) -> Any:
        return None if self._limit == 0 else begin(self)

    return broken


def _staying_flagged(after_loop: Any) -> Any:
    def broken(self: Any, stream: Any, run: Any, loop: Any) -> Any:
        flagged = self._conversation.loops._flagged
        decided = after_loop(self, stream, run, loop)
        self._conversation.loops._flagged = flagged
        return decided

    return broken


def _told_later(read: Any) -> Any:
    def broken(self: Any, event: Any, run: Any) -> Any:
        return True if event.partial and event.error_code else read(self, event, run)

    return broken


def _going_on_unasked(goes_on: Any) -> Any:
    async def broken(self: Any, run: Any) -> Any:
        return False

    return broken


def _without_figures(begin: Any) -> Any:
    def broken(self: Any) -> Any:
        data = begin(self)
        return None if data is None else {"code": data["code"]}

    return broken


FAULTS: Final = (
    _legacy(
        name="calls-forgotten-between-requests",
        says="The loop detector forgets the calls it saw at every request of a prompt.",
        origin="seen in agent migrations: identical successful calls not counted as a loop",
        breaks=lambda: replaced(
            "runtimes.legacy.client:GeminiClient._send", _forgetting_per_request
        ),
    ),
    _legacy(
        name="second-loop-warned-again",
        says="A prompt's second loop is told to the model like the first, and so on.",
        origin="a port that keeps one strike of upstream's two",
        breaks=lambda: replaced("runtimes.legacy.client:GeminiClient._take_loop", _warning_again),
    ),
    _legacy(
        name="send-limit-off-by-one",
        says="A send may take one turn more than the limit says.",
        origin="seen in agent migrations: off by one at every threshold",
        breaks=lambda: replaced(
            "runtimes.legacy.agent:_Stream.__init__", given(settings=_one_turn_more)
        ),
    ),
    _legacy(
        name="follow-ups-off-by-one",
        says="One request less may follow by itself than upstream allows.",
        origin="seen in agent migrations: off by one at every threshold",
        breaks=lambda: replaced("runtimes.legacy.client:MAX_TURNS", _one_less),
    ),
    _adk(
        name="calls-watched-twice",
        says="The loop detector is shown each call twice and cries wolf at the third.",
        origin="seen in agent migrations: the consolidated event repeating calls",
        breaks=lambda: replaced(_WATCH, _counting_twice),
    ),
    _adk(
        name="narration-resets-loop",
        says="Text between identical calls makes the loop detector forget them.",
        origin="seen in agent migrations: narration resetting the counter",
        breaks=lambda: replaced(_WATCH, _narration_resetting),
    ),
    _adk(
        name="loop-feedback-without-detail",
        says="The feedback after a loop does not say what was repeated.",
        origin="a verdict that crosses a layer as a flag",
        breaks=lambda: replaced("runtimes.adk.continuation:loop_feedback", _without_detail),
    ),
    _adk(
        name="session-limit-off-by-one",
        says="A conversation may take one request more than the limit says.",
        origin="seen in agent migrations: off by one at every threshold",
        breaks=lambda: replaced(
            "runtimes.adk.plugins.limits:MaxTurnsAdkPlugin.request_started", _counted_late
        ),
    ),
    _adk(
        name="zero-turns-read-as-unlimited",
        says="A send with a limit of no turns at all runs on.",
        origin="upstream's two readings of 0, taken for one",
        breaks=lambda: replaced(
            "runtimes.adk.plugins.limits:MaxTurnsAdkPlugin.turn_started", _zero_is_none
        ),
    ),
    _adk(
        name="loop-not-cleared",
        says="After the feedback the same loop is found again at once, and ends the prompt.",
        origin="a recovery that sends the feedback and forgets the detector",
        breaks=lambda: replaced(
            "runtimes.adk.continuation:Continuation._after_loop", _staying_flagged
        ),
    ),
    _adk(
        name="second-loop-told-late",
        says="A second loop is told after the answer was closed, so an abort then undoes nothing.",
        origin="an event made by the runner's caller instead of in step with the stream",
        breaks=lambda: replaced("runtimes.adk.stream:Stream.read", _told_later),
    ),
    _adk(
        name="model-never-goes-on",
        says="An answer that was not done is taken for the end.",
        origin="google-adk's loop, which ends with an answer that asks for no tools",
        breaks=lambda: replaced(
            "runtimes.adk.continuation:Continuation._model_goes_on", _going_on_unasked
        ),
    ),
    _adk(
        name="turn-limit-without-figures",
        says="The end at the turn limit does not say what the limit was.",
        origin="two limits of upstream, whose ends differ, made one",
        breaks=lambda: replaced(
            "runtimes.adk.plugins.limits:MaxTurnsAdkPlugin.turn_started", _without_figures
        ),
    ),
)
