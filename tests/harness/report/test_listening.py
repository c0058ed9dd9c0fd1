"""Listeners of a run's events that show its report, and the table of their options."""

import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.cli import parity
from harness.command_line import listeners, run_and_read
from harness.command_line.deferred import deferred
from harness.command_line.listeners import LISTENERS, ListenerOption
from harness.errors import UsageError
from harness.experiment.events import CaseFinished, CaseStarted, RunFinished, RunStarted, follow
from harness.report.annotations import STEP_SUMMARY
from harness.report.json_report import json_listener
from harness.report.listening import JournalledCase, Settled
from harness.report.model import RunReport
from tests.harness.report.journals import HEADER, RESULT

REPORT = RunReport(control="legacy", candidate="adk", cases=(RESULT,), planned=1, header=HEADER)
REPOSITORY = Path(__file__).parents[3]


@pytest.mark.parametrize("row", LISTENERS, ids=lambda row: row.option)
def test_every_listener_shows_the_report_at_the_end_and_not_before(
    row: ListenerOption, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(STEP_SUMMARY, str(tmp_path / "step.md"))
    settled = Settled()
    settled.make = lambda ending: REPORT
    listener = row.listener(tmp_path / "out", settled)
    for event in (RunStarted(1), CaseStarted(JournalledCase("a/b"))):
        settled(event)
        listener(event)
    before = {file: file.stat().st_size for file in tmp_path.rglob("*.*") if file.is_file()}
    assert not any(before.values())

    follow((each for each in [RunFinished()]), settled, listener)

    written = listener.written or tmp_path / "step.md"
    assert written.stat().st_size > 0


def test_every_listener_has_a_parameter_of_its_own() -> None:
    assert len({row.parameter for row in LISTENERS}) == len(LISTENERS)


def test_a_folder_that_is_removed_during_the_run_is_wrong_usage(tmp_path: Path) -> None:
    listener = json_listener(tmp_path / "gone" / "file", Settled())
    (tmp_path / "gone").rmdir()

    with pytest.raises(UsageError, match="choose another place with --json"):
        listener.show(REPORT)


class NamesListener:
    """Writes the name of each finished case, and the verdict of the run, to a file."""

    written = None

    def __init__(self, file: Path, settled: Settled) -> None:
        self._file, self._settled = file, settled
        self._names: list[str] = []

    def __call__(self, event: object) -> None:
        if isinstance(event, CaseFinished):
            self._names.append(event.task.name)
        if isinstance(event, RunFinished):
            self._file.write_text(f"{self._names} {self._settled.report.verdict.value}")


@pytest.fixture
def with_names(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The command line with `--names FILE`: one more row of the table, and nothing else."""
    row = ListenerOption("--names", deferred(f"{__name__}:NamesListener"), "Write the names.")
    with monkeypatch.context() as patched:
        patched.setattr(listeners, "LISTENERS", (*LISTENERS, row))
        importlib.reload(run_and_read)
        yield
    importlib.reload(run_and_read)


@pytest.mark.usefixtures("with_names")
def test_a_listener_is_added_by_one_module_and_one_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    cassette, journal = REPOSITORY / "cassettes" / "text" / "text.yaml", tmp_path / "run.jsonl"
    names = tmp_path / "names"
    words = ["run", str(cassette), "--journal", str(journal), "--names", str(names)]

    assert CliRunner().invoke(parity, words).exit_code == 0
    assert names.read_text() == "['text/text'] parity"
    names.unlink()
    words = ["report", "--journal", str(journal), "--names", str(names)]
    assert CliRunner().invoke(parity, words).exit_code == 0
    assert names.read_text() == "['text/text'] parity"
