"""A runtime takes part in the tests of this folder by being registered."""

from __future__ import annotations

from pathlib import Path

import pytest

from runtimes.contract import UnusableRuntime
from tests.runtimes.engines import engines, opened_or_skipped
from tests.runtimes.kit import Kit
from tests.runtimes.third_party import GOOD, forgotten, install

__all__ = ["forgotten"]

ELSEWHERE = (
    "from parity.runtimes.contract import RuntimeTraits\nTRAITS = RuntimeTraits(confinable=False)\n"
)
MISSING = (
    "from parity.runtimes.contract import RuntimeUnavailable\n"
    "def check(variant): raise RuntimeUnavailable('no key', 'set MINE_KEY')\n"
)


def marks(name: str, *, in_process: bool = False) -> list[str] | None:
    """The marks of a runtime's tests; `None` where it takes no part."""
    found = [each for each in engines(in_process=in_process) if each.values == (name,)]
    return [mark.name for mark in found[0].marks] if found else None


def test_our_own_runtimes_take_part() -> None:
    assert marks("legacy") == marks("adk") == marks("adk", in_process=True) == []
    assert marks("upstream") == ["slow"]
    assert marks("upstream", in_process=True) is None


def test_a_runtime_of_another_package_plays_the_same_conversations(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert marks("mine") is None
    monkeypatch.syspath_prepend(install(tmp_path / "site", GOOD))

    assert marks("mine") == marks("mine", in_process=True) == []
    kit = Kit(opened_or_skipped("mine"), tmp_path)
    assert kit.play([[kit.text("hi", "STOP")]]).texts == ["hi"]


def test_a_runtime_in_another_program_takes_part_by_night_where_it_can_be_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(install(tmp_path, GOOD + ELSEWHERE + MISSING))

    assert marks("mine") == ["slow"]
    assert marks("mine", in_process=True) is None
    with pytest.raises(pytest.skip.Exception, match="no key; set MINE_KEY"):
        opened_or_skipped("mine")


def test_a_broken_runtime_fails_its_tests_and_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(install(tmp_path, "raise ValueError('no licence')"))

    assert marks("mine") == marks("mine", in_process=True) == []
    with pytest.raises(UnusableRuntime, match="no licence"):
        opened_or_skipped("mine")
    assert opened_or_skipped("legacy") == "legacy"
