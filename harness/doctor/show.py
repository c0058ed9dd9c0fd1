"""Prints the table of `parity doctor`."""

from __future__ import annotations

from typing import Final, TextIO

from rich import box
from rich.table import Table
from rich.text import Text

from harness.canonical import printable
from harness.doctor.checks import Found, Outcome
from harness.doctor.examining import Examined
from harness.screen import Screen
from services.redaction import redacted
from services.wire import JsonObject

__all__ = ["examined_json", "show_examined"]

_STYLES: Final = {Outcome.WORKS: "green", Outcome.LACKS: "yellow", Outcome.BROKEN: "bold red"}
_WIDEST: Final = 100
"""Columns of the table where the output is no terminal."""


def show_examined(examined: Examined, more: list[Found], stream: TextIO) -> None:
    """Write what works, what is lacking or broken, and the cost of each lack."""
    screen = Screen(stream)
    if not stream.isatty():
        screen.width = _WIDEST
    table = Table(box=box.SIMPLE, pad_edge=False, title=examined.runtime, title_justify="left")
    for heading in ("check", "", "seen", "not found then"):
        table.add_column(heading, overflow="fold", no_wrap=heading in ("check", ""))
    for each in (*examined.found, *more):
        words = (_clean(each.says), _clean(each.cost))
        mark = Text(each.outcome.value, style=_STYLES[each.outcome])
        table.add_row(Text(each.name), mark, *map(Text, words))
    screen.print(table, soft_wrap=False)


def _clean(text: str) -> str:
    return printable(redacted(text))


def examined_json(examined: Examined, more: list[Found]) -> JsonObject:
    """Return the same as JSON."""
    return {
        "runtime": examined.runtime,
        "tools": list(examined.tools),
        "checks": [
            {
                "name": each.name,
                "outcome": each.outcome.value,
                "says": each.says,
                **({"cost": each.cost} if each.cost else {}),
            }
            for each in (*examined.found, *more)
        ],
    }
