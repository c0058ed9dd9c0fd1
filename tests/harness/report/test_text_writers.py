"""What the text writers say of an ordinary report."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness.cli import parity
from harness.coverage.contract import Contract
from harness.parity.waivers import WaiverStatus
from harness.report.annotations import annotations_report
from harness.report.json_report import json_report
from harness.report.summary import summary_report
from tests.harness.report.pages import divergent, equal, report
from tests.harness.report.test_hostile import check_summary, terminal
from tests.harness.samples import BACKEND, write_corpus


def test_cases_that_diverge_alike_are_one_finding_by_the_smallest(tmp_path: Path) -> None:
    names = ("tools/large", "tools/small", "text/middle")
    files = {name: tmp_path / f"{number}.yaml" for number, name in enumerate(names)}
    for name, size in zip(names, (300, 10, 200), strict=True):
        files[name].write_text("x" * size)
    shown = {name: str(file) for name, file in files.items()}

    made = report(*map(divergent, names), equal("text/fine"), files=shown)

    (finding,) = made.findings
    assert finding.case.cassette == "tools/small"
    assert finding.alike == 2
    assert finding.cluster.cases == ("text/middle", "tools/large", "tools/small")
    assert finding.reproduce.startswith(f"parity run {files['tools/small']} --control legacy")
    for text in (terminal(made), summary_report(made), annotations_report(made)):
        assert "tools/small" in text
        assert "2 " in text
        assert finding.reproduce in text
    assert json.loads(json_report(made))["findings"][0]["representative"] == "tools/small"


def test_a_command_names_the_file_as_seen_from_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    case = divergent("a/b")

    inside = report(case, files={"a/b": str(tmp_path / "in" / "a" / "b.yaml")})
    outside = report(case, files={"a/b": "/elsewhere/a/b.yaml"})

    assert inside.reproduce(case).startswith("parity run in/a/b.yaml ")
    assert outside.reproduce(case).startswith("parity run /elsewhere/a/b.yaml ")
    assert "::error file=in/a/b.yaml,line=1,title=" in annotations_report(inside)
    assert "::error title=" in annotations_report(outside)


def test_the_first_screen_says_verdict_counts_behaviours_and_command() -> None:
    cases = [divergent("a/b"), equal("a/c", contract=("P-002", "P-001")), equal("a/d")]
    lines = terminal(report(*cases, contract=Contract())).splitlines()

    assert lines[0].startswith("whose problem: probably runtime: adk")
    assert lines[1] == "divergent: 2 parity, 1 divergent of 3; 2 behaviours touched"
    assert lines[2] == "first divergence: a/b"
    assert any(line.startswith("  reproduce: parity run") for line in lines[:14])
    assert lines[-1] == "divergent: legacy and adk over 3 cases"


def test_a_green_report_is_short_everywhere() -> None:
    green = report(equal("a/b"))

    assert terminal(green).splitlines()[0] == "parity: 1 parity of 1"
    assert annotations_report(green) == ""
    assert summary_report(green).startswith("## ✅ parity: legacy and adk over 1 case\n")
    assert json.loads(json_report(green))["blame"] is None


def test_waivers_are_listed_with_their_days() -> None:
    waivers = (
        WaiverStatus(id="W-1", state="used", count=1, max_count=3, days_left=5),
        WaiverStatus(id="W-2", state="expired", count=2, max_count=3, days_left=-1),
    )
    made = replace(report(equal("a/b")), waivers=waivers)

    assert "| `W-1` | used | 1 of 3 | 5 |" in summary_report(made)
    assert "::warning title=parity%3A waivers::waiver W-2: expired, 2 of 3" in annotations_report(
        made
    )
    assert "W-1 expires in 5 days" in annotations_report(made)
    assert [waiver["daysLeft"] for waiver in json.loads(json_report(made))["waivers"]] == [5, -1]


def test_more_findings_than_github_shows_are_counted() -> None:
    cases = []
    for number in range(25):
        case = divergent(f"tools/c{number}")
        found = [replace(each, label=f"label {chr(97 + number)}") for each in case.divergences]
        cases.append(replace(case, divergences=tuple(found)))
    made = report(*cases)

    lines = annotations_report(made).splitlines()
    text = summary_report(made)

    assert len(made.findings) == 25
    assert [line.partition(" ")[0] for line in lines] == ["::error"] * 10
    assert lines[-1].endswith("::and 16 more; see the summary of this step")
    assert len(re.findall(r"^### \d+\. ", text, re.MULTILINE)) == 20
    assert "… and 5 more kinds of divergence." in text
    check_summary(text)


def _run(corpus: Path, *options: object) -> Result:
    words = ["run", str(corpus), *map(str, options)]
    return CliRunner().invoke(parity, words, obj=BACKEND, prog_name="parity")


def test_github_gets_annotations_and_a_summary_that_is_added_to_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    corpus = write_corpus(Path("in"), a__1="plain", b__2="loses usage")
    step = tmp_path / "step.md"
    step.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(step))

    result = _run(corpus, "--github", "--summary", "comment.md")

    commands = [line for line in result.stdout.splitlines() if line.startswith("::")]
    assert result.exit_code == 1
    assert len(commands) == 1
    assert commands[0].startswith("::error file=in/b/2.yaml,line=1,title=parity%3A b/2 diverges::")
    comment = (tmp_path / "comment.md").read_text()
    assert step.read_text() == f"before\n{comment}"
    assert comment.startswith("## ❌ divergent: legacy and adk over 2 cases\n")


def test_without_a_step_there_are_annotations_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    corpus = write_corpus(tmp_path / "in", b__2="loses usage")

    result = _run(corpus, "--github")

    assert result.exit_code == 1
    assert result.stdout.startswith("::error ")


def test_a_step_summary_that_cannot_be_written_is_reported_before_anything_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "file" / "step.md"))

    result = _run(write_corpus(tmp_path / "in", a__1="plain"), "--github")

    assert result.exit_code == 2
    assert "GITHUB_STEP_SUMMARY" in result.stderr
    assert "over 1 case" not in result.output
