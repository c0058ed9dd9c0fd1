"""Earlier runs on the report's page: what each came to, and the way to its page."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.parity.verdict import CaseVerdict
from harness.report.html import HtmlListener, html_report
from harness.report.kept import JOURNALS
from harness.report.listening import Settled
from harness.report.model import RunReport
from harness.report.past import past_runs, with_past_runs
from harness.report.remembered import remember_page
from tests.harness.report.hostile import HOSTILE
from tests.harness.report.test_since import NEW, OLD, header, keep


@pytest.fixture(autouse=True)
def somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_latest_run_of_the_same_sides_comes_first_with_its_counts(tmp_path: Path) -> None:
    keep(tmp_path, 1, OLD, revision="a" * 40)
    keep(tmp_path, 2, NEW, reds=["a/1"], revision="b" * 40, dirty=True)
    keep(tmp_path, 3, NEW, control="upstream")
    keep(tmp_path, 25, NEW)

    red, green = past_runs(header(NEW, 20), tmp_path, tmp_path)

    assert (red.verdict, red.counts, red.revision) == (
        CaseVerdict.DIVERGENT,
        (1, 1, 0),
        "bbbbbbbbbb+",
    )
    assert (green.verdict, green.counts, green.began) == (
        CaseVerdict.PARITY,
        (2, 0, 0),
        "2026-03-01 06:00 UTC",
    )


def test_a_run_that_was_cut_off_is_not_called_parity(tmp_path: Path) -> None:
    keep(tmp_path, 1, OLD, cases=["a/1"])

    (run,) = past_runs(header(NEW, 20), tmp_path, tmp_path)

    assert (run.verdict, run.counts, run.planned) == (CaseVerdict.INCONCLUSIVE, (1, 0, 0), 2)


def test_a_run_whose_page_is_there_is_linked_from_where_the_new_one_goes(tmp_path: Path) -> None:
    keep(tmp_path, 1, OLD)
    page = tmp_path / "mon day" / "index.html"
    page.parent.mkdir()
    page.write_text("x")
    remember_page(page, header(OLD, 1).started_at, tmp_path)

    def link(place: str) -> str:
        return past_runs(header(NEW, 20), tmp_path / place, tmp_path)[0].page

    assert link("tuesday") == "../mon%20day/index.html"
    assert link("mon day") == ""  # it is about to be written over
    page.unlink()
    assert link("tuesday") == ""


def test_the_page_lists_them_with_the_command_that_reports_each(tmp_path: Path) -> None:
    keep(JOURNALS.absolute(), 1, OLD)
    report = RunReport(control="legacy", candidate="adk", cases=(), header=header(NEW, 20))

    listener = HtmlListener(tmp_path / "out", Settled())
    listener.show(report)

    page = listener.file.read_text("utf-8")
    assert 'id="past"' in page
    assert "parity report --journal .parity/journals/20260301T060000Z-1.jsonl" in page
    assert 'id="past"' not in html_report(report)


def test_a_hostile_name_of_a_folder_stays_text(tmp_path: Path) -> None:
    folder = tmp_path / HOSTILE["attribute"].replace("/", "")
    keep(JOURNALS.absolute(), 1, OLD)
    (folder / "x").mkdir(parents=True)
    page = folder / "index.html"
    page.write_text("x")
    remember_page(page, header(OLD, 1).started_at)
    report = RunReport(control="legacy", candidate="adk", cases=(), header=header(NEW, 20))

    text = html_report(with_past_runs(report, tmp_path / "out"))

    assert 'href="../' in text
    assert "onmouseover='hack()'" not in text
