"""No pass cuts commands, joins hanging chunks, or makes a cassette invalid."""

from typing import Any

import pytest

from harness.cassette.load import build_cassette
from harness.scenarios.shrinking.passes import PASSES, unrolled
from tests.harness.scenarios.shrinking.descending import (
    FAILURE,
    HOOK,
    HOOKS,
    Document,
    always,
    call,
    cassette,
    chunk,
    down,
    stream,
)

BY_NAME = {each.name: each for each in PASSES}


@pytest.mark.parametrize(
    "running",
    [
        {"model": [{"stream": [chunk(call("run_shell_command", command="sh a.sh"))]}]},
        {"session": {"model": "m", "settings": {"hooks": HOOKS}}},
        {"session": {"model": "m", "settings": {"mcpServers": {"s": {"command": "sh"}}}}},
        {"session": {"model": "m", "settings": {"toolDiscoveryCommand": "sh a.sh"}}},
    ],
)
def test_texts_that_could_be_run_are_never_cut(running: Document) -> None:
    script = "cd build && rm -rf *"
    document = cassette(files={"a.sh": script}, **running)
    texts: set[str] = set()

    for each in PASSES:
        down(
            each,
            document,
            lambda candidate: bool(texts.update(candidate.get("files", {}).values())),
        )

    assert texts == {script}


def test_commands_are_replaced_by_one_that_does_nothing_or_left_whole() -> None:
    command = "cd build && rm -rf *"
    document = cassette(
        model=[{"stream": [chunk(call("run_shell_command", command=command))]}],
        session={"model": "m", "settings": {"hooks": HOOKS}},
    )
    commands: set[str] = set()

    def note(candidate: Document) -> bool:
        for step in candidate["model"]:
            for part in step.get("stream", [chunk()])[0]["candidates"][0]["content"]["parts"]:
                commands.add(part.get("functionCall", {}).get("args", {}).get("command", "true"))
        for definitions in candidate["session"].get("settings", {}).get("hooks", {}).values():
            for definition in definitions:
                commands.update(hook.get("command", "true") for hook in definition.get("hooks", ()))
        return False

    for each in PASSES:
        down(each, document, note)

    assert commands == {command, HOOK["command"], "true"}


def test_a_chunk_that_hangs_stays_where_it_is() -> None:
    document = stream(chunk({"text": "a"}), {"$hang": True}, chunk({"text": "b"}))

    assert down(BY_NAME["chunks as one"], document, always) == document


def test_items_of_a_macro_are_written_out() -> None:
    document = cassette(
        model=[
            {"$times": 2, "item": {"text": "<I>"}},
            {"text": {"$repeat": {"text": "a", "times": 2}}},
        ]
    )

    flat = unrolled(document)

    assert flat["model"][:2] == [{"text": "0"}, {"text": "1"}]
    assert flat["model"][2] == document["model"][1]


def test_a_rich_cassette_stays_valid_through_all_passes(tmp_path: Any) -> None:
    document = cassette(
        session={"model": "auto", "approval_mode": "yolo", "settings": {"maxAttempts": 2}},
        files={"a.txt": {"$lines": {"count": 20}}},
        during=[{"when": {"events": 9}, "do": "abort", "delay_ms": 5}],
        answers={"confirmations": ["proceed_once", "cancel"]},
        match="by_role",
        model=[
            {"stream": [chunk({"text": "a"}), chunk(call(file_path="a.txt"), finishReason="STOP")]},
            {"error": FAILURE, "repeat": 3},
            {"text": "done", "role": "main"},
        ],
    )

    def loads(candidate: Document) -> bool:
        if not candidate["model"] or not candidate["script"]:
            return False
        build_cassette(candidate, tmp_path / "a/b.yaml", tmp_path)
        return True

    for each in PASSES:
        document = down(each, document, loads)

    assert document == cassette(model=[{"text": "ok"}])
