"""`parity run`: `-x`, `--maxfail`, and how long cases take."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner, Result

from harness.cli import parity
from harness.report.journal import read_journal
from tests.harness.samples import BACKEND, write_corpus

WAIVER = """\
format = 1
[[waiver]]
id = "W1"
scenario = "a/*"
channel = "events"
path = ""
control = "re:.*usage.*"
candidate = "<absent>"
impact = "i"
reason = "r"
owner = "adk"
expires = 2026-12-31
max_count = {count}
[[waiver]]
id = "W2"
scenario = "a/*"
channel = "cost"
path = "tokens.*"
control = "re:.*"
candidate = 0
impact = "i"
reason = "r"
owner = "adk"
expires = 2026-12-31
max_count = 99
"""


def invoke(*arguments: object) -> Result:
    words = [str(argument) for argument in arguments]
    return CliRunner().invoke(parity, words, obj=BACKEND, prog_name="parity")


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    cases = {f"a__{n}": "loses usage" if n % 3 == 2 else "plain" for n in range(1, 10)}
    return write_corpus(tmp_path / "corpus", **cases)


def finished(journal: Path) -> list[str]:
    return sorted(read_journal(journal).finished)


@pytest.mark.parametrize(
    ("option", "last", "left"),
    [
        (["-x"], "a/2", "7 cases (a/3, a/4, a/5, a/6, a/7, …)"),
        (["--maxfail", "2"], "a/5", "4 cases (a/6, a/7, a/8, a/9)"),
        (["-x", "--maxfail", "3"], "a/2", "7 cases"),
    ],
)
def test_a_run_stops_after_so_many_divergent_cases(
    corpus: Path, tmp_path: Path, option: list[str], last: str, left: str
) -> None:
    journal = tmp_path / "run.jsonl"

    result = invoke("run", corpus, *option, "--journal", journal)

    assert result.exit_code == 1
    assert finished(journal)[-1] == last
    assert not read_journal(journal).ended
    assert f"not run: {left}" in result.stdout
    assert f"to continue: the same command with --journal {journal} --resume" in result.stdout
    assert re.search(r"stopped after \d divergent: \d of 9 judged, partial", result.stdout)


def test_resuming_runs_the_rest(corpus: Path, tmp_path: Path) -> None:
    journal = tmp_path / "run.jsonl"
    invoke("run", corpus, "-x", "--journal", journal)

    again = invoke("run", corpus, "-x", "--journal", journal, "--resume")
    rest = invoke("run", corpus, "--journal", journal, "--resume")

    assert "not run: 4 cases" in again.stdout
    assert rest.exit_code == 1
    assert "not run" not in rest.stdout
    assert finished(journal) == [f"a/{n}" for n in range(1, 10)]
    assert read_journal(journal).ended
    started = [json.loads(line).get("started") for line in journal.read_text().splitlines()]
    assert started.count("a/2") == 1


@pytest.mark.slow
def test_it_stops_with_several_workers_too(corpus: Path, tmp_path: Path) -> None:
    journal = tmp_path / "run.jsonl"

    result = invoke("run", corpus, "-x", "-n", 2, "--journal", journal)

    assert result.exit_code == 1
    assert "stopped after 1 divergent" in result.stdout
    assert not read_journal(journal).ended
    assert invoke("run", corpus, "-n", 2, "--journal", journal, "--resume").exit_code == 1
    assert finished(journal) == [f"a/{n}" for n in range(1, 10)]


@pytest.mark.parametrize(("count", "code", "judged"), [(99, 0, 9), (2, 1, 8)])
def test_what_waivers_cover_stops_nothing(
    corpus: Path, tmp_path: Path, count: int, code: int, judged: int
) -> None:
    waivers = tmp_path / "waivers.toml"
    waivers.write_text(WAIVER.format(count=count))
    journal = tmp_path / "run.jsonl"

    result = invoke(
        "run", corpus, "-x", "--journal", journal, "--waivers", waivers, "--as-of", "2026-01-01"
    )

    assert result.exit_code == code, result.output
    assert len(finished(journal)) == judged


def test_a_run_that_stops_at_its_last_case_lacks_nothing(tmp_path: Path) -> None:
    result = invoke("run", write_corpus(tmp_path / "in", a__1="plain", a__2="loses usage"), "-x")

    assert result.exit_code == 1
    assert "partial" not in result.stdout


def test_durations_are_listed_where_that_is_asked_for(corpus: Path, tmp_path: Path) -> None:
    places = ["--json", tmp_path / "r.json", "--junit", tmp_path / "r.xml"]
    journal = tmp_path / "run.jsonl"

    asked = invoke("run", corpus, "--durations", 2, "--journal", journal, *places)
    report = invoke("report", "--journal", journal, "--durations", 3)
    plain = invoke("report", "--journal", journal, "--json", tmp_path / "plain.json")

    lines = asked.stdout.splitlines()
    at = next(n for n, line in enumerate(lines) if line.startswith("slowest 2 of 9 cases, "))
    took = read_journal(journal).took_ms
    assert [line.split()[2] for line in lines[at + 1 : at + 3]] == sorted(
        took, key=lambda name: (-took[name], name)
    )[:2]
    assert "slowest 3 of 9 cases" in report.stdout
    assert "slowest" not in plain.stdout
    assert set(json.loads((tmp_path / "r.json").read_text())["tookMs"]) == set(took)
    assert "tookMs" not in json.loads((tmp_path / "plain.json").read_text())


def test_junit_says_how_long_each_case_took(corpus: Path, tmp_path: Path) -> None:
    journal = tmp_path / "run.jsonl"
    invoke("run", corpus, "--journal", journal, "--junit", tmp_path / "r.xml")

    (suite,) = ET.parse(tmp_path / "r.xml").getroot()
    took = read_journal(journal).took_ms
    # The journal keeps tenths of a millisecond.
    assert float(suite[0].attrib["time"]) == pytest.approx(took["a/1"] / 1000, abs=0.001)
    assert float(suite.attrib["time"]) == pytest.approx(sum(took.values()) / 1000, abs=0.01)
