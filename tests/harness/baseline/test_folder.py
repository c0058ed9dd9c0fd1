import json
import os
from dataclasses import replace
from pathlib import Path

from harness.baseline.files import Baseline, write_baseline
from harness.baseline.folder import made_of, superfluous
from tests.harness.samples import observation


def write(folder: Path, name: str, version: str = "1", runtime: str = "legacy") -> Path:
    seen = replace(observation(runtime), versions={"core": version})
    return write_baseline(folder, Baseline.of(seen, name, "ab" * 32))


def test_a_side_is_described_by_what_made_its_files(tmp_path: Path) -> None:
    for name, version in {"a/1": "1", "a/2": "2", "a/3": "2", "a/other": "3"}.items():
        write(tmp_path, name, version)
    side = f"baseline:{tmp_path}"

    made = made_of(["adk", side], ["a/1", "a/2", "a/3", "a/gone"])

    assert list(made) == [side]
    assert made[side].startswith("2 of legacy with core 2; 1 of legacy with core 1 (digest ")


def test_the_description_changes_with_any_file(tmp_path: Path) -> None:
    side, file = f"baseline:{tmp_path}", write(tmp_path, "a/1")
    before = made_of([side], ["a/1"])[side]
    file.write_text(file.read_text().replace("It says hello", "It says bye"))

    assert made_of([side], ["a/1"])[side] != before


def test_files_that_cannot_be_read_describe_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("[")
    (tmp_path / "b.json").write_text('{"runtime": 1,\n"observation": {')
    os.mkfifo(tmp_path / "c.json")
    side = f"baseline:{tmp_path}"

    assert made_of([side], ["a", "b", "c", "d"]) == {side: "nothing that can be read"}


def test_only_baselines_can_be_superfluous(tmp_path: Path) -> None:
    gone = write(tmp_path, "a/gone")
    write(tmp_path, "a/here")
    (tmp_path / "package.json").write_text(json.dumps({"name": "package", "format": 1}))
    (tmp_path / "a" / "copy.json").write_text(gone.read_text())
    (tmp_path / "a" / "folder.json").mkdir()

    assert superfluous(tmp_path, ["a/here"]) == {"a/gone": gone}
