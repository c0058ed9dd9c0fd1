"""Reports on a generated run: progress on standard error, the summary, and JSON."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Final, TextIO

from rich.console import Console
from rich.markup import escape

from harness.canonical import printable
from harness.generating.campaign import SHOWN, Campaign
from harness.parity.verdict import CaseVerdict
from harness.progress import ProgressLine, so_far
from harness.report.model import ExitCode
from harness.scenarios.generation import WORKER_DIED, upper_bound
from harness.scenarios.trial import UNDECIDED
from harness.screen import Screen
from harness.timeline.words import cut
from harness.wording import counted
from services.redaction import redacted_value
from services.wire import Json, JsonObject

__all__ = [
    "FORMAT",
    "GenerationProgress",
    "Verdict",
    "generation_exit",
    "generation_json",
    "show_generation",
]

FORMAT: Final = 1
"""Version of the JSON document; it rises when a key changes its meaning or goes away."""
_RAREST: Final = 20


class Verdict(StrEnum):
    """The verdict on a generated run."""

    NOTHING = "nothing found"
    FINDINGS = "findings"
    UNDECIDED = "undecided"


_STYLE: Final = {Verdict.NOTHING: "green", Verdict.FINDINGS: "red", Verdict.UNDECIDED: "yellow"}


def verdict_of(campaign: Campaign) -> Verdict:
    """Findings if any finding, known or new, diverges; else undecided if anything is."""
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
    """Findings of earlier runs that occurred in this one, and how often."""
    seen = campaign.generation.seen
    return {name: seen[name] for name in sorted(campaign.known) if seen[name]}


def generation_exit(campaign: Campaign, *, interrupted: bool) -> ExitCode:
    """The exit code of the command."""
    if interrupted:
        return ExitCode.INTERRUPTED
    return {
        Verdict.NOTHING: ExitCode.PARITY,
        Verdict.FINDINGS: ExitCode.DIVERGENT,
        Verdict.UNDECIDED: ExitCode.INCONCLUSIVE,
    }[verdict_of(campaign)]


class GenerationProgress(ProgressLine):
    """Shows the progress of a campaign. Use as a context manager."""

    def __init__(self, campaign: Campaign, stream: TextIO) -> None:
        super().__init__(stream, campaign.setup.now)
        self._campaign = campaign

    @property
    def _share(self) -> float:
        return self._campaign.share

    @property
    def _words(self) -> str:
        campaign = self._campaign
        return f"{_progress(campaign)}, after {so_far(campaign.elapsed_s, campaign.share)}"


def show_generation(
    campaign: Campaign, stream: TextIO, *, repeat: Sequence[str], interrupted: bool
) -> None:
    """Print the summary. `repeat` is the command line that draws the same examples."""
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
        console.print(f"rarest probes: {escape(printable(listed))}", style="dim")
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
        words += " (interrupted; the same command with --resume continues)"
    console.print(f"again: {escape(shlex.join(repeat))}")
    console.print(escape(words), style=f"bold {_STYLE[verdict]}")


def generation_json(
    campaign: Campaign,
    *,
    repeat: Sequence[str],
    interrupted: bool,
    measured: Mapping[str, Json] | None = None,
) -> str:
    """The summary as JSON text; `measured` are facts about the machine (`harness.gate.facts`)."""
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


def _progress(campaign: Campaign) -> str:
    generation = campaign.generation
    rate = generation.examples / campaign.elapsed_s if campaign.elapsed_s > 0 else 0.0
    blocks = len(generation.blocks)
    words = [
        f"{generation.examples} examples in {counted(blocks, 'block')}"
        + (f" ({generation.repeated} repeats)" if generation.repeated else ""),
        f"{rate:.1f}/s",
        *([f"{generation.over_bytes} also over a socket"] if generation.over_bytes else []),
        f"{len(generation.reached)} kinds of events seen",
        counted(len(generation.findings), "finding"),
    ]
    known = len(known_again(campaign))
    return ", ".join([*words, f"{known} known"] if known else words)


def _show_unsettled(campaign: Campaign, console: Console) -> None:
    unsettled = campaign.generation.unsettled
    if unsettled:
        listed = ", ".join(f"{rule} {count}" for rule, count in sorted(unsettled.items()))
        words = "findings of provider rules on both sides, not settled"
        why = "the published core is not available"
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
        console.print(f"  {escape(cut(line, SHOWN))}")
    file = campaign.file_of(name)
    shrunk = generation.shrunk.get(name)
    console.print(f"  file: {escape(str(file))}" + (f" ({escape(shrunk.words)})" if shrunk else ""))
    if plan.fault is None and finding.cuts is None:
        sides = ["--control", plan.control, "--candidate", plan.candidate]
        words = shlex.join(["parity", "run", str(file), *sides, "--trust"])
        console.print(f"  replay: {escape(words)}")


def _bound(campaign: Campaign, *, interrupted: bool) -> JsonObject | None:
    """The bound on the rate of divergence; `None` for a search or an incomplete run."""
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
        return "rate of divergence: none (a search prefers interesting scenarios)"
    bound = _bound(campaign, interrupted=interrupted)
    if bound is None:
        return "rate of divergence: no bound (the run has findings or was interrupted)"
    return (
        f"rate of divergence: below {bound['rate']:.3%} at 95 %, from {bound['examples']} "
        f"independent examples; for profile {bound['profile']} ({bound['profileDigest'][:12]}) "
        f"and seed {bound['seed']} only"
    )
