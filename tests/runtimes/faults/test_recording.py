"""Recordings that were cut off or spoilt, and a disk that is full."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from harness.replay import runner
from harness.replay.observation import Observation
from services.chat_recording import DISK_FULL
from services.workspace import Workspace
from tests.runtimes.faults.stage import Stage, answer, call, reason, responses

FULL = Path("/dev/full")
TIME = "2026-01-01T00:00:00.000Z"
SESSION = "11111111-2222-4333-8444-555555555555"
NAME = "session-2026-01-01T00-00-6faf7cbe.jsonl"
"""What the first recording of a replayed run is called."""


def said(number: int, kind: str, text: str) -> dict[str, Any]:
    return {"id": f"m{number}", "timestamp": TIME, "type": kind, "content": [{"text": text}]}


RECORDS = [
    {
        "sessionId": SESSION,
        "projectHash": "hash",
        "startTime": TIME,
        "lastUpdated": TIME,
        "kind": "main",
    },
    said(1, "user", "first question"),
    said(2, "gemini", "first answer"),
    said(3, "user", "second question"),
    said(4, "gemini", "second answer"),
]


def texts(seen: Observation) -> list[str]:
    """All that the history says in words."""
    return [
        part["text"]
        for content in seen.transcript
        for part in content["parts"]
        if "text" in part and "<session_context>" not in part["text"]
    ]


def cut_off(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-20])


def cut_within_a_character(file: Path) -> None:
    file.write_bytes(file.read_bytes().replace(b"second answer", "sécond".encode())[:-8])


def without_last_line_break(file: Path) -> None:
    file.write_bytes(file.read_bytes().rstrip(b"\n"))


@pytest.mark.parametrize(
    ("damage", "last"),
    [
        (cut_off, "second question"),
        (cut_within_a_character, "second question"),
        (without_last_line_break, "second answer"),
    ],
)
def test_a_recording_cut_off_in_its_last_line_goes_on_from_the_line_before(
    stage: Stage, damage: Callable[[Path], None], last: str
) -> None:
    stage.damage = damage
    seen = stage.play(
        {"text": "new answer"}, resume={"records": RECORDS, "file": "session-a.jsonl"}
    )

    assert texts(seen)[:2] == ["first question", "first answer"]
    assert last in texts(seen)
    assert texts(seen)[-2:] == ["x", "new answer"]
    assert reason(seen) == "completed"


@pytest.mark.parametrize(
    "line",
    [
        b"{not json",
        b'"text"',
        b"[1, 2]",
        b"\xff\xfe\0\0",
        b'{"id": "m9"}',
        b'{"$rewindTo": 5}',
        b'{"$set": 5}',
        b'{"type": "user"}',
        b"[" * 5000,
    ],
    ids=["half", "text", "list", "bytes", "bare", "rewind", "set", "no_id", "deep"],
)
def test_a_spoilt_line_in_the_middle_is_passed_over(stage: Stage, line: bytes) -> None:
    def spoil(file: Path) -> None:
        lines = file.read_bytes().split(b"\n")
        file.write_bytes(b"\n".join([*lines[:3], line, *lines[3:]]))

    stage.damage = spoil
    seen = stage.play(
        {"text": "new answer"}, resume={"records": RECORDS, "file": "session-a.jsonl"}
    )

    assert texts(seen) == [
        "first question",
        "first answer",
        "second question",
        "second answer",
        "x",
        "new answer",
    ]


def _on_any_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look at the product's own behaviour: the harness would not judge such a run."""
    monkeypatch.setattr(runner, "machine_suffices", lambda *given: nullcontext())


def test_a_full_disk_ends_the_recording_and_not_the_run(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    _on_any_machine(monkeypatch)
    if not FULL.exists():
        pytest.skip("this system has no /dev/full")

    def fill(workspace: Workspace) -> None:
        folder = workspace.project_temp / "chats"
        folder.mkdir(parents=True)
        (folder / NAME).symlink_to(FULL)

    stage.prepare = fill
    seen = stage.play(
        answer(call("run_shell_command", command="find .. -name '*.jsonl' -delete")),
        {"text": "one"},
        {"text": "two"},
        script=[{"send": "x"}, {"send": "y"}],
    )

    assert texts(seen) == ["x", "one", "y", "two"]
    assert [each.message for each in stage.feedback] == [DISK_FULL]
    assert not seen.recording


def test_a_disk_that_fills_up_meanwhile_is_reported_once(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    _on_any_machine(monkeypatch)
    if not FULL.exists():
        pytest.skip("this system has no /dev/full")

    def fill(workspace: Workspace) -> Callable[[], Any]:
        async def filled() -> None:
            [file] = (workspace.project_temp / "chats").iterdir()
            file.rename(workspace.home / "kept.jsonl")
            file.symlink_to(FULL)

        return filled

    def prepare(workspace: Workspace) -> None:
        stage.before_request[1] = fill(workspace)

    stage.prepare = prepare
    seen = stage.play(
        {"text": "one"},
        answer(call("run_shell_command", command="find .. -type l -delete")),
        {"text": "two"},
        script=[{"send": "x"}, {"send": "y"}],
    )

    assert texts(seen) == ["x", "one", "y", "two"]
    assert "error" not in responses(seen)[0]
    assert [each.message for each in stage.feedback] == [DISK_FULL]
