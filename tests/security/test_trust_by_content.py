"""Copies of bundled cassettes are trusted; no file that lies beside a copy is started."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness.cli import parity
from harness.config import trusted_roots

SHELL = "abort/during_shell_output"
SERVER = "mcp/asked"
CORPUS = Path(__file__).parents[2] / "cassettes"


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of a part of the bundled corpus, in a folder that is no checkout."""
    monkeypatch.chdir(tmp_path)
    root = tmp_path / "cassettes"
    for name in (SHELL, SERVER):
        (root / name).parent.mkdir(parents=True)
        shutil.copy(CORPUS / f"{name}.yaml", root / f"{name}.yaml")
    shutil.copy(CORPUS / "mcp_server.py", root)
    return root


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(parity, ["run", *map(str, words), "--no-keep"])


def hostile(file: Path, marker: Path) -> Path:
    """A program that leaves `marker` behind when it is run or imported."""
    file.unlink(missing_ok=True)
    file.write_text(f"from pathlib import Path\nPath({str(marker)!r}).touch()\n")
    return marker


def test_the_bundled_corpus_is_trusted_wherever_it_lies(copy: Path) -> None:
    assert not any(copy.is_relative_to(root) for root in trusted_roots())

    done = run()

    assert done.exit_code == 0, done.output
    assert "2 parity of 2" in done.output


def test_an_altered_copy_is_named_on_one_line_with_the_command_that_runs_it(copy: Path) -> None:
    file = copy / f"{SHELL}.yaml"
    file.write_text(file.read_text() + "# altered\n")

    done = run("-k", "abort or mcp")

    assert done.exit_code == 3
    lines = [line for line in done.output.splitlines() if line.startswith("not trusted: ")]
    mend = "parity run cassettes -k 'abort or mcp' --trust"
    assert lines == [f"not trusted: 1 case ({SHELL}); if you trust the cassettes: {mend}"]
    assert f"inconclusive: {SHELL}" not in done.output


def test_an_altered_server_beside_a_copy_is_not_started(copy: Path, tmp_path: Path) -> None:
    marker = hostile(copy / "mcp_server.py", tmp_path / "marker")

    done = run("-k", "mcp")

    assert done.exit_code == 3
    assert f"not trusted: 1 case ({SERVER})" in done.output
    assert not marker.exists()


def test_a_module_beside_a_copy_is_not_imported_by_its_server(copy: Path, tmp_path: Path) -> None:
    (copy / "json").mkdir()
    marker = hostile(copy / "json" / "__init__.py", tmp_path / "marker")

    done = run("-k", "mcp")

    assert done.exit_code == 0, done.output
    assert not marker.exists()


def test_a_server_beside_links_to_trusted_cassettes_is_not_started(
    copy: Path, tmp_path: Path
) -> None:
    for name in (SHELL, SERVER):
        (copy / f"{name}.yaml").unlink()
        (copy / f"{name}.yaml").symlink_to(CORPUS / f"{name}.yaml")
    marker = hostile(copy / "mcp_server.py", tmp_path / "marker")

    done = run(copy)

    assert done.exit_code == 0, done.output
    assert not marker.exists()
