import json
import re
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from harness.cassette.find import find_cassettes
from harness.cli import parity
from harness.commands.faults import FaultsSetup
from harness.config import current_inventory, default_waivers
from harness.faults.catalogue import CatalogueAt
from harness.gate.evidence import read_evidence
from tests.harness.detection import stand_ins
from tests.harness.detection.stand_ins import CATALOGUE, write_cassettes

ODD = CatalogueAt(f"{stand_ins.__name__}:odd_catalogue")
SERVICES = CatalogueAt(f"{stand_ins.__name__}:service_catalogue")


def clock(step: float) -> Iterator[float]:
    return count(0.0, step)


def invoke(
    *arguments: object, catalogue: CatalogueAt = CATALOGUE, seconds_per_look: float = 1.0
) -> Result:
    ticks = clock(seconds_per_look)
    setup = FaultsSetup(catalogue=catalogue, clock=lambda: next(ticks), core=False)
    words = ["faults", *(str(argument) for argument in arguments)]
    return CliRunner().invoke(parity, words, obj=setup, prog_name="parity")


def only(*names: str) -> list[str]:
    return [word for name in names for word in ("--fault", name)]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write_cassettes(tmp_path / "corpus", "text/a", "tools/b")


def rows(file: Path) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in json.loads(file.read_text())["faults"]}


def test_the_matrix_distinguishes_killed_survived_and_unobservable(
    corpus: Path, tmp_path: Path
) -> None:
    file = tmp_path / "out" / "kills.json"

    result = invoke(corpus, "--corpus-only", "--json", file)

    assert result.exit_code == 1
    found = rows(file)
    assert {name: row["outcome"] for name, row in found.items()} == {
        "usage-lost": "killed",
        "translator-raises": "killed",
        "harmless": "survived",
        "dead": "survived",
        "cannot-show": "unobservable",
        "can-show-after-all": "killed",
        "usage-lost-later": "killed",
    }
    lost = found["usage-lost"]
    assert {key: lost[key] for key in ("name", "site", "class", "generated", "outcome")} == {
        "name": "usage-lost",
        "site": "legacy",
        "class": "answers",
        "generated": "not run",
        "outcome": "killed",
    }
    assert lost["corpus"]["cassette"] == "text/a"
    assert lost["corpus"]["channel"] == "events"
    assert lost["kind"] == "channel"
    assert found["translator-raises"]["kind"] == "crash"
    assert found["harmless"]["corpus"] is None
    assert found["dead"]["neverReached"] is True
    assert found["harmless"]["neverReached"] is False


def test_the_terminal_shows_the_same(corpus: Path) -> None:
    result = invoke(corpus, "--corpus-only")
    lines = result.stdout.splitlines()

    assert any(re.match(r"  usage-lost +legacy +text/a: events\[\d\] usage", x) for x in lines)
    assert any("translator-raises" in x and "crash: ZeroDivisionError" in x for x in lines)
    assert any("harmless" in x and "SURVIVED" in x for x in lines)
    assert "survived: harmless" in lines
    assert "  What harmless does." in lines
    assert "  was in force in 2 cases that call the wrapped function, without a difference" in lines
    assert "  never reached: no case calls the wrapped function" in lines
    assert "unobservable: cannot-show: it does what the good one does; see test_faults" in lines
    assert "can-show-after-all is marked unobservable, but was found: remove the mark" in lines
    assert lines[-1] == "4 of 6 observable faults found, 2 survived"


def test_a_log_gets_lines_of_progress_during_the_measurement(corpus: Path) -> None:
    lines = invoke(corpus, "--corpus-only").stderr.splitlines()

    assert "not found in the corpus: harmless" in lines
    assert lines[-1] == "corpus: 7 of 7 faults, 4 found"


def test_the_counts_keep_crashes_and_what_was_held_out_apart(corpus: Path, tmp_path: Path) -> None:
    file = tmp_path / "kills.json"

    result = invoke(corpus, "--corpus-only", "--json", file)

    document = json.loads(file.read_text())
    totals = {total["about"]: total for total in document["totals"]}
    assert totals["all"]["observable"] == 6
    assert totals["all"]["killed"] == 4
    assert totals["all"]["crashKills"] == 1
    assert totals["all"]["channelKills"] == 3
    assert totals["all"]["lowerBound95"] == pytest.approx(0.2713, abs=1e-4)
    assert totals["held out"]["observable"] == totals["held out"]["killed"] == 2
    assert totals["written with the corpus"]["killed"] == 2
    assert "held out: 2 of 2 found" in result.stdout
    assert [tally["about"] for tally in document["classes"]] == ["answers", "tools", "hooks"]
    assert document["conditions"]["waivers"] > 0
    assert document["conditions"]["projectionRules"]["legacy and adk"] > 0
    assert "waivers and these projection rules" in result.stdout


def test_all_found_is_zero(corpus: Path) -> None:
    assert invoke(corpus, "--corpus-only", *only("usage-lost")).exit_code == 0


def test_nothing_observable_is_zero(corpus: Path) -> None:
    result = invoke(corpus, "--corpus-only", *only("cannot-show"))

    assert result.exit_code == 0
    assert result.stdout.splitlines()[-1] == "0 of 0 observable faults found"


def test_what_the_corpus_misses_the_generated_run_may_find(tmp_path: Path) -> None:
    corpus = write_cassettes(tmp_path / "corpus", "text/a")
    quiet = (corpus / "text" / "a.yaml").read_text().split("    usageMetadata")[0]
    (corpus / "text" / "a.yaml").write_text(quiet + "\n")
    file = tmp_path / "kills.json"
    faults = only("usage-lost", "harmless")

    result = invoke(corpus, *faults, "--time", "2s", "--json", file, seconds_per_look=1.0)

    found = rows(file)
    assert found["usage-lost"]["corpus"] is None
    assert found["usage-lost"]["generated"]["cassette"].startswith("generated/everything_")
    assert found["usage-lost"]["outcome"] == "killed"
    assert found["harmless"]["generated"] is None
    assert found["harmless"]["outcome"] == "survived"
    assert result.exit_code == 1
    assert json.loads(file.read_text())["conditions"]["examples"] == 10
    assert "10 scenarios sampled of profile everything, seed 20260101" in result.stdout


@pytest.mark.slow
def test_the_generated_run_ends_when_its_time_is_over(corpus: Path, tmp_path: Path) -> None:
    file = tmp_path / "kills.json"
    arguments = (corpus, *only("harmless"), "--json", file)

    invoke(*arguments, "--time", "4s", seconds_per_look=1.5)

    assert json.loads(file.read_text())["conditions"]["examples"] == 20


@pytest.mark.slow
def test_two_workers_find_what_one_finds(corpus: Path, tmp_path: Path) -> None:
    alone, together = tmp_path / "1.json", tmp_path / "2.json"

    invoke(corpus, "--corpus-only", "--json", alone)
    invoke(corpus, "--corpus-only", "--json", together, "-n", 2)

    assert rows(together) == rows(alone)


@pytest.mark.slow
def test_a_worker_that_dies_is_a_crash_of_that_fault_alone(corpus: Path, tmp_path: Path) -> None:
    file = tmp_path / "kills.json"
    names = only("kills-its-worker", "fine")

    result = invoke(corpus, "--corpus-only", *names, "-n", 2, "--json", file, catalogue=ODD)

    assert result.exit_code == 0, result.output
    found = rows(file)
    assert found["kills-its-worker"]["kind"] == "crash"
    assert "worker process died" in found["kills-its-worker"]["corpus"]["place"]
    assert found["fine"]["kind"] == "channel"


def test_ctrl_c_prints_what_is_known_so_far(corpus: Path, tmp_path: Path) -> None:
    file = tmp_path / "kills.json"
    names = only("fine", "interrupts", "shows-once")

    result = invoke(corpus, *names, "--json", file, catalogue=ODD)

    assert result.exit_code == 130
    assert set(rows(file)) == {"fine"}
    assert "interrupted" in result.stdout
    assert json.loads(file.read_text())["interrupted"] is True


def test_a_fault_whose_target_is_gone_is_an_error_and_no_kill(corpus: Path) -> None:
    result = invoke(corpus, "--corpus-only", *only("gone", "fine"), catalogue=ODD)

    assert result.exit_code == 2
    assert "the fault gone cannot be put in" in result.output
    assert "runtimes.legacy.translate:Gone.method" in result.output
    assert "Traceback" not in result.output


def test_one_that_is_gone_does_not_keep_others_from_being_measured(corpus: Path) -> None:
    assert invoke(corpus, "--corpus-only", *only("fine"), catalogue=ODD).exit_code == 0


def test_service_faults_are_measured_against_the_baselines_or_not_at_all(
    corpus: Path, tmp_path: Path
) -> None:
    gone = tmp_path / "nowhere"

    result = invoke(corpus, "--baselines", gone, catalogue=SERVICES)

    assert result.exit_code == 2
    assert "--baselines" in result.output
    assert "2 service faults" in result.output


def test_cases_that_can_show_nothing_are_listed(corpus: Path, tmp_path: Path) -> None:
    empty = tmp_path / "baselines"
    empty.mkdir()

    result = invoke(
        corpus, "--baselines", empty, "--corpus-only", *only("service"), catalogue=SERVICES
    )

    assert result.exit_code == 1
    assert "left out: text/a: no baseline of text/a" in result.stdout


@pytest.mark.slow
def test_without_the_published_core_the_output_says_what_stood_for_it(
    corpus: Path, tmp_path: Path
) -> None:
    empty = tmp_path / "baselines"
    empty.mkdir()

    result = invoke(corpus, "--baselines", empty, "--time", "2s", catalogue=SERVICES)

    assert "an unbroken legacy, because the published core is not installed" in result.stdout
    assert re.search(r"service +service +SURVIVED; generated: generated/everything_", result.stdout)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--fault", "usage-list"], "unknown fault 'usage-list'; did you mean usage-lost"),
        (["--class", "tools", "--site", "adk"], "no fault fits"),
        (["--class", "nothing"], "Invalid value"),
        (["--site", "upstream"], "Invalid value"),
        (["--time", "soon"], "is no duration"),
        (["--profile", "evrything"], "unknown profile 'evrything'; known: everything"),
        (["--seed", "-1"], "Invalid value"),
        (["-k", "nothing-like-it"], "no cassette fits"),
        (["--json", "{corpus}/text/a.yaml/x.json"], "cannot be written"),
        (["--waivers", "{corpus}/gone.toml"], "cannot be read"),
        (["{corpus}/gone"], "does not exist"),
    ],
)
def test_wrong_usage_is_one_clear_message(corpus: Path, arguments: list[str], words: str) -> None:
    result = invoke(corpus, *(argument.format(corpus=corpus) for argument in arguments))

    assert result.exit_code == 2
    assert words in result.output
    assert "Traceback" not in result.output


def test_the_list_is_of_what_was_asked_for_and_measures_nothing() -> None:
    result = invoke("--list", "--class", "answers")

    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert [line.split()[0] for line in lines[:-1]] == [
        "usage-lost",
        "translator-raises",
        "cannot-show",
        "can-show-after-all",
        "usage-lost-later",
    ]
    assert lines[2].endswith("(unobservable)")
    assert "(held out)" in lines[4]
    assert lines[-1] == "5 faults"


def test_a_sample_is_drawn_by_its_seed_and_says_so(corpus: Path, tmp_path: Path) -> None:
    file = tmp_path / "kills.json"
    asked = ["--corpus-only", "--sample", 3, "--seed", 5, "--json", file]

    result = invoke(corpus, *asked)
    document = json.loads(file.read_text())
    again = rows(file)
    invoke(corpus, *asked)

    assert "a sample: 3 of 5 observable faults, drawn with seed 5" in result.stdout
    assert document["conditions"]["sample"] == {"size": 3, "of": 5, "seed": 5}
    assert len(document["faults"]) == document["planned"] == 3
    assert "cannot-show" not in again
    assert list(rows(file)) == list(again)


def test_a_sample_of_what_cannot_be_seen_is_refused(corpus: Path) -> None:
    result = invoke(corpus, "--sample", 3, *only("cannot-show"))

    assert result.exit_code == 2
    assert "every fault that fits is unobservable" in result.stderr


def test_the_matrix_says_what_it_was_measured_with(corpus: Path, tmp_path: Path) -> None:
    file = tmp_path / "kills.json"

    def measured() -> dict[str, Any]:
        invoke(corpus, "--corpus-only", *only("usage-lost"), "--json", file)
        return dict(json.loads(file.read_text())["conditions"]["measured"])

    before = measured()
    changed = next(corpus.rglob("*.yaml"))
    changed.write_text(changed.read_text() + "# more\n")
    after = measured()

    moved = {
        name for name, digest in before["components"].items() if digest != after["components"][name]
    }
    assert moved == {"corpus"}
    assert {"fault catalogue", "harness", "baselines", "waivers"} < set(before["components"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", before["asOf"])
    assert "python" in before["environment"]
    # The gate reads it.
    (run,) = read_evidence([file]).kills
    assert (run.facts.components, [each.name for each in run.faults]) == (
        after["components"],
        ["usage-lost"],
    )


def test_its_corpus_is_the_one_that_runs_are_of_variants_included(
    corpus: Path, tmp_path: Path
) -> None:
    child = corpus / "text" / "a.yaml"
    child.write_text(child.read_text().replace("phase: A", "phase: B"))
    file = tmp_path / "kills.json"
    invoke(corpus, "--corpus-only", *only("usage-lost"), "--json", file)
    measured = json.loads(file.read_text())["conditions"]["measured"]["components"]

    def of_runs(variants: bool) -> str:
        found = find_cassettes([corpus], variants=variants)
        files = [(each.name, each.path) for each in found]
        return current_inventory(files, default_waivers()).digests["corpus"]

    assert measured["corpus"] == of_runs(variants=True) != of_runs(variants=False)
