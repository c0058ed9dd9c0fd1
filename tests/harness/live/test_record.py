"""`parity record` against the stand-in for the API, and the cassettes that it writes."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from harness.cassette.load import load_cassette
from harness.cassette.problems import FormatProblem
from harness.cli import parity
from harness.replay.runner import run_cassette
from tests.standin_thread import standin_thread

REPOSITORY = Path(__file__).parents[3]
KEY = "key-for-testing-12345678"
RUNTIMES = pytest.mark.parametrize("runtime", ["legacy", "adk"])
SLOW_DOWN = {
    "status": 429,
    "message": "Slow down.",
    "grpc": "RESOURCE_EXHAUSTED",
    "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.05s"}],
}
REFUSED = {"status": 400, "message": "No such thing.", "grpc": "INVALID_ARGUMENT"}


def chunk(*parts: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": list(parts)}, "index": 0}
    return {"candidates": [candidate if finish is None else {**candidate, "finishReason": finish}]}


def call(name: str, **args: Any) -> dict[str, Any]:
    return chunk({"functionCall": {"name": name, "args": args, "id": "c1"}}, finish="STOP")


@pytest.fixture
def ws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "ws").mkdir()
    (tmp_path / "home").mkdir()
    monkeypatch.chdir(tmp_path / "ws")
    monkeypatch.setenv("GEMINI_CLI_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    monkeypatch.setenv("NO_COLOR", "1")
    for name in ("GEMINI_MODEL", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "ws"


Record = Callable[..., Result]


@pytest.fixture
def record(ws: Path, monkeypatch: pytest.MonkeyPatch) -> Record:
    def go(steps: list[Mapping[str, Any]], *options: str, out: str = "tapes/one.yaml") -> Result:
        with standin_thread(steps) as standin:
            monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", standin.base_url)
            asked = ["record", "--out", str(ws.parent / out), "-p", "hi", *options]
            if "-m" not in options:
                asked += ["-m", "gemini-2.5-flash"]
            return CliRunner().invoke(parity, asked)

    return go


def replayed(file: Path) -> Result:
    return CliRunner().invoke(parity, ["run", str(file)])


@RUNTIMES
@pytest.mark.sampled(2)
def test_a_run_with_a_tool_call_a_retry_and_an_answer_replays_as_parity(
    record: Record, ws: Path, runtime: str
) -> None:
    (ws / "a.txt").write_text("one\ntwo\n")
    (ws / "b.bin").write_bytes(b"\xff\x00")
    steps = [
        {"error": SLOW_DOWN},
        {"stream": [chunk({"text": "I look. "}), call("read_file", file_path="a.txt")]},
        {"stream": [chunk({"text": "It "}), chunk({"text": "counts."}, finish="STOP")]},
    ]

    ran = record(steps, "--runtime", runtime)

    assert ran.exit_code == 0, ran.stderr
    assert ran.stdout == "I look. \nIt counts.\n"
    file = ws.parent / "tapes" / "one.yaml"
    cassette = load_cassette(file, ws.parent)
    assert (cassette.name, cassette.session.model) == ("tapes/one", "gemini-2.5-flash")
    assert cassette.files == {"a.txt": "one\ntwo\n", "b.bin": b"\xff\x00"}
    assert cassette.provenance.kind == "recorded"
    assert [len(step.chunks) for step in cassette.steps] == [0, 2, 2]
    assert cassette.steps[0].error is not None
    assert cassette.steps[0].error.details == tuple(SLOW_DOWN["details"])  # type: ignore[arg-type]
    outcome = replayed(file)
    assert outcome.exit_code == 0, outcome.output
    for replay in ("legacy", "adk"):
        seen = run_cassette(cassette, replay)
        assert (seen.error, list(seen.notes), seen.unused_steps) == (None, [], [])


def test_the_requests_are_beside_it_as_their_differences(record: Record, ws: Path) -> None:
    (ws / "a.txt").write_text("one\n")
    steps = [{"stream": [call("read_file", file_path="a.txt")]}, {"text": "ok"}]

    record(steps, "--runtime", "legacy")

    lines = (ws.parent / "tapes" / "one.requests.jsonl").read_text().splitlines()
    first, second = (json.loads(line) for line in lines)
    assert (first["role"], first["method"]) == ("main", "generateContentStream")
    assert first["contents"][-1]["parts"][-1] == {"text": "hi"}
    assert second["sameAsPrevious"] == len(first["contents"])
    assert [content["role"] for content in second["contents"]] == ["model", "user"]
    assert "read_file" in first["tools"]
    assert len(first["systemInstruction"]) > 64 == len(second["systemInstruction"])
    assert str(ws) not in "".join(lines)


@RUNTIMES
def test_a_run_that_the_api_refuses_replays_as_parity(
    record: Record, ws: Path, runtime: str
) -> None:
    ran = record([{"error": REFUSED}], "--runtime", runtime, "-o", "stream-json")

    assert ran.exit_code == 400 & 0xFF
    file = ws.parent / "tapes" / "one.yaml"
    (step,) = load_cassette(file).steps
    assert step.error is not None
    assert (step.error.status, step.error.message) == (400, "No such thing.")
    outcome = replayed(file)
    assert outcome.exit_code == 0, outcome.output


def test_an_error_in_the_middle_of_a_stream_is_kept_with_what_came_before(
    record: Record, ws: Path
) -> None:
    overloaded = {"status": 503, "message": "Overloaded.", "grpc": "UNAVAILABLE"}
    steps = [
        {"stream": [chunk({"text": "Half"})], "then_error": overloaded},
        {"text": "Whole"},
    ]

    record(steps, "--runtime", "legacy")

    file = ws.parent / "tapes" / "one.yaml"
    first, _ = load_cassette(file).steps
    assert len(first.chunks) == 1
    assert first.then_error is not None
    assert replayed(file).exit_code == 0


def test_settings_home_and_a_resumed_session_are_part_of_it(record: Record, ws: Path) -> None:
    home = ws.parent / "home" / ".gemini"
    home.mkdir()
    (home / "GEMINI.md").write_text("Be brief.\n")
    settings = ws.parent / "settings.json"
    settings.write_text(
        json.dumps({"model": {"maxSessionTurns": 7}, "tools": {"exclude": ["glob"]}})
    )
    first = record([{"text": "one"}], "--settings", str(settings), "--runtime", "legacy")
    second = record(
        *([{"text": "two"}], "--settings", str(settings), "--runtime", "adk"),
        *("--resume", "latest", "--approval-mode", "auto_edit"),
        out="tapes/two.yaml",
    )

    assert (first.exit_code, second.exit_code) == (0, 0), second.stderr
    cassette = load_cassette(ws.parent / "tapes" / "two.yaml")
    assert cassette.session.settings["maxSessionTurns"] == 7
    assert cassette.session.settings["excludeTools"] == ["glob", "ask_user"]
    assert cassette.session.approval_mode.name == "AUTO_EDIT"
    assert cassette.home_files == {".gemini/GEMINI.md": "Be brief.\n"}
    assert cassette.resume is not None
    assert "one" in json.dumps(cassette.resume.records)
    assert replayed(ws.parent / "tapes" / "two.yaml").exit_code == 0


def test_secrets_and_paths_of_the_machine_are_not_written(record: Record, ws: Path) -> None:
    (ws / ".env").write_text(f"GEMINI_API_KEY={KEY}\n")
    (ws / "notes.txt").write_text(f"my key is {KEY}, my folder {ws}\n")
    settings = ws.parent / "settings.json"
    server = {"url": "http://127.0.0.1:9/mcp", "headers": {"Authorization": "Bearer abcdefgh1234"}}
    settings.write_text(json.dumps({"mcpServers": {"far": server}, "mcp": {"allowed": ["no"]}}))

    ran = record([{"text": f"Your key is {KEY}."}], "--settings", str(settings))

    written = "".join(file.read_text() for file in (ws.parent / "tapes").iterdir())
    assert ran.exit_code == 0, ran.stderr
    assert "left out: .env, which may hold secrets" in ran.stderr
    for secret in (KEY, "abcdefgh1234", str(ws), str(ws.parent / "home")):
        assert secret not in written
    cassette = load_cassette(ws.parent / "tapes" / "one.yaml")
    assert cassette.files["notes.txt"] == f"my key is REDACTED{'x' * 16}, my folder <WS>\n"


def test_a_secret_spread_over_pieces_is_masked_in_each_of_them(record: Record, ws: Path) -> None:
    stream = [chunk({"text": f"It is {KEY[:9]}"}), chunk({"text": f"{KEY[9:]}."}, finish="STOP")]

    ran = record([{"stream": stream}])

    tape = (ws.parent / "tapes" / "one.yaml").read_text()
    assert ran.exit_code == 0, ran.stderr
    assert "text: It is REDACTEDx\n" in tape
    assert f"text: {'x' * 15}.\n" in tape
    assert replayed(ws.parent / "tapes" / "one.yaml").exit_code == 0


def test_a_cassette_that_is_there_is_not_written_over(record: Record, ws: Path) -> None:
    record([{"text": "one"}])
    refused = record([{"text": "two"}])
    forced = record([{"text": "three"}], "--force")

    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "one.yaml already exists; --force replaces it" in refused.stderr
    assert forced.exit_code == 0
    (step,) = load_cassette(ws.parent / "tapes" / "one.yaml").steps
    assert "three" in str(step.chunks)


def test_without_a_question_nothing_is_written(
    record: Record, ws: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GEMINI_API_KEY")
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", "")
    asked = ["record", "--out", str(ws.parent / "tapes" / "one.yaml"), "-p", "hi"]

    ran = CliRunner().invoke(parity, asked)

    assert ran.exit_code == 41
    assert "nothing was asked of a model, so no cassette was written" in ran.stderr
    assert not (ws.parent / "tapes" / "one.yaml").exists()


KEY_REFUSED = {
    "status": 400,
    "message": "API key not valid.",
    "grpc": "INVALID_ARGUMENT",
    "details": [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}],
}
FORBIDDEN = {"status": 403, "message": "No.", "grpc": "PERMISSION_DENIED"}


@pytest.mark.parametrize("error", [KEY_REFUSED, FORBIDDEN])
def test_a_refused_key_leaves_nothing_behind(
    record: Record, ws: Path, error: dict[str, Any]
) -> None:
    ran = record([{"error": error}], out="new/folder/tapes/one.yaml")

    assert ran.exit_code not in (0, 2)
    assert "the model's API answered nothing, so no cassette was written" in ran.stderr
    assert left_behind(ws) == []


def test_an_api_out_of_reach_leaves_nothing_behind(
    ws: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = ws.parent / "home" / ".gemini" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{"general": {"maxAttempts": 1}}')
    with socket.socket() as taken:  # bound and not listening: connections are refused
        taken.bind(("127.0.0.1", 0))
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", f"http://127.0.0.1:{taken.getsockname()[1]}")
        asked = ["record", "--out", str(ws.parent / "tapes" / "one.yaml"), "-p", "hi"]
        ran = CliRunner().invoke(parity, [*asked, "-m", "gemini-2.5-flash"])

    assert ran.exit_code == 1
    assert "the model's API answered nothing" in ran.stderr
    assert left_behind(ws) == []


@pytest.mark.parametrize("out", ["tapes/deep/one.yaml", "a-file/deep/one.yaml"])
def test_a_record_that_cannot_begin_leaves_nothing_behind(
    ws: Path, monkeypatch: pytest.MonkeyPatch, out: str
) -> None:
    (ws.parent / "a-file").write_text("")
    monkeypatch.delenv("GEMINI_API_KEY")
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", "")

    ran = CliRunner().invoke(parity, ["record", "--out", str(ws.parent / out), "-p", "hi"])

    assert ran.exit_code != 0
    assert left_behind(ws) == ["a-file"]


def test_a_recording_that_is_refused_leaves_nothing_behind(
    record: Record, ws: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_cassette(*args: object) -> None:
        raise FormatProblem("files", "is wrong", "mend it")

    monkeypatch.setattr("harness.live.recorder.build_cassette", no_cassette)

    ran = record([{"text": "Hi"}], out="new/tapes/one.yaml")

    assert ran.exit_code == 2
    assert left_behind(ws) == []


def left_behind(ws: Path) -> list[str]:
    """What there is beside the workspace and the home."""
    here = sorted(each.name for each in ws.parent.iterdir())
    return [name for name in here if name not in ("ws", "home")]


@pytest.mark.parametrize(
    ("out", "words"),
    [
        ("tape.txt", "is not a name for a cassette; name it FAMILY/NAME.yaml with --out"),
        ("a-file/one.yaml", "cannot be written to"),
    ],
)
def test_a_place_that_cannot_be_written_is_reported_before_anything_runs(
    record: Record, ws: Path, out: str, words: str
) -> None:
    (ws.parent / "a-file").write_text("")

    ran = record([{"text": "never"}], out=out)

    assert (ran.exit_code, ran.stdout) == (2, "")
    assert words in ran.stderr
    assert "Traceback" not in ran.stderr


def test_a_workspace_too_large_is_refused_before_anything_runs(record: Record, ws: Path) -> None:
    with (ws / "large").open("wb") as file:
        file.truncate(17 * 1024 * 1024)

    ran = record([{"text": "never"}])
    without = record([{"text": "ok"}], "--no-files")

    assert (ran.exit_code, ran.stdout) == (42, "")
    assert "the workspace holds more than 2,000 files or 16 MB" in ran.stderr
    assert (without.exit_code, without.stdout) == (0, "ok\n")


@pytest.mark.skipif(sys.platform == "win32", reason="signals as POSIX has them")
@RUNTIMES
@pytest.mark.sampled(2)
def test_what_was_recorded_before_ctrl_c_is_written_and_replays(ws: Path, runtime: str) -> None:
    (ws / "a.txt").write_text("one\n")
    hangs = {"stream": [chunk({"text": "I begin"}), chunk({"text": " and"})]}
    steps: list[Mapping[str, Any]] = [
        {"stream": [call("read_file", file_path="a.txt")]},
        {**hangs, "hang_at": 10_000},
    ]
    file = ws.parent / "tapes" / "one.yaml"
    with standin_thread(steps) as standin:
        child = subprocess.Popen(
            [
                *(sys.executable, "-m", "harness.cli", "record", "--out", str(file)),
                *("-p", "hi", "-m", "gemini-2.5-flash", "--runtime", runtime),
            ],
            cwd=ws,
            env={
                **os.environ,
                "PYTHONPATH": str(REPOSITORY),
                "GOOGLE_GEMINI_BASE_URL": standin.base_url,
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert child.stdout is not None
        seen = b""
        while b"and" not in seen:
            seen += child.stdout.read1()  # type: ignore[attr-defined]
        child.send_signal(signal.SIGINT)
        _, err = child.communicate(timeout=60)

    assert child.returncode == 130, err
    assert b"recorded 2 answers and 1 files, up to the interruption" in err
    cassette = load_cassette(file)
    assert cassette.document["during"] == [{"when": {"chunk": "1:1"}, "do": "abort"}]
    outcome = replayed(file)
    assert outcome.exit_code == 0, outcome.output
    assert run_cassette(cassette, runtime).events[-1]["reason"] == "aborted"
