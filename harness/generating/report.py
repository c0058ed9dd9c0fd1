"""What a generated run shows: progress on standard error, its summary, and the same as JSON."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from typing import Final, TextIO

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

from harness.canonical import printable
from harness.generating.campaign import Campaign, Told
from harness.parity.verdict import CaseVerdict
from harness.progress import Pace, so_far
from harness.report.model import ExitCode
from harness.scenarios.generation import WORKER_DIED, upper_bound
from harness.scenarios.trial import UNDECIDED
from harness.screen import Screen
from services.redaction import redacted_value
from services.wire import Json, JsonObject

__all__ = [
    "FORMAT",
    "Verdict",
    "generation_exit",
    "generation_json",
    "generation_progress",
    "show_generation",
]

FORMAT: Final = 1
"""Version of the JSON document; goes up when a key changes its meaning or goes away."""
_SHOWN: Final = 200
_RAREST: Final = 20


class Verdict(StrEnum):
    """What a generated run came to."""

    NOTHING = "nothing found"
    FINDINGS = "findings"
    UNDECIDED = "undecided"


_STYLE: Final = {Verdict.NOTHING: "green", Verdict.FINDINGS: "red", Verdict.UNDECIDED: "yellow"}


def verdict_of(campaign: Campaign) -> Verdict:
    """Findings if anything diverges, known or new; else undecided if anything is."""
    generation = campaign.generation
    verdicts = {generation.result_of(name).verdict for name in generation.findings}
    for name in known_again(campaign):
        undecided = name.startswith(UNDECIDED) or name == WORKER_DIED
        verdicts.add(CaseVerdict.INCONCLUSIVE if undecided else CaseVerdict.DIVERGENT)
    if CaseVerdict.DIVERGENT in verdicts:
        return Verdict.FINDINGS
    lost = any(done.lost for done in generation.blocks.values())
    if CaseVerdict.INCONCLUSIVE in verdicts or lost or not generation.examples:
        return Verdict.UNDECIDED
    return Verdict.NOTHING


def known_again(campaign: Campaign) -> dict[str, int]:
    """Findings of earlier runs that came up in this one, and how often."""
    seen = campaign.generation.seen
    return {name: seen[name] for name in sorted(campaign.known) if seen[name]}


def generation_exit(campaign: Campaign, *, interrupted: bool) -> ExitCode:
    """What the process says to whoever started it."""
    if interrupted:
        return ExitCode.INTERRUPTED
    return {
        Verdict.NOTHING: ExitCode.PARITY,
        Verdict.FINDINGS: ExitCode.DIVERGENT,
        Verdict.UNDECIDED: ExitCode.INCONCLUSIVE,
    }[verdict_of(campaign)]


class _Lines:
    """A line at times, where nobody watches."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._pace: Pace | None = None

    def block(self, campaign: Campaign) -> None:
        self.waiting(campaign)

    def waiting(self, campaign: Campaign) -> None:
        self._pace = self._pace or Pace(campaign.setup.now)
        if self._pace.due(campaign.share):
            self._say(f"{_progress(campaign)}, after {_so_far(campaign)}")

    def finding(self, fingerprint: str, says: str) -> None:
        self._say(f"found {fingerprint}: {_first(says)}")

    def stage(self, words: str) -> None:
        self._say(words)

    def _say(self, words: str) -> None:
        print(printable(words), file=self._stream, flush=True)


class _Bar:
    """A bar that moves, with findings above it as they come."""

    def __init__(self, bar: Progress) -> None:
        self._bar = bar
        self._task = bar.add_task("drawing", total=None)

    def block(self, campaign: Campaign) -> None:
        setup, plan = campaign.setup, campaign.plan
        timed = setup.time_s is not None
        self._bar.update(
            self._task,
            total=setup.time_s if timed else plan.examples,
            completed=min(campaign.elapsed_s, setup.time_s or 0)
            if timed
            else campaign.generation.examples,
            description=escape(f"{_so_far(campaign)}: {_progress(campaign)}"),
        )

    def waiting(self, campaign: Campaign) -> None:
        if not campaign.drawn:  # what comes after it has words of its own
            self.block(campaign)

    def finding(self, fingerprint: str, says: str) -> None:
        words = escape(printable(f"found {fingerprint}: {_first(says)}"))
        self._bar.console.print(f"[red]{words}[/red]", soft_wrap=True)

    def stage(self, words: str) -> None:
        self._bar.update(self._task, total=None, description=escape(printable(words)))


@contextmanager
def generation_progress(stream: TextIO) -> Iterator[Told]:
    """Progress on `stream`: a bar where that is a terminal, a line at times where it isn't."""
    if not stream.isatty():
        yield _Lines(stream)
        return
    columns = (SpinnerColumn(), BarColumn(bar_width=20), TextColumn("{task.description}"))
    console = Console(file=stream, highlight=False)
    with Progress(*columns, console=console, transient=True) as bar:
        yield _Bar(bar)


def show_generation(
    campaign: Campaign, stream: TextIO, *, repeat: Sequence[str], interrupted: bool
) -> None:
    """Write the summary. `repeat` is the command line that draws the same examples again."""
    console = Screen(stream)
    plan, generation = campaign.plan, campaign.generation
    profile = plan.drawn_from
    console.print(
        escape(
            f"{plan.way}: profile {profile.name} ({profile.digest[:12]}), seed {plan.seed}"
            + (f", fault {plan.fault}" if plan.fault else "")
        )
    )
    console.print(escape(_progress(campaign)))
    console.print(f"examples digest: {generation.digest}")
    spent = ", ".join(f"{what} {seconds:.1f} s" for what, seconds in generation.spent.items())
    console.print(f"processor time: {spent}", style="dim")
    if generation.reached:
        rarest = sorted(generation.reached.items(), key=lambda pair: (pair[1], pair[0]))[:_RAREST]
        listed = ", ".join(f"{name} {count}" for name, count in rarest)
        console.print(f"rarest of what was seen: {escape(printable(listed))}", style="dim")
    _show_unsettled(campaign, console)
    _show_known(campaign, console)
    for name in generation.findings:
        _show_finding(campaign, name, console)
    for done in generation.blocks.values():
        if done.lost:
            console.print(f"block {done.number}: {escape(done.lost)}", style="yellow")
    console.print(escape(_bound_line(campaign, interrupted=interrupted)))
    verdict = verdict_of(campaign)
    words = f"{verdict.value}: {plan.control} and {plan.candidate}"
    words += f" over {generation.examples} examples"
    if interrupted:
        words += " (interrupted; the same with --resume goes on)"
    console.print(f"again: {escape(shlex.join(repeat))}")
    console.print(escape(words), style=f"bold {_STYLE[verdict]}")


def generation_json(
    campaign: Campaign,
    *,
    repeat: Sequence[str],
    interrupted: bool,
    measured: Mapping[str, Json] | None = None,
) -> str:
    """The summary as JSON text; `measured` says of what and when (`harness.gate.facts`)."""
    plan, generation = campaign.plan, campaign.generation
    found: list[JsonObject] = []
    for name, finding in generation.findings.items():
        outcome, shrunk = generation.outcomes.get(name), generation.shrunk.get(name)
        found.append(
            {
                "fingerprint": name,
                "block": finding.block,
                "count": generation.seen[name],
                "file": str(campaign.file_of(name)),
                "says": campaign.says(name).splitlines(),
                "again": None if outcome is None else outcome.again.value,
                "shrunk": None if shrunk is None else shrunk.words,
                "result": generation.result_of(name).to_json(),
            }
        )
    document: JsonObject = {
        "generation": FORMAT,
        **plan.facts,
        "verdict": verdict_of(campaign).value,
        "interrupted": interrupted,
        "blocks": len(generation.blocks),
        "drawn": generation.examples,
        "repeated": generation.repeated,
        "overBytes": generation.over_bytes,
        "examplesDigest": generation.digest,
        "blockDigests": {
            str(number): generation.blocks[number].digest for number in sorted(generation.blocks)
        },
        "elapsedS": round(campaign.elapsed_s, 3),
        "spentS": {what: round(seconds, 3) for what, seconds in generation.spent.items()},
        "reached": dict(sorted(generation.reached.items())),
        "findings": found,
        "known": [
            {"fingerprint": name, "count": count, "file": str(campaign.known[name].file)}
            for name, count in known_again(campaign).items()
        ],
        "unsettled": dict(sorted(generation.unsettled.items())),
        "lost": {str(done.number): done.lost for done in generation.blocks.values() if done.lost},
        "upperBound": _bound(campaign, interrupted=interrupted),
        "command": shlex.join(repeat),
        "measured": dict(measured or {}),
    }
    return json.dumps(redacted_value(document), indent=2) + "\n"


def _so_far(campaign: Campaign) -> str:
    return so_far(campaign.elapsed_s, campaign.share)


def _progress(campaign: Campaign) -> str:
    generation = campaign.generation
    rate = generation.examples / campaign.elapsed_s if campaign.elapsed_s > 0 else 0.0
    blocks = len(generation.blocks)
    told = [
        f"{generation.examples} examples in {blocks} block{'' if blocks == 1 else 's'}"
        + (f" ({generation.repeated} repeats)" if generation.repeated else ""),
        f"{rate:.1f}/s",
        *([f"{generation.over_bytes} over bytes too"] if generation.over_bytes else []),
        f"{len(generation.reached)} kinds of events seen",
        f"{len(generation.findings)} finding{'' if len(generation.findings) == 1 else 's'}",
    ]
    known = len(known_again(campaign))
    return ", ".join([*told, f"{known} known"] if known else told)


def _show_unsettled(campaign: Campaign, console: Console) -> None:
    unsettled = campaign.generation.unsettled
    if unsettled:
        listed = ", ".join(f"{rule} {count}" for rule, count in sorted(unsettled.items()))
        words = "provider findings alike on both sides, not settled"
        why = "the published core is not at hand"
        console.print(f"{words} ({why}): {escape(listed)}", style="dim")


def _show_known(campaign: Campaign, console: Console) -> None:
    for name, count in known_again(campaign).items():
        words = f"known: {name}, {count} times: {campaign.known[name].file}"
        console.print(escape(printable(words)), style="yellow")


def _show_finding(campaign: Campaign, name: str, console: Console) -> None:
    plan, generation = campaign.plan, campaign.generation
    finding = generation.findings[name]
    decided = generation.result_of(name).verdict is CaseVerdict.DIVERGENT
    count = generation.seen[name]
    console.print(
        f"{'finding' if decided else 'undecided'} {name}: {count} times, first in block "
        f"{finding.block}",
        style="red" if decided else "yellow",
    )
    for line in campaign.says(name).splitlines()[:3]:
        console.print(f"  {escape(printable(_cut(line)))}")
    file = campaign.file_of(name)
    shrunk = generation.shrunk.get(name)
    console.print(f"  file: {escape(str(file))}" + (f" ({escape(shrunk.words)})" if shrunk else ""))
    if plan.fault is None and finding.cuts is None:
        sides = ["--control", plan.control, "--candidate", plan.candidate]
        words = shlex.join(["parity", "run", str(file), *sides, "--trust"])
        console.print(f"  replay: {escape(words)}")


def _bound(campaign: Campaign, *, interrupted: bool) -> JsonObject | None:
    """What a sample says of the rate of divergence; a search says nothing, nor does half a run."""
    plan, generation = campaign.plan, campaign.generation
    if plan.way != "sample" or interrupted or verdict_of(campaign) is not Verdict.NOTHING:
        return None
    return {
        "level": 0.95,
        "rate": upper_bound(generation.examples),
        "examples": generation.examples,
        "profile": plan.profile,
        "profileDigest": plan.drawn_from.digest,
        "seed": plan.seed,
    }


def _bound_line(campaign: Campaign, *, interrupted: bool) -> str:
    if campaign.plan.way == "search":
        return "rate of divergence: none is claimed (a search draws what it finds interesting)"
    bound = _bound(campaign, interrupted=interrupted)
    if bound is None:
        return "rate of divergence: no bound is claimed of a run with findings or cut short"
    return (
        f"rate of divergence: below {bound['rate']:.3%} at 95 %, from {bound['examples']} "
        f"independent examples; for profile {bound['profile']} ({bound['profileDigest'][:12]}) "
        f"and seed {bound['seed']} only"
    )


def _first(says: str) -> str:
    return _cut((says.splitlines() or [""])[0])


def _cut(line: str) -> str:
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…"
