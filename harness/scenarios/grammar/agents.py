"""Agents that a model calls: their definitions, the calls, and their models' answers.

A child's answers are steps of the role `subagent`. Parallel agents get their steps by `thread`, and
neither another agent nor another call of the same answer may change what an agent reads: they only
read, and no step fails.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from harness.scenarios.addressing import calls_of_agents
from harness.scenarios.chooser import Chooser
from harness.scenarios.grammar.answers import answer
from harness.scenarios.grammar.chunks import chunk
from harness.scenarios.grammar.definitions import BUILT_IN, definitions, overrides
from harness.scenarios.grammar.model_faults import fault
from harness.scenarios.grammar.texts import answer_text, prompt_text, thought_text
from harness.scenarios.grammar.tool_calls import function_call
from services.wire import Json, JsonObject

__all__ = ["Agents"]

_TAIL: Final = 60
_ROLE: Final = "subagent"
_INVOKE: Final = "invoke_agent"
_COMPLETE: Final = "complete_task"
_CHANGING: Final = ("write_file", "replace")
_REPORT: Final[JsonObject] = {
    "SummaryOfFindings": "drawn",
    "ExplorationTrace": [],
    "RelevantLocations": [],
}
_GOOD: Final[tuple[JsonObject, ...]] = (
    {"result": "found it"},
    {"report": _REPORT},
    {"report": {"answer": "drawn", "sources": ["docs/index.md"]}},
    {"result": {"response": "done"}},
)
"""Arguments with which the kinds of agents complete; the first is for the user's agents."""
_ARGUMENTS: Final = {"codebase_investigator": 1, "cli_help": 2, "generalist": 3}
_BAD: Final[tuple[JsonObject, ...]] = (
    {},
    {"result": ""},
    {"result": "  \n"},
    {"result": 7},
    {"result": {"response": 1}},
    {"report": "text"},
    {"result": "x", "more": True},
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Agents:
    """The agents of one scenario."""

    home_files: JsonObject
    names: Sequence[str]
    """Names of the user's valid definitions."""
    settings: JsonObject
    beside_each_other: bool
    """Whether one answer may call several agents."""

    @classmethod
    def drawn(cls, choose: Chooser) -> Agents:
        """The user's definitions and settings."""
        home_files, names = definitions(choose)
        settings: JsonObject = {}
        if choose.chance("agent_overrides", 150):
            settings["agents"] = {"overrides": overrides(choose, names)}
        if choose.chance("steering", 300):
            settings["modelSteering"] = True
        return cls(
            home_files=home_files,
            names=names,
            settings=settings,
            beside_each_other=choose.chance("beside_each_other", 300),
        )

    def delegation(self, choose: Chooser, turn: int) -> list[JsonObject]:
        """The main model's step in turn `turn` that calls agents, then the agents' steps."""
        most = 3 if self.beside_each_other else 0
        names = [self._called(choose) for _ in range(1 + len([*choose.times("beside", most, 600)]))]
        parts: list[JsonObject] = [{"functionCall": _call(choose, name)} for name in names]
        if choose.chance("call_before_agent", 150):
            parts.insert(0, {"functionCall": _only_reading(self._plain_call(choose))})
        if choose.chance("call_after_agent", 150):
            parts.append({"functionCall": _only_reading(self._plain_call(choose))})
        if choose.chance("text_before_calls", 250):
            parts.insert(0, {"text": answer_text(choose) or "Let me see."})
        main: JsonObject = {"role": "main", "stream": [chunk(parts, "STOP")]}
        found: list[JsonObject] = [main]
        for place, name in zip(calls_of_agents(main), names, strict=True):
            for step in self._work(choose, name):
                addressed = {"thread": f"{turn}/{place}"} if self.beside_each_other else {}
                found.append({**step, "role": _ROLE, **addressed})
        return found

    def tail(self) -> JsonObject:
        """A step that completes any agent which makes more requests than were drawn."""
        calls = [{"functionCall": {"name": _COMPLETE, "args": args}} for args in _GOOD]
        return {"role": _ROLE, "stream": [chunk(calls, "STOP")], "repeat": _TAIL}

    def _called(self, choose: Chooser) -> str:
        kind = choose.option("agent", {"own": 30, "built_in": 5, "unknown": 2})
        if kind == "unknown" or not self.names:
            return "nobody" if kind == "unknown" else BUILT_IN[0]
        return choose.among(self.names) if kind == "own" else choose.among(BUILT_IN)

    def _plain_call(self, choose: Chooser) -> JsonObject:
        if self.beside_each_other:
            return {"name": "read_file", "args": {"file_path": choose.among(("a.txt", "b.txt"))}}
        return function_call(choose)

    def _work(self, choose: Chooser, name: str) -> Iterator[JsonObject]:
        for _ in choose.times("child_round", 4, 450):
            yield from self._faults(choose)
            if self.beside_each_other:
                yield _timed(choose, [{"functionCall": self._plain_call(choose)}])
            else:
                yield _slow(choose, answer(choose, "gemini-2.5-flash", tools=True))
        yield from self._faults(choose)
        yield from _ended(choose, name, calls_beside=not self.beside_each_other)

    def _faults(self, choose: Chooser) -> list[JsonObject]:
        if self.beside_each_other:
            return []
        return [fault(choose) for _ in choose.times("child_fault", 2, 100)]


def _only_reading(call: JsonObject) -> JsonObject:
    """The call, or a read instead of a change: an agent's prompt lists the files."""
    args = call.get("args")
    command = args.get("command") if isinstance(args, dict) else None
    if call["name"] in _CHANGING or (isinstance(command, str) and "> " in command):
        return {"name": "read_file", "args": {"file_path": "a.txt"}}
    return call


def _call(choose: Chooser, name: str) -> JsonObject:
    if choose.chance("invalid_agent_call", 40):
        args: Json = choose.among(({"agent_name": name}, {"prompt": "go"}, {}, None))
    else:
        args = {"agent_name": name, "prompt": prompt_text(choose)}
    return {"name": _INVOKE, "args": args}


def _ended(choose: Chooser, name: str, *, calls_beside: bool) -> Iterator[JsonObject]:
    """The steps with which an agent ends, or does not; the last ones are for its grace turn."""
    good = {"functionCall": {"name": _COMPLETE, "args": _GOOD[_ARGUMENTS.get(name, 0)]}}
    bad = {"functionCall": {"name": _COMPLETE, "args": choose.among(_BAD)}}
    kind = choose.option(
        "child_end",
        {"completes": 40, "bad_first": 8, "twice": 4, "beside": 6, "stops": 12, "never": 3},
    )
    if kind == "bad_first":
        yield _timed(choose, [bad])
    if kind in ("stops", "never"):
        yield _timed(choose, [{"text": answer_text(choose) or "I am done."}])
    if kind == "never":
        yield _timed(choose, [{"text": "As I said."}])
        return
    parts: list[JsonObject] = [good]
    if kind == "twice":
        parts.insert(0, choose.among((good, bad)))
    if kind == "beside" and calls_beside:
        parts.insert(choose.whole(0, 1), {"functionCall": function_call(choose)})
    if choose.chance("child_thought", 200):
        parts.insert(0, {"text": thought_text(choose), "thought": True})
    yield _timed(choose, parts)


def _timed(choose: Chooser, parts: list[JsonObject]) -> JsonObject:
    return _slow(choose, {"stream": [chunk(parts, "STOP")]})


def _slow(choose: Chooser, step: JsonObject) -> JsonObject:
    if choose.chance("slow_child", 80):
        return {**step, "delay_ms": choose.among((30, 5_000, 61_000, 601_000))}
    return step
