"""Checks of the suite judge mutants that no case shows."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import harness.mutants.checks as checks
from harness.cli import parity
from harness.commands.mutants import MutantsSetup
from harness.experiment.backend import real_backend
from harness.mutants import measuring, playing
from harness.mutants.checks import Checks, finding_of
from harness.mutants.forked import Gone, Raised
from harness.mutants.population import Population
from harness.mutants.result import Outcome
from harness.mutants.source import CODE_ROOT
from parity_tests.adk_probes.catalogue import all_probes
from parity_tests.adk_probes.checks import ALONE
from parity_tests.core_answers.checks import NAMES
from tests.harness.detection.stand_ins import write_cassettes
from tests.harness.mutants import few_checks
from tests.harness.mutants.crafted import inserted

FILE = "runtimes/adk/plugins/named.py"
EMPTY = inserted(FILE, "without_namesakes", "if not plugins: return None")
"""Shows where there are no plugins; a case has at least the one that inspects."""


class _One(Population):
    """A population of one mutant."""

    @property
    def places(self) -> Any:
        return ((EMPTY.place, (EMPTY,)),)


@pytest.fixture
def sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Result]:
    """Draws the one mutant, with the checks of `few_checks` where `--in` concerns them."""
    write_cassettes(tmp_path / "corpus", "text/a")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PARITY_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(measuring, "_table", measuring._table.__wrapped__)
    for module in (checks, playing):
        monkeypatch.setattr(module, "CHECKS", {"adk_probes": few_checks.__name__})
    setup = MutantsSetup(
        population=lambda parts: _One(CODE_ROOT, (FILE,)),
        backend=lambda _: real_backend(None),
        clock=lambda: 0.0,
    )
    words = ["mutants", "corpus", "--sample", "1", "--json", "mutants.json"]
    return lambda: CliRunner().invoke(parity, words, obj=setup, prog_name="parity")


def test_a_check_finds_a_mutant_that_no_case_shows(
    sample: Callable[[], Result], tmp_path: Path
) -> None:
    result = sample()

    (row,) = json.loads((tmp_path / "mutants.json").read_text())["sample"]

    assert (row["outcome"], row["finding"]["case"]) == ("found", "adk_probes/holds")
    assert row["finding"]["place"] == "names"
    assert result.exit_code == 0


def test_good_code_that_cannot_be_checked_is_an_error(
    sample: Callable[[], Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise mutants would survive that checks find, and the share would be too low."""
    monkeypatch.setattr(few_checks, "check", lambda name: os._exit(1))

    result = sample()

    assert (
        result.exit_code,
        "check 'adk_probes/holds' of the suite: it did not end" in result.output,
    ) == (
        3,
        True,
    )


def test_a_group_of_checks_judges_mutants_of_its_own_folder() -> None:
    probes = {f"adk_probes/{each.name}" for each in (*all_probes(), *ALONE)}
    answers = {f"core_answers/{name}" for name in NAMES}

    assert set(Checks.of(("runtimes/adk/plugins",)).names) == probes
    assert Checks.of(("runtimes",)).names == Checks.of((FILE,)).names
    assert set(Checks.of(("runtimes/legacy", "services")).names) == answers
    assert set(Checks.of(("runtimes", "services/mcp")).names) == probes | answers
    assert Checks.of(("runtimes/legacy",)) == Checks()


@pytest.mark.parametrize(
    ("made", "by"),
    [
        (Gone(over_time=True), Outcome.TIME_LIMIT),
        (Gone(over_time=False), Outcome.CRASH),
        (Raised("ValueError: no"), Outcome.CRASH),
        (("requests[0].topK: the runtime has 1",), Outcome.FOUND),
    ],
)
def test_what_is_wrong_is_a_finding(made: Any, by: Outcome) -> None:
    finding = finding_of("adk_probes/some", made)

    assert finding is not None
    assert finding.by is by


def test_nothing_wrong_is_no_finding() -> None:
    assert finding_of("adk_probes/some", ()) is None
