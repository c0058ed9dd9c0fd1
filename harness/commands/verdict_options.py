"""What the commands around the gate and its records share: what is judged, by what, as of when."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

__all__ = [
    "as_of_option",
    "evidence_option",
    "gates_option",
    "phase_option",
    "policy_from_option",
    "profile_option",
    "signoffs_option",
    "waivers_option",
]

Command = TypeVar("Command", bound=Callable[..., Any])

profile_option = click.option(
    "--profile",
    type=click.Choice(["pull_request", "release"]),
    default="release",
    show_default=True,
    help="How much is asked for: what CI can do in minutes, or what is run by night.",
)

phase_option = click.option(
    "--phase", type=click.Choice(["A", "B", "C"]), required=True, help="The rollout phase."
)

waivers_option = click.option(
    "--waivers",
    "waivers_file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Accepted differences; parity_tests/waivers.toml if there is one.",
)

evidence_option = click.option(
    "--journal",
    "places",
    type=click.Path(path_type=Path),
    multiple=True,
    default=(Path("parity-report"),),
    show_default=True,
    metavar="PLACE",
    help="A journal, kill matrix or generated run's summary, or a folder of them; again for more.",
)

as_of_option = click.option(
    "--as-of",
    type=click.DateTime(["%Y-%m-%d"]),
    help="Judge waivers and ages by this day instead of today (UTC).",
)

gates_option = click.option(
    "--gates",
    "gates_file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="What must hold, and whose signatures count; parity_tests/gates.toml if there is one.",
)

policy_from_option = click.option(
    "--policy-from",
    metavar="REV",
    help="Judge by the gates and waivers of this revision, and say first what was changed since.",
)


def signoffs_option(default: str = "./signoffs") -> Callable[[Command], Command]:
    """`--signoffs DIR`; `default` says in words where records are looked for without it."""
    return click.option(
        "--signoffs",
        type=click.Path(path_type=Path, file_okay=False),
        metavar="DIR",
        help=f"The folder of records.  [default: {default}]",
    )
