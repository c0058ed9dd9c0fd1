"""A red report's leads: from which commit to search, and which files changed."""

from __future__ import annotations

import io
import shutil
from pathlib import Path
from typing import Any

import pytest

from harness.parity.divergence import ChannelName, Divergence, Kind
from harness.parity.verdict import CaseResult
from harness.report.journal import read_journal
from harness.report.leads import with_leads
from harness.report.model import RunReport
from harness.report.since import with_changes
from harness.report.terminal import show
from harness.triage.leads import Good, Leads
from tests.harness.report.test_since import NEW, OLD, WAIVERS, git, header, keep, red


@pytest.fixture
def commits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A checkout to stand in, with three commits; their hashes, oldest first."""
    if shutil.which("git") is None:
        pytest.skip("there is no git; install it")
    checkout = tmp_path / "checkout"
    (checkout / "runtimes" / "adk").mkdir(parents=True)
    monkeypatch.chdir(checkout)
    git("init", "-q")
    made = []
    for text in ("one", "two", "three"):
        Path("runtimes/adk/flow.py").write_text(text)
        git("add", ".")
        git("commit", "-q", "-m", text)
        made.append(git("rev-parse", "HEAD"))
    return made


def report(*cases: CaseResult, **facts: Any) -> RunReport:
    made = header(NEW, 20, **facts)
    return RunReport(control="legacy", candidate="adk", cases=cases, header=made, planned=2)


def good_of(found: RunReport, case: str = "a/1") -> Good | None:
    return found.leads.good.get(case)


def test_the_search_begins_at_the_latest_run_that_had_the_case_green(
    tmp_path: Path, commits: list[str]
) -> None:
    keep(tmp_path, 1, OLD, revision=commits[0])
    keep(tmp_path, 2, OLD, revision=commits[1])
    keep(tmp_path, 3, NEW, reds=["a/1"], revision=commits[2])

    found = with_leads(report(red("a/1"), revision=commits[2]), WAIVERS, tmp_path)

    good = good_of(found)
    assert good is not None
    assert (good.revision, good.dirty) == (commits[1], False)
    assert found.leads.here == found.leads.revision == commits[2]


def test_each_case_has_the_run_that_had_it_green(tmp_path: Path, commits: list[str]) -> None:
    keep(tmp_path, 1, OLD, revision=commits[0])
    keep(tmp_path, 2, OLD, reds=["a/2"], revision=commits[1])
    other = Divergence(cassette="a/2", channel=ChannelName.COST, kind=Kind.CHANGED)
    second = CaseResult(cassette="a/2", divergences=(other,))

    found = with_leads(report(red("a/1"), second, revision=commits[2]), WAIVERS, tmp_path)

    assert {name: good.revision for name, good in found.leads.good.items()} == {
        "a/1": commits[1],
        "a/2": commits[0],
    }


def test_a_run_of_a_clean_commit_comes_before_one_whose_files_differed(
    tmp_path: Path, commits: list[str]
) -> None:
    keep(tmp_path, 1, OLD, revision=commits[0])
    keep(tmp_path, 2, OLD, revision=commits[1], dirty=True)

    clean = good_of(with_leads(report(red("a/1"), revision=commits[2]), WAIVERS, tmp_path))
    (tmp_path / "20260301T060000Z-1.jsonl").unlink()
    only = good_of(with_leads(report(red("a/1"), revision=commits[2]), WAIVERS, tmp_path))

    assert clean is not None
    assert (clean.revision, clean.dirty) == (commits[0], False)
    assert only is not None
    assert (only.revision, only.dirty) == (commits[1], True)


@pytest.mark.parametrize("revision", ["", "f" * 40])
def test_a_run_of_no_commit_that_this_one_came_from_is_passed_over(
    tmp_path: Path, commits: list[str], revision: str
) -> None:
    keep(tmp_path, 1, OLD, revision=revision)

    assert good_of(with_leads(report(red("a/1"), revision=commits[2]), WAIVERS, tmp_path)) is None


def test_a_journal_that_the_user_names_counts_as_well(tmp_path: Path, commits: list[str]) -> None:
    named = read_journal(keep(tmp_path / "elsewhere", 1, OLD, revision=commits[0]))
    found = with_leads(report(red("a/1"), revision=commits[2]), WAIVERS, tmp_path, others=[named])

    assert good_of(found) is not None


def test_a_run_at_parity_has_no_leads(tmp_path: Path, commits: list[str]) -> None:
    keep(tmp_path, 1, OLD, revision=commits[0])
    found = with_leads(report(CaseResult(cassette="a/1")), WAIVERS, tmp_path)

    assert found.leads == Leads()


def test_what_changed_since_the_last_green_run_is_what_is_ranked(
    tmp_path: Path, commits: list[str]
) -> None:
    keep(tmp_path, 1, OLD, revision=commits[0])
    given = with_changes(report(red("a/1"), revision=commits[2]), NEW, WAIVERS, tmp_path)
    found = with_leads(given, WAIVERS, tmp_path).leads

    assert set(found.files) == {f"runtimes/adk/{name}.py" for name in "abc"}
    assert found.since == "changed since the last green run"


def test_without_an_earlier_run_the_files_that_are_not_committed_are(
    tmp_path: Path, commits: list[str]
) -> None:
    Path("runtimes/adk/flow.py").write_text("broken")
    Path("runtimes/adk/new.py").write_text("new")
    Path("notes.txt").write_text("no code")
    given = report(red("a/1"), revision=commits[2], dirty=True)
    elsewhere = report(red("a/1"), revision=commits[1], dirty=True)

    found = with_leads(given, WAIVERS, tmp_path).leads
    assert (found.files, found.since) == (
        ("runtimes/adk/flow.py", "runtimes/adk/new.py"),
        "changed, not committed",
    )
    assert with_leads(elsewhere, WAIVERS, tmp_path).leads.files == ()


def shown(given: RunReport) -> list[str]:
    stream = io.StringIO()
    show(given, stream)
    return stream.getvalue().splitlines()


def test_every_sort_of_divergence_is_explained_on_the_terminal() -> None:
    labels = [f"sort{number}" for number in range(12)]
    cases = [
        CaseResult(
            cassette=f"a/{label}",
            runtimes=("legacy", "adk"),
            divergences=(
                Divergence(
                    cassette=f"a/{label}",
                    channel=ChannelName.EVENTS,
                    kind=Kind.CHANGED,
                    label=label,
                ),
            ),
        )
        for label in labels
    ]
    lines = shown(report(*cases, revision="b" * 40))

    heads = [line for line in lines if line.startswith(("first divergence:", "also divergent:"))]
    assert len(heads) == len(labels)
    for start in ("  seam: ", "  look in: ", "  reproduce: ", "  bisect: parity bisect a/sort"):
        assert sum(line.startswith(start) for line in lines) == len(labels), start
    assert sum(line.startswith("  1. The first difference") for line in lines) == len(labels)
    # From the eleventh on what each side did is left to the report's page.
    assert sum(line.startswith("  2. ") for line in lines) == 10
