import json
import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from harness.cli import parity
from harness.commands import mutants as command
from harness.commands.mutants import MutantsSetup
from harness.experiment.backend import real_backend
from harness.mutants import measurement, measuring
from harness.mutants.journal import MutantJournal
from harness.mutants.mutant import Mutant
from harness.mutants.population import Population
from harness.mutants.source import CODE_ROOT, Source
from tests.harness.detection.stand_ins import write_cassettes
from tests.harness.mutants.crafted import inserted
from tests.harness.mutants.samples import mutants_of

FILE = "runtimes/legacy/translate.py"
CLIENT = "runtimes/legacy/client.py"
FUNCTION = "StreamTranslator.translate"


def crafted(fingerprint: str, statement: str, function: str = FUNCTION) -> Mutant:
    mutant = inserted(FILE, function, statement)
    return Mutant(fingerprint=fingerprint * 12, place=mutant.place, change=mutant.change)


FOUND = crafted("a", "return iter(())")
SURVIVES = crafted("b", "[].clear()")
UNREACHED = crafted("c", "pass", "StreamTranslator._error")


class _Few(Population):
    """A population of a few mutants that are made for a test."""

    mutants_here: Sequence[Mutant] = ()

    @property
    def places(self) -> Any:
        return tuple((each.place, (each,)) for each in self.mutants_here)


def few(mutants: Sequence[Mutant], parts: Sequence[str]) -> Population:
    population = _Few(CODE_ROOT, (FILE, CLIENT))
    object.__setattr__(population, "mutants_here", tuple(mutants))
    return population


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a corpus, in which good runs are made once."""
    folder = tmp_path_factory.mktemp("place")
    write_cassettes(folder / "corpus", "text/a")
    return folder


@pytest.fixture
def corpus(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(place)
    monkeypatch.setenv("PARITY_CACHE_HOME", str(place / "cache"))
    # The table of a measurement before this one may have had the same place.
    monkeypatch.setattr(measuring, "_table", measuring._table.__wrapped__)
    return place / "corpus"


@pytest.fixture
def pair(corpus: Path) -> Iterator[Path]:
    """The corpus with a second cassette like the first."""
    folder = corpus / "text"
    (folder / "b.yaml").write_text((folder / "a.yaml").read_text().replace("text/a", "text/b"))
    yield corpus
    (folder / "b.yaml").unlink()


def invoke(*arguments: object, mutants: Sequence[Mutant] = (FOUND, SURVIVES, UNREACHED)) -> Result:
    setup = MutantsSetup(
        population=partial(few, mutants),
        backend=lambda _: real_backend(None),  # in this process, from which mutants are forked
        clock=lambda: 0.0,
    )
    words = ["mutants", *(str(argument) for argument in arguments)]
    return CliRunner().invoke(parity, words, obj=setup, prog_name="parity")


def flat(result: Result) -> str:
    return " ".join(result.output.split())


def outcomes(file: Path) -> dict[str, str]:
    document = json.loads(file.read_text())
    return {row["fingerprint"][0]: row["outcome"] for row in document["sample"]}


def test_a_sample_says_what_was_found_survived_and_unreached(corpus: Path, tmp_path: Path) -> None:
    file = tmp_path / "out" / "mutants.json"

    result = invoke(corpus, "--sample", 3, "--json", file)

    assert result.exit_code == 1, result.output
    assert outcomes(file) == {"a": "found", "b": "survived", "c": "unreached"}
    document = json.loads(file.read_text())
    assert (document["all"]["found"], document["all"]["tried"]) == (1, 2)
    assert document["unreached"] == 1
    assert "1 of 2 mutants found (50.0%" in flat(result)
    assert "survivors in runtimes/legacy" in result.output
    assert "+        [].clear()" in result.output


def test_runs_in_which_a_mutant_can_make_no_difference_are_not_made(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a first turn the condition holds, whichever part it leaves out."""
    monkeypatch.setattr(measurement, "_FIRST", 0)
    monkeypatch.setattr(measurement, "_WORTH", 0)
    monkeypatch.setattr(measuring, "_probes", measuring._probes.__wrapped__)
    mutants = [
        mutant
        for mutant in mutants_of(Source.read(CODE_ROOT, CODE_ROOT / CLIENT))
        if mutant.place.statement.startswith("if not signal.aborted and state.sequence_model")
        and "condition" in mutant.operator
    ]
    file = tmp_path / "mutants.json"

    result = invoke(corpus, "--sample", len(mutants), "--json", file, mutants=mutants)

    assert result.exit_code == 1, result.output

    rows = json.loads(file.read_text())["sample"]
    assert len(rows) == len(mutants)
    assert "0 of 1 runs that execute it were made" in flat(result)
    assert {row["outcome"] for row in rows} == {"survived", "found"}
    for row in rows:
        assert row["reached"] == 1
        assert row["runs"] == (0 if row["outcome"] == "survived" else 2)


def test_a_mutant_has_no_more_runs_than_are_asked_for(pair: Path, tmp_path: Path) -> None:
    file = tmp_path / "mutants.json"

    invoke(pair, "--most-runs", 1, "--json", file, mutants=[SURVIVES])

    (row,) = json.loads(file.read_text())["sample"]
    assert (row["outcome"], row["runs"], row["reached"]) == ("survived", 1, 2)


def test_a_sample_runs_with_so_many_cassettes_as_are_asked_for(pair: Path, tmp_path: Path) -> None:
    file = tmp_path / "mutants.json"

    invoke(pair, "--cases", 1, "--json", file, mutants=[SURVIVES])

    document = json.loads(file.read_text())
    assert document["cassettes"] == 1
    assert document["sample"][0]["reached"] == 1
    assert len(document["measured"]["components"]["corpus"]) == 64


def test_all_found_is_exit_code_0(corpus: Path) -> None:
    assert invoke(corpus, mutants=[FOUND]).exit_code == 0


def test_nothing_of_the_checkout_is_written(corpus: Path) -> None:
    before = (CODE_ROOT / FILE).read_bytes()

    invoke(corpus, mutants=[FOUND])

    assert (CODE_ROOT / FILE).read_bytes() == before


def test_one_mutant_is_shown_and_run(corpus: Path) -> None:
    found = invoke(corpus, "--mutant", "a" * 12)
    survived = invoke(corpus, "--mutant", "b" * 12)

    assert (found.exit_code, survived.exit_code) == (0, 1)
    assert "+        return iter(())" in found.output
    assert "found; " in found.output
    assert "text/a in legacy" in flat(found)
    assert "survived; 1 of 1 runs made" in flat(survived)


def test_an_unknown_fingerprint_is_refused(corpus: Path) -> None:
    result = invoke(corpus, "--mutant", "0123")

    assert result.exit_code == 2
    assert "there is no mutant '0123'" in result.output


def test_the_list_shows_every_mutant_and_runs_none(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    result = invoke(corpus, "--list")

    assert result.exit_code == 0
    assert len(re.findall(r"^[abc]{12}  drop-statement", result.output, re.MULTILINE)) == 3
    assert "3 mutants at 3 places" in result.output
    assert not (tmp_path / ".parity").exists()


def equivalents(tmp_path: Path, *fingerprints: str) -> Path:
    entries = [
        f'[[equivalent]]\nfingerprint = "{each * 12}"\nplace = "here"\nchange = "this"\n'
        'reason = "what it clears is empty, and is thrown away"\nreader = "B"\n'
        for each in fingerprints
    ]
    file = tmp_path / "equivalent.toml"
    file.write_text("format = 1\n" + "\n".join(entries))
    return file


def test_a_recorded_mutant_is_equivalent_and_not_counted(corpus: Path, tmp_path: Path) -> None:
    file = tmp_path / "mutants.json"
    records = equivalents(tmp_path, "b")

    result = invoke(corpus, "--equivalents", records, "--json", file)

    assert result.exit_code == 0
    assert outcomes(file) == {"a": "found", "b": "equivalent", "c": "unreached"}


def test_the_check_passes_where_every_record_holds(corpus: Path, tmp_path: Path) -> None:
    result = invoke(corpus, "--check", "--equivalents", equivalents(tmp_path, "b"))

    assert result.exit_code == 0
    assert "1 of 1 records of equivalent mutants hold" in flat(result)


def test_the_check_names_records_that_are_stale_or_found(corpus: Path, tmp_path: Path) -> None:
    result = invoke(corpus, "--check", "--equivalents", equivalents(tmp_path, "a", "b", "d"))

    assert result.exit_code == 1
    assert "there is no such mutant any more: dddddddddddd" in flat(result)
    assert "recorded as equivalent, and found by text/a: aaaaaaaaaaaa" in flat(result)
    assert "1 of 3 records" in flat(result)


def test_a_stopped_sample_goes_on_where_it_was(
    corpus: Path, place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = MutantJournal.add
    added: list[str] = []

    def interrupted(self: Any, measured: Any) -> None:
        real(self, measured)
        added.append(measured.fingerprint)
        raise KeyboardInterrupt

    monkeypatch.setattr(MutantJournal, "add", interrupted)
    stopped = invoke(corpus, "--sample", 2)
    monkeypatch.setattr(MutantJournal, "add", real)
    file = tmp_path / "mutants.json"

    resumed = invoke(corpus, "--sample", 2, "--resume", "--json", file)

    assert stopped.exit_code == 130
    assert "interrupted: 1 not run" in flat(stopped)
    assert len(added) == 1
    assert resumed.exit_code == 1
    assert sorted(outcomes(file).values()) == ["found", "survived", "unreached"]
    journals = (place / ".parity" / "mutants").glob("*.jsonl")
    journal = max(journals, key=lambda file: file.stat().st_mtime_ns)
    assert len(journal.read_text().splitlines()) == 3  # the header, and each mutant once


def test_good_runs_are_made_once_for_a_state_of_the_code(
    corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    invoke(corpus, mutants=[FOUND])
    asked: list[Any] = []
    monkeypatch.setattr("harness.mutants.measurement.find_out", asked.append)

    assert invoke(corpus, mutants=[FOUND]).exit_code == 0
    assert asked == []


def test_since_weights_the_files_that_were_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    words: list[tuple[str, ...]] = []

    def git(self: Any, *asked: str, **_: Any) -> str:
        words.append(asked)
        return f"{FILE}\nREADME.md"

    monkeypatch.setattr("harness.triage.checkout.Checkout.git", git)

    assert FILE in command._changed("main")
    assert any(each[0] == "diff" for each in words)
    assert command._changed(None) == frozenset()


def test_since_an_unknown_revision_is_refused(corpus: Path) -> None:
    result = invoke(corpus, "--since", "no-such-revision")

    assert result.exit_code == 2
    assert "no-such-revision" in result.output


LATER = crafted("e", "if getattr(event, 'text', '') == 'Later.': return iter(())")
"""Only a cassette with another answer than those of the corpus shows it."""


@pytest.fixture
def others(corpus: Path, tmp_path: Path) -> Path:
    """A cassette with an answer of its own."""
    folder = tmp_path / "others" / "text"
    folder.mkdir(parents=True)
    text = (corpus / "text" / "a.yaml").read_text().replace("text/a", "text/later")
    (folder / "later.yaml").write_text(text.replace("Hello there.", "Later."))
    return folder.parent


def test_survivors_meet_other_cassettes_and_all_are_counted_again(
    corpus: Path, others: Path, tmp_path: Path
) -> None:
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    every = (FOUND, SURVIVES, UNREACHED, LATER)
    invoke(corpus, "--sample", 3, "--json", first, mutants=every)

    result = invoke(others, "--after", first, "--json", second, mutants=every)

    assert outcomes(first)["e"] == "survived"
    assert outcomes(second) == {"a": "found", "b": "survived", "c": "unreached", "e": "found"}
    assert "2 of 3 mutants found (66.7%" in flat(result)
    document = json.loads(second.read_text())
    assert document["cassettes"] == 1
    assert document["then"] == {"cassettes": 1, "mostRuns": 150}
    (later,) = (row for row in document["sample"] if row["fingerprint"] == LATER.fingerprint)
    assert later["finding"]["case"] == "text/later"
    assert (later["runs"], later["reached"]) == (3, 1)


def test_what_was_recorded_since_is_equivalent(corpus: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    invoke(corpus, "--sample", 2, "--json", first)
    records = equivalents(tmp_path, "b")

    result = invoke(corpus, "--after", first, "--json", second, "--equivalents", records)

    assert result.exit_code == 0
    assert outcomes(second) == {"a": "found", "b": "equivalent", "c": "unreached"}


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("[", "it cannot be read"),
        ("[]", "no sample of mutants of format 1"),
        ('{"mutants": 1, "interrupted": true}', "the sample was interrupted"),
        ('{"mutants": 1, "interrupted": false, "sample": [{}]}', "fingerprint"),
        (
            json.dumps(
                {
                    "mutants": 1,
                    "interrupted": False,
                    "sample": [{"fingerprint": "f", "outcome": "survived"}],
                }
            ),
            "1 of its mutants are not in this code, as f",
        ),
    ],
)
def test_a_file_that_is_no_sample_is_refused(
    corpus: Path, tmp_path: Path, content: str, says: str
) -> None:
    file = tmp_path / "sample.json"
    file.write_text(content)

    result = invoke(corpus, "--after", file)

    assert result.exit_code == 2
    assert says in flat(result)
    assert "parity mutants --json FILE" in flat(result)


@pytest.mark.parametrize("option", [["--sample", "0"], ["--in", "harness"], ["--seed", "-1"]])
def test_wrong_usage_is_exit_code_2(option: list[str]) -> None:
    result = CliRunner().invoke(parity, ["mutants", *option], prog_name="parity")

    assert result.exit_code == 2
    assert "Traceback" not in result.output


def test_the_help_names_the_exit_codes() -> None:
    result = CliRunner().invoke(parity, ["mutants", "--help"], prog_name="parity")

    assert result.exit_code == 0
    assert "130 interrupted" in flat(result)
