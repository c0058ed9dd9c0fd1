"""Durations on the command line: `90s`, `10m`, `1h30m`."""

from __future__ import annotations

import re
from typing import Final

import click

from harness.progress import in_words

__all__ = ["duration", "duration_or_none", "in_words"]

_UNITS: Final = {"h": 3600, "m": 60, "s": 1}
_WHOLE: Final = re.compile(r"(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,6})s?)?")


def duration(asked: str, *, allow_zero: bool = False) -> float:
    """Seconds, from hours, minutes and seconds; a bare number counts seconds. An option's type.

    Raises:
        click.BadParameter: it is none, or it is 0 and that is not allowed.
    """
    match = _WHOLE.fullmatch(asked.strip().lower())
    if match is None or not match[0]:
        raise click.BadParameter(f"{asked!r} is no duration; write it like 90s, 10m or 1h30m")
    seconds = sum(
        int(digits) * unit
        for digits, unit in zip(match.groups(), _UNITS.values(), strict=True)
        if digits
    )
    if seconds == 0 and not allow_zero:
        raise click.BadParameter(f"{asked!r} is no time at all; write it like 90s, 10m or 1h30m")
    return float(seconds)


def duration_or_none(asked: str) -> float:
    """As `duration`, or 0."""
    return duration(asked, allow_zero=True)
