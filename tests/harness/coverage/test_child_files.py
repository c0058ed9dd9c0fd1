"""Probes of agents' own chat recordings."""

from typing import Any

from harness.replay.observation import ChildObservation
from tests.harness.coverage.test_child_probes import child, found, seen

GRACE = "You have one final chance to complete the task with"


def at(seconds: float) -> str:
    return f"2026-01-01T00:{int(seconds // 60):02}:{seconds % 60:06.3f}Z"


def head(id: str, kind: str, seconds: float = 0) -> dict[str, Any]:
    return {"sessionId": id, "projectHash": "p", "startTime": at(seconds), "kind": kind}


def said(seconds: float, **more: Any) -> dict[str, Any]:
    return {"type": "gemini", "timestamp": at(seconds), **more}


def files(*agents: tuple[str, list[dict[str, Any]]], parent: str = "s") -> set[str]:
    recording = {"chats/session-x.jsonl": [head("s", "main")]}
    recording |= {f"chats/{parent}/{name}.jsonl": lines for name, lines in agents}
    children = [child(f"0/{n}", agent_id=name) for n, (name, _) in enumerate(agents)]
    return found(seen(*children, recording=recording))


def test_a_file_of_its_own_names_its_parent_and_holds_what_the_agent_said() -> None:
    assert "child:recorded" in files(("a", [head("a", "subagent"), said(1)]))
    assert "child:recorded" not in files(("a", [head("a", "subagent")]))
    assert "child:recorded" not in files(("a", [head("a", "main"), said(1)]))
    assert "child:recorded" not in files(("a", [head("a", "subagent"), said(1)]), parent="other")
    assert "child:recorded" not in files(("a", [head("a", "subagent"), said(1)]), parent="a")


def test_tokens_of_an_agent_show_and_whether_they_fill_half_a_window() -> None:
    some = files(("a", [head("a", "subagent"), said(1, tokens={"total": 524_288})]))
    many = files(("a", [head("a", "subagent"), said(1, tokens={"total": 524_289})]))

    assert "child:recorded.tokens" in some
    assert "child:recorded.half_full" not in some
    assert "child:recorded.half_full" in many


def test_agents_at_the_same_time_differ_from_those_one_after_the_other() -> None:
    def two(begins: float) -> set[str]:
        one, other = [head("a", "subagent"), said(2)], [head("b", "subagent", begins), said(5)]
        return files(("a", one), ("b", other))

    assert "child:overlapping" in two(1)
    assert "child:overlapping" not in two(2)


def test_how_long_an_agent_and_its_last_turn_took_shows() -> None:
    def took(first: float, last: float) -> set[str]:
        chance = {"type": "user", "timestamp": at(first), "content": [{"text": GRACE}]}
        return files(("a", [head("a", "subagent"), chance, said(last)]))

    assert {"child:took_a_minute", "child:long_last_turn"} <= took(30, 60)
    assert "child:took_a_minute" not in took(30, 59)
    assert "child:long_last_turn" not in took(31, 60)


def test_a_child_without_a_file_and_lines_of_a_wrong_kind_are_ignored() -> None:
    without_id = ChildObservation(thread="0/0", agent="a", agent_id="")
    odd = {"chats/s/a.jsonl": [None, 1, {"$set": 1}, {"type": "gemini", "timestamp": 7}], "x": []}

    assert "child:recorded" not in found(seen(without_id, child(agent_id="a"), recording=odd))
