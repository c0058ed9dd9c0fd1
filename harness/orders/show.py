"""The results of exploring completion orders as text, as JSON, and as an exit code."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, TextIO

from rich.console import Console
from rich.markup import escape

from harness.errors import LoadProblem
from harness.explain import explain
from harness.orders.model import Finding, OrderRun, OrdersResult, verdict_of
from harness.orders.places import Place
from harness.parity.verdict import CaseVerdict
from harness.report.model import ExitCode
from harness.report.terminal import STYLE
from harness.report.words import inert
from harness.screen import Screen
from harness.wording import counted
from services.redaction import redacted_value, without_credentials
from services.wire import JsonObject

__all__ = ["Asked", "exit_code", "orders_json", "show_orders"]

FORMAT: Final = 1
"""Version of the JSON document; it rises when a key changes its meaning or goes away."""

_LISTED: Final = 10
_LEGEND: Final = (
    "T/C is tool call C of turn T; `answer` a model response there, `call` the end of that call"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The request of the user, and whether it was finished."""

    control: str
    candidate: str
    most: int
    cases: int
    """How many cassettes were to be tried."""
    files: dict[str, str]
    """Name of a cassette → its file."""
    interrupted: bool = False


def exit_code(
    results: Sequence[OrdersResult], problems: Sequence[LoadProblem], asked: Asked
) -> ExitCode:
    """The exit code of the command."""
    verdict = verdict_of(results)
    return ExitCode.of(verdict, interrupted=asked.interrupted, problems=bool(problems))


def orders_json(
    results: Sequence[OrdersResult], problems: Sequence[LoadProblem], asked: Asked
) -> str:
    """The JSON document, without secrets, with a final newline."""
    document: JsonObject = {
        "orders": FORMAT,
        "verdict": verdict_of(results).value,
        "exitCode": int(exit_code(results, problems, asked)),
        "interrupted": asked.interrupted,
        "control": asked.control,
        "candidate": asked.candidate,
        "most": asked.most,
        "planned": asked.cases,
        "cases": [result.to_json() for result in results],
        "problems": [{"file": each.file, "message": each.message} for each in problems],
    }
    return json.dumps(redacted_value(document), indent=1) + "\n"


def show_orders(
    results: Sequence[OrdersResult],
    problems: Sequence[LoadProblem],
    asked: Asked,
    stream: TextIO,
) -> None:
    """Print the findings, then the numbers of orders and cases, then the verdict."""
    console = Screen(stream)
    bad = [result for result in results if result.verdict is not CaseVerdict.PARITY]
    for result in bad[:_LISTED]:
        _show_case(result, asked, console)
    if len(bad) > _LISTED:
        console.print(f"… and {len(bad) - _LISTED} more cases without parity", style="red")
    if bad:
        console.print(_safe(_LEGEND), style="dim")
    for result in results:
        _show_dependent(result, console)
    for problem in problems:
        console.print(_safe(f"not loaded: {problem.message}"), style="red")
    for line in _rests_on(results):
        console.print(_safe(line), style="dim")
    verdict = verdict_of(results)
    console.print(_safe(_headline(results, problems, asked)), style=f"bold {STYLE[verdict]}")


def _safe(text: str) -> str:
    return escape(inert(without_credentials(text)))


def _show_case(result: OrdersResult, asked: Asked, console: Console) -> None:
    style = STYLE[result.verdict]
    console.print(_safe(f"{result.verdict.value}: {result.cassette}"), style=style)
    for blocker in result.blockers:
        console.print(f"  {_safe(blocker)}")
    run = result.worst
    if run is not None:
        alike = sum(each.verdict is run.verdict for each in result.runs)
        _line(console, f"{alike} of {len(result.runs)} orders; order {run.number}: {_went(run)}")
        if run.missed is not None:
            _line(console, f"{asked.candidate} did not follow this order: {run.missed}")
        for line in explain(run.result, asked.control, asked.candidate):
            _line(console, line)
        _line(console, f"reproduce: {_reproduce(result, run, asked)}")
    for found in result.leaks[:1]:
        _show_leak(result, found, console)


def _show_leak(result: OrdersResult, found: Finding, console: Console) -> None:
    one, other = found.difference.one, found.difference.other
    who = " and ".join(dict.fromkeys(each.runtime for each in result.leaks))
    of = len({each.difference.other for each in result.leaks})
    words = f"order-leak: {who}: another result in {of} of {len(result.runs)} orders"
    _line(console, f"{words}, although the order of accesses to shared state is the same")
    first = found.difference.first
    _line(console, f"{first.place} ({first.kind.value})")
    for number, value in ((one, first.control), (other, first.candidate)):
        _line(console, f"  order {number}: {json.dumps(value)}")
        _line(console, f"    {_went(result.runs[number])}")


def _line(console: Console, text: str) -> None:
    console.print(f"  {_safe(text)}")


def _show_dependent(result: OrdersResult, console: Console) -> None:
    """Print one line for each set of shared things."""
    rows: dict[tuple[str, ...], list[Finding]] = {}
    for found in result.dependent:
        rows.setdefault(found.difference.shared, []).append(found)
    for shared, found_there in rows.items():
        who = " and ".join(dict.fromkeys(each.runtime for each in found_there))
        first = found_there[0].difference
        orders = f"orders {first.one} and {first.other}"
        words = f"order-dependent: {result.cassette}: {who}: {', '.join(shared)}"
        console.print(_safe(f"{words} ({orders}: {first.first.place})"), style="dim")


def _rests_on(results: Sequence[OrdersResult]) -> list[str]:
    beside = [result for result in results if result.side_by_side]
    count = sum(len(result.runs) for result in beside)
    whole = sum(result.answers.exhaustive for result in beside)
    alone = len(results) - len(beside)
    found = f"tried {counted(count, 'order')} of {counted(len(beside), 'case')} with parallel work"
    found += f", in {whole} of them every possible order"
    lines = [f"{found}; {counted(alone, 'case')} with one order only"]
    if unreachable := sum(result.unreachable for result in results):
        lines.append(f"{counted(unreachable, 'order')} impossible: one thread waits for another")
    return lines


def _headline(
    results: Sequence[OrdersResult], problems: Sequence[LoadProblem], asked: Asked
) -> str:
    found = Counter(result.verdict for result in results)
    words = [f"{found[verdict]} {verdict.value}" for verdict in CaseVerdict if found[verdict]]
    if problems:
        words.append(f"{len(problems)} not loaded")
    came_to = f"{verdict_of(results).value}: {asked.control} and {asked.candidate}"
    came_to += f" in every order tried: {', '.join(words) or 'no case'} of {asked.cases}"
    return came_to + (" (interrupted)" if asked.interrupted else "")


def _went(run: OrderRun) -> str:
    """A short form of an order: only the first and last of a call's successive places."""
    places = [place for place in run.places if not place.startswith("main ")] or run.places
    by_call = groupby(places, key=lambda place: Place.parse(place).path[:2])
    rows = [list(row) for _, row in by_call]
    return ", ".join(row[0] if len(row) == 1 else f"{row[0]} … {row[-1]}" for row in rows)


def _reproduce(result: OrdersResult, run: OrderRun, asked: Asked) -> str:
    file = asked.files.get(result.cassette, result.cassette)
    words = ["parity", "orders", file, "--order", ", ".join(run.places)]
    for option, side, usual in (
        ("--control", asked.control, "legacy"),
        ("--candidate", asked.candidate, "adk"),
    ):
        words += [] if side == usual else [option, side]
    return shlex.join(words)
