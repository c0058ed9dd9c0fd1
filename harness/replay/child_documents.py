"""Child agents in a trace or a baseline: what they told, and on whose behalf things happened."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from harness.cassette.fields import Fields
from harness.cassette.problems import FormatProblem, kind_of
from harness.replay.observation import ChildObservation, Observation
from services.threads import MAIN
from services.wire import Json, JsonObject

__all__ = ["CHILD_KEYS", "children_in", "children_of", "thread_of", "threads_in"]

CHILD_KEYS: Final = ("children", "threads")
"""Keys of the document; both are left out where there are no children."""
_KEYS: Final = ("thread", "agent", "agentId", "activities", "events")
_PLACED: Final = ("tool_states", "retries", "side_events")
_PATH: Final = re.compile(r"\d{1,6}/\d{1,6}(?:/\d{1,6}/\d{1,6})*")


def children_of(seen: Observation) -> JsonObject:
    """The document's part about children; empty where there are none."""
    document: JsonObject = {}
    if seen.children:
        document["children"] = [_child(child) for child in seen.children]
    if seen.threads:
        document["threads"] = {
            name: {str(index): thread for index, thread in placed.items()}
            for name, placed in seen.threads.items()
        }
    return document


def _child(child: ChildObservation) -> JsonObject:
    told: JsonObject = {
        "thread": child.thread,
        "agent": child.agent,
        "agentId": child.agent_id,
        "activities": list(child.activities),
    }
    if child.events is not None:
        told["events"] = list(child.events)
    return told


def children_in(fields: Fields) -> list[ChildObservation]:
    """The inverse, of a document that somebody may have written.

    Raises:
        FormatProblem: naming the key that does not hold what it should.
    """
    return [
        _child_in(Fields(item, f"{fields.at('children')}[{index}]", _KEYS))
        for index, item in enumerate(fields.items("children"))
    ]


def _child_in(fields: Fields) -> ChildObservation:
    return ChildObservation(
        thread=thread_of(fields.text("thread"), fields.at("thread")),
        agent=fields.text("agent"),
        agent_id=fields.text("agentId"),
        activities=_objects(fields, "activities"),
        events=_objects(fields, "events") if fields.raw("events") is not None else None,
    )


def threads_in(fields: Fields) -> dict[str, dict[int, str]]:
    """On whose behalf things happened, by what they are and their index.

    Raises:
        FormatProblem: naming the key that does not hold what it should.
    """
    found: dict[str, dict[int, str]] = {}
    value = fields.raw("threads")
    if value is None:
        return found
    for name, placed in _mapping(value, fields.at("threads")).items():
        where = f"{fields.at('threads')}.{name}"
        if name not in _PLACED:
            raise FormatProblem(where, "is nothing that has threads", f"use {', '.join(_PLACED)}")
        found[name] = {}
        for index, thread in _mapping(placed, where).items():
            if not re.fullmatch(r"\d{1,9}", index):
                raise FormatProblem(f"{where}.{index}", "is no index", "write a whole number")
            found[name][int(index)] = thread_of(thread, f"{where}.{index}")
    return found


def thread_of(value: Json, path: str) -> str:
    """`value`, which must be a thread's path.

    Raises:
        FormatProblem: it is none.
    """
    if isinstance(value, str) and (value == MAIN or _PATH.fullmatch(value)):
        return value
    raise FormatProblem(path, f"{value!r} is no thread", "write a path like 0/1")


def _mapping(value: Json, path: str) -> Mapping[str, Json]:
    if not isinstance(value, dict):
        raise FormatProblem(path, f"must be a mapping, not {kind_of(value)}", "write a mapping")
    return value


def _objects(fields: Fields, key: str) -> list[JsonObject]:
    found: list[JsonObject] = []
    for index, item in enumerate(fields.items(key, required=True)):
        if not isinstance(item, dict):
            problem = f"must be a mapping, not {kind_of(item)}"
            raise FormatProblem(f"{fields.at(key)}[{index}]", problem, "write a mapping")
        found.append(item)
    return found
