"""What `parity shrink` is given: a cassette that fails, and how it is judged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from harness.cassette.document import parse_document, read_text
from harness.cassette.find import find_cassettes
from harness.cassette.format import Cassette
from harness.cassette.trust import starts_processes
from harness.cassette.variants import as_variant, variant_of
from harness.config import to_run
from harness.errors import HarnessError, UsageError
from harness.experiment.backend import real_backend
from harness.experiment.limits import Limits
from harness.experiment.pool import on_demand, process_workers
from harness.explain import explain
from harness.http.case import load_case
from harness.parity.verdict import CaseResult, CaseVerdict
from harness.scenarios.found import KnownFinding, known_finding
from harness.scenarios.judging import Judging
from harness.scenarios.trial import Trial
from services.wire import JsonObject

__all__ = ["NothingToShrink", "check_finding", "head_of", "judging", "load_shrinkable"]

_BESIDE: Final = "<CASSETTES>"


class NothingToShrink(HarnessError):
    """There is no finding to keep, or none that can be decided."""

    exit_code = 3


def head_of(file: Path) -> KnownFinding | None:
    """What a kept finding says of itself; `None` where it is none, or cannot be read."""
    try:
        return known_finding(file) if file.is_file() else None
    except OSError:
        return None  # loading it will say why


def load_shrinkable(file: Path, *, trust: bool, out: Path) -> tuple[Cassette, JsonObject, bool]:
    """A cassette, its document as its file has it (macros stay short), and whether it is trusted.

    Args:
        file: One file.
        trust: Whether it may start processes, wherever it comes from.
        out: The root that the shrunk cassette's name will count from.

    Raises:
        CassetteError: it cannot be loaded.
        UsageError: it cannot be shrunk, or may not be run.
    """
    if file.is_dir():
        raise UsageError(f"{file} is a folder", "name one cassette")
    ((named, found, trusted),) = to_run(find_cassettes([file]), trust=trust)
    loaded = load_case(found.path, found.root)
    variant = variant_of(found.name)
    if not isinstance(loaded, Cassette):
        problem = f"{file} is recorded HTTP traffic, which cannot be shrunk"
        raise UsageError(problem, "name a cassette; see `parity list`")
    reason = starts_processes(loaded)
    if reason is not None and not trusted:
        raise UsageError(f"not run: {reason}", "give --trust if you trust the cassette")
    if _BESIDE in repr(loaded.document) and out.resolve() != named.root.resolve():
        problem = f"{loaded.name} names files beside it by {_BESIDE}"
        raise UsageError(problem, f"write it to {named.root}/FAMILY/NAME.yaml with --out")
    text = read_text(found.path)
    document: JsonObject = parse_document(text, strict_json=found.path.suffix == ".json")
    if variant is not None:  # what is left of it says itself what is other in it
        loaded = replace(as_variant(loaded, variant), name=loaded.name)
        document["session"] = loaded.document["session"]
    return loaded, document, trusted


@contextmanager
def judging(
    loaded: Cassette, how: Judging, limits: Limits
) -> Iterator[Callable[[JsonObject], Trial | None]]:
    """Runs what is made of a cassette in both runtimes, under its root; a `Judge`.

    Each try runs in a worker process. One that goes over `limits` comes to nothing that is known.
    """
    sides = (how.control, how.candidate)
    workers = process_workers(real_backend(limits), sides, forked=True)
    judge_one = partial(how.judge_under, loaded.root)
    with on_demand(judge_one, workers, lambda each, died: Trial.undecided(each, died.why)) as ask:
        yield ask


def check_finding(result: CaseResult, control: str, candidate: str) -> None:
    """Make sure that there is something to keep.

    Raises:
        NothingToShrink: the runtimes agree, or nothing can be said.
    """
    sides = f"{control} and {candidate}"
    if result.verdict is CaseVerdict.PARITY:
        raise NothingToShrink(
            f"{result.cassette}: {sides} agree on it, so there is nothing to keep; "
            "name the sides that differ with --control and --candidate"
        )
    if result.verdict is CaseVerdict.INCONCLUSIVE:
        reason = "; ".join(explain(result, control, candidate))
        raise NothingToShrink(f"{result.cassette}: nothing can be said of {sides}: {reason}")
