import importlib
import os
import shutil
import socket
import subprocess
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from harness.replay.wall import walled
from services.confinement import Confinement, Refusal, Refused, Seam

Attempt = Callable[[Path], object]

OUTSIDE: dict[str, Attempt] = {
    "read": lambda place: (place / "there").read_text(),
    "read bytes path": lambda place: os.open(os.fsencode(place / "there"), os.O_RDONLY),
    "read by descriptor": lambda place: os.open(place / "there", os.O_RDONLY),
    "read up": lambda place: (place / "x" / ".." / "there").read_text(),
    "read missing": lambda place: (place / "missing").read_text(),
    "write": lambda place: (place / "new").write_text("x"),
    "append": lambda place: (place / "there").open("a"),
    "list": lambda place: list(place.iterdir()),
    "scan": lambda place: list(os.scandir(place)),
    "walk": lambda place: list(os.walk(place)),
    "glob": lambda place: list(place.glob("*")),
    "make": lambda place: (place / "new").mkdir(),
    "remove": lambda place: (place / "there").unlink(),
    "remove folder": lambda place: (place / "x").rmdir(),
    "rename": lambda place: (place / "there").rename(place / "else"),
    "link": lambda place: os.link(place / "there", place / "else"),
    "symlink": lambda place: (place / "else").symlink_to("there"),
    "mode": lambda place: (place / "there").chmod(0o777),
    "times": lambda place: os.utime(place / "there"),
    "truncate": lambda place: os.truncate(place / "there", 0),
    "tree": lambda place: shutil.rmtree(place),
    "copy": lambda place: shutil.copy(place / "there", place / "else"),
}
PROCESSES: dict[str, Callable[[], object]] = {
    "subprocess": lambda: subprocess.run(["true"], check=False),
    "system": lambda: os.system("true"),
    "spawn": lambda: os.posix_spawn(sys.executable, [sys.executable, "-V"], {}),
    "fork": os.fork,
}
CONNECTIONS: dict[str, Callable[[], object]] = {
    "connect": lambda: socket.create_connection(("127.0.0.1", 1), timeout=1),
    "name": lambda: socket.getaddrinfo("a.invalid", 80),
    "datagram": lambda: _on_socket(socket.SOCK_DGRAM, lambda it: it.sendto(b"x", _ADDRESS)),
    "listen": lambda: _on_socket(socket.SOCK_STREAM, lambda it: it.bind(_ADDRESS)),
}
_ADDRESS: tuple[str, int] = ("127.0.0.1", 1)


def _on_socket(kind: int, act: Callable[[socket.socket], object]) -> None:
    with socket.socket(type=kind) as opened:
        act(opened)


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """A run's folder, and another folder with a file and a folder."""
    own, elsewhere = tmp_path / "own", tmp_path / "elsewhere"
    own.mkdir()
    (elsewhere / "x").mkdir(parents=True)
    (elsewhere / "there").write_text("x")
    return own, elsewhere


def refused(own: Path, attempt: Callable[[], object]) -> list[Refusal]:
    seen: list[Refusal] = []
    # Some functions of the library ignore what they may not read.
    with walled(Confinement(seen.append), [own]), suppress(Refused):
        attempt()
    return seen


@pytest.mark.parametrize("kind", OUTSIDE)
def test_a_file_elsewhere_is_refused(kind: str, folders: tuple[Path, Path]) -> None:
    own, elsewhere = folders
    before = sorted(elsewhere.iterdir())

    seen = refused(own, lambda: OUTSIDE[kind](elsewhere))

    assert [each.seam for each in seen] == [Seam.FILE]
    assert "elsewhere" in seen[0].what
    assert sorted(elsewhere.iterdir()) == before


@pytest.mark.parametrize("kind", PROCESSES)
def test_a_process_is_refused(kind: str, tmp_path: Path) -> None:
    assert [each.seam for each in refused(tmp_path, PROCESSES[kind])] == [Seam.PROCESS]


@pytest.mark.parametrize("kind", CONNECTIONS)
def test_a_connection_is_refused(kind: str, tmp_path: Path) -> None:
    assert [each.seam for each in refused(tmp_path, CONNECTIONS[kind])] == [Seam.CONNECTION]


def test_a_link_inside_that_leads_outside_is_refused(folders: tuple[Path, Path]) -> None:
    own, elsewhere = folders
    (own / "link").symlink_to(elsewhere)

    assert refused(own, lambda: (own / "link" / "there").read_text())


def test_a_folder_with_the_same_prefix_is_another(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own2").mkdir()

    assert refused(tmp_path / "own", lambda: (tmp_path / "own2" / "x").write_text("x"))


def test_the_runs_own_folder_can_be_used_in_every_way(tmp_path: Path) -> None:
    seen: list[Refusal] = []

    with walled(Confinement(seen.append), [tmp_path]):
        (tmp_path / "a" / "b" / "c").mkdir(parents=True)
        (tmp_path / "a" / "b" / "c" / "d").write_text("x")
        (tmp_path / "a" / "b" / "c" / "d").rename(tmp_path / "e")
        shutil.rmtree(tmp_path / "a")
        assert [entry.name for entry in os.scandir(tmp_path)] == ["e"]

    assert seen == []


def test_code_can_be_loaded(tmp_path: Path) -> None:
    seen: list[Refusal] = []
    loaded = sys.modules.pop("wave", None)

    with walled(Confinement(seen.append), [tmp_path]):
        import wave

        assert wave is not loaded

    assert seen == []


def test_the_wall_ends_with_its_block(folders: tuple[Path, Path]) -> None:
    own, elsewhere = folders

    with walled(Confinement(lambda refusal: None), [own]):
        pass

    assert (elsewhere / "there").read_text() == "x"


def test_reporting_a_refusal_may_use_files(folders: tuple[Path, Path]) -> None:
    own, elsewhere = folders
    read: list[str] = []

    def report(refusal: Refusal) -> None:
        read.append((elsewhere / "there").read_text())

    with walled(Confinement(report), [own]), pytest.raises(Refused):
        (elsewhere / "new").write_text("x")

    assert read == ["x"]


def test_a_traceback_can_quote_code_that_lies_elsewhere(tmp_path: Path) -> None:
    code = tmp_path / "code"
    code.mkdir()
    (code / "parity_test_module.py").write_text("def fail():\n    raise ValueError('here')\n")
    sys.path.insert(0, str(code))
    try:
        module = importlib.import_module("parity_test_module")
    finally:
        sys.path.remove(str(code))
    seen: list[Refusal] = []

    with walled(Confinement(seen.append), [tmp_path / "own"]):
        with pytest.raises(ValueError) as raised:  # noqa: PT011
            module.fail()
        text = "".join(traceback.format_exception(raised.value))

    assert seen == []
    assert "raise ValueError('here')" in text


def test_the_code_of_a_runtime_can_be_read_and_not_changed(folders: tuple[Path, Path]) -> None:
    own, code = folders
    seen: list[Refusal] = []

    with walled(Confinement(seen.append), [own], [code]):
        assert (code / "there").read_text() == "x"
        with pytest.raises(Refused):
            (code / "new").write_text("x")

    assert len(seen) == 1
