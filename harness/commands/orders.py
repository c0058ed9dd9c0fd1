"""`parity orders`: what runs side by side, completing in one order after another."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click

from harness.commands import checks, options
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
from harness.whole_file import write_asked_for
from harness.wrapping import say

__all__ = ["OrdersSeams", "orders"]

_MOST: Final = 24
"""All orders of four that complete side by side."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrdersSeams:
    """What tests put in the place of the harness itself: `ctx.obj` of the command."""

    backend: Backend
    run: RunUnder


@click.command()
@options.paths
@click.option("--control", default="legacy", show_default=True, help="The runtime that is right.")
@click.option("--candidate", default="adk", show_default=True, help="The runtime that is judged.")
@options.select
@options.phase
@click.option(
    "--most",
    type=click.IntRange(1, 10_000),
    default=_MOST,
    metavar="N",
    show_default=True,
    help="Orders of a cassette at the most; fewer where there are fewer.",
)
@click.option(
    "--order",
    "only",
    metavar="PLACES",
    help="Try this one: places with commas between them, as a report names them.",
)
@options.jobs
@options.limits
@options.trust
@click.option("--json", "json_file", type=options.FILE, help="Write every case and order as JSON.")
@options.waivers
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
    """Let parallel work complete in every order, and compare.

    What runs side by side are tool calls and subagents. Model answers and ended calls are held back
    until nothing else can happen, then let go one at a time. Under each order control and candidate
    must agree. Between orders each of them must do the same, except where threads touched something
    they share in another order: that is said, and what it was. Orders with few preemptions come
    first.

    \b
    parity orders subagent
    parity orders cassettes/tools -k parallel --most 100 -n 0
    parity orders tools/parallel_reads --control upstream

    Exit codes: 0 parity; 1 divergent, or an engine that lets order show where nothing is shared; 2
    wrong usage, or a file that cannot be loaded; 3 inconclusive; 130 interrupted.
    """  # noqa: D301 - click's mark for lines that stay as they are
    seams = _seams(ctx, limits)
    backend = seams.backend
    _check(backend, control, candidate)
    checks.writable_file(json_file, "--json")
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
            problem = f"{side!r} hands a session over, and orders are imposed on one runtime"
            raise UsageError(problem, "name one runtime a side")


def _places(only: str | None, count: int) -> tuple[Place, ...]:
    if only is None:
        return ()
    if count > 1:
        raise UsageError("--order is an order of one cassette", "name that cassette alone")
    try:
        return tuple(Place.parse(text.strip()) for text in only.split(","))
    except ValueError as error:
        raise UsageError(f"--order: {error}", "take it from a report") from error


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
