"""What the harness costs beside the two runs it compares, over the corpus, in this process."""

from __future__ import annotations

import io
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Final

from benchmarks.figures import Figure, MeasurementError, Section, Target
from benchmarks.sampling import gc_paused, median_of
from harness.cassette.find import CassetteFile, find_cassettes
from harness.cassette.format import Cassette
from harness.cassette.load import load_cassette
from harness.experiment.backend import real_backend
from harness.parity.compare import compare_repeated
from harness.parity.verdict import CaseResult
from harness.parity.waivers import load_waivers, settle
from harness.replay.envelope import folder_state, open_envelope, write_files
from harness.replay.runner import run_cassette
from harness.report.html import html_report
from harness.report.json_report import json_report
from harness.report.junit import junit_report
from harness.report.model import RunReport
from harness.report.terminal import show

__all__ = ["CORPUS", "measure"]

CORPUS: Final = Path(__file__).resolve().parents[1] / "cassettes"
OVERHEAD: Final = Target(10)


class _Watch:
    """CPU seconds by what they went into."""

    def __init__(self) -> None:
        self.spent: Counter[str] = Counter()

    @contextmanager
    def on(self, what: str) -> Iterator[None]:
        begun = time.process_time_ns()
        yield
        self.spent[what] += time.process_time_ns() - begun


def measure(*, quick: bool, progress: Callable[[str], None]) -> Section:
    """Run the corpus as `parity run` does with one job, taking the time of each stage."""
    files = find_cassettes([CORPUS]) if CORPUS.is_dir() else []
    if not files:
        raise MeasurementError(f"no cassettes in {CORPUS.name}/")
    real_backend().preload(("legacy", "adk"))
    progress("harness: warming up")
    _pass(files[: max(8, len(files) // 8)])
    found = []
    for repeat in range(1 if quick else 5):
        progress(f"harness: {len(files)} cassettes, pass {repeat + 1}")
        found.append(_pass(files))
    return _section(median_of(found), len(files))


def _pass(files: Sequence[CassetteFile]) -> dict[str, float]:
    watch = _Watch()
    results: list[CaseResult] = []
    with gc_paused():
        for file in files:
            with watch.on("load"):
                cassette = load_cassette(file.path, file.root)
            with watch.on("set-up"):
                _set_up(cassette)
                _set_up(cassette)
            with watch.on("runs"):
                control, candidate = run_cassette(cassette, "legacy"), run_cassette(cassette, "adk")
            with watch.on("compare"):
                results.append(compare_repeated([control], [candidate], cassette))
    with watch.on("settle"):
        cases, _ = settle(results, load_waivers(None, as_of=date.max))
    report = RunReport(control="legacy", candidate="adk", cases=tuple(cases), planned=len(results))
    with watch.on("report"):
        show(report, io.StringIO())
        json_report(report)
        junit_report(report)
    with watch.on("html"):
        html_report(report)
    return {what: spent / 1e9 for what, spent in watch.spent.items()}


def _set_up(cassette: Cassette) -> None:
    """What a run does with folders before and after it."""
    with open_envelope() as envelope:
        write_files(envelope.workspace.root, cassette.files)
        write_files(envelope.workspace.home, cassette.home_files)
        folder_state(envelope.workspace.root)
        folder_state(envelope.workspace.root)


def _section(spent: dict[str, float], cases: int) -> Section:
    runs = spent["runs"] - spent["set-up"]
    ours = spent["compare"] + spent["settle"] + spent["report"] + spent["html"]

    def per_case(name: str, seconds: float) -> Figure:
        return Figure(name=name, value=seconds / cases * 1000, unit="ms")

    return Section(
        "harness",
        [
            per_case("two runs, per case", runs),
            per_case("compare and project, per case", spent["compare"]),
            per_case("waivers, terminal, JSON, JUnit, per case", spent["settle"] + spent["report"]),
            per_case("HTML, per case", spent["html"]),
            Figure(name="harness / two runs", value=ours / runs * 100, unit="%", target=OVERHEAD),
            per_case("beside it: loading the YAML, per case", spent["load"]),
            per_case("beside it: workspaces of two runs, per case", spent["set-up"]),
        ],
        (f"{cases} cassettes; the CPU of child processes that tools start is in no figure.",),
    )
