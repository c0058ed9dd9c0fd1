"""Masking and loop detection by themselves: what is new costs, what was seen before must not."""

from __future__ import annotations

import statistics
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from benchmarks.busy import large_file, sentence
from benchmarks.figures import Figure, Target
from benchmarks.sampling import gc_paused
from harness.replay.envelope import open_envelope
from services.environment import Environment
from services.loop_detection.content import ContentLoops
from services.model.replay.generator import ReplayedContentGenerator
from services.output_masking import ToolOutputMaskingService
from services.session import Session
from services.settings import Settings
from services.state import ApprovalMode, CoreEvents, SessionState
from services.wire import Content

__all__ = ["detector_costs"]

FLAT: Final = Target(1.3)
_WINDOW: Final = 40
_FRAGMENT_LENGTH: Final = 400
"""Characters of a fragment of an answer."""


def detector_costs(turns: Sequence[int]) -> list[Figure]:
    """Microseconds per turn at each of `turns`, and the last against the first."""
    with gc_paused():
        masking, passes = _masking(turns)
        loops = _loops(turns)
    return [
        *_figures("masking, asked whether it is due", masking, turns),
        *_figures("loop detection, 400 new characters", loops, turns),
        *(
            Figure(name=f"masking, a pass over {turn} turns", value=seconds * 1e3, unit="ms")
            for turn, seconds in passes.items()
        ),
    ]


def _figures(what: str, seconds: dict[int, float], turns: Sequence[int]) -> list[Figure]:
    first, last = turns[0], turns[-1]
    return [
        *(
            Figure(name=f"{what}: turn {turn}", value=seconds[turn] * 1e6, unit="us")
            for turn in turns
        ),
        Figure(
            name=f"{what}: turn {last} / turn {first}",
            value=seconds[last] / seconds[first],
            target=FLAT,
        ),
    ]


def _masking(turns: Sequence[int]) -> tuple[dict[int, float], dict[int, float]]:
    """What the question costs after each turn's new contents, and what a whole pass costs."""
    asked: dict[int, float] = {}
    passes: dict[int, float] = {}
    with open_envelope() as envelope:
        events = CoreEvents()
        session = Session(
            settings=Settings(),
            state=SessionState(
                session_id=envelope.ids.uuid("session"),
                model="gemini-2.5-flash",
                approval_mode=ApprovalMode.DEFAULT,
                interactive=False,
                events=events,
            ),
            events=events,
            clock=envelope.clock,
            ids=envelope.ids,
            rng=envelope.rng,
            environment=Environment.for_replay(home=str(envelope.workspace.home)),
            workspace=envelope.workspace,
            content_generator=ReplayedContentGenerator((), clock=envelope.clock),
        )

        def service(settings: Settings) -> ToolOutputMaskingService:
            return ToolOutputMaskingService(replace(session, settings=settings))

        # The question alone: it is never due, so nothing of the history ever changes.
        never = service(Settings(masking_min_prunable_tokens=10**12))
        history: list[Content] = []
        done = 0
        for turn in turns:
            for number in range(done, turn):
                history += _turn(number)
            never.due(history)
            taken = []
            for number in range(turn, turn + _WINDOW):
                history += _turn(number)
                begun = time.process_time()
                never.due(history)
                taken.append(time.process_time() - begun)
            done = turn + _WINDOW
            asked[turn] = statistics.median(taken)
            passes[turn] = _a_pass(service(Settings()), history)
    return asked, passes


def _a_pass(masking: ToolOutputMaskingService, history: Sequence[Content]) -> float:
    """A pass over a history whose older outputs are masked already, when a few are due again."""
    masked = list(masking.mask(history).history)
    for number in range(8):
        masked += _turn(-1 - number)
    begun = time.process_time()
    masking.mask(masked)
    return time.process_time() - begun


def _turn(number: int) -> list[Content]:
    name = "read_file"
    call = {"id": f"call-{number}", "name": name}
    return [
        {"role": "user", "parts": [{"text": sentence("asked", number)}]},
        {
            "role": "model",
            "parts": [{"functionCall": {**call, "args": {"file_path": "store.txt"}}}],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": {**call, "response": {"output": large_file(number % 8)}}}
            ],
        },
        {"role": "model", "parts": [{"text": sentence("said", number)}]},
    ]


def _loops(turns: Sequence[int]) -> dict[int, float]:
    """Text alone, never a call between: the longest stream that there can be."""
    watch = ContentLoops()
    found: dict[int, float] = {}
    done = 0
    for turn in turns:
        for number in range(done, turn):
            watch.add(_fragment(number))
        taken = []
        for number in range(turn, turn + _WINDOW):
            fragment = _fragment(number)
            begun = time.process_time()
            watch.add(fragment)
            taken.append(time.process_time() - begun)
        done = turn + _WINDOW
        found[turn] = statistics.median(taken)
    return found


def _fragment(number: int) -> str:
    text = " ".join(sentence(number, piece) for piece in range(8))
    return text[:_FRAGMENT_LENGTH]
