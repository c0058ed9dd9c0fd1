"""What generated scenarios cost: drawing, running, comparing, and making a finding small."""

from __future__ import annotations

import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any, Final

from benchmarks.corpus import PARITY, ROOT
from benchmarks.figures import Figure, MeasurementError, Section, Target
from benchmarks.sampling import across, gc_paused, median_of
from harness.cassette.load import build_cassette
from harness.experiment.backend import real_backend
from harness.faults.catalogue import faults
from harness.parity.waivers import Waivers, load_waivers
from harness.replay.runner import run_cassette
from harness.scenarios.block import BLOCK_EXAMPLES, BlockTask, drawn_in, run_block
from harness.scenarios.judging import Judging
from harness.scenarios.shrinking import Shrunk, shrink, size_of
from services.wire import Json, JsonObject

__all__ = [
    "FAULT",
    "LEAST_TURNS",
    "block_figures",
    "command_figures",
    "finding",
    "measure",
    "shrink_figures",
]

SIDES: Final = ("legacy", "adk")
PROFILE: Final = "everything"
SEED: Final = 20_260_101
FAULT: Final = "usage-dropped"
LEAST_TURNS: Final = 1
"""Model turns of the smallest scenario that shows the fault: one answer that counts its tokens."""
WITHIN_S: Final = 60
_WAIVERS: Final = ROOT / "parity_tests" / "waivers.toml"
_DATE: Final = date(2026, 11, 22)
_STAGES: Final = ("draw", "run", "compare")


def measure(*, quick: bool, progress: Callable[[str], None]) -> Section:
    """Blocks in this process, stage by stage; the command on one and two workers; one finding."""
    waivers = load_waivers(_WAIVERS if _WAIVERS.is_file() else None, as_of=_DATE)
    real_backend().preload(SIDES)
    progress("generation: warming up")
    _blocks(1, waivers, examples=6)
    passes = []
    for repeat in range(1 if quick else 3):
        count = 1 if quick else 4
        progress(
            f"generation: {count * BLOCK_EXAMPLES} scenarios in one process, pass {repeat + 1}"
        )
        passes.append(_blocks(count, waivers))
    walls: dict[int, list[float]] = {1: [], 2: []}
    examples = 50 if quick else 250
    for repeat in range(1 if quick else 3):
        for jobs, found in walls.items():
            progress(f"generation: {examples} scenarios, -n {jobs}, run {repeat + 1}")
            found.append(_command(examples, jobs))
    progress("generation: a finding is made small")
    shrunk, seconds = _shrunk(waivers)
    return Section(
        "generation",
        [
            *block_figures(passes),
            *command_figures(examples, walls),
            *shrink_figures(shrunk, seconds),
        ],
        (
            f"Profile {PROFILE}, sampled; {os.cpu_count()} cores.",
            "What tools start in child processes is in wall times only.",
            "Of each block of 25 one scenario is run four times more, over a socket.",
        ),
    )


def block_figures(passes: Sequence[Mapping[str, float]]) -> list[Figure]:
    """What the stages of a block cost per scenario, and all of them against the runs alone.

    Args:
        passes: Per pass `draw`, `run`, `compare` and `alone`, in seconds of CPU, and `examples`.
    """
    median = median_of(passes)

    def each(name: str, stage: str) -> Figure:
        return Figure(name=name, value=median[stage] / median["examples"] * 1000, unit="ms CPU")

    whole, spread = across(passes, lambda one: sum(one[stage] for stage in _STAGES) / one["alone"])
    around, far = across(passes, lambda one: (one["draw"] + one["compare"]) / one["alone"] * 100)
    return [
        each("draw and build, per scenario", "draw"),
        each("run, per scenario, observed and over a socket", "run"),
        each("compare, per scenario", "compare"),
        each("the two runs alone, per scenario", "alone"),
        Figure(name="all of it / the two runs alone", value=whole, note=spread),
        Figure(name="draw and compare / the two runs alone", value=around, unit="%", note=far),
    ]


def command_figures(examples: int, walls: Mapping[int, Sequence[float]]) -> list[Figure]:
    """Scenarios a second, by the number of workers: from the seconds of each run."""
    median = {jobs: statistics.median(found) for jobs, found in walls.items()}
    return [
        *(
            Figure(
                name=f"{examples} scenarios, -n {jobs}, start included",
                value=examples / seconds,
                unit="/s wall",
            )
            for jobs, seconds in median.items()
        ),
        Figure(name=f"{examples} scenarios: -n 1 / -n 2", value=median[1] / median[2]),
    ]


def shrink_figures(shrunk: Shrunk, seconds: float) -> list[Figure]:
    """How long the fixed finding took to shrink, and its result."""
    size = size_of(shrunk.document)
    return [
        Figure(
            name=f"shrinking `{FAULT}` to its end",
            value=seconds,
            unit="s wall",
            target=Target(WITHIN_S),
            note="" if shrunk.finished else "ended by the clock",
        ),
        Figure(name="scenarios tried for that", value=shrunk.tries, unit="runs of both"),
        Figure(
            name="model turns left, of 13",
            value=size.turns,
            unit="",
            target=Target(LEAST_TURNS),
            note=str(size),
        ),
    ]


def finding() -> JsonObject:
    """The scenario that is made small: long, and in one place the model counts its tokens."""
    steps: list[Json] = []
    for number in range(6):
        path = ("a.txt", "b.txt", "big.txt")[number % 3]
        steps.append(_answer(_call("read_file", file_path=path), _call("list_directory")))
        steps.append(_answer({"text": f"Answer {number}: " + "many words. " * 12}))
    steps[7]["stream"][0]["usageMetadata"] = {"promptTokenCount": 900, "totalTokenCount": 905}
    refused = {"error": {"status": 503, "message": "overloaded", "grpc": "UNAVAILABLE"}}
    return {
        "cassette": 1,
        "name": "generated/to_be_made_small",
        "phase": "A",
        "session": {
            "model": "gemini-2.5-flash",
            "approval_mode": "yolo",
            "settings": {"truncateToolOutputThreshold": 400, "skipNextSpeakerCheck": True},
        },
        "files": {
            "a.txt": "alpha\nbeta\n",
            "b.txt": "bravo\n",
            "big.txt": {"$lines": {"count": 200, "prefix": "line "}},
        },
        "script": [{"send": f"prompt {number}"} for number in range(6)],
        "model": [refused, *steps],
    }


def _answer(*parts: JsonObject) -> JsonObject:
    thought = {"text": "**Plan** look first", "thought": True}
    content = {"role": "model", "parts": [thought, *parts]}
    return {"stream": [{"candidates": [{"content": content, "finishReason": "STOP", "index": 0}]}]}


def _call(name: str, **args: Json) -> JsonObject:
    return {"functionCall": {"name": name, "args": args or {"dir_path": "."}}}


def _blocks(count: int, waivers: Waivers, examples: int = BLOCK_EXAMPLES) -> dict[str, float]:
    spent: dict[str, float] = dict.fromkeys((*_STAGES, "alone", "examples"), 0.0)
    for number in range(count):
        task = BlockTask(
            way="sample",
            profile=PROFILE,
            seed=SEED,
            number=number,
            examples=examples,
            control=SIDES[0],
            candidate=SIDES[1],
            waivers=waivers,
        )
        with gc_paused():
            done = run_block(task)
        for stage, seconds in zip(_STAGES, (done.draw_s, done.run_s, done.compare_s), strict=True):
            spent[stage] += seconds
        spent["alone"] += _alone([drawn.document for drawn in drawn_in(task)])
        spent["examples"] += done.examples
    return spent


def _alone(documents: Sequence[JsonObject]) -> float:
    """CPU seconds of running each in both runtimes, and nothing else."""
    folder = Path("generated")
    cassettes = [
        build_cassette(each, folder / f"{each['name']}.yaml", folder) for each in documents
    ]
    with gc_paused():
        begun = time.process_time()
        for cassette in cassettes:
            for side in SIDES:
                run_cassette(cassette, side)
        return time.process_time() - begun


def _command(examples: int, jobs: int) -> float:
    """Seconds that `parity generate` takes, from starting it to its end."""
    with tempfile.TemporaryDirectory(prefix="parity-bench-") as scratch:
        plan: Sequence[Any] = ("--profile", PROFILE, "--seed", SEED, "--examples", examples)
        ending: Sequence[Any] = ("-n", jobs, "--found", Path(scratch, "found"), "--shrink-time", 0)
        command = [*PARITY, "generate", "--sample", *map(str, (*plan, *ending))]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        begun = time.perf_counter()
        done = subprocess.run(
            command, cwd=scratch, env=environment, capture_output=True, text=True, check=False
        )
        seconds = time.perf_counter() - begun
    if done.returncode not in (0, 1, 3):
        said = (done.stderr.strip().splitlines() or ["nothing"])[-1]
        raise MeasurementError(f"parity generate ended with {done.returncode}: {said}")
    return seconds


def _shrunk(waivers: Waivers) -> tuple[Shrunk, float]:
    if FAULT not in faults():
        raise MeasurementError(f"the catalogue has no fault {FAULT}")
    how = Judging(control=SIDES[0], candidate=SIDES[1], waivers=waivers, fault=FAULT)
    document = finding()
    fingerprint = how.judge(document).fingerprint
    if fingerprint is None:
        raise MeasurementError(f"the fault {FAULT} does not show in the fixed scenario")
    begun = time.perf_counter()
    shrunk = shrink(
        document,
        how.judge_if_fit,
        fingerprint=fingerprint,
        enough=lambda: time.perf_counter() - begun > 2 * WITHIN_S,
    )
    return shrunk, time.perf_counter() - begun
