"""The channel of what calls show while they work."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.cassette.load import build_cassette
from harness.explain import explain
from harness.parity.channels.progress import CHANNEL
from harness.parity.compare import compare_observations, compare_repeated
from harness.parity.divergence import ChannelName, Kind
from harness.replay.observation import Observation
from harness.replay.runner import run_cassette
from services.tools.live_output import LiveOutput
from tests.harness.samples import Facts, observation

CALL = "run_shell_command__c"
HERE = "33333333-3333-4333-8333-333333333333"
THERE = "44444444-4444-4444-8444-444444444444"


def run(*shown: Any, **changes: Any) -> Observation:
    values: dict[str, Any] = {
        "tool_states": {"c": ["executing", "success"]},
        "progress": {"c": list(shown)} if shown else {},
    }
    return replace(observation(), **{**values, **changes})


def found(control: Observation, candidate: Observation) -> list[tuple[Kind, str]]:
    divergences = compare_observations(control, candidate).divergences
    assert {each.channel for each in divergences} <= {ChannelName.PROGRESS}
    return [(each.kind, each.path) for each in divergences]


def activity(id_: str, content: str = "Look") -> dict[str, Any]:
    item = {"id": id_, "type": "thought", "content": content, "status": "running"}
    return {"agent": {"name": "helper", "state": "running", "listed": 1, "changed": [item]}}


def test_what_a_call_shows_is_compared() -> None:
    one = {"reported": {"done": 1, "message": "half"}}
    other = {"reported": {"done": 1, "message": "whole"}}

    assert found(run(one), run(one)) == []
    assert found(run(one), run(other)) == [(Kind.CHANGED, "shown[0].reported.message")]
    assert found(run(one), run()) == [(Kind.MISSING, "")]


def test_the_order_of_what_a_call_shows_is_compared() -> None:
    process, output = {"process": 4242}, {"output": "a"}

    assert found(run(process, output), run(output, process)) != []


def _observed(folder: Path, during: list[Any]) -> Observation:
    call = {"id": "c", "name": "run_shell_command", "args": {"command": "echo one; sleep 1"}}
    content = {"role": "model", "parts": [{"functionCall": call}]}
    document = {
        "cassette": 1,
        "name": "family/case",
        "session": {"model": "gemini-2.5-flash", "approval_mode": "yolo"},
        "script": [{"send": "x"}],
        "during": during,
        "model": [
            {"stream": [{"candidates": [{"content": content, "finishReason": "STOP"}]}]},
            {"text": "ok"},
        ],
    }
    return run_cassette(build_cassette(document, folder / "family" / "case.yaml", folder), "legacy")


def test_output_that_is_shown_too_late_is_hidden_unless_the_user_acts_on_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The user-visible difference that `settled_output` can hide, and where it shows."""
    act = [{"when": {"output": "run_shell_command"}, "do": "abort"}]
    live, live_acted = _observed(tmp_path, []), _observed(tmp_path, act)

    def keep(self: LiveOutput, text: str) -> None:
        self.text += text
        self._pending = True

    monkeypatch.setattr(LiveOutput, "add", keep)
    late, late_acted = _observed(tmp_path, []), _observed(tmp_path, act)

    assert live.progress == late.progress == {CALL: [{"process": 4242}, {"output": "one\n"}]}
    assert compare_observations(live, late).divergences == ()
    assert live_acted.tool_states[CALL][-1] == "cancelled"
    assert late_acted.tool_states[CALL][-1] == "success"
    divergences = compare_observations(live_acted, late_acted).divergences
    assert ChannelName.TOOL_STATES in {each.channel for each in divergences}


def test_ids_of_thoughts_map_one_to_one() -> None:
    assert found(run(activity(HERE)), run(activity(THERE))) == []
    assert found(run(activity(HERE)), run(activity(THERE, "Else"))) == [
        (Kind.CHANGED, "shown[0].agent.changed[0].content")
    ]
    replaced = run(activity(HERE), activity(HERE, "Again"))
    added = run(activity(HERE), activity(THERE, "Again"))
    assert found(replaced, added) == [(Kind.CHANGED, "shown[1].agent.changed[0].id")]


def test_ids_of_calls_in_an_activity_are_compared() -> None:
    assert found(run(activity("c1")), run(activity("c2"))) != []


def test_observations_without_progress_are_not_compared_and_that_is_counted() -> None:
    compared = compare_observations(run({"output": "a"}), run(progress=None))

    assert compared.divergences == ()
    assert compared.rules == {"unseen_progress": 1}
    assert compare_observations(run(progress=None), run(progress=None)).rules == {}


def test_a_call_of_a_subagent_is_compared_on_its_thread() -> None:
    threads = {"tool_states": {0: "0/0"}}
    (item,) = CHANNEL.items(run({"output": "a"}, threads=threads))

    assert item == {"call": "c", "shown": [{"output": "a"}], "thread": "0/0"}
    assert CHANNEL.label(item) == "progress, thread 0/0"


def test_malformed_notices_of_a_stored_run_do_no_harm() -> None:
    odd = run("text", {"agent": {"changed": "x"}}, {"agent": 1}, {"agent": {"changed": [1]}})

    assert found(odd, odd) == []
    assert found(odd, run({"output": "a"})) != []


def test_the_explanation_has_what_each_side_showed() -> None:
    question = {"question": {"type": "exec", "title": "Run?", "command": "ls"}}
    other = {"question": {"type": "exec", "title": "Run?", "command": "rm"}}

    text = "\n".join(
        explain(
            compare_repeated([run(question)], [run(other)], Facts()),
            "upstream",
            "legacy",
        )
    )

    assert "what tool calls show while they work" in text
    assert '"command": "ls"' in text
    assert "policy" in text
