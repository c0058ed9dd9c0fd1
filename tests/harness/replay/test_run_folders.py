import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from harness.replay.run_folders import remove_left_folders, run_folder
from services.leftovers import Kind, leftovers_reported_to

REPOSITORY = Path(__file__).parents[3]
KILLED_IN_A_RUN = """
import os, signal
from harness.replay.run_folders import run_folder
with run_folder() as folder:
    (folder / "ws").mkdir()
    print(folder, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A temporary folder for this test alone."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def killed(place: Path) -> Path:
    """The folder of a killed run without a guard."""
    said = subprocess.run(
        [sys.executable, "-c", KILLED_IN_A_RUN],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), "TMPDIR": str(place)},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    ).stdout
    return Path(said.strip())


def test_its_path_is_as_long_as_that_of_any_temporary_folder(place: Path) -> None:
    """The corpus's baselines contain lengths of texts with the path."""
    with run_folder() as folder:
        assert len(folder.name) == len("parity-abcdefgh")
        assert folder.parent == place


def test_it_is_removed_afterwards_and_reported_under_its_final_name(place: Path) -> None:
    reported: list[tuple[Kind, str]] = []
    with (
        leftovers_reported_to(lambda kind, what: reported.append((kind, what))),
        run_folder() as folder,
    ):
        (folder / "ws").mkdir()

    assert reported == [("folder", str(folder))]
    assert list(place.iterdir()) == []


def test_what_a_killed_run_left_is_removed_at_the_next_start(place: Path) -> None:
    left = killed(place)
    assert (left / "ws").is_dir()

    remove_left_folders()

    assert list(place.iterdir()) == []


def test_the_folder_of_a_run_that_goes_on_stays(place: Path) -> None:
    with run_folder() as folder:
        remove_left_folders()

        assert folder.is_dir()


def test_other_folders_are_not_removed(place: Path) -> None:
    others = ["parity-abcdefgh", "parity_notes", "parity_abcdefgh.txt", "parity_abcdefghi", "x"]
    for name in others:
        (place / name).mkdir()
    (place / "parity_01234567").write_text("a file")
    (place / "parity_76543210").symlink_to(place / "x")

    remove_left_folders()

    assert {file.name for file in place.iterdir()} == {
        *others,
        "parity_01234567",
        "parity_76543210",
    }


def test_a_concurrent_start_does_not_remove_a_folder_in_use(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process removes the folder before it is locked, once."""
    make, between = tempfile.mkdtemp, iter([remove_left_folders])

    def disturbed(*, prefix: str, dir: str | None) -> str:
        made = make(prefix=prefix, dir=dir)
        next(between, lambda: None)()
        return made

    monkeypatch.setattr(tempfile, "mkdtemp", disturbed)

    with run_folder() as folder:
        assert folder.is_dir()
        assert list(place.iterdir()) == [folder]
