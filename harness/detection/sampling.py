"""A generated run for the faults that survived the corpus: all of them share one sample.

The sample consists of small numbered blocks. Profile, seed and number decide what a block draws, so
that every fault meets the same scenarios, and more time only means more blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from typing import Final

from harness.cassette.load import build_cassette
from harness.cassette.problems import FormatProblem
from harness.detection.finding import look
from harness.detection.good import DrawnCase, leg_of
from harness.detection.measuring import Measured
from harness.detection.reach import all_targets, wrapped_by
from harness.errors import HarnessError
from harness.experiment.announcing import case_begins
from harness.faults.catalogue import CatalogueAt
from harness.parity.waivers import Waivers
from harness.scenarios.drawing import block_seed, draw_block
from harness.scenarios.profiles import PROFILES
from services.wire import JsonObject

__all__ = ["SAMPLE_BLOCK", "SampleDone", "SampleTask", "sample_block", "sample_tasks"]

SAMPLE_BLOCK: Final = 10
"""Scenarios in a block: small, so that a run ends soon after its time even with many faults."""

_ROOT: Final = Path("generated")
"""Folder in the names of drawn cassettes; nothing is read from it or written to it."""


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
        """The name of the task in messages."""
        return f"sample of {self.profile}, block {self.number}"


@dataclass(slots=True, kw_only=True)
class SampleDone:
    """The result of a block."""

    number: int
    examples: int = 0
    faults: dict[str, Measured] = field(default_factory=dict)


def sample_tasks(first: SampleTask, sought: Callable[[], Collection[str]]) -> Iterator[SampleTask]:
    """The blocks from the first on, each for the faults that are sought by then; until none is."""
    for number in count(first.number):
        now = sought()
        faults = tuple(name for name in first.faults if name in now)
        if not faults:
            return
        yield replace(first, number=number, faults=faults)


def sample_block(task: SampleTask) -> SampleDone:
    """Draw a block, and look for every fault in it up to the fault's first finding."""
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
