"""Plays the conformance suite in a runtime, each check in a worker that a watchdog observes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from harness.doctor.checks import CHECKS, Check, Found, Outcome, Tool
from harness.errors import HarnessError
from harness.experiment.backend import Backend
from harness.experiment.events import Event, Events, follow_whole, on_finished
from harness.experiment.pool import run_cases
from harness.parity.compare import compare_observations
from harness.replay.observation import Observation
from harness.replay.settings import missing_features
from harness.starting.example_tool import asked_once, example_arguments, example_cassette
from runtimes.registry import runtime_traits
from services.wire import JsonObject

__all__ = ["REPEATABLE", "CheckTask", "Examined", "examine", "examined"]

REPEATABLE: Final = "repeatable"
"""The name of the check that plays a session twice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckTask:
    """One check of one runtime. The first of a runtime has no check: it finds the tools."""

    name: str
    runtime: str
    backend: Backend
    check: str | None = None
    tool: Tool | None = None
    file: Path = field(default_factory=Path)


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """What was found out about one runtime."""

    runtime: str
    tools: tuple[str, ...]
    """The tools that it declares to its model."""
    found: tuple[Found, ...]
    """In the order of `CHECKS`, then whether two runs are the same."""


def examined(
    runtime: str, backend: Backend, jobs: int, *listeners: Callable[[Event[Any, Any]], None]
) -> Examined:
    """Play all checks in a runtime that can be opened."""
    first = CheckTask(name="tools", runtime=runtime, backend=backend)
    declared: dict[str, JsonObject] = {}
    asking: Events[CheckTask, Mapping[str, JsonObject]] = run_cases(
        _declared,
        [first],
        died=lambda task, died: {},
        jobs=1,
        backend=backend,
        runtimes=[runtime],
    )
    follow_whole(asking, on_finished(lambda task, tools: declared.update(tools)))
    tool = _tool(runtime, declared)
    names = [*(check.name for check in CHECKS), REPEATABLE]
    tasks = [
        CheckTask(name=name, runtime=runtime, backend=backend, check=name, tool=tool)
        for name in names
    ]
    found: dict[str, Found] = {}
    playing: Events[CheckTask, Found] = run_cases(
        examine,
        tasks,
        died=lambda task, died: _broken(task, died.why),
        jobs=jobs,
        backend=backend,
        runtimes=[runtime],
    )

    def keep(task: CheckTask, seen: Found) -> None:
        found[task.name] = seen

    follow_whole(playing, on_finished(keep), *listeners)
    return Examined(
        runtime=runtime,
        tools=tuple(declared),
        found=tuple(found[name] for name in names if name in found),
    )


def _tool(runtime: str, declared: Mapping[str, JsonObject]) -> Tool | None:
    """Return a call for the checks; of the tools that the traits name, if any is declared."""
    own = runtime_traits(runtime).tools or {}
    names = [name for name in own if name in declared] or list(declared)
    if not names:
        return None
    return Tool(name=names[0], args=example_arguments(declared[names[0]]))


def _declared(task: CheckTask) -> Mapping[str, JsonObject]:
    try:
        return asked_once(task.runtime).tools
    except HarnessError:  # the first check reports the problem
        return {}


def _broken(task: CheckTask, why: str) -> Found:
    return Found(name=task.name, outcome=Outcome.BROKEN, says=why)


def examine(task: CheckTask) -> Found:
    """Play one check; a failure of the runtime is its result."""
    try:
        if task.check == REPEATABLE:
            return _repeatable(task)
        check = next(each for each in CHECKS if each.name == task.check)
        return _played(task, check)
    except HarnessError as error:
        return _broken(task, str(error))


def _played(task: CheckTask, check: Check) -> Found:
    document = check.document(task.tool)
    if document is None:
        return Found(
            name=check.name,
            outcome=Outcome.LACKS,
            says="it declares no tool to its model",
            cost=check.cost,
        )
    cassette = example_cassette(f"doctor/{check.name.replace(' ', '_')}", document)
    missing = missing_features(cassette, runtime_traits(task.runtime).features)
    if missing:
        says = f"its traits do not have {', '.join(missing)}"
        return Found(name=check.name, outcome=Outcome.LACKS, says=says, cost=check.cost)
    seen = task.backend.run(cassette, task.runtime)
    outcome, says = _ended(seen) or check.judge(seen)
    cost = "" if outcome is Outcome.WORKS else check.cost
    return Found(name=check.name, outcome=outcome, says=says, cost=cost)


def _ended(seen: Observation) -> tuple[Outcome, str] | None:
    """Return what is wrong with a session that did not come to its end; `None` if it did."""
    if seen.blocker is not None:
        return Outcome.BROKEN, f"it {seen.paths.mask_text(seen.blocker)}"
    if seen.error is not None:
        return Outcome.BROKEN, seen.paths.mask_text(seen.placed_error or "")
    if seen.unfinished:
        return Outcome.BROKEN, f"it leaves work unfinished: {'; '.join(seen.unfinished)}"
    return None


def _repeatable(task: CheckTask) -> Found:
    document = next(check for check in CHECKS if check.name == "tool call").document(task.tool)
    document = document or CHECKS[0].document(None)
    assert document is not None
    cassette = example_cassette("doctor/repeatable", document)
    first, second = (task.backend.run(cassette, task.runtime) for _ in range(2))
    if (ended := _ended(first) or _ended(second)) is not None:
        return _broken(task, ended[1])
    found = compare_observations(first, second).divergences
    if not found:
        says = "two runs of one cassette are the same"
        return Found(name=REPEATABLE, outcome=Outcome.WORKS, says=says)
    return Found(
        name=REPEATABLE,
        outcome=Outcome.LACKS,
        says=f"two runs of one cassette differ: {found[0].place}",
        cost="differences behind what changes; name that under [[vary]] in parity.toml",
    )
