from importlib.metadata import EntryPoint

import pytest

from parity import own_name
from runtimes import fault_packages


def names() -> list[str]:
    return [package.__name__ for package in fault_packages.fault_packages()]


def test_ours_are_known_without_being_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fault_packages, "entry_points", lambda group: ())

    packages = ("services", "runtimes.legacy", "runtimes.adk")
    assert set(names()) == {own_name(f"{package}.faults") for package in packages}


def test_another_package_adds_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("more", "tests.seeded_faults", "parity.faults")
    monkeypatch.setattr(fault_packages, "entry_points", lambda group: (point,))

    assert names()[-1] == "tests.seeded_faults"


def test_a_runtime_that_is_gone_takes_its_faults_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fault_packages, "known_runtimes", lambda: ["adk", "upstream"])
    monkeypatch.setattr(fault_packages, "entry_points", lambda group: ())

    assert names() == ["services.faults", "runtimes.adk.faults"]
