"""The HTML report of 500 cases with findings: building it, its size, and opening it in Chromium."""

from __future__ import annotations

import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from benchmarks.figures import Figure, MeasurementError, Section, Target
from benchmarks.harness_overhead import CORPUS
from benchmarks.sampling import gc_paused
from harness.cassette.find import find_cassettes
from harness.cassette.load import load_cassette
from harness.cassette.trust import starts_processes
from harness.experiment.backend import real_backend
from harness.parity.compare import compare_repeated
from harness.parity.verdict import CaseResult, CaseVerdict
from harness.replay.observation import Observation
from harness.replay.runner import run_cassette
from harness.report.html import html_report
from harness.report.model import RunReport

__all__ = ["Runs", "broken", "judged", "measure"]

CASES: Final = 500
OPENED: Final = 60
"""Cases that are opened in the browser one after another, evenly spread."""
BUILT: Final = Target(10)
OPENS: Final = Target(2000, "below")
CASE: Final = Target(100, "below")

_LOADED: Final = """
const [entry] = performance.getEntriesByType("navigation");
return entry.loadEventEnd - entry.startTime;
"""
_OPEN: Final = """
const [id, done] = arguments;
const card = document.getElementById(id);
card.scrollIntoView();
new MutationObserver((_, observer) => {
  observer.disconnect();
  card.getBoundingClientRect();  // lays out all that was put in
  done(performance.now() - begun);
}).observe(card, { attributeFilter: ["data-state"] });
const begun = performance.now();
card.open = true;
"""


_CLOSE: Final = """
const card = document.getElementById(arguments[0]);
card.open = false;
card.querySelector(".details").replaceChildren();
delete card.dataset.filled;
delete card.dataset.state;
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Runs:
    """Cases that diverge, and what running both sides of each took: seconds of CPU."""

    cases: Sequence[CaseResult]
    files: dict[str, str]
    seconds: float


def measure(*, quick: bool, progress: Callable[[str], None]) -> Section:
    """Run, build three times, open in a browser if there is one."""
    count = CASES // 5 if quick else CASES
    progress(f"report: {count} cases through both runtimes")
    runs = judged(count)
    report = RunReport(
        control="legacy",
        candidate="adk",
        cases=tuple(runs.cases),
        planned=len(runs.cases),
        files=runs.files,
    )
    progress("report: building")
    page, seconds = "", []
    for _ in range(3):
        with gc_paused():
            begun = time.process_time()
            page = html_report(report)
            seconds.append(time.process_time() - begun)
    built, size = statistics.median(seconds), len(page.encode())
    figures = [
        Figure(
            name="building / two runs", value=built / runs.seconds * 100, unit="%", target=BUILT
        ),
        Figure(name="building, per case", value=built / count * 1000, unit="ms"),
        Figure(name="size, per case", value=size / count / 1000, unit="kB"),
        Figure(name="size", value=size / 1e6, unit="MB"),
    ]
    found, remarks = _opened(page, count, progress)
    return Section(
        "report", [*figures, *found], (f"{count} cases, all of them divergent.", *remarks)
    )


def judged(count: int) -> Runs:
    """The first `count` cassettes of the corpus that diverge once adk's run was tampered with."""
    files = find_cassettes([CORPUS]) if CORPUS.is_dir() else []
    real_backend().preload(("legacy", "adk"))
    cases: list[CaseResult] = []
    places: dict[str, str] = {}
    seconds = 0.0
    for file in files:
        if len(cases) == count:
            break
        if file.name.startswith("http/"):
            continue  # recorded traffic is another kind of file
        cassette = load_cassette(file.path, file.root)
        if starts_processes(cassette) is not None:
            continue
        begun = time.process_time()
        control, candidate = run_cassette(cassette, "legacy"), run_cassette(cassette, "adk")
        seconds += time.process_time() - begun
        case = compare_repeated([control], [broken(candidate)], cassette)
        if case.verdict is CaseVerdict.DIVERGENT:
            cases.append(case)
            places[case.cassette] = str(file.path)
    if len(cases) < count:
        raise MeasurementError(f"{len(cases)} cases of {CORPUS.name}/ can be run, not {count}")
    return Runs(cases=cases, files=places, seconds=seconds)


def broken(seen: Observation) -> Observation:
    """A run as a runtime would have left it that loses words: every text a little shorter."""
    return replace(
        seen,
        events=[_shorter(event) for event in seen.events],
        transcript=[_shorter(content) for content in seen.transcript],
    )


def _shorter(value: Any, key: str = "") -> Any:
    if isinstance(value, dict):
        return {name: _shorter(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [_shorter(item, key) for item in value]
    if key == "text" and isinstance(value, str) and len(value) > 4:
        return value[: len(value) // 2] + value[len(value) // 2 + 2 :]
    return value


def _opened(
    page: str, count: int, progress: Callable[[str], None]
) -> tuple[list[Figure], tuple[str, ...]]:
    try:
        from selenium import webdriver
    except ImportError:
        return [], ("Not opened: that takes selenium (the dependency group `browser`).",)
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        return [], ("Not opened: that takes chromium and chromium-driver (Debian's packages).",)
    progress("report: opening it in Chromium")
    with tempfile.TemporaryDirectory() as folder, _browser(webdriver, chromium, driver) as browser:
        file = Path(folder, "index.html")
        file.write_text(page, "utf-8")
        loads = []
        for _ in range(5):
            browser.get("about:blank")
            browser.get(file.as_uri())
            loads.append(browser.execute_script(_LOADED))
        # The first one is open already.
        chosen = [f"case-{number}" for number in range(2, count + 1, max(1, count // OPENED))]
        times = [_best(browser, name) for name in chosen]
    spread = f"{min(times):.0f} to {max(times):.0f} in {len(times)}"
    return [
        Figure(
            name="opening the file, wall",
            value=statistics.median(loads),
            unit="ms",
            target=OPENS,
            note=f"{min(loads):.0f} to {max(loads):.0f} in {len(loads)}",
        ),
        Figure(
            name="opening a case until it is laid out, wall",
            value=statistics.median(times),
            unit="ms",
            target=CASE,
            note=spread,
        ),
        Figure(name="… the slowest", value=max(times), unit="ms", target=CASE),
    ], ()


def _best(browser: Any, name: str) -> float:
    """The quickest of three openings of a case: a disturbance only ever adds."""
    times = []
    for _ in range(3):
        times.append(float(browser.execute_async_script(_OPEN, name)))
        browser.execute_script(_CLOSE, name)
    return min(times)


@contextmanager
def _browser(webdriver: Any, chromium: str, driver: str) -> Iterator[Any]:
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(flag)
    service = webdriver.ChromeService(executable_path=driver)
    browser = webdriver.Chrome(options=options, service=service)
    try:
        yield browser
    finally:
        browser.quit()
