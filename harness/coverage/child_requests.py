"""Probes over requests of agents to models: histories, tools, models, injected texts."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import Any, Final

from harness.coverage.words import ends_of, objects_in, texts_in, tier_of, word_of
from harness.replay.observation import Observation, ObservedRequest
from services.threads import MAIN
from services.wire import Content

__all__ = ["child_requests"]

_AGENT: Final = "subagent"
_INVOKE: Final = "invoke_agent"
_SKILL: Final = "activate_skill"
_COMPLETE: Final = "complete_task"
_NOT_LENT: Final = frozenset({"invoke_agent", "update_topic", _COMPLETE})
_LAST_CHANCE: Final = "You have one final chance to complete the task"
_PLANS: Final = re.compile(r"/plans\b")
"""The folder of plans, which the instruction names in plan mode."""
_SIGNS: Final = (
    ("User hints:", "steering:child.hint"),
    ("Background execution update:", "steering:child.background"),
    (_LAST_CHANCE, "child:last_chance"),
    ("User rejected this operation. Please acknowledge", "child:rejected"),
    ("<state_snapshot>", "child:summary_in_history"),
    ("<hook_context>", "child:hook.context"),
    ("Output too large. Showing first", "child:truncated"),
    ("<loaded_context>", "child:given.memory"),
    ("--- Newly Discovered Project Context ---", "child:given.memory"),
)

_SHORTENED: Final = re.compile(r"… (\d{1,9}) characters, sha256:[0-9a-f]{64}\Z")
"""How a baseline ends a long text."""
_LONG: Final = 40_000
"""A longer output of a tool is cut (core `config/config.ts`)."""


def child_requests(seen: Observation) -> Iterator[str]:
    """The requests of agents, also compared with those of their parents."""
    threads: defaultdict[str, list[ObservedRequest]] = defaultdict(list)
    before: dict[tuple[str, str], ObservedRequest] = {}
    parent: ObservedRequest | None = None
    for request in seen.requests:
        if request.thread == MAIN:
            if request.role == "main":
                yield from _parent(request)
                parent = request
            continue
        yield f"child:asked.{word_of(request.role)}"
        yield f"child:model.{tier_of(request.model)}"
        if request.role == _AGENT:
            yield from _request(request)
            if not threads[request.thread]:
                yield from _first(request, parent)
            threads[request.thread].append(request)
            if (last := before.get(request.lineage)) is not None:
                yield from _next(last, request)
        before[request.lineage] = request
    yield from _routed(seen, threads)
    yield from _hinted(list(threads.values()))
    yield from _in_turns(seen, threads)


def _request(request: ObservedRequest) -> Iterator[str]:
    for key in ("maxOutputTokens", "toolConfig"):
        if key in request.config:
            yield f"child:config.{key}"
    if _COMPLETE in request.tools:
        yield "child:declares.complete_task"
    if any(name.startswith("mcp_") for name in request.tools):
        yield "child:declares.mcp"
    for content in request.new_contents:
        parts = content.get("parts")
        if content.get("role") != "model":
            yield from _signs(parts)
        elif any(part.get("text") and not part.get("thought") for part in objects_in(parts)):
            yield "child:said"
        for _, response in _answered(content):
            if isinstance(response, dict) and "error" in response:
                yield "child:sent.error_result"


def _signs(value: Any) -> Iterator[str]:
    for text in texts_in(value):
        shown = ends_of(text)
        yield from (probe for sign, probe in _SIGNS if sign in shown)


def _first(request: ObservedRequest, parent: ObservedRequest | None) -> Iterator[str]:
    """An agent's first request, compared with the latest one of its parent."""
    system = request.system_instruction or ""
    # A baseline keeps only a digest of the instruction: there the tool is the sign.
    if _SKILL in request.tools and (_SKILL in system or system.startswith("sha256:")):
        yield "child:given.skills"
    if "--- Context from: " in system:
        yield "child:given.memory"
    if _PLANS.search(system):
        yield "child:given.plan_mode"
    if "child:last_chance" in set(_signs(list(request.new_contents))):
        yield "child:turn_unasked"
    if request.tools == (_COMPLETE,):
        yield "child:declares.nothing_else"
    if parent is None:
        return
    own, lent = set(request.tools) - {_COMPLETE}, set(parent.tools) - _NOT_LENT
    if own and own == lent:
        yield "child:declares.as_parent"
    yield "child:model.as_parent" if request.model == parent.model else "child:model.own"
    if request.config.get("temperature") != parent.config.get("temperature"):
        yield "child:temperature.own"


def _next(last: ObservedRequest, request: ObservedRequest) -> Iterator[str]:
    again = last.digest == request.digest
    yield "child:asked_again" if again else "child:several_turns"
    if last.model != request.model:
        here, there = tier_of(last.model), tier_of(request.model)
        yield f"child:{'fallback' if again else 'switched'}.{here}->{there}"
        if again:
            yield "child:fallback"


def _parent(request: ObservedRequest) -> Iterator[str]:
    """A request of the parent: the results of its calls, and their order."""
    for content in request.new_contents:
        for name, answer in _answered(content):
            if name == _INVOKE and any(_length(text) > _LONG for text in texts_in(answer)):
                yield "child:long_result"
    for asked, answered in pairwise(request.new_contents):
        calls = _named(asked, "functionCall")
        several = len(calls) > 1 and _INVOKE in calls
        if several and calls == _named(answered, "functionResponse"):
            yield "child:results_in_order"


def _length(text: str) -> int:
    shortened = _SHORTENED.search(text)
    return int(shortened[1]) if shortened else len(text)


def _answered(content: Content) -> Iterator[tuple[str, Any]]:
    for part in objects_in(content.get("parts")):
        if isinstance(answer := part.get("functionResponse"), dict):
            yield str(answer.get("name")), answer.get("response")


def _named(content: Content, kind: str) -> list[str]:
    found = [part.get(kind) for part in objects_in(content.get("parts"))]
    return [str(each.get("name")) for each in found if isinstance(each, dict)]


def _routed(seen: Observation, threads: dict[str, list[ObservedRequest]]) -> Iterator[str]:
    routed = Counter(each.thread for each in seen.requests if each.role == "utility_router")
    for thread, requests in threads.items():
        if routed[thread]:
            yield f"child:routed.{'once' if routed[thread] == 1 else 'again'}"
            if routed[thread] == 1 and len(requests) > 1:
                yield "child:routed.kept"


def _hinted(threads: Sequence[Sequence[ObservedRequest]]) -> Iterator[str]:
    """Agents that received no hint of the user, although they had several turns."""
    heard = [
        any("steering:child.hint" in set(_signs(list(each.new_contents))) for each in requests)
        for requests in threads
    ]
    if any(len(requests) > 1 and not hint for requests, hint in zip(threads, heard, strict=True)):
        yield "steering:child.none"
    if any(heard) and not all(heard):
        yield "steering:child.one_only"


def _in_turns(seen: Observation, threads: dict[str, list[ObservedRequest]]) -> Iterator[str]:
    asking = [thread for thread, _ in groupby(request.thread for request in seen.requests)]
    turns = Counter(thread for thread in asking if thread != MAIN)
    if any(count > 1 for count in turns.values()):
        yield "child:interleaved"
    answers = {thread.rpartition("/")[0] for thread in threads}
    fresh = [
        all(content.get("role") != "model" for content in requests[0].new_contents)
        for requests in threads.values()
    ]
    if len(answers) > 1 and all(fresh):
        yield "child:own_histories"
    for requests in threads.values():
        graces = ["child:last_chance" in set(_signs(list(each.new_contents))) for each in requests]
        if sum(graces) == 1 and graces[-1]:
            yield "child:last_chance.once"
