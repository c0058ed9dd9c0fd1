"""`parity gate`: may a phase be flipped?"""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

import click

from harness.commands.options import check_writable_file
from harness.commands.verdict_options import (
    as_of_option,
    evidence_option,
    gates_option,
    policy_from_option,
    profile_option,
)
from harness.whole_file import write_asked_for

__all__ = ["gate"]

_File = click.Path(path_type=Path, dir_okay=False)


@click.command()
@click.option(
    "--phase", type=click.Choice(["A", "B", "C"]), required=True, help="The rollout phase."
)
@profile_option
@evidence_option
@gates_option
@click.option(
    "--waivers",
    "waivers_file",
    type=_File,
    help="Accepted differences; parity_tests/waivers.toml if there is one.",
)
@as_of_option
@policy_from_option
@click.option("--json", "json_file", type=_File, help="Write the answer as JSON.")
@click.pass_context
def gate(
    ctx: click.Context,
    /,
    phase: str,
    profile: str,
    places: tuple[Path, ...],
    gates_file: Path | None,
    waivers_file: Path | None,
    as_of: datetime | None,
    policy_from: str | None,
    json_file: Path | None,
) -> None:
    """Say whether a rollout phase may be flipped, and why.

    Judges what was run and measured before; runs nothing itself. What is missing makes the answer
    unknown, what contradicts makes it no, and each reason says what would change it. Evidence
    counts only if it is of the code, cassettes and rules that are here now.

    \b
    parity gate --phase B
    parity gate --phase A --profile pull_request --journal parity-report
    parity gate --phase A --journal legs.jsonl --journal kills.json \\
        --json answer.json
    parity gate --phase A --journal parity-report --policy-from origin/main
    parity gate --phase A --journal parity-report --as-of 2026-06-01

    Exit codes: 0 yes; 1 no; 2 wrong usage, or a file that cannot be read; 3 unknown.
    """  # noqa: D301 - click's mark for lines that stay as they are
    from harness.gate.evidence import read_evidence
    from harness.gate.here import here
    from harness.gate.show import EXITS, show_answer, show_changes

    check_writable_file(json_file, "--json")
    day = as_of.date() if as_of is not None else datetime.now(UTC).date()
    place = here(gates_file, waivers_file, day, policy_from)
    if policy_from is not None:
        show_changes(place.policy.source, place.changes, sys.stdout)
    answer = place.answer(read_evidence(places), phase, profile)
    title = place.policy.gates.of_phase(phase).title
    show_answer(answer, title, place.policy.source, sys.stdout)
    if json_file is not None:
        _write(json_file, answer.to_json())
        click.echo(f"written: {json_file}")
    ctx.exit(EXITS[answer.answer])


def _write(file: Path, document: object) -> None:
    import json

    from services.redaction import redacted_value

    write_asked_for(file, json.dumps(redacted_value(document), indent=1) + "\n", "--json")
