from datetime import date
from pathlib import Path

import pytest

from harness.baseline.files import Baseline, cassette_digest, write_baseline
from harness.cassette.find import CassetteFile, find_cassettes
from harness.cassette.load import load_cassette
from harness.detection.finding import FoundBy
from harness.detection.good import Corpus, CorpusCase, DrawnCase, Leg, leg_of
from harness.detection.measuring import CorpusTask, Measured, measure
from harness.detection.playing import Broke, Seen, play, play_broken
from harness.detection.reach import all_targets, calls_noted, wrapped_by
from harness.detection.sampling import SAMPLE_BLOCK, SampleTask, sample_block, sample_tasks
from harness.faults.catalogue import CatalogueAt
from harness.faults.force import breaks_side, in_force
from harness.http.case import load_case
from harness.parity.waivers import Waivers
from seeded_faults import Fault, Site
from seeded_faults.patching import replaced
from tests.harness.detection import stand_ins
from tests.harness.detection.stand_ins import CATALOGUE, TRANSLATE, fault, write_cassettes

NONE = Waivers(as_of=date(2026, 11, 22))
ODD = CatalogueAt(f"{stand_ins.__name__}:odd_catalogue")
SERVICES = CatalogueAt(f"{stand_ins.__name__}:service_catalogue")


def named(name: str, catalogue: CatalogueAt = CATALOGUE) -> Fault:
    return catalogue.faults()[name]


def measured(
    folder: Path,
    name: str,
    catalogue: CatalogueAt = CATALOGUE,
    *,
    baselines: Path | None = None,
    trusted: bool = True,
) -> Measured:
    corpus = corpus_of(folder, catalogue, baselines=baselines, trusted=trusted)
    return measure(CorpusTask(fault=name, corpus=corpus))


def corpus_of(
    folder: Path,
    catalogue: CatalogueAt = CATALOGUE,
    *,
    baselines: Path | None = None,
    trusted: bool = True,
) -> Corpus:
    files = tuple(find_cassettes([folder]))
    kept = folder.parent / "kept"
    kept.mkdir(exist_ok=True)
    return Corpus(
        catalogue=catalogue,
        files=files,
        trusted=frozenset(file.name for file in files) if trusted else frozenset(),
        waivers=NONE,
        kept=kept,
        baselines=baselines,
    )


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write_cassettes(tmp_path / "corpus", "text/a", "tools/b")


def one_file(corpus: Path) -> CassetteFile:
    return find_cassettes([corpus])[0]


def test_a_fault_is_put_into_its_own_runtime_alone() -> None:
    from runtimes.legacy.translate import StreamTranslator

    good = StreamTranslator.translate
    lost = named("usage-lost")

    with in_force(lost, "adk"), in_force(lost, "upstream"), in_force(None, "legacy"):
        assert StreamTranslator.translate is good
    with in_force(lost, "legacy"):
        assert StreamTranslator.translate is not good
    assert StreamTranslator.translate is good


def test_a_service_fault_concerns_both_runtimes_and_never_the_published_core() -> None:
    service = named("service", SERVICES)

    assert [breaks_side(service, side) for side in ("legacy", "adk", "upstream")] == [1, 1, 0]
    assert leg_of(service) is Leg.PUBLISHED
    assert leg_of(fault("x", lambda: replaced(TRANSLATE, id), site=Site.ADK)) is Leg.ADK


def test_a_channel_that_differs_finds_it_and_ends_the_search(corpus: Path) -> None:
    done = measured(corpus, "usage-lost")

    assert done.found is not None
    assert done.found.kind is FoundBy.CHANNEL
    assert (done.found.cassette, done.found.channel) == ("text/a", "events")
    assert "usage" in done.found.place
    assert (done.met, done.found.met) == (1, 1)


def test_an_exception_is_a_crash_and_named(corpus: Path) -> None:
    done = measured(corpus, "translator-raises")

    assert done.found is not None
    assert done.found.kind is FoundBy.CRASH
    assert "ZeroDivisionError: nothing to divide" in done.found.place


def test_what_changes_nothing_meets_every_cassette_that_calls_it(corpus: Path) -> None:
    done = measured(corpus, "harmless")

    assert done.found is None
    assert (done.met, done.untouched, done.never) == (2, 0, False)


def test_what_no_cassette_calls_is_never_run_and_says_so(corpus: Path) -> None:
    done = measured(corpus, "dead")

    assert done.found is None
    assert (done.met, done.untouched, done.never) == (0, 2, True)


def test_what_shows_once_and_not_again_does_not_count(corpus: Path) -> None:
    stand_ins._once.clear()

    done = measured(corpus, "shows-once", ODD)

    assert done.found is None
    assert done.unsteady == ["text/a"]


def test_a_case_on_which_good_runtimes_differ_is_left_out(corpus: Path) -> None:
    with replaced("runtimes.adk.translate:EventTranslator.translate", lambda _: lambda *_: ()):
        done = measured(corpus, "usage-lost")

    assert done.found is None
    assert set(done.left_out) == {"text/a", "tools/b"}
    assert "do not agree" in done.left_out["text/a"]


def test_a_cassette_that_cannot_be_loaded_is_left_out_with_its_reason(corpus: Path) -> None:
    (corpus / "text" / "a.yaml").write_text("cassette: 1\nname: text/a\nsent: x\n")

    done = measured(corpus, "usage-lost")

    assert "a.yaml" in done.left_out["text/a"]
    assert done.found is not None
    assert done.found.cassette == "tools/b"


def test_a_stranger_that_starts_processes_is_not_run(corpus: Path) -> None:
    file = corpus / "text" / "a.yaml"
    setting = "  settings: {toolDiscoveryCommand: 'echo hi'}\nscript:"
    file.write_text(file.read_text().replace("script:", setting))

    done = measured(corpus, "harmless", trusted=False)

    assert "--trust" in done.left_out["text/a"]
    assert done.met == 1


def test_good_runs_are_worked_out_once_for_all_faults(
    corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured(corpus, "harmless")
    kept = {file.name: file.read_bytes() for file in (corpus.parent / "kept").iterdir()}

    def refused(*args: object, **kwargs: object) -> None:
        raise AssertionError("a good run was made anew")

    monkeypatch.setattr("harness.detection.good.play", refused)

    assert measured(corpus, "harmless").met == 2
    assert {file.name: file.read_bytes() for file in (corpus.parent / "kept").iterdir()} == kept


def baselines_of(corpus: Path) -> Path:
    """What legacy does now, in the place of what the published core was observed to do."""
    folder = corpus.parent / "baselines"
    for file in find_cassettes([corpus]):
        seen = play(load_case(file.path, file.root), "legacy").observation
        write_baseline(folder, Baseline.of(seen, file.name, cassette_digest(file.path)))
    return folder


def test_a_service_fault_shows_against_the_baselines(corpus: Path) -> None:
    baselines = baselines_of(corpus)

    done = measured(corpus, "service", SERVICES, baselines=baselines)
    harmless = measured(corpus, "service-harmless", SERVICES, baselines=baselines)

    assert done.found is not None
    assert done.found.kind is FoundBy.CHANNEL
    assert done.found.cassette == "text/a"
    assert harmless.found is None
    assert harmless.met == 2


def test_a_cassette_without_a_baseline_cannot_show_a_service_fault(corpus: Path) -> None:
    done = measured(corpus, "service", SERVICES, baselines=corpus.parent / "baselines")

    assert done.found is None
    assert "no baseline of text/a" in done.left_out["text/a"]


def test_a_loop_that_does_not_listen_is_ended_from_outside(corpus: Path) -> None:
    file = one_file(corpus)
    circle = named("turns-in-a-circle", ODD)

    broke = play_broken(
        load_case(file.path, file.root), "legacy", circle, deadline_s=1.5, grace_s=0.1
    )

    assert broke == Broke("turned in a circle until 1.5 s had passed")


def test_a_run_is_the_same_whether_its_calls_are_noted_or_not(corpus: Path) -> None:
    file = one_file(corpus)
    cassette = load_case(file.path, file.root)
    noting = all_targets(CATALOGUE)

    plain, noted = play(cassette, "legacy"), play(cassette, "legacy", noting=noting)

    assert plain.digest == noted.digest
    assert noted.called == {TRANSLATE}
    assert set(noting) == {TRANSLATE, "runtimes.legacy.chat:retry_nudge"}


def test_what_cannot_be_counted_may_be_anywhere() -> None:
    constant = fault(
        "constant", lambda: replaced("runtimes.legacy.chat:_MID_STREAM_ATTEMPTS", lambda kept: kept)
    )

    assert wrapped_by(constant).touches(frozenset())
    assert not wrapped_by(named("usage-lost")).touches(frozenset())
    assert wrapped_by(named("usage-lost")).touches(frozenset({TRANSLATE}))


def test_a_fault_that_is_gone_does_not_hide_what_the_others_wrap() -> None:
    assert all_targets(ODD) == (TRANSLATE,)


def test_noting_calls_leaves_everything_as_it_was() -> None:
    from runtimes.legacy.translate import StreamTranslator

    before = StreamTranslator.translate
    with calls_noted((TRANSLATE,)):
        assert StreamTranslator.translate is not before
    assert StreamTranslator.translate is before


def sample(*faults: str, number: int = 0) -> SampleTask:
    return SampleTask(
        number=number,
        profile="everything",
        seed=7,
        faults=faults,
        catalogue=CATALOGUE,
        waivers=NONE,
        core=False,
    )


def test_a_block_of_the_sample_looks_for_every_fault_in_the_same_scenarios() -> None:
    done = sample_block(sample("usage-lost", "harmless"))
    again = sample_block(sample("usage-lost", number=0))

    assert done.examples == SAMPLE_BLOCK
    assert done.faults["usage-lost"].found is not None
    assert done.faults["harmless"].found is None
    assert again.faults["usage-lost"].found == done.faults["usage-lost"].found
    assert done.faults["harmless"].met + done.faults["harmless"].untouched <= SAMPLE_BLOCK


def test_blocks_are_for_what_is_still_sought_and_end_when_nothing_is() -> None:
    sought = ["usage-lost", "harmless"]
    blocks = sample_tasks(sample("usage-lost", "harmless", "dead"), lambda: sought)

    first = next(blocks)
    sought.remove("usage-lost")
    second = next(blocks)
    sought.clear()

    assert (first.number, first.faults) == (0, ("usage-lost", "harmless"))
    assert (second.number, second.faults) == (1, ("harmless",))
    assert next(blocks, None) is None


def test_without_the_published_core_an_unbroken_legacy_stands_for_it(corpus: Path) -> None:
    file = one_file(corpus)
    case = DrawnCase(load_cassette(file.path, file.root), NONE, core=False)
    broken = play_broken(case.cassette, "legacy", named("service", SERVICES))

    assert case.published() is case.run("legacy").observation
    assert case.at_parity(Leg.PUBLISHED)
    assert isinstance(broken, Seen)
    assert case.result(Leg.PUBLISHED, broken.observation).open


def test_a_corpus_case_keeps_its_runs_where_others_find_them(corpus: Path) -> None:
    file = one_file(corpus)
    found = corpus_of(corpus)

    def case() -> CorpusCase:
        return CorpusCase(load_case(file.path, file.root), file, found)

    first = case().run("legacy")

    assert len(list(found.kept.iterdir())) == 1
    assert case().run("legacy").digest == first.digest
    assert case().rerun("legacy").digest == first.digest
