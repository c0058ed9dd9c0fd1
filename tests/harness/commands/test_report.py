import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner, Result

from harness.cli import parity
from harness.report.journal import Journal, read_journal
from tests.harness.samples import BACKEND, write_corpus

REPOSITORY = Path(__file__).parents[3]


def invoke(*arguments: object) -> Result:
    words = [str(argument) for argument in arguments]
    return CliRunner().invoke(parity, words, obj=BACKEND, prog_name="parity")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder without journals of earlier runs; the corpus is below it."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write_corpus(tmp_path / "corpus", a__1="plain", a__2="loses usage", b__1="plain")


def run(corpus: Path, journal: Path, *more: object) -> Result:
    return invoke("run", corpus, "--journal", journal, *more)


def without_heads(text: str) -> str:
    """What both say of the run, without where it was read from and written to."""
    heads = ("journal: ", "written: ", "corpus: ")
    return "\n".join(line for line in text.splitlines() if not line.startswith(heads))


def test_a_journal_is_reported_as_its_run_was(corpus: Path, elsewhere: Path) -> None:
    ran = run(corpus, elsewhere / "run.jsonl", "--no-keep")

    reported = invoke("report", "--journal", "run.jsonl")

    assert reported.exit_code == ran.exit_code == 1
    assert without_heads(reported.output) == without_heads(ran.output)
    assert "first divergence: a/2" in reported.output


def test_a_terminal_that_lacks_a_sign_gets_another(corpus: Path, elsewhere: Path) -> None:
    run(corpus, elsewhere / "run.jsonl")
    done = subprocess.run(
        [sys.executable, "-m", "harness.cli", "report", "--journal", "run.jsonl"],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (1, "")
    assert "a           2       1          1             ?" in done.stdout


def test_every_writer_can_be_asked_for(corpus: Path, elsewhere: Path) -> None:
    run(corpus, elsewhere / "run.jsonl")

    reported = invoke(
        *("report", "--journal", "run.jsonl", "--json", "r.json", "--junit", "r.xml"),
        *("--html", "page", "--summary", "r.md"),
    )

    assert reported.exit_code == 1, reported.output
    assert json.loads((elsewhere / "r.json").read_text())["verdict"] == "divergent"
    assert ET.parse(elsewhere / "r.xml").getroot().tag == "testsuites"
    assert "a/2" in (elsewhere / "r.md").read_text()
    assert "a/2" in (elsewhere / "page" / "index.html").read_text()


def test_the_last_run_is_reported_where_none_is_named(corpus: Path) -> None:
    invoke("run", corpus, "-k", "a", "--keep")
    invoke("run", corpus, "-k", "b", "--keep")

    reported = invoke("report")

    assert reported.exit_code == 0
    assert "parity: legacy and adk over 1 case" in reported.output


def test_a_killed_run_is_reported_as_far_as_it_got(corpus: Path, elsewhere: Path) -> None:
    journal = elsewhere / "run.jsonl"
    run(corpus, journal)
    lines = journal.read_text().splitlines(keepends=True)
    first = next(at for at, line in enumerate(lines) if line.startswith('{"finished"'))
    journal.write_text("".join([*lines[: first + 2], '{"finished": "a']))

    reported = invoke("report", "--journal", journal)

    assert reported.exit_code == 3
    assert (
        "did not finish, its last line is incomplete: 2 of 3 cases have no result"
        in reported.output
    )
    assert "in flight: a/2" in reported.output
    assert reported.output.splitlines()[-1].endswith("(1 of 3 judged, partial report)")


def test_the_changes_since_the_last_green_run_are_shown(corpus: Path, elsewhere: Path) -> None:
    cassette = corpus / "a" / "2.yaml"
    cassette.write_text("plain")
    run(corpus, elsewhere / "green.jsonl", "--no-keep")
    cassette.write_text("loses usage")
    run(corpus, elsewhere / "red.jsonl", "--no-keep")

    reported = invoke("report", "--journal", "red.jsonl", "--since", "green.jsonl")

    assert "last green (green.jsonl, " in reported.output
    assert "  corpus: a/2 changed" in reported.output
    assert "whose problem: probably cassette: 1 case diverges" in reported.output


def test_a_folder_with_one_journal_stands_for_it(corpus: Path, elsewhere: Path) -> None:
    folder = elsewhere / "parity-report"
    folder.mkdir()
    (folder / "other.jsonl").write_text('{"generation": 1}\n')
    run(corpus, folder / "journal.jsonl")

    assert invoke("report", "--journal", folder).exit_code == 1
    run(corpus, folder / "second.jsonl")
    several = invoke("report", "--journal", folder)
    assert several.exit_code == 2
    assert "contains 2 journals: journal.jsonl, second.jsonl; name one" in several.output


def test_waivers_are_applied_as_they_are_now(corpus: Path, elsewhere: Path) -> None:
    run(corpus, elsewhere / "run.jsonl")
    common = 'impact = "i"\nreason = "r"\nowner = "adk"\nexpires = 2099-12-31\nmax_count = 9\n'
    waivers = elsewhere / "waivers.toml"
    waivers.write_text(
        "format = 1\n"
        '[[waiver]]\nid = "W1"\nscenario = "a/*"\nchannel = "events"\npath = ""\n'
        f'control = "re:.*usage.*"\ncandidate = "<absent>"\n{common}'
        '[[waiver]]\nid = "W2"\nscenario = "a/*"\nchannel = "cost"\npath = "tokens.*"\n'
        f'control = "re:.*"\ncandidate = 0\n{common}'
    )

    reported = invoke("report", "--journal", "run.jsonl", "--waivers", waivers)

    assert reported.exit_code == 0, reported.output
    assert "the waivers changed since the run" in reported.output


def test_a_case_is_shown_with_the_file_it_came_from_while_that_is_there(
    corpus: Path, elsewhere: Path
) -> None:
    run(corpus.relative_to(elsewhere), elsewhere / "run.jsonl")
    there = invoke("report", "--journal", "run.jsonl")
    corpus.rename(corpus.with_name("moved"))
    gone = invoke("report", "--journal", "run.jsonl")

    assert "reproduce: parity run corpus/a/2.yaml " in there.output
    assert "reproduce: parity run -k a/2 " in gone.output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "no journal in .parity/journals; run `parity run` first"),
        (["--journal", "gone"], "gone cannot be read"),
        (["--journal", "."], "contains no journal of a run"),
        (["--journal", "odd.jsonl"], "is not the header of a journal"),
        (["--journal", "empty.jsonl"], "has no header"),
        (["--journal", "odd.jsonl", "--json", "odd.jsonl/x"], "cannot be written"),
    ],
)
def test_what_is_no_journal_is_a_clear_error(
    elsewhere: Path, words: list[str], message: str
) -> None:
    (elsewhere / "odd.jsonl").write_text('{"journal": 2, "control": 3}\n')
    (elsewhere / "empty.jsonl").touch()

    reported = invoke("report", *words)

    assert reported.exit_code == 2
    assert message in reported.output
    assert "Traceback" not in reported.output


def test_a_journal_whose_header_lacks_a_component_is_no_traceback(
    corpus: Path, elsewhere: Path
) -> None:
    journal = elsewhere / "run.jsonl"
    run(corpus, journal)
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    del lines[0]["components"]["harness"], lines[1]["inventory"]["harness"]
    journal.write_text("".join(json.dumps(line) + "\n" for line in lines))

    reported = invoke("report", "--journal", journal)

    assert reported.exception is None or isinstance(reported.exception, SystemExit)
    assert "Traceback" not in reported.output


def test_a_merged_run_shows_what_changed_and_is_kept_itself(corpus: Path, elsewhere: Path) -> None:
    cassette = corpus / "a" / "2.yaml"
    for text, name in (("plain", "green"), ("loses usage", "red")):
        cassette.write_text(text)
        run(corpus, elsewhere / f"{name}.jsonl", "--no-keep")
        journal = elsewhere / f"{name}.jsonl"
        days = {"green": "2026-03-01", "red": "2026-03-02"}
        head, rest = journal.read_text().split("\n", 1)
        facts = {**json.loads(head), "started_at": f"{days[name]}T06:00:00+00:00"}
        journal.write_text(f"{json.dumps(facts)}\n{rest}")

    green = invoke("merge", "green.jsonl", "--journal", "whole-1.jsonl", "--keep")
    red = invoke("merge", "red.jsonl", "--journal", "whole-2.jsonl", "--keep")

    assert green.exit_code == 0, green.output
    assert "last green (20260301T060000Z-1.jsonl, 2026-03-01 06:00 UTC)" in red.output
    assert "corpus: a/2 changed" in red.output
    kept = (elsewhere / ".parity/journals").glob("*.jsonl")
    assert sorted(path.name[:8] for path in kept) == ["20260301", "20260302"]


def test_recorded_traffic_that_calls_itself_otherwise_is_merged_and_read_back(
    corpus: Path, elsewhere: Path
) -> None:
    run(corpus, elsewhere / "run.jsonl")
    before = read_journal(elsewhere / "run.jsonl")
    result = replace(before.finished["b/1"], cassette="http/b/1")
    with Journal(elsewhere / "odd.jsonl", before.header, before.inventory) as journal:
        journal.outcome("b/1", result)

    merged = invoke("merge", "odd.jsonl", "--journal", "whole.jsonl", "--no-keep")

    assert merged.exit_code == 3
    assert read_journal(elsewhere / "whole.jsonl").finished == {"b/1": result}


def test_a_merged_journal_that_began_at_no_time_is_not_kept(corpus: Path, elsewhere: Path) -> None:
    run(corpus, elsewhere / "run.jsonl", "--no-keep")
    head, rest = (elsewhere / "run.jsonl").read_text().split("\n", 1)
    facts = {**json.loads(head), "started_at": "\x1b[2J soon"}
    (elsewhere / "run.jsonl").write_text(f"{json.dumps(facts)}\n{rest}")

    merged = invoke("merge", "run.jsonl", "--journal", "whole.jsonl", "--keep")

    assert merged.exit_code == 1
    assert "\x1b" not in merged.output
    assert not (elsewhere / ".parity").exists()
