"""A mutant from its edit to its result, on a cassette or two."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from harness.baseline.files import Baseline, cassette_digest, write_baseline
from harness.cassette.find import find_cassettes
from harness.detection.playing import play
from harness.http.case import load_case
from harness.mutants import measuring
from harness.mutants.judging import StoredCase
from harness.mutants.reach import has_line
from harness.mutants.result import Outcome
from harness.mutants.source import CODE_ROOT, Edit, Source
from harness.mutants.store import Kept
from tests.harness.detection.stand_ins import write_cassettes
from tests.harness.mutants.crafted import good_runs, inserted, measured, of_edit

TRANSLATOR = "runtimes/legacy/translate.py"


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    # Another test's cassettes may have the same places.
    monkeypatch.setattr(measuring, "_table", measuring._table.__wrapped__)
    return write_cassettes(tmp_path / "corpus", "text/a", "tools/b")


def test_good_runs_are_kept_with_what_they_execute(corpus: Path) -> None:
    good = good_runs(corpus)

    assert good.keys() == {"text/a", "tools/b"}
    (file, _) = find_cassettes([corpus])
    kept = Kept.of(corpus.parent / "kept", file)
    assert kept.good() == good["text/a"]
    assert kept.seen("adk").digest == good["text/a"].facts["adk"].digest
    legacy, adk = (good["text/a"].facts[name].lines for name in ("legacy", "adk"))
    assert TRANSLATOR in legacy
    assert TRANSLATOR not in adk
    assert {name.split("/")[0] for name in legacy} == {"agent_protocol", "runtimes", "services"}


def test_only_lines_that_are_executed_count(corpus: Path) -> None:
    lines = good_runs(corpus)["text/a"].facts["legacy"].lines

    def executed(function: str) -> bool:
        place = inserted(TRANSLATOR, f"StreamTranslator.{function}", "pass").place
        return has_line(lines, TRANSLATOR, place.lines)

    assert executed("translate")
    assert not executed("_error")
    assert not has_line(lines, TRANSLATOR, (1, 14))  # what is executed at import


def test_a_good_run_is_the_same_traced_and_not(corpus: Path) -> None:
    good = good_runs(corpus)
    file = find_cassettes([corpus])[0]

    for runtime in ("legacy", "adk"):
        seen = play(load_case(file.path, file.root), runtime)
        assert seen.digest == good["text/a"].facts[runtime].digest


def test_a_cassette_that_may_not_run_is_left_out_with_its_reason(corpus: Path) -> None:
    file = corpus / "text" / "a.yaml"
    setting = "  settings: {toolDiscoveryCommand: 'echo hi'}\nscript:"
    file.write_text(file.read_text().replace("script:", setting))
    (corpus / "tools" / "b.yaml").write_text("cassette: 1\nname: tools/b\nsent: x\n")

    good = good_runs(corpus, trusted=False)

    assert "--trust" in good["text/a"].left_out
    assert "b.yaml" in good["tools/b"].left_out


def test_a_mutant_that_changes_an_event_is_found_by_the_channel(corpus: Path) -> None:
    done = measured(corpus, inserted(TRANSLATOR, "StreamTranslator.translate", "return iter(())"))

    assert done.outcome is Outcome.FOUND
    assert done.finding is not None
    assert (done.finding.case, done.finding.runtime) == ("text/a", "legacy")
    assert done.finding.channel
    assert done.finding.says
    assert (done.runs, done.anew) == (2, False)  # the second is the confirmation


def test_a_mutant_that_changes_nothing_survives_all_its_cases(corpus: Path) -> None:
    done = measured(corpus, inserted(TRANSLATOR, "StreamTranslator.translate", "[].clear()"))

    assert (done.outcome, done.finding) == (Outcome.SURVIVED, None)
    assert (done.runs, done.reached) == (2, 2)


def test_an_exception_is_a_crash_and_named(corpus: Path) -> None:
    done = measured(corpus, inserted(TRANSLATOR, "StreamTranslator.translate", "1 / 0"))

    assert done.outcome is Outcome.CRASH
    assert done.finding is not None
    assert done.finding.place == "ZeroDivisionError: division by zero"


def test_an_endless_loop_ends_by_its_limit(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measuring, "_CPU_S", 0.5)

    done = measured(corpus, inserted(TRANSLATOR, "StreamTranslator.translate", "while True: pass"))

    assert done.outcome is Outcome.TIME_LIMIT
    assert done.runs == 1


def test_a_wait_in_which_nothing_can_happen_is_a_time_limit(corpus: Path) -> None:
    stuck = "import asyncio; await asyncio.get_running_loop().create_future()"

    done = measured(corpus, inserted("runtimes/legacy/agent.py", "_Stream.loop", stuck))

    assert done.outcome is Outcome.TIME_LIMIT
    assert done.finding is not None
    assert "stalled" in done.finding.place


def test_a_mutant_of_adk_breaks_adk_alone(corpus: Path) -> None:
    mutant = inserted("runtimes/adk/translate.py", "EventTranslator.translate", "return iter(())")

    assert measured(corpus, mutant, "adk").outcome is Outcome.FOUND


def test_what_is_computed_at_import_is_put_in_by_importing_anew(corpus: Path) -> None:
    source = Source.read(CODE_ROOT, CODE_ROOT / TRANSLATOR)
    edit = Edit(len(source.text), len(source.text), "\ndel StreamTranslator.translate\n")

    done = measured(corpus, of_edit(source, edit, lines=(1, 1), names="StreamTranslator"))

    assert done.anew
    assert done.outcome is Outcome.CRASH
    assert done.finding is not None
    assert "AttributeError" in done.finding.place


def test_a_module_imported_anew_without_a_change_shows_nothing(corpus: Path) -> None:
    for file, runtime in ((TRANSLATOR, "legacy"), ("services/wire.py", "both")):
        source = Source.read(CODE_ROOT, CODE_ROOT / file)
        edit = Edit(len(source.text), len(source.text), "\n")

        done = measured(corpus, of_edit(source, edit, lines=(1, 1), names="x"), runtime)

        assert (done.anew, done.outcome) == (True, Outcome.SURVIVED)


def baselines(corpus: Path, folder: Path) -> Path:
    """Baselines that good runs of legacy stand for."""
    for file in find_cassettes([corpus]):
        seen = play(load_case(file.path, file.root), "legacy").observation
        write_baseline(folder, Baseline.of(seen, file.name, cassette_digest(file.path)))
    return folder


def test_a_mutant_of_a_service_is_found_against_the_published_core(
    corpus: Path, tmp_path: Path
) -> None:
    stored = baselines(corpus, tmp_path / "baselines")
    mutant = inserted("services/clock.py", "VirtualClock.now_ms", "return 7.0")

    done = measured(corpus, mutant, "both", stored)

    assert done.outcome.found
    assert done.finding is not None
    assert done.finding.runtime == "legacy"


def test_a_case_that_differs_from_its_baseline_shows_less_and_says_so(
    corpus: Path, tmp_path: Path
) -> None:
    stored = baselines(corpus, tmp_path / "baselines")
    for file in find_cassettes([corpus]):
        seen = play(load_case(file.path, file.root), "legacy").observation
        odd = replace(seen, events=[{**seen.events[0], "type": "odd"}])
        write_baseline(stored, Baseline.of(odd, file.name, cassette_digest(file.path)))
    mutant = inserted("services/clock.py", "VirtualClock.now_ms", "return 7")

    done = measured(corpus, mutant, "both", stored)

    assert done.outcome is Outcome.SURVIVED
    assert any("TMPDIR" in each for each in done.left_out)


def test_a_run_that_is_no_json_shows_the_mutant(corpus: Path, tmp_path: Path) -> None:
    stored = baselines(corpus, tmp_path / "baselines")
    mutant = inserted("services/clock.py", "VirtualClock.now_ms", "return float('nan')")
    done = measured(corpus, mutant, "both", stored)
    assert done.outcome.found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(StoredCase, "result", lambda *_: json.loads("?"))
        patch.setattr(StoredCase, "at_parity", lambda *_: True)
        done = measured(
            corpus, inserted("services/clock.py", "VirtualClock.now_ms", "return 7"), "both", stored
        )

    assert done.outcome is Outcome.CRASH
    assert done.finding is not None
    assert "no JSON" in done.finding.place


def test_without_a_baseline_both_runtimes_with_the_mutant_are_compared(corpus: Path) -> None:
    mutant = inserted("services/clock.py", "VirtualClock.now_ms", "pass")

    done = measured(corpus, mutant, "both")

    assert (done.outcome, done.runs, done.left_out) == (Outcome.SURVIVED, 4, ())


def test_what_shows_once_and_not_again_does_not_count(corpus: Path) -> None:
    once = "if not globals().setdefault('met', []): met.append(1); return iter(())"

    done = measured(corpus, inserted(TRANSLATOR, "StreamTranslator.translate", once))

    assert done.outcome is Outcome.SURVIVED
    assert len(done.unsteady) == 1
    assert done.unsteady[0].startswith("text/a: ")


def test_a_case_whose_good_runs_differ_can_show_nothing(corpus: Path) -> None:
    good_runs(corpus)
    kept = [Kept.of(corpus.parent / "kept", file) for file in find_cassettes([corpus])]
    for each in kept:
        good = each.good()
        assert good is not None
        adk = each.seen("adk")
        events = [{**adk.observation.events[0], "type": "odd"}]
        odd = replace(adk, observation=replace(adk.observation, events=events))
        each.keep(good, {"legacy": each.seen("legacy"), "adk": odd})

    done = measured(corpus, inserted(TRANSLATOR, "StreamTranslator.translate", "1 / 0"), keep=True)

    assert done.outcome is Outcome.SURVIVED
    assert "do not agree" in done.left_out[0]
