"""A generated run for faults that survived the corpus: one sample, shared by all of them.

The sample is cut into small numbered blocks whose draws follow from profile, seed and number alone.
A block is drawn once and run once by each good runtime; every fault that is still sought meets the
same scenarios. More time means more blocks, never others.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from harness.cassette.load import build_cassette
from harness.cassette.problems import FormatProblem
from harness.detection.catalogue_at import CatalogueAt
from harness.detection.finding import look
from harness.detection.good import DrawnCase, leg_of
from harness.detection.measuring import Measured
from harness.detection.reach import all_targets, wrapped_by
from harness.errors import HarnessError
from harness.experiment.announcing import case_begins
from harness.parity.waivers import Waivers
from harness.scenarios.drawing import block_seed, draw_block
from harness.scenarios.profiles import PROFILES
from services.wire import JsonObject

__all__ = ["SAMPLE_BLOCK", "SampleDone", "SampleTask", "sample_block", "sample_tasks"]

SAMPLE_BLOCK: Final = 10
"""Scenarios in a block: small, so that a run ends soon after its time even with many faults."""

_ROOT: Final = Path("generated")
"""Where a drawn cassette would lie: nothing of it is ever read or written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleTask:
    """One block of the sample, and the faults to look for in it."""

    number: int
    profile: str
    seed: int
    faults: tuple[str, ...]
    catalogue: CatalogueAt
    waivers: Waivers
    core: bool
    """Whether the published core can be opened here."""

    @property
    def name(self) -> str:
        """For progress and for a worker that died in it."""
        return f"sample of {self.profile}, block {self.number}"


@dataclass(slots=True, kw_only=True)
class SampleDone:
    """What came of a block."""

    number: int
    examples: int = 0
    faults: dict[str, Measured] = field(default_factory=dict)


def sample_tasks(first: SampleTask, sought: Callable[[], Collection[str]]) -> Iterator[SampleTask]:
    """The blocks from the first on, each for the faults that are still sought when it is asked for.

    Ends when none is.
    """
    number = first.number
    while True:
        now = sought()
        faults = tuple(name for name in first.faults if name in now)
        if not faults:
            return
        yield SampleTask(
            number=number,
            profile=first.profile,
            seed=first.seed,
            faults=faults,
            catalogue=first.catalogue,
            waivers=first.waivers,
            core=first.core,
        )
        number += 1


def sample_block(task: SampleTask) -> SampleDone:
    """Draw a block and look for every fault in it, for each up to its first finding."""
    profile = PROFILES[task.profile]
    documents: list[JsonObject] = []
    seed = block_seed(task.seed, profile, task.number)
    draw_block("sample", profile, seed, SAMPLE_BLOCK, lambda one: documents.append(one.document))
    cases: dict[str, DrawnCase | str] = {
        str(document["name"]): _case(task, document) for document in documents
    }
    done = SampleDone(number=task.number, examples=len(documents))
    for name in task.faults:
        done.faults[name] = _sought(task, name, cases)
    return done


def _case(task: SampleTask, document: JsonObject) -> DrawnCase | str:
    try:
        cassette = build_cassette(document, _ROOT / f"{document['name']}.yaml", _ROOT)
    except (FormatProblem, HarnessError) as error:
        return str(error)
    noting = all_targets(task.catalogue)
    return DrawnCase(cassette, task.waivers, core=task.core, noting=noting)


def _sought(task: SampleTask, name: str, cases: dict[str, DrawnCase | str]) -> Measured:
    fault = task.catalogue.faults()[name]
    done = Measured(fault=name)
    wrapped = wrapped_by(fault)
    for number, (label, case) in enumerate(cases.items(), task.number * SAMPLE_BLOCK + 1):
        if isinstance(case, str):
            done.left_out[label] = case
            continue
        case_begins()
        done.note(label, look(fault, leg_of(fault), case, number, wrapped))
        if done.found is not None:
            break
    return done
