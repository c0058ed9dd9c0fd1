import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner, Result

from harness.cli import parity
from harness.experiment.events import Event, RunStarted
from harness.report.journal import read_journal
from harness.report.progress import CaseProgress
from tests.harness.samples import BACKEND, write_corpus

REPOSITORY = Path(__file__).parents[3]


def invoke(*arguments: object) -> Result:
    words = [str(argument) for argument in arguments]
    return CliRunner().invoke(parity, words, obj=BACKEND, prog_name="parity")


@pytest.mark.parametrize(
    ("cases", "code"),
    [
        ({"a__1": "plain"}, 0),
        ({"a__1": "plain", "a__2": "loses usage"}, 1),
        ({"a__1": "plain", "a__2": "crashes"}, 3),
        ({"a__1": "loses usage", "a__2": "crashes"}, 1),
        ({"a__1": "plain", "a__2": "broken"}, 2),
        ({"a__1": "loses usage", "a__2": "broken", "a__3": "crashes"}, 2),
        ({"a__1": "crashes", "a__2": "broken"}, 2),
        ({"a__1": "broken"}, 2),
    ],
)
def test_the_exit_code_is_the_worst_of_two_one_three(
    tmp_path: Path, cases: dict[str, str], code: int
) -> None:
    assert invoke("run", write_corpus(tmp_path, **cases)).exit_code == code


def test_a_file_that_cannot_be_loaded_does_not_stop_the_others(tmp_path: Path) -> None:
    result = invoke("run", write_corpus(tmp_path, a__1="broken", b__2="loses usage"))

    assert "not loaded: " in result.output
    assert "model: is wrong; mend it" in result.output
    assert "first divergence: b/2" in result.output


def test_the_report_names_cassette_channel_field_and_command(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "my corpus", a__1="plain", b__2="loses usage")
    result = invoke("run", corpus, "--trust")

    assert "first divergence: b/2" in result.output
    assert "events[4] usage (missing)" in result.output
    assert "legacy emitted the" in result.output
    file = corpus / "b" / "2.yaml"
    assert f"parity run '{file}' --control legacy --candidate adk --trust" in result.output
    assert result.output.splitlines()[-1].startswith("divergent: legacy and adk over 2 cases")


def test_a_waiver_is_applied_in_the_verdict(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "corpus", b__2="loses usage")
    waivers = tmp_path / "waivers.toml"
    common = 'impact = "i"\nreason = "r"\nowner = "adk"\nexpires = 2026-12-31\nmax_count = 9\n'
    waivers.write_text(
        "format = 1\n"
        '[[waiver]]\nid = "W1"\nscenario = "b/*"\nchannel = "events"\npath = ""\n'
        f'control = "re:.*usage.*"\ncandidate = "<absent>"\n{common}'
        '[[waiver]]\nid = "W2"\nscenario = "b/*"\nchannel = "cost"\npath = "tokens.*"\n'
        f'control = "re:.*"\ncandidate = 0\n{common}'
    )

    in_time = invoke("run", corpus, "--waivers", waivers, "--as-of", "2026-12-31")
    too_late = invoke("run", corpus, "--waivers", waivers, "--as-of", "2027-01-01")

    assert in_time.exit_code == 0
    assert too_late.exit_code == 1
    assert "waiver W1: expired" in too_late.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["{corpus}", "--candidate", "adq"], "unknown runtime 'adq'; known: adk, legacy"),
        (["{corpus}", "--control", ""], "unknown runtime ''"),
        (["{empty}"], "holds no cassettes"),
        (["{gone}"], "does not exist"),
        (["{corpus}", "-k", "nothing-like-it"], "no cassette fits -k 'nothing-like-it'"),
        (["{corpus}", "-k", "a and"], "a word is missing"),
        (["{corpus}", "--phase", "C"], "no cassette is of phase C"),
        (["{corpus}", "--json", "{corpus}/a/1.yaml/x.json"], "cannot be written"),
        (["{corpus}", "--junit", "{corpus}/a/1.yaml/x.xml"], "cannot be written"),
        (["{corpus}", "--html", "{corpus}/a/1.yaml/html"], "cannot be written"),
        (["{corpus}", "--journal", "{corpus}/a/1.yaml/j"], "cannot be written"),
        (["{corpus}", "--json", "-"], "the terminal's report goes there"),
        (["{corpus}", "--resume"], "name it with --journal"),
        (["{corpus}", "--waivers", "{gone}"], "cannot be read"),
        (["{corpus}", "-n", "-1"], "Invalid value"),
    ],
)
def test_wrong_usage_is_one_clear_message_before_anything_runs(
    tmp_path: Path, arguments: list[str], words: str
) -> None:
    places = {
        "corpus": write_corpus(tmp_path / "corpus", a__1="plain"),
        "empty": tmp_path / "empty",
        "gone": tmp_path / "gone",
    }
    places["empty"].mkdir()

    result = invoke("run", *(argument.format(**places) for argument in arguments))

    assert result.exit_code == 2
    assert words in result.output
    assert "Traceback" not in result.output
    assert "parity: legacy and adk" not in result.output


def test_two_cassettes_of_one_name_are_not_mixed_up(tmp_path: Path) -> None:
    one = write_corpus(tmp_path / "one", a__1="plain")
    other = write_corpus(tmp_path / "other", a__1="plain")

    result = invoke("run", one, other)

    assert result.exit_code == 2
    assert "two cassettes have the name 'a/1'" in result.output


def test_an_unwritable_report_folder_is_found_before_the_run(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "corpus", a__1="interrupts")

    assert invoke("run", corpus, "--html", corpus / "a" / "1.yaml" / "x").exit_code == 2


def test_reports_are_written_where_asked(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "corpus", a__1="plain", a__2="loses usage")
    out = tmp_path / "deep" / "out"

    result = invoke(
        "run", corpus, "--json", out / "r.json", "--junit", out / "r.xml", "--html", out / "html"
    )

    written = result.output.splitlines()[-1]
    assert written == f"written: {out / 'html' / 'index.html'}, {out / 'r.json'}, {out / 'r.xml'}"

    document = json.loads((out / "r.json").read_text())
    assert [case["cassette"] for case in document["cases"]] == ["a/1", "a/2"]
    assert document["versions"]["code"]
    assert ET.parse(out / "r.xml").getroot().find(".//failure") is not None
    assert "a/2" in (out / "html" / "index.html").read_text()


def test_two_workers_write_the_report_that_one_writes(tmp_path: Path) -> None:
    cases = {f"a__{n}": "loses usage" if n % 3 else "plain" for n in range(7)}
    corpus = write_corpus(tmp_path / "corpus", **cases)
    invoke("run", corpus, "--json", tmp_path / "1.json")
    invoke("run", corpus, "--json", tmp_path / "2.json", "-n", "2")

    assert (tmp_path / "1.json").read_bytes() == (tmp_path / "2.json").read_bytes()


def test_the_corpus_is_named_when_nothing_else_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_corpus(tmp_path / "cassettes", a__1="plain")
    monkeypatch.chdir(tmp_path)

    result = invoke("run")

    assert result.exit_code == 0
    assert "corpus: cassettes" in result.output


def test_a_strangers_cassette_that_starts_processes_is_not_run(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path, a__1="shell")

    assert invoke("run", corpus).exit_code == 3
    assert "give --trust" in invoke("run", corpus).output
    assert invoke("run", corpus, "--trust").exit_code == 0


def test_unsettled_findings_of_the_api_name_the_command_that_settles_them(
    tmp_path: Path,
) -> None:
    corpus = write_corpus(tmp_path / "in", a__1="is objected to")

    result = invoke("run", corpus, "-v")

    assert result.exit_code == 0
    assert "not known whether the published core sends the same requests: call-unanswered 1" in (
        result.output
    )
    assert f"`parity baseline {corpus}/a/1.yaml --runtime upstream --out baselines/upstream`" in (
        result.output
    )


def test_a_resumed_run_does_only_what_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    totals: list[int | None] = []

    class Counted(CaseProgress):
        def __call__(self, event: Event[Any, Any]) -> None:
            if isinstance(event, RunStarted):
                totals.append(event.total)
            super().__call__(event)

    monkeypatch.setattr("harness.commands.run.CaseProgress", Counted)
    corpus = write_corpus(tmp_path / "corpus", a__1="plain", a__2="loses usage", a__3="plain")
    journal = tmp_path / "run.jsonl"
    first = invoke("run", corpus, "--journal", journal)
    lines = journal.read_text().splitlines(keepends=True)
    # Header, inventory, three lines of a/1, then a/2 up to the middle of its result.
    journal.write_text("".join(lines[:8])[:-20])

    again = invoke("run", corpus, "--journal", journal, "--resume")

    assert again.exit_code == first.exit_code == 1
    assert again.output == first.output
    assert totals == [3, 2]
    started = [json.loads(line).get("started") for line in journal.read_text().splitlines()]
    assert started.count("a/1") == 1
    assert started.count("a/2") == 2
    assert read_journal(journal).ended


def test_a_resumed_run_with_another_candidate_is_refused(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "corpus", a__1="plain")
    invoke("run", corpus, "--journal", tmp_path / "j")

    result = invoke("run", corpus, "--journal", tmp_path / "j", "--resume", "--candidate", "legacy")

    assert result.exit_code == 2
    assert "candidate was 'adk' and is 'legacy'" in result.output


def test_a_resumed_run_with_other_baselines_of_the_core_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    corpus = write_corpus(tmp_path / "in", a__1="plain")
    invoke("run", corpus, "--journal", tmp_path / "j")
    kept = tmp_path / "baselines" / "upstream" / "a" / "1.json"
    kept.parent.mkdir(parents=True)
    kept.write_text("{}")

    result = invoke("run", corpus, "--journal", tmp_path / "j", "--resume")

    assert result.exit_code == 2
    assert "baselines: a/1.json new" in result.output


def test_a_resumed_run_over_changed_cassettes_is_refused(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "corpus", a__1="plain")
    invoke("run", corpus, "--journal", tmp_path / "j")
    write_corpus(corpus, a__1="plain, but other")

    result = invoke("run", corpus, "--journal", tmp_path / "j", "--resume")

    assert result.exit_code == 2
    assert "corpus: a/1 changed" in result.output


def test_a_resumed_run_remembers_what_could_not_be_loaded_and_what_was_skipped(
    tmp_path: Path,
) -> None:
    corpus = write_corpus(tmp_path / "corpus", a__1="broken", a__2="phase B", a__3="plain")
    journal = tmp_path / "j"
    words = ("run", corpus, "--journal", journal, "--phase", "A")
    first = invoke(*words)

    again = invoke(*words, "--resume")

    assert again.exit_code == first.exit_code == 2
    assert again.output == first.output
    record = read_journal(journal)
    assert (set(record.problems), record.skipped) == ({"a/1"}, frozenset({"a/2"}))
    assert journal.read_text().count('"started"') == 3


def test_the_header_says_how_the_run_was_asked_for(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "corpus", a__1="plain")
    invoke("run", corpus, "--journal", tmp_path / "j", "-k", "a", "--as-of", "2026-03-04")

    header = read_journal(tmp_path / "j").header

    assert (header.paths, header.expr, header.as_of) == ((str(corpus),), "a", "2026-03-04")
    assert re.fullmatch(r"2[\dT:-]+\.\d{3}\+00:00", header.started_at)
    assert len(header.revision) in (0, 40)  # none in an unpacked source archive


def test_paths_below_this_folder_are_shown_relative_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = write_corpus(tmp_path / "here" / "corpus", a__1="plain")
    elsewhere = write_corpus(tmp_path / "elsewhere", b__1="plain")
    monkeypatch.chdir(tmp_path / "here")

    invoke("run", corpus, elsewhere, "--journal", "j")

    assert read_journal(Path("j")).header.paths == ("corpus", str(elsewhere))


def test_an_interrupt_leaves_a_journal_and_a_partial_report(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "corpus", a__1="plain", a__2="interrupts", a__3="plain")

    result = invoke("run", corpus, "--journal", tmp_path / "j", "--json", tmp_path / "r.json")

    assert result.exit_code == 130
    assert "interrupted: 1 of 3 judged, partial report" in result.output
    document = json.loads((tmp_path / "r.json").read_text())
    assert (document["partial"], document["interrupted"]) == (True, True)
    record = read_journal(tmp_path / "j")
    assert list(record.finished) == ["a/1"]
    assert record.in_flight == ("a/2",)
    assert not record.ended


@contextmanager
def waiting_run(folder: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """A run with two workers; one waits. The process, and the place where it waits."""
    meeting = folder / "meeting"
    os.mkfifo(meeting)
    corpus = write_corpus(folder / "corpus", a__1="plain", a__2=f"waits at {meeting}")
    script = (
        "from harness.cli import parity\n"
        "from tests.harness.samples import BACKEND\n"
        "if __name__ == '__main__':\n"
        "    parity(obj=BACKEND)\n"
    )
    (folder / "start.py").write_text(script)
    command: list[str | Path] = [sys.executable, folder / "start.py", "run", corpus, "-n", "2"]
    with subprocess.Popen(
        [*command, "--journal", folder / "j"],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        assert meeting.read_text() == "waiting"
        yield process, meeting


def test_ctrl_c_ends_the_workers_and_what_they_do(tmp_path: Path) -> None:
    with waiting_run(tmp_path) as (process, meeting):
        os.killpg(process.pid, signal.SIGINT)
        output, errors = process.communicate()

    assert process.returncode == 130, errors
    assert "partial report" in output
    assert "Traceback" not in errors
    assert meeting.with_suffix(".unwound").exists()
    assert "a/2" in read_journal(tmp_path / "j").in_flight


@pytest.mark.parametrize("everybody", [False, True])
@pytest.mark.slow
def test_a_termination_ends_the_workers_and_what_they_do(tmp_path: Path, everybody: bool) -> None:
    with waiting_run(tmp_path) as (process, meeting):
        (os.killpg if everybody else os.kill)(process.pid, signal.SIGTERM)
        # Ends only when no worker holds the pipes any more.
        _, errors = process.communicate()

    assert process.returncode == 143, errors
    assert "Traceback" not in errors
    assert meeting.with_suffix(".unwound").exists()


@pytest.mark.slow
def test_workers_end_with_a_parent_that_is_killed(tmp_path: Path) -> None:
    with waiting_run(tmp_path) as (process, _):
        process.kill()
        process.communicate()

    assert process.returncode == -signal.SIGKILL


def test_repeating_finds_a_flaky_candidate(tmp_path: Path) -> None:
    result = invoke("run", write_corpus(tmp_path, a__1="plain"), "--repeat", "2")

    assert result.exit_code == 0


def test_cassettes_that_a_run_did_not_choose_are_not_reported_as_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moments = (datetime(2026, 3, 1, 12, 0, second, tzinfo=UTC) for second in count())
    clock = SimpleNamespace(now=lambda _: next(moments))
    monkeypatch.setattr("harness.commands.run.datetime", clock)
    monkeypatch.chdir(tmp_path)
    corpus = write_corpus(tmp_path / "cassettes", a__1="plain", a__2="plain")
    assert invoke("run", "--keep").exit_code == 0
    write_corpus(corpus, a__2="loses usage")

    found = invoke("run", "-k", "a/2", "--keep")
    again = invoke("run", "--last-failed", "--keep")

    assert (found.exit_code, again.exit_code) == (1, 1)
    assert "corpus: a/2 changed" in found.output
    assert "gone" not in found.output
    journals = sorted((tmp_path / ".parity" / "journals").glob("*.jsonl"))
    assert read_journal(journals[-1]).header.expr == "a/2"


@pytest.mark.parametrize("side", ["upstream", "terminal:upstream"])
def test_the_published_core_is_not_shown_by_our_surfaces(side: str) -> None:
    result = invoke("run", "text/text", "--surface", "terminal", "--control", side)

    assert result.exit_code == 2
    assert "does not run behind our surfaces" in result.output


def test_a_baseline_has_no_screens(tmp_path: Path) -> None:
    result = invoke(
        "run", "text/text", "--surface", "terminal", "--control", f"baseline:{tmp_path}"
    )

    assert result.exit_code == 2
    assert "was not observed through the terminal" in result.output
