"""Agents in the grammar: the threads of their steps, and the limits of parallel agents."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.cassette.load import build_cassette
from harness.replay.runner import run_cassette
from harness.scenarios.addressing import calls_of_agents, is_main, turns_of
from harness.scenarios.chooser import Chooser
from harness.scenarios.grammar.document import scenario
from harness.scenarios.profiles import PROFILES

ROOT = Path("generated")


def drawn(count: int) -> Iterator[dict[str, Any]]:
    for seed in range(count):
        rng = random.Random(seed)
        yield scenario(Chooser(rng.randint, PROFILES["subagents"].weights), "generated/x")


def addressed(document: dict[str, Any]) -> set[str]:
    threads = {step.get("thread", "main") for step in document["model"]}
    return threads - {"main"}


def test_steps_are_addressed_to_calls_of_agents() -> None:
    several = 0
    for document in drawn(80):
        calls: set[str] = set()
        turn = 0
        for step in document["model"]:
            if is_main(step):
                calls |= {f"{turn}/{place}" for place in calls_of_agents(step)}
                turn += turns_of(step)
        assert addressed(document) <= calls
        several += len(addressed(document)) > 1
    assert several > 5


def test_steps_are_addressed_to_threads_that_make_requests() -> None:
    found = 0
    for document in drawn(60):
        if not addressed(document) or "during" in document:
            continue
        run = run_cassette(build_cassette(document, ROOT / "x.yaml", ROOT), "legacy")
        asked = {request.thread for request in run.requests if request.role == "subagent"}
        found += len(asked & addressed(document))
    assert found > 10


def test_nothing_that_is_beside_another_fails_or_writes() -> None:
    for document in drawn(80):
        for step in document["model"]:
            if step.get("thread", "main") == "main":
                continue
            assert "error" not in step
            assert "write_file" not in str(step)
            assert "run_shell_command" not in str(step)


def test_no_call_beside_an_agent_changes_which_files_there_are() -> None:
    beside: list[dict[str, Any]] = []
    for document in drawn(150):
        for step in filter(is_main, document["model"]):
            calls = [
                part["functionCall"]
                for each in step.get("stream", ())
                for candidate in each.get("candidates", ())
                for part in candidate.get("content", {}).get("parts", ())
                if "functionCall" in part
            ]
            if any(call.get("name") == "invoke_agent" for call in calls):
                beside += [call for call in calls if call.get("name") != "invoke_agent"]

    assert len(beside) > 20
    assert not [call for call in beside if call["name"] in ("write_file", "replace")]
    assert not [call for call in beside if "> " in str((call.get("args") or {}).get("command"))]
