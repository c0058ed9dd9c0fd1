"""A whole scenario: `scenario` draws one cassette document."""

from __future__ import annotations

from typing import Final

from harness.scenarios.addressing import turns_of
from harness.scenarios.chooser import Chooser
from harness.scenarios.grammar.actions import between_sends, interruption, send
from harness.scenarios.grammar.agents import Agents
from harness.scenarios.grammar.answers import answer, wants_tools
from harness.scenarios.grammar.chunks import chunk
from harness.scenarios.grammar.interactive import Surface
from harness.scenarios.grammar.model_faults import fault
from harness.scenarios.grammar.session_setup import answers_of_the_user, session
from harness.scenarios.grammar.tool_calls import FILES
from services.wire import Json, JsonObject

__all__ = ["scenario"]

_TAIL: Final = 12
_UTILITIES: Final = 40


def scenario(choose: Chooser, name: str) -> JsonObject:
    """A cassette as JSON, under `name`: of phase C with a surface, B with agents, else A.

    The main steps follow the drawn conversation. A runtime that makes more requests (a retry, a
    nudge) gets the steps of the next prompt, and at the end plain answers. The caller declares the
    unused steps after a run.
    """
    setup = session(choose)
    found: JsonObject = {
        "cassette": 1,
        "name": name,
        "phase": "A",
        "provenance": {"kind": "generated"},
        "session": setup,
        "files": dict(FILES),
        "match": "by_role",
    }
    agents = Agents.drawn(choose) if choose.chance("agents", 0) else None
    if agents is not None:
        found["phase"] = "B"
        found["home_files"] = dict(agents.home_files)
        if agents.settings:
            setup["settings"] = {**setup.get("settings", {}), **agents.settings}
    surface = Surface.drawn(choose) if choose.chance("surface", 0) else None
    if surface is not None:
        found["phase"] = "C"
        found["files"] = {**FILES, **surface.files}
        if surface.settings:
            setup["settings"] = {**setup.get("settings", {}), **surface.settings}
    answers = answers_of_the_user(choose)
    if agents is not None and agents.beside_each_other:
        # Which agent asks first is chance: all get the same answer.
        answers = {who: said[:1] for who, said in answers.items()}
    if surface is not None:
        if "confirmations" in answers:
            answers["confirmations"] = surface.confirmations(choose, answers["confirmations"])
        answers = {**answers, **surface.answers}
    if answers:
        found["answers"] = answers
    script: list[Json] = []
    steps: list[Json] = []
    for index in range(1 + sum(1 for _ in choose.times("send", 4, 550))):
        before = between_sends(choose, index, surface) if index else None
        if before is not None:
            script.append(before)
        script.append(send(choose))
        turns = sum(map(turns_of, steps))
        steps += _conversation(choose, setup["model"], agents, surface, turns)
    found["script"] = script
    during = [interruption(choose, agents, surface) for _ in choose.times("interruption", 2, 120)]
    if during:
        found["during"] = during
    found["model"] = [
        *({"role": "main", **step} if agents else {**step, "role": "main"} for step in steps),
        {"text": "Nothing more to say.", "role": "main", "repeat": _TAIL},
        *([agents.tail()] if agents is not None else []),
        *_utilities(choose),
    ]
    return found


def _conversation(
    choose: Chooser, model: str, agents: Agents | None, surface: Surface | None, turns: int
) -> list[JsonObject]:
    """The steps of one prompt: rounds of tools, then an answer; faults before any of them.

    `turns` is the number of model turns before. Agents' steps follow the answer that calls them.
    """
    steps: list[JsonObject] = []
    if choose.chance("marathon", 4):
        steps += _marathon(choose)
    for _ in choose.times("round", 6, 550):
        steps += _faults(choose)
        if agents is not None and choose.chance("delegation", 600):
            steps += agents.delegation(choose, turns + sum(map(turns_of, steps)))
            continue
        if surface is not None and choose.chance("surface_round", 500):
            steps += [*surface.faults(choose), *surface.round(choose)]
            steps += _again(choose, steps)
            continue
        steps.append(answer(choose, model, tools=True))
        steps += _again(choose, steps)
    steps += _faults(choose)
    steps.append(answer(choose, model, tools=False))
    return steps


def _faults(choose: Chooser) -> list[JsonObject]:
    return [fault(choose) for _ in choose.times("fault", 3, 120)]


def _again(choose: Chooser, steps: list[JsonObject]) -> list[JsonObject]:
    """A model in a loop: the last answers again and again."""
    if not wants_tools(steps[-1]) or not choose.chance("circle", 40):
        return []
    around = [step for step in steps[-choose.whole(1, 6) :] if wants_tools(step)]
    return around * choose.among((2, 4, 6, 12, 3, 5))


def _marathon(choose: Chooser) -> list[JsonObject]:
    """Rounds that all differ, about as many as start the loop check by a model."""
    args = (
        {"file_path": "a.txt", "start_line": 1, "end_line": line}
        for line in range(1, 1 + choose.among((29, 30, 31, 45)))
    )
    calls = ({"functionCall": {"name": "read_file", "args": each}} for each in args)
    return [{"stream": [chunk([call], "STOP")]} for call in calls]


def _utilities(choose: Chooser) -> list[Json]:
    """Answers to the product's own requests: routing, next-speaker check, compression, …"""
    route = choose.among(("flash", "pro"))
    speaker = choose.among(("user", "user", "model"))
    stuck = choose.among((0.1, 0.95))
    summary = choose.among(("<state_snapshot>all is well</state_snapshot>", "", "s" * 4000))
    mended = {
        "search": "alpha",
        "replace": "ALPHA",
        "noChangesRequired": choose.among((True, False)),
        "explanation": "drawn",
    }
    counted = choose.among((120, 0, 600_000))
    compressor: list[Json] = [
        {"role": "utility_compressor", "generate": _says(summary), "repeat": _UTILITIES}
    ]
    return [
        {
            "role": "utility_router",
            "json": {"reasoning": "drawn", "model_choice": route},
            "repeat": _UTILITIES,
        },
        {
            "role": "utility_next_speaker",
            "json": {"reasoning": "drawn", "next_speaker": speaker},
            "repeat": 2,
        },
        {
            "role": "utility_next_speaker",
            "json": {"reasoning": "drawn", "next_speaker": "user"},
            "repeat": _UTILITIES,
        },
        {
            "role": "utility_loop_detector",
            "json": {
                "unproductive_state_analysis": "drawn",
                "unproductive_state_confidence": stuck,
            },
            "repeat": _UTILITIES,
        },
        *(compressor if choose.draws("compression") else []),
        {"role": "utility_summarizer", "generate": _says("a summary"), "repeat": _UTILITIES},
        {"role": "utility_edit_corrector", "json": mended, "repeat": _UTILITIES},
        {"role": "utility_tool", "generate": _found(choose), "repeat": _UTILITIES},
        {"method": "countTokens", "count_tokens": {"totalTokens": counted}, "repeat": _UTILITIES},
    ]


def _found(choose: Chooser) -> JsonObject:
    """The answer to a web search."""
    found = _says(choose.among(("Alpha is a letter.", "")))
    if choose.chance("sources", 500):
        found["candidates"][0]["groundingMetadata"] = {
            "groundingChunks": [{"web": {"uri": "https://example.org/a", "title": "A"}}],
            "groundingSupports": [{"segment": {"endIndex": 5}, "groundingChunkIndices": [0]}],
        }
    return found


def _says(text: str) -> JsonObject:
    content = {"role": "model", "parts": [{"text": text}]}
    return {"candidates": [{"content": content, "finishReason": "STOP", "index": 0}]}
