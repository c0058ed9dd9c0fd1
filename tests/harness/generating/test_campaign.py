from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from harness.cassette.load import load_cassette
from harness.experiment.pool import process_workers
from harness.generating.campaign import Campaign, CampaignSetup
from harness.scenarios.block import BlockDone, BlockTask, run_block
from harness.scenarios.found import KnownFinding, read_found
from harness.scenarios.generation import WORKER_DIED, Again, GenerationPlan
from harness.scenarios.generation_journal import GenerationJournal
from tests.harness.samples import BACKEND
from tests.harness.scenarios.made_up import (
    ProcessIsGone,
    Silence,
    done,
    files,
    finding,
    here,
    kills_by_its_second_example,
    plan,
    quiet,
)


@dataclass
class Bench:
    """The folder, clock and progress of a campaign."""

    folder: Path
    progress: Silence = field(default_factory=Silence)
    now: float = 0.0

    @contextmanager
    def campaign(
        self,
        run: Callable[[BlockTask], BlockDone],
        given: GenerationPlan | None = None,
        known: dict[str, KnownFinding] | None = None,
        *,
        resume: bool = False,
        **changes: Any,
    ) -> Iterator[Campaign]:
        given = given or plan()
        setup = CampaignSetup(
            jobs=1,
            folder=self.folder / "found",
            now=lambda: self.now,
            run=run,
            **{"workers": here(), "shrink_s": 0.0, **changes},
        )
        with GenerationJournal(self.folder, given, {}, resume=resume) as journal:
            yield Campaign(given, setup, journal, known or {})

    @property
    def found(self) -> list[str]:
        return files(self.folder / "found")


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def finds_in(*blocks: int) -> Callable[[BlockTask], BlockDone]:
    """A function whose results have the same finding in these blocks."""

    def run(task: BlockTask) -> BlockDone:
        return done(task.number, *([finding(task.number)] if task.number in blocks else []))

    return run


def test_all_blocks_are_run_and_added_up(bench: Bench) -> None:
    with bench.campaign(quiet, plan(examples=60)) as campaign:
        campaign.run(bench.progress)

    assert campaign.finished
    assert campaign.generation.examples == 60
    assert sorted(campaign.generation.blocks) == [0, 1, 2]
    assert bench.progress.updates == 3


def test_when_time_is_up_no_block_is_begun_and_those_begun_are_finished(bench: Bench) -> None:
    def takes_4_s(task: BlockTask) -> BlockDone:
        bench.now += 4
        return quiet(task)

    with bench.campaign(takes_4_s, plan(examples=None), time_s=10.0) as campaign:
        campaign.run(bench.progress)

    assert sorted(campaign.generation.blocks) == [0, 1, 2]
    assert campaign.elapsed_s == 12


def test_a_resumed_run_has_the_rest_of_its_time(bench: Bench) -> None:
    def takes_4_s(task: BlockTask) -> BlockDone:
        if task.number == 2 and bench.now < 9:
            bench.now = 1000.0
            raise KeyboardInterrupt
        bench.now += 4
        return quiet(task)

    given = plan(examples=None)
    with (
        bench.campaign(takes_4_s, given, time_s=15.0) as campaign,
        pytest.raises(KeyboardInterrupt),
    ):
        campaign.run(bench.progress)
    with bench.campaign(takes_4_s, given, resume=True, time_s=15.0) as campaign:
        campaign.run(bench.progress)

    assert sorted(campaign.generation.blocks) == [0, 1, 2, 3]


def test_a_finding_is_in_a_file_before_its_block_is_in_the_journal(bench: Bench) -> None:
    seen: list[tuple[list[str], int]] = []

    class Looking(Silence):
        def say(self, words: str, style: str = "") -> None:
            lines = next(bench.folder.glob("*.jsonl")).read_text().splitlines()
            seen.append((bench.found, len(lines)))

    bench.progress = Looking()
    with bench.campaign(finds_in(0), plan(examples=25)) as campaign:
        campaign.run(bench.progress)

    fingerprint = finding().fingerprint
    assert seen == [([f"generated/everything_{fingerprint}.yaml"], 2)]


def test_known_findings_are_counted_and_not_kept(bench: Bench) -> None:
    fingerprint = finding().fingerprint
    muted: list[frozenset[str]] = []

    def run(task: BlockTask) -> BlockDone:
        muted.append(task.muted)
        block = done(task.number)
        block.seen[fingerprint] += 1
        return block

    known = KnownFinding(
        file=Path("x.yaml"),
        fingerprint=fingerprint,
        control="legacy",
        candidate="adk",
        fault=None,
        plan="",
    )
    with bench.campaign(run, known={fingerprint: known}) as campaign:
        campaign.run(bench.progress)

    assert muted == [frozenset({fingerprint})] * 3
    assert campaign.generation.seen[fingerprint] == 3
    assert bench.found == []


def test_a_stopped_run_resumes_without_loss(bench: Bench) -> None:
    begun: list[int] = []

    def stopped(task: BlockTask) -> BlockDone:
        begun.append(task.number)
        if len(begun) == 3:
            raise KeyboardInterrupt
        return finds_in(1)(task)

    with bench.campaign(stopped) as campaign, pytest.raises(KeyboardInterrupt):
        campaign.run(bench.progress)
    (file,) = bench.found
    with bench.campaign(stopped, resume=True) as campaign:
        campaign.run(bench.progress)

    assert begun == [0, 1, 2, 2]
    assert campaign.generation.examples == 75
    assert set(campaign.generation.findings) == {finding().fingerprint}
    assert bench.found == [file]


def test_a_finding_whose_file_is_gone_is_written_again_first(bench: Bench) -> None:
    def stopped(task: BlockTask) -> BlockDone:
        if task.number == 1:
            raise KeyboardInterrupt
        return finds_in(0)(task)

    for resume in (False, True):
        with bench.campaign(stopped, resume=resume) as campaign, pytest.raises(KeyboardInterrupt):
            campaign.run(bench.progress)
        (file,) = bench.found
        (bench.folder / "found" / file).unlink()

    assert bench.found == []


def test_the_example_that_kills_its_worker_is_found_and_the_others_are_not_lost(
    bench: Bench,
) -> None:
    def kills(task: BlockTask) -> BlockDone:
        if task.number == 1 and task.only in (None, 3):
            raise ProcessIsGone
        part = done(task.number, examples=task.examples)
        if task.only is not None:
            part.reached.clear()
            part.reached["event:message"] = 1
        if task.only == 4:
            part.findings.append(finding(1))
            part.seen[finding().fingerprint] = 1
        return part

    with bench.campaign(kills, plan(examples=60)) as campaign:
        campaign.run(bench.progress)

    generation = campaign.generation
    assert generation.examples == 60
    assert generation.reached["event:message"] == 59
    assert set(generation.findings) == {WORKER_DIED, finding().fingerprint}
    assert generation.seen[WORKER_DIED] == 1
    killer = bench.folder / "found" / "generated" / f"everything_{WORKER_DIED}.yaml"
    assert "its worker process died" in killer.read_text()
    load_cassette(killer, bench.folder / "found")


def test_a_process_that_is_really_killed_costs_its_example_only(bench: Bench) -> None:
    run, processes = kills_by_its_second_example, process_workers(BACKEND, ())
    with bench.campaign(run, plan(examples=2), workers=processes) as campaign:
        campaign.run(bench.progress)

    assert campaign.generation.examples == 2
    assert list(campaign.generation.findings) == [WORKER_DIED]


@pytest.mark.parametrize(
    ("dies_alone", "says"), [(True, "with every example"), (False, "no single example")]
)
def test_a_block_whose_killer_is_unknown_is_reported_lost(
    bench: Bench, dies_alone: bool, says: str
) -> None:
    def kills(task: BlockTask) -> BlockDone:
        if task.number == 1 and (task.only is None or dies_alone):
            raise ProcessIsGone
        return quiet(task)

    with bench.campaign(kills) as campaign:
        campaign.run(bench.progress)

    assert says in campaign.generation.blocks[1].lost
    assert sorted(campaign.generation.blocks) == [0, 1, 2]
    assert bench.found == []


def test_a_finding_that_does_not_come_again_is_not_taken_for_a_difference(bench: Bench) -> None:
    with bench.campaign(finds_in(0), plan(examples=25)) as campaign:
        campaign.run(bench.progress)

    (outcome,) = campaign.generation.outcomes.values()
    assert outcome.again in (Again.NOISE, Again.GONE)
    assert campaign.generation.result_of(finding().fingerprint).blockers
    text = (bench.folder / "found" / bench.found[0]).read_text()
    assert outcome.remark in text


def test_a_seeded_fault_is_found_run_again_and_shrunk(bench: Bench) -> None:
    given = plan(examples=10, seed=3, fault="usage-dropped")

    def one_finding(task: BlockTask) -> BlockDone:
        block = run_block(task)
        block.findings = block.findings[:1]
        return block

    with bench.campaign(one_finding, given, shrink_s=1.0) as campaign:
        campaign.run(bench.progress)

    (fingerprint,) = campaign.generation.findings
    assert campaign.generation.outcomes[fingerprint].again is Again.CAME
    shrunk = campaign.generation.shrunk[fingerprint]
    assert shrunk.words.startswith("shrunk from")
    (known,) = read_found(bench.folder / "found")
    assert known.fingerprint == fingerprint
    assert load_cassette(known.file, bench.folder / "found").provenance.kind == "shrunk"


@pytest.mark.slow
def test_shrinking_that_was_done_is_not_done_again(bench: Bench) -> None:
    given = plan(examples=10, seed=3, fault="usage-dropped")
    with bench.campaign(run_block, given) as campaign:
        campaign.run(bench.progress)
    assert campaign.generation.shrunk == {}

    bench.progress = Silence()
    with bench.campaign(quiet, given, resume=True) as campaign:
        campaign.run(bench.progress)

    assert bench.progress.stages == []
    assert campaign.generation.outcomes


def test_a_finding_contains_the_digest_of_its_plan(bench: Bench) -> None:
    given = replace(plan(examples=25), seed=9)
    with bench.campaign(finds_in(0), given) as campaign:
        campaign.run(bench.progress)

    (known,) = read_found(bench.folder / "found")
    assert known.plan == given.digest
    assert "seed 9, block 0, drawn by sample" in known.file.read_text()
