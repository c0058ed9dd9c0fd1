import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from runtimes import fault_packages

PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"


def names() -> list[str]:
    return [package.__name__ for package in fault_packages.fault_packages()]


def test_ours_are_known_without_being_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    declared = tomllib.loads(PYPROJECT.read_text("utf-8"))["project"]["entry-points"]
    monkeypatch.setattr(fault_packages, "entry_points", lambda group: ())

    assert set(names()) == set(declared["parity.faults"].values())


def test_another_package_adds_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("more", "tests.seeded_faults", "parity.faults")
    monkeypatch.setattr(fault_packages, "entry_points", lambda group: (point,))

    assert names()[-1] == "tests.seeded_faults"


def test_a_runtime_that_is_gone_takes_its_faults_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fault_packages, "known_runtimes", lambda: ["adk", "upstream"])
    monkeypatch.setattr(fault_packages, "entry_points", lambda group: ())

    assert names() == ["services.faults", "runtimes.adk.faults"]
