"""`parity orders`: what runs side by side, completing in one order after another."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from harness.commands import checks
from harness.commands.case_tasks import tasks_of
from harness.errors import LoadProblem, UsageError
from harness.experiment.backend import Backend
from harness.experiment.events import follow, on_finished
from harness.experiment.limits import Limits
from harness.experiment.pool import run_cases
from harness.orders.case import OrdersTask, RunUnder, explore, run_under
from harness.orders.model import OrdersResult
from harness.orders.places import Place
from harness.orders.show import Asked, exit_code, orders_json, show_orders
from harness.report.progress import CaseProgress
from harness.sides import hands_over
from harness.whole_file import writable_file, write_asked_for
from harness.wrapping import say

__all__ = ["OrdersSeams", "orders"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OrdersSeams:
    """What tests put in the place of the harness itself: `ctx.obj` of the command."""

    backend: Backend
    run: RunUnder


@click.pass_context
def orders(
    ctx: click.Context,
    /,
    paths: tuple[Path, ...],
    control: str,
    candidate: str,
    expr: str | None,
    phase: str | None,
    most: int,
    only: str | None,
    jobs: int,
    limits: Limits,
    trust: bool,
    json_file: Path | None,
    waivers_file: Path | None,
) -> int:
    """Run `parity orders`; return its exit code."""
    seams = _seams(ctx, limits)
    backend = seams.backend
    _check(backend, control, candidate)
    writable_file(json_file, "--json")
    files = checks.chosen_cassettes(paths, expr, phase, variants=only is None)
    tasks = tasks_of(
        OrdersTask,
        files,
        backend,
        trust=trust,
        run=seams.run,
        control=control,
        candidate=candidate,
        most=most,
        waivers=checks.current_waivers(waivers_file),
        only=_places(only, len(files)),
    )
    results, problems, interrupted = _explored(tasks, checks.worker_count(jobs))
    asked = Asked(
        control=control,
        candidate=candidate,
        most=most,
        cases=len(tasks),
        files={file.name: file.argument for file in files},
        interrupted=interrupted,
    )
    show_orders(results, problems, asked, sys.stdout)
    if json_file is not None:
        write_asked_for(json_file, orders_json(results, problems, asked), "--json")
        say(f"written: {json_file}")
    return int(exit_code(results, problems, asked))


def _check(backend: Backend, *sides: str) -> None:
    checks.runtimes(backend, *sides)
    for side in sides:
        if hands_over(side):
            problem = f"{side!r} hands a session over, but an order needs a single runtime"
            raise UsageError(problem, "name one runtime for each side")


def _places(only: str | None, count: int) -> tuple[Place, ...]:
    if only is None:
        return ()
    if count > 1:
        raise UsageError("--order applies to one cassette", "name only that cassette")
    try:
        return tuple(Place.parse(text.strip()) for text in only.split(","))
    except ValueError as error:
        raise UsageError(f"--order: {error}", "copy it from a report") from error


def _seams(ctx: click.Context, limits: Limits) -> OrdersSeams:
    if isinstance(ctx.obj, OrdersSeams):
        return ctx.obj
    return OrdersSeams(backend=checks.backend_of(ctx, limits), run=run_under)


def _explored(
    tasks: Sequence[OrdersTask], jobs: int
) -> tuple[list[OrdersResult], list[LoadProblem], bool]:
    """The results by cassette, the cassettes that cannot be loaded, and whether Ctrl-C came."""
    results: list[OrdersResult] = []
    problems: list[LoadProblem] = []

    def take(task: OrdersTask, outcome: OrdersResult | LoadProblem) -> None:
        if isinstance(outcome, LoadProblem):
            problems.append(outcome)
        else:
            results.append(outcome)

    first = tasks[0]
    events = run_cases(
        explore,
        tasks,
        died=lambda task, died: OrdersResult.undecided(task.name, died.why),
        jobs=jobs,
        backend=first.backend,
        runtimes=[first.control, first.candidate],
    )
    with CaseProgress(sys.stderr, lambda _, found: getattr(found, "verdict", None)) as progress:
        ending = follow(events, progress, on_finished(take))
    return sorted(results, key=lambda each: each.cassette), problems, ending.interrupted
