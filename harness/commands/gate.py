"""`parity gate`: may a phase be flipped?"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import click

from harness.commands import checks
from harness.commands.here import found_here
from harness.gate.answer import GateAnswer, Measurement
from harness.gate.evidence import Evidence, read_evidence
from harness.gate.here import Here
from harness.gate.judge import judge
from harness.gate.page import gate_html
from harness.gate.plan import Planned, measure_command, needed, plan_of
from harness.gate.scope import FOLDER
from harness.gate.show import EXITS, show_answer, show_changes
from harness.whole_file import writable_file, write_asked_for, write_json

__all__ = ["Question", "gate"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """An answer, and what it was found with."""

    place: Here
    evidence: Evidence
    answer: GateAnswer

    @property
    def title(self) -> str:
        """What the phase moves."""
        return self.place.policy.gates.of_phase(self.answer.phase).title


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Which phase is asked about, by which rules, and where its evidence lies."""

    phase: str
    profile: str
    places: tuple[Path, ...]
    gates_file: Path | None
    waivers_file: Path | None
    policy_from: str | None

    @property
    def folder(self) -> Path:
        """Where measurements go: the first place that is a folder, or can become one."""
        return next((place for place in self.places if not place.is_file()), FOLDER)

    @property
    def measure(self) -> str:
        """The command that measures what the answer lacks."""
        given = [
            *(["--gates", str(self.gates_file)] if self.gates_file is not None else []),
            *(["--waivers", str(self.waivers_file)] if self.waivers_file is not None else []),
            *(["--policy-from", self.policy_from] if self.policy_from is not None else []),
        ]
        return measure_command(self.phase, self.profile, self.places, given)

    def asked(self, as_of: date, *, say_changes: bool = False) -> Answered:
        """Ask the gate, of what is here at this moment.

        Args:
            as_of: The day by which is judged.
            say_changes: Say first in what the rules here differ from those of `policy_from`.

        Raises:
            HarnessError: a file is missing or cannot be used.
        """
        place = found_here(self.gates_file, self.waivers_file, as_of, self.policy_from)
        if say_changes and self.policy_from is not None:
            show_changes(place.policy.source, place.changes, sys.stdout)
        # Before anything was measured there is no such folder, and no mistake of the user's.
        there = [each for each in self.places if each != FOLDER or each.exists()]
        evidence = read_evidence(there)
        answer = judge(place.scope(evidence, self.phase, self.profile, self.folder))
        return Answered(place=place, evidence=evidence, answer=answer)

    def plan(self, answered: Answered, jobs: int, but: Sequence[Measurement] = ()) -> list[Planned]:
        """What measurements would change the answer, without those in `but`."""
        left = [each for each in needed(answered.answer) if each not in but]
        return plan_of(left, answered.evidence, jobs)

    def show(
        self,
        answered: Answered,
        plan: Sequence[Planned],
        *,
        json_files: Sequence[Path],
        html_file: Path | None,
    ) -> int:
        """Write the answer to standard output and to the files; returns the exit code.

        Raises:
            UsageError: a file cannot be written.
        """
        answer, source = answered.answer, answered.place.policy.source
        title = answered.title
        show_answer(answer, title, source, sys.stdout, plan=plan, measure=self.measure)
        written = []
        for json_file in json_files:
            write_json(json_file, answer.to_json())
            written.append(str(json_file))
        if html_file is not None:
            text = gate_html(answer, title, source, plan, self.measure)
            write_asked_for(html_file, text, "--html")
            written.append(str(html_file))
        if written:
            click.echo(f"written: {shlex.join(written)}")
        return EXITS[answer.answer]


def gate(
    as_of: datetime | None,
    json_file: Path | None,
    html_file: Path | None,
    **asked: Any,
) -> int:
    """Run `parity gate`; return its exit code."""
    writable_file(json_file, "--json")
    writable_file(html_file, "--html")
    question = Question(**asked)
    day = as_of.date() if as_of is not None else datetime.now(UTC).date()
    answered = question.asked(day, say_changes=True)
    plan = question.plan(answered, checks.worker_count(0))
    files = [json_file] if json_file is not None else []
    return question.show(answered, plan, json_files=files, html_file=html_file)
