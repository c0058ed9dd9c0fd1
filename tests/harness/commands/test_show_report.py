"""`parity show-report`: finds the last page, opens it, and says what to do where there is none."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness.cli import parity
from harness.report.kept import JOURNALS
from harness.report.remembered import remember_page, remembered_pages
from tests.harness.report.journals import write_journal


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses that a browser was asked to open, in an empty folder to stand in."""
    asked: list[str] = []
    monkeypatch.chdir(tmp_path)

    def opened(address: str) -> bool:
        asked.append(address)
        return True

    monkeypatch.setattr(webbrowser, "open", opened)
    return asked


def show(*words: str) -> Result:
    return CliRunner().invoke(parity, ["show-report", *words])


def test_it_opens_the_page_in_a_folder_and_prints_its_path(
    tmp_path: Path, opened: list[str]
) -> None:
    page = tmp_path / "my report" / "index.html"
    page.parent.mkdir()
    page.write_text("<!doctype html>")

    done = show("my report")

    assert (done.exit_code, done.output) == (0, f"{page}\n")
    assert opened == [page.as_uri()]


def test_it_opens_the_last_page_that_a_command_wrote(tmp_path: Path, opened: list[str]) -> None:
    write_journal(tmp_path / "run.jsonl", ended=True)
    for folder in ("first", "second"):
        CliRunner().invoke(parity, ["report", "--journal", "run.jsonl", "--html", folder])

    done = show()

    assert done.exit_code == 0
    assert opened == [(tmp_path / "second" / "index.html").as_uri()]


def test_it_only_prints_when_asked_to(tmp_path: Path, opened: list[str]) -> None:
    (tmp_path / "index.html").write_text("x")

    assert show(".", "--print").output == f"{tmp_path / 'index.html'}\n"
    assert opened == []


def test_where_no_browser_can_be_opened_it_says_what_to_do(
    tmp_path: Path, opened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "index.html").write_text("x")
    monkeypatch.setattr(webbrowser, "open", lambda _: False)

    done = show(".")

    assert done.exit_code == 0
    assert "no browser could be opened; open the file above" in done.output


def test_a_folder_without_a_page_is_refused_with_the_command_that_makes_one(
    opened: list[str],
) -> None:
    done = show("nowhere")

    assert done.exit_code == 2
    assert "no report in nowhere" in done.output
    assert "`parity report --html nowhere`" in done.output


@pytest.mark.parametrize(("kept", "command"), [(False, "parity run"), (True, "parity report")])
def test_without_any_page_it_says_how_to_make_one(
    tmp_path: Path, opened: list[str], kept: bool, command: str
) -> None:
    if kept:
        JOURNALS.mkdir(parents=True)
        write_journal(JOURNALS / "20260601T080000Z-1.jsonl")

    done = show()

    assert done.exit_code == 2
    assert "no report page was written from this folder" in done.output
    assert f"`{command} --html parity-report`" in done.output
    assert opened == []


def test_a_page_is_remembered_for_the_run_that_it_shows_now(
    tmp_path: Path, opened: list[str]
) -> None:
    one, two = tmp_path / "1.html", tmp_path / "2.html"
    for page in (one, two):
        page.write_text("x")
    remember_page(one, "monday")
    remember_page(two, "tuesday")
    remember_page(one, "wednesday")  # written over

    assert remembered_pages() == {"tuesday": two, "wednesday": one}
    one.unlink()
    assert remembered_pages() == {"tuesday": two}


@pytest.mark.parametrize("text", ["", "[]", "{broken", '{"a": 1}', "\udcff"])
def test_notes_that_somebody_else_wrote_are_passed_over(
    tmp_path: Path, opened: list[str], text: str
) -> None:
    JOURNALS.mkdir(parents=True)
    (JOURNALS / "pages.json").write_bytes(text.encode("utf-8", "surrogateescape"))

    assert remembered_pages() == {}
    assert show().exit_code == 2
