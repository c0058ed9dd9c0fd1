"""Faults of the legacy runtime in loop detection, limits and next-speaker checks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from seeded_faults import Behaviour, Faults, Site
from seeded_faults.altered import Altered, given
from seeded_faults.wrappers import first, passing
from services.loop_detection.detector import LoopVerdict

fault = Faults(Site.LEGACY, Behaviour.LOOPS)
held_out = Faults(Site.LEGACY, Behaviour.LOOPS, held_out=True)


def _one_turn_more(settings: Any) -> Any:
    limit = settings.max_session_turns
    return replace(settings, max_session_turns=limit + 1 if limit >= 0 else limit)


calls_forgotten_between_requests = fault.wrap(
    "runtimes.legacy.client:GeminiClient._send",
    first(lambda self, parts, sending: self._loops._calls.clear()),
    says="The loop detector forgets the calls of earlier requests of a prompt.",
    origin="seen in agent migrations: identical successful calls not counted as a loop",
)
second_loop_warned_again = fault.wrap(
    "runtimes.legacy.client:GeminiClient._take_loop",
    passing(verdict=lambda verdict: replace(verdict, count=1)),
    says="Every loop of a prompt, not only the first, is reported to the model.",
    origin="a port that keeps one of upstream's two strikes",
)
send_limit_off_by_one = fault.wrap(
    "runtimes.legacy.agent:_Stream.__init__",
    given(settings=_one_turn_more),
    says="A send may run one turn more than the limit.",
    origin="seen in agent migrations: off by one at every threshold",
)
follow_ups_off_by_one = fault.wrap(
    "runtimes.legacy.client:MAX_TURNS",
    lambda number: number - 1,
    says="The limit of automatic follow-ups is one lower than upstream's.",
    origin="seen in agent migrations: off by one at every threshold",
)
next_speaker_asked_over_calls = held_out.wrap(
    "runtimes.legacy.client:GeminiClient._continuation",
    passing(turn=lambda turn: Altered(turn, answer=Altered(turn.answer, calls=[]))),
    says="The next-speaker check runs although the answer has pending calls.",
    origin="a condition lost when the check moved after the turn",
)


@held_out(
    "runtimes.legacy.client:GeminiClient._watched",
    origin="a detector that treats every text as the model's answer",
)
def thoughts_watched_for_chanting(watched: Any, self: Any, event: Any) -> Any:
    """A repeated thought counts as a loop in the answer."""
    if type(event).__name__ == "ThoughtText":
        return self._loops.add_text(event.description)
    return watched(self, event)


@held_out(
    "runtimes.legacy.client:GeminiClient._watched",
    origin="a detector that checks what was emitted, not what comes next",
)
def loop_noticed_one_event_late(watched: Any, self: Any, event: Any) -> Any:
    """The fragment or call that completes a loop is emitted before detection."""
    late, self.late = getattr(self, "late", LoopVerdict()), watched(self, event)
    if late.count:
        self.late = LoopVerdict()
    return late
