"""Files that are no files: FIFOs, devices and folders in the place of what a command reads.

Each is refused in words at once. To open a FIFO would wait for a writer for ever, and to read a
device whole would fill the memory.
"""

from __future__ import annotations

import os
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness.cli import parity
from harness.signoff.chain import read_chain
from harness.signoff.trust import Signing
from harness.triage.checkout import Checkout
from services.clock import VirtualClock
from services.recording.loading import load_conversation_record
from services.regular_files import FileTooLarge, NotARegularFile, open_regular, read_regular
from services.tools.memory_imports import with_imports

pytestmark = pytest.mark.timeout(60)

PLAIN = "cassette: 1\nname: a\nsession: {model: m}\nscript: [{send: x}]\nmodel: [{text: ok}]\n"
ZERO = Path("/dev/zero")

Ask = Callable[..., Result]


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ask:
    """Run a command in a folder with a sound cassette in `c/a.yaml`."""
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "a.yaml").write_text(PLAIN)
    monkeypatch.chdir(tmp_path)
    return lambda *words: CliRunner().invoke(parity, [str(word) for word in words])


@pytest.fixture(params=["fifo", "device", "socket"])
def odd(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """What a path may lead to instead of a regular file."""
    if request.param == "device":
        yield ZERO
        return
    place = tmp_path / "odd"
    if request.param == "fifo":
        os.mkfifo(place)
        yield place
        return
    with socket.socket(socket.AF_UNIX) as bound:
        # A socket's address has few characters: the folder is the current one.
        before = Path.cwd()
        os.chdir(tmp_path)
        bound.bind("odd")
        os.chdir(before)
        yield place


def refused(result: Result, *, code: int = 2) -> str:
    said = result.output
    assert result.exit_code == code, said
    assert "Traceback" not in said
    words = ("regular file", "No such device or address", "is no file, and is not overwritten")
    assert any(each in said for each in words)
    return said


@pytest.mark.parametrize("command", ["list", "check", "run"])
def test_a_fifo_among_cassettes_is_one_that_cannot_be_loaded(ask: Ask, command: str) -> None:
    os.mkfifo("c/x.yaml")

    said = refused(ask(command, "c", *(["--no-keep"] if command == "run" else [])))

    assert "c/x.yaml: is not a regular file" in said


def test_each_file_that_a_command_is_given_must_be_one(ask: Ask, odd: Path) -> None:
    run = ("run", "c/a.yaml", "--no-keep")
    for words in (
        ("check", odd),
        ("trace", odd, "--runtime", "legacy"),
        (*run, "--waivers", odd),
        (*run, "--journal", odd, "--resume"),
        ("report", "--journal", odd),
        ("diff", odd, odd),
        ("import", odd, "--out", "o"),
        ("shrink", odd),
        ("waive", "c/a.yaml", "--waivers", odd),
    ):
        refused(ask(*words))


def test_a_baseline_must_be_a_file(ask: Ask) -> None:
    Path("base").mkdir()
    os.mkfifo("base/a.json")

    refused(
        ask("run", "c/a.yaml", "--no-keep", "--control", "baseline:base", "--candidate", "legacy")
    )


@pytest.mark.parametrize("runtime", ["legacy", "adk"])
@pytest.mark.parametrize(("option", "code"), [("--settings", 52), ("--fake-responses", 42)])
def test_what_an_agent_reads_must_be_a_file(
    ask: Ask, odd: Path, monkeypatch: pytest.MonkeyPatch, runtime: str, option: str, code: int
) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "no-such-key")
    said = refused(ask("agent", "--runtime", runtime, option, odd, "-p", "hi"), code=code)

    assert f"{odd}: cannot be read: " in said


def test_a_fifo_as_head_of_the_records_is_named_and_git_does_not_wait_for_it(
    tmp_path: Path,
) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    folder = tmp_path / "signoffs"
    folder.mkdir()
    os.mkfifo(folder / "HEAD")

    chain = read_chain(folder, Signing(threshold=1, signers=()))

    assert "HEAD: is no regular file" in chain.problems
    os.mkfifo(tmp_path / "HEAD")
    assert Checkout.at(tmp_path).root == tmp_path.resolve()  # its .git comes before its HEAD


def test_what_a_folder_brings_along_is_read_only_where_it_is_a_file(
    tmp_path: Path, odd: Path
) -> None:
    """A repository may hold a link to a device in the place of what the product reads unasked."""
    link = tmp_path / "link.md"
    link.symlink_to(odd)

    assert "Import failed" in with_imports("@./odd @./link.md", tmp_path)
    assert load_conversation_record(link, VirtualClock()) is None


def test_a_file_is_read_up_to_its_bound(tmp_path: Path) -> None:
    file = tmp_path / "x"
    file.write_bytes(b"x" * 100_000)

    assert len(read_regular(file, 100_000)) == 100_000
    with pytest.raises(FileTooLarge, match="larger than 99,999 bytes"):
        read_regular(file, 99_999)
    with pytest.raises(NotARegularFile):
        open_regular(ZERO)
    with pytest.raises(IsADirectoryError):
        open_regular(tmp_path)
