"""Durations on the command line: `90s`, `10m`, `1h30m`."""

from __future__ import annotations

import re
from typing import Final

import click

from harness.progress import in_words

__all__ = ["Duration", "in_words"]

_UNITS: Final = {"h": 3600, "m": 60, "s": 1}
_WHOLE: Final = re.compile(r"(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,6})s?)?")


class Duration(click.ParamType[float]):
    """Seconds, from hours, minutes and seconds; a bare number counts seconds."""

    name = "duration"

    def __init__(self, *, none_at_all: bool = False) -> None:
        """`none_at_all` allows 0, for what can be left out."""
        self._none_at_all = none_at_all

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Seconds, more than none unless that is allowed."""
        if isinstance(value, int | float):
            return float(value)
        text = str(value).strip().lower()
        match = _WHOLE.fullmatch(text)
        if match is None or not text:
            self.fail(f"{value!r} is no duration; write it like 90s, 10m or 1h30m", param, ctx)
        seconds = sum(
            int(digits) * unit
            for digits, unit in zip(match.groups(), _UNITS.values(), strict=True)
            if digits
        )
        if seconds == 0 and not self._none_at_all:
            self.fail(f"{value!r} is no time at all; write it like 90s, 10m or 1h30m", param, ctx)
        return float(seconds)
