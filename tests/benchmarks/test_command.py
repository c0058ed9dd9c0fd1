from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchmarks import __main__ as command
from benchmarks.figures import Figure, MeasurementError, Section, Target


def good(*, quick: bool, progress: Callable[[str], None]) -> Section:
    progress(f"quick is {quick}")
    return Section("good", [Figure(name="slow", value=9.0, target=Target(1))])


def bad(*, quick: bool, progress: Callable[[str], None]) -> Section:
    raise MeasurementError("no cassettes in cassettes/")


@pytest.fixture(autouse=True)
def _two_measurements(monkeypatch: pytest.MonkeyPatch) -> None:
    measures = {"good": SimpleNamespace(measure=good), "bad": SimpleNamespace(measure=bad)}
    monkeypatch.setattr(command, "MEASUREMENTS", {name: name for name in measures})
    monkeypatch.setattr(command, "import_module", measures.__getitem__)


def test_missed_target_is_no_failure(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "found.json"

    assert command.main(["good", "--quick", "--json", str(file)]) == 0

    shown = capsys.readouterr()
    assert "missed" in shown.out
    assert shown.err == "quick is True\n"
    assert json.loads(file.read_text())["sections"][0]["figures"][0]["verdict"] == "missed"


def test_what_cannot_be_measured_is_said_and_does_not_stop_the_others(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert command.main(["bad", "good"]) == 1

    shown = capsys.readouterr()
    assert "bad could not be measured: no cassettes in cassettes/" in shown.err
    assert "slow" in shown.out


def test_unknown_name_is_refused_before_anything_is_measured(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert command.main(["good", "nonsense"]) == 1

    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err == "benchmarks: no measurement nonsense; there are good, bad\n"
