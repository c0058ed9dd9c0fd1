"""Which model turn a step answers: the key `thread` of a cassette's steps refers to turns.

Main steps are used in their order, so the number of a turn follows from the steps before it.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from services.wire import Json, JsonObject

__all__ = ["calls_of_agents", "is_main", "turns_of", "without_steps"]

_INVOKE: Final = "invoke_agent"
_CHILD: Final = "subagent"


def is_main(step: JsonObject) -> bool:
    """Whether the step answers the main conversation."""
    return (
        step.get("role", "main") == "main"
        and step.get("thread", "main") == "main"
        and ("stream" in step or "text" in step or "error" in step or "hang" in step)
    )


def turns_of(step: JsonObject) -> int:
    """How many turns of the main conversation the step answers with a complete stream."""
    whole = "text" in step or ("stream" in step and "then_error" not in step)
    return int(step.get("repeat", 1)) if whole and is_main(step) else 0


def calls_of_agents(step: JsonObject) -> list[int]:
    """The positions of calls of agents among an answer's calls: the second number of a thread."""
    calls = [
        part["functionCall"]
        for piece in step.get("stream", ())
        for candidate in (piece.get("candidates") or ())[:1]
        for part in (candidate.get("content") or {}).get("parts") or ()
        if isinstance(part, dict) and isinstance(part.get("functionCall"), dict)
    ]
    return [place for place, call in enumerate(calls) if call.get("name") == _INVOKE]


def without_steps(model: list[Json], gone: Collection[int]) -> list[Json]:
    """The steps without those at the positions `gone`, and without the steps of their agents.

    An agent's steps are those with its thread, and those of the role `subagent` without a thread
    that follow the answer which called it. The threads of later turns are renumbered.
    """
    moved: dict[int, int] = {}
    turn = kept_turns = 0
    for position, step in enumerate(model):
        for _ in range(turns_of(step)):
            if position not in gone:
                moved[turn] = kept_turns
                kept_turns += 1
            turn += 1
    found: list[Json] = []
    follows_gone = False
    for position, step in enumerate(model):
        if is_main(step):
            follows_gone = position in gone
        thread = step.get("thread", "main")
        of_child = step.get("role") == _CHILD and thread == "main"
        if position in gone or (of_child and follows_gone):
            continue
        if thread == "main":
            found.append(step)
            continue
        first, _, rest = thread.partition("/")
        if int(first) in moved:
            found.append({**step, "thread": f"{moved[int(first)]}/{rest}"})
    return found
