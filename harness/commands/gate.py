"""`parity gate`: may a phase be flipped?"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from harness.commands import options
from harness.commands.checks import check_writable_file, worker_count
from harness.commands.gate_question import Question

__all__ = ["gate"]


@click.command()
@options.phase_required
@options.profile
@options.evidence
@options.gates
@options.waivers
@options.as_of
@options.policy_from
@click.option("--json", "json_file", type=options.FILE, help="Write the answer as JSON.")
@click.option("--html", "html_file", type=options.FILE, help="Write the answer as a page.")
def gate(
    as_of: datetime | None,
    json_file: Path | None,
    html_file: Path | None,
    **asked: Any,
) -> int:
    """Say whether a rollout phase may be flipped, and why.

    Judges what was run and measured before; runs nothing itself. What is missing makes the answer
    unknown, what contradicts makes it no. The output ends with the command that measures what is
    missing, and about how long it takes. Evidence counts only if it is of the code, cassettes and
    rules that are here now.

    \b
    parity gate --phase B
    parity gate --phase A --profile pull_request --journal parity-report
    parity gate --phase A --json answer.json --html answer.html
    parity gate --phase A --policy-from origin/main
    parity gate --phase A --as-of 2026-06-01

    Exit codes: 0 yes; 1 no; 2 wrong usage, or a file that cannot be read; 3 unknown.
    """  # noqa: D301 - click's mark for lines that stay as they are
    check_writable_file(json_file, "--json")
    check_writable_file(html_file, "--html")
    question = Question(**asked)
    day = as_of.date() if as_of is not None else datetime.now(UTC).date()
    answered = question.asked(day, say_changes=True)
    plan = question.plan(answered, worker_count(0))
    files = [json_file] if json_file is not None else []
    return question.show(answered, plan, json_files=files, html_file=html_file)
