"""A machine that fails around the command line: broken output, no folder, a harness that breaks.

The verdict of a run must not depend on it, and exit code 1 keeps its one meaning: divergent.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO

import click
import pytest
from click.testing import CliRunner

from harness.cli import parity
from harness.journal_lock import JournalLock

_ROOT = Path(__file__).resolve().parents[2]
_CASSETTES = _ROOT / "cassettes" / "text"
_FULL = Path("/dev/full")
_PARITY = shlex.join([sys.executable, "-c", "from harness.cli import main; main()"])
_LIST = f"list {shlex.quote(str(_CASSETTES))}"
_FEW = f"run {shlex.quote(str(_CASSETTES))} -k usage -n 0 --no-keep"

needs_full = pytest.mark.skipif(not _FULL.exists(), reason="this system has no /dev/full")


def shell(
    line: str,
    folder: Path,
    variables: Mapping[str, str] | None = None,
    output: IO[bytes] | int = subprocess.PIPE,
) -> subprocess.CompletedProcess[str]:
    """Run a line of bash in `folder`, where `$PARITY` is the command under test."""
    known = {**os.environ, "PYTHONPATH": str(_ROOT), "PARITY_KEEP": "0", **(variables or {})}
    return subprocess.run(
        ["bash", "-c", f'set -o pipefail; parity() {{ {_PARITY} "$@"; }}; {line}'],
        cwd=folder,
        env=known,
        stdout=output,
        stderr=subprocess.PIPE,
        text=True,
        timeout=100,
        check=False,
    )


def one_sentence(text: str) -> bool:
    """Whether `text` is one line of the command's own, and no traceback."""
    lines = text.strip().splitlines()
    return len(lines) == 1 and lines[0].startswith("parity: ")


def ended(journal: Path) -> bool:
    """Whether a journal says that its run came to its end."""
    return json.loads(journal.read_text("utf-8").splitlines()[-1]) == {"ended": True}


@needs_full
@pytest.mark.parametrize("words", [_LIST, "check", "--help", "--version", "run --help"])
@pytest.mark.sampled(3)
def test_full_output_is_one_sentence_and_not_a_divergence(words, tmp_path):
    done = shell(f"parity {words} > /dev/full", tmp_path)
    assert (done.returncode, one_sentence(done.stderr)) == (2, True), done.stderr
    assert "standard output cannot be written: No space left on device" in done.stderr


@needs_full
def test_a_run_whose_output_is_full_still_completes_its_journal(tmp_path):
    done = shell(f"parity {_FEW} --journal run.jsonl --json run.json > /dev/full", tmp_path)
    assert (done.returncode, one_sentence(done.stderr)) == (2, True), done.stderr
    assert ended(tmp_path / "run.jsonl")
    assert json.loads((tmp_path / "run.json").read_text("utf-8"))["verdict"] == "parity"


@pytest.mark.slow
def test_a_run_whose_reader_leaves_ends_like_other_tools_and_completes_its_journal(tmp_path):
    done = shell(f"parity {_FEW} --journal run.jsonl | head -c 1", tmp_path)
    assert done.stdout
    # Whether the reader is gone before the last line is written is up to the machine.
    assert done.returncode in {0, 141}, done.stderr
    assert done.stderr == ""
    assert ended(tmp_path / "run.jsonl")


@pytest.mark.parametrize("words", [_LIST, _FEW])
@pytest.mark.sampled(2)
def test_a_reader_that_is_gone_from_the_start_ends_the_command_quietly(words, tmp_path):
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as unread:
        done = shell(f"parity {words}", tmp_path, output=unread)
    assert (done.returncode, done.stderr) == (141, "")


@pytest.mark.parametrize("words", [_LIST, _FEW])
@pytest.mark.sampled(2)
def test_closed_output_is_one_sentence(words, tmp_path):
    done = shell(f"parity {words} >&-", tmp_path)
    assert (done.returncode, one_sentence(done.stderr)) == (2, True), done.stderr
    assert "standard output cannot be written" in done.stderr


@pytest.mark.parametrize("closed", ["2>&-", "0<&-", "0<&- 2>&-"])
@pytest.mark.slow
def test_the_verdict_does_not_need_the_other_streams(closed, tmp_path):
    done = shell(f"parity {_FEW} --journal run.jsonl {closed}", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "parity: legacy and adk over" in done.stdout
    assert ended(tmp_path / "run.jsonl")


@pytest.mark.slow
def test_no_stream_at_all_leaves_files_alone(tmp_path):
    """A file that is opened where a closed stream was must not receive what is printed."""
    done = shell(f"parity {_FEW} --journal run.jsonl 0<&- 1>&- 2>&-", tmp_path)
    assert done.returncode == 2
    lines = (tmp_path / "run.jsonl").read_text("utf-8").splitlines()
    assert all(isinstance(json.loads(line), dict) for line in lines)
    assert ended(tmp_path / "run.jsonl")


@needs_full
@pytest.mark.slow
def test_errors_that_cannot_be_written_change_no_verdict(tmp_path):
    done = shell(f"parity {_FEW} 2> /dev/full", tmp_path)
    assert done.returncode == 0
    assert "parity: legacy and adk over" in done.stdout


_ANSWER = {
    "method": "generateContentStream",
    "response": [
        {
            "candidates": [
                {
                    "content": {"role": "model", "parts": [{"text": "ok"}]},
                    "finishReason": "STOP",
                }
            ]
        }
    ],
}


@needs_full
@pytest.mark.parametrize("form", ["text", "json", "stream-json"])
@pytest.mark.sampled(3)
def test_an_agent_whose_output_is_full_stops(form, tmp_path):
    (tmp_path / "answers.jsonl").write_text(json.dumps(_ANSWER))
    fixed = f"agent -p hi -m gemini-2.5-flash --fake-responses answers.jsonl -o {form}"
    home = {"GEMINI_CLI_HOME": str(tmp_path / "home"), "GEMINI_API_KEY": "no-such-key"}
    assert shell(f"parity {fixed} < /dev/null", tmp_path, home).returncode == 0
    done = shell(f"parity {fixed} < /dev/null > /dev/full", tmp_path, home)
    # The agent may say so in its own form first.
    assert (done.returncode, "Traceback" in done.stderr) == (2, False), done.stderr
    assert one_sentence(done.stderr.splitlines()[-1]), done.stderr


@pytest.mark.parametrize("words", ["--help", _LIST, _FEW])
def test_a_removed_working_folder_is_one_sentence(words, tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    done = shell(f"rmdir {shlex.quote(str(gone))}; parity {words}", gone)
    assert (done.returncode, one_sentence(done.stderr)) == (2, True), done.stderr
    assert "the current folder cannot be used" in done.stderr


@pytest.fixture
def broken(monkeypatch):
    """`parity list`, which raises what it is given."""

    def raises(error: BaseException) -> None:
        def list_(**asked: object) -> None:
            raise error

        monkeypatch.setattr("harness.commands.corpus.list_", list_)

    return raises


@pytest.mark.parametrize(
    "error",
    [
        OSError(28, "No space left on device"),
        RuntimeError("two\nlines"),
        MemoryError(),
        RecursionError("too deep"),
        ExceptionGroup("several", [ValueError("one")]),
    ],
)
def test_an_unexpected_error_decides_nothing(broken, error):
    broken(error)
    done = CliRunner().invoke(parity, ["list"])
    assert (done.exit_code, one_sentence(done.stderr)) == (3, True), done.stderr
    assert "--debug" in done.stderr


def test_debug_shows_where_an_unexpected_error_came_from(tmp_path):
    """Only a real process logs to its standard error."""
    code = (
        "import harness.commands.corpus as c\n"
        "c.list_ = lambda **asked: 1 / 0\n"
        "from harness.cli import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "--debug", "list"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(_ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3
    assert "Traceback" in done.stderr
    assert "ZeroDivisionError" in done.stderr


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (KeyboardInterrupt(), 130),
        (click.Abort(), 130),
        (click.FileError("x", "cannot"), 2),
        (click.ClickException("no"), 2),
    ],
)
def test_no_error_of_the_command_line_reads_as_divergent(broken, error, code):
    broken(error)
    assert CliRunner().invoke(parity, ["list"]).exit_code == code


@pytest.mark.parametrize("option", ["--json", "--junit", "--summary", "--html"])
@pytest.mark.sampled(4)
def test_a_report_that_does_not_fit_leaves_the_old_one_whole(option, tmp_path):
    """A limit on the size of files stands in for a full disk: both fail in the middle."""
    place = tmp_path / "report"
    report = place / "index.html" if option == "--html" else place
    report.parent.mkdir(exist_ok=True)
    report.write_text("the old report")
    shell(f"parity {_FEW} --journal run.jsonl", tmp_path)
    again = f"parity report --journal run.jsonl {option} {place}"
    done = shell(f"ulimit -f 0; {again}", tmp_path)
    assert (done.returncode, one_sentence(done.stderr)) == (2, True), done.stderr
    assert report.read_text() == "the old report"
    assert not list(tmp_path.rglob("*.part"))
    assert shell(again, tmp_path).returncode == 0
    assert report.read_text() != "the old report"


def _something(place: Path, kind: str) -> None:
    match kind:
        case "text":
            place.write_text("my notes\n")
        case "binary":
            place.write_bytes(b"\x7fELF\0\xff" * 100)
        case "json":
            place.write_text('{"format": 1}\n')
        case "folder":
            place.mkdir()
        case "pipe":
            os.mkfifo(place)
        case "link":
            place.symlink_to(place.with_name("target"))
            place.with_name("target").write_text("my notes\n")
        case "dangling":
            place.symlink_to(place.with_name("target"))


def _content(folder: Path) -> list[tuple[str, bytes | str | None]]:
    def of(path: Path) -> bytes | str | None:
        if path.is_symlink():
            return str(path.readlink())
        return path.read_bytes() if path.is_file() else None

    return [(path.name, of(path)) for path in sorted(folder.iterdir())]


@pytest.mark.parametrize("words", [_FEW, f"{_FEW} --resume"])
@pytest.mark.parametrize("kind", ["text", "binary", "json", "folder", "pipe", "link", "dangling"])
@pytest.mark.sampled(7)
def test_no_run_is_journalled_over_something_else(kind, words, tmp_path):
    _something(tmp_path / "notes.txt", kind)
    before = _content(tmp_path)
    done = shell(f"parity {words} --journal notes.txt", tmp_path)
    assert (done.returncode, "Traceback" in done.stderr) == (2, False), done.stderr
    assert "notes.txt" in done.stderr.splitlines()[-1]
    assert _content(tmp_path) == before


@pytest.mark.slow
def test_no_journals_are_merged_over_something_else(tmp_path):
    shell(f"parity {_FEW} --journal there.jsonl", tmp_path)
    (tmp_path / "notes.txt").write_text("my notes\n")
    before = _content(tmp_path)
    done = shell("parity merge there.jsonl --journal notes.txt", tmp_path)
    assert (done.returncode, one_sentence(done.stderr)) == (2, True), done.stderr
    assert _content(tmp_path) == before


@pytest.mark.parametrize("words", [_FEW, f"{_FEW} --resume", "merge other.jsonl"])
@pytest.mark.sampled(3)
def test_a_journal_has_one_writer(words, tmp_path):
    """Two that went on with one journal at once left lines of both in it, cut and mixed."""
    for name in ("run.jsonl", "other.jsonl"):
        shell(f"parity {_FEW} --journal {name}", tmp_path)
    lines = (tmp_path / "run.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "run.jsonl").write_bytes(b"".join(lines[:-3]))
    before = (tmp_path / "run.jsonl").read_bytes()
    holder = JournalLock(tmp_path / "run.jsonl")
    done = shell(f"parity {words} --journal run.jsonl", tmp_path)
    reading = shell("parity report --journal run.jsonl", tmp_path)
    holder.release()
    assert (done.returncode, one_sentence(done.stderr)) == (2, True), done.stderr
    assert f"is being written by process {os.getpid()} since 20" in done.stderr
    assert (tmp_path / "run.jsonl").read_bytes() == before
    assert "legacy and adk over" in reading.stdout, reading.stderr


@pytest.mark.slow
def test_only_one_of_several_concurrent_resumptions_counts(tmp_path):
    shell(f"parity {_FEW} --journal run.jsonl", tmp_path)
    whole = (tmp_path / "run.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "run.jsonl").write_bytes(b"".join(whole[:2]))
    again = f"parity {_FEW} --journal run.jsonl --resume"
    done = shell(f"for n in 1 2 3 4; do {again} & done; wait", tmp_path)
    lines = [json.loads(line) for line in (tmp_path / "run.jsonl").read_bytes().splitlines()]
    names = [line["finished"] for line in lines if "finished" in line]
    expected = [json.loads(line) for line in whole if line.startswith(b'{"finished"')]
    assert sorted(names) == sorted(line["finished"] for line in expected), done.stderr
    assert ended(tmp_path / "run.jsonl")


@pytest.fixture
def small_disk():
    """A file system of 24 MB, for the folders of runs. Its name is short, as a socket's must be."""
    place = Path(tempfile.mkdtemp())
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(place)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode != 0:
        place.rmdir()
        pytest.skip("only root may mount a file system that can be filled")
    yield place
    subprocess.run(["umount", str(place)], check=True)
    place.rmdir()


def _leave(place: Path, left: int) -> None:
    disk = os.statvfs(place)
    with (place / "filler").open("wb") as filler:
        filler.write(bytes(disk.f_bavail * disk.f_frsize - left))


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("left", [0, 50 * 1024])
@pytest.mark.sampled(4)
def test_a_full_disk_decides_no_case(small_disk, left, jobs, tmp_path):
    """With 50 KB left 21 cases were divergent, with nothing left all were parity."""
    _leave(small_disk, left)
    folders = (_CASSETTES, _CASSETTES.parent / "tools")
    chosen = [
        file
        for folder in folders
        for file in folder.glob("*.yaml")
        if "usage" in file.stem or "write" in file.stem
    ]
    run = f"run {folders[0]} {folders[1]} -k 'usage or write' --no-keep"
    done = shell(
        f"parity {run} -n {jobs} --json run.json --journal run.jsonl",
        tmp_path,
        {"TMPDIR": str(small_disk)},
    )
    assert (done.returncode, done.stderr) == (3, ""), done.stderr
    cases = json.loads((tmp_path / "run.json").read_text("utf-8"))["cases"]
    assert len(cases) == len(chosen) >= 20
    assert {case["verdict"] for case in cases} == {"inconclusive"}
    assert "the machine cannot run it: " in done.stdout
    assert "make room and run again" in done.stdout
    assert ended(tmp_path / "run.jsonl")


_FILLS_THE_DISK = """
cassette: 1
name: mine/fills
note: a command fills the disk
phase: A
session: {model: gemini-2.5-flash, approval_mode: yolo}
script: [send: fill]
model:
- stream:
  - candidates:
    - content:
        role: model
        parts:
        - functionCall:
            name: run_shell_command
            args: {command: 'cat /dev/zero > big; echo filled'}
      finishReason: STOP
      index: 0
- stream:
  - candidates:
    - content:
        role: model
        parts: [text: done]
      finishReason: STOP
      index: 0
"""


@pytest.mark.slow
def test_a_disk_that_a_run_fills_by_a_process_decides_nothing(small_disk, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "fills.yaml").write_text(_FILLS_THE_DISK)
    done = shell("parity run mine --trust -n 0 --no-keep", tmp_path, {"TMPDIR": str(small_disk)})
    assert done.returncode == 3, done.stdout + done.stderr
    assert "only 0 KiB are left" in done.stdout


@pytest.mark.parametrize("limit", ["ulimit -f 1000", "ulimit -n 60"])
@pytest.mark.slow
def test_limits_that_are_too_low_decide_no_case(limit, tmp_path):
    done = shell(f"{limit}; parity {_FEW}", tmp_path)
    assert done.returncode == 3, done.stdout + done.stderr
    assert "the machine cannot run it" in done.stdout


@pytest.mark.parametrize("words", [_FEW, f"trace {_CASSETTES}/text.yaml --runtime legacy"])
@pytest.mark.parametrize("place", ["gone", "file"])
@pytest.mark.sampled(4)
def test_a_place_for_runs_that_is_none_is_one_sentence(place, words, tmp_path):
    (tmp_path / "file").touch()
    done = shell(f"parity {words}", tmp_path, {"TMPDIR": str(tmp_path / place)})
    assert (done.returncode, one_sentence(done.stderr)) == (2, True), done.stderr
    assert f"TMPDIR is '{tmp_path / place}'" in done.stderr


@pytest.mark.parametrize("home", ["unset HOME", "export HOME=/nonexistent", "export HOME="])
@pytest.mark.sampled(3)
def test_a_run_needs_no_home_of_the_user(home, tmp_path):
    done = shell(f"{home}; parity {_FEW}", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
