"""What a measurement found, and how it is shown: figures with their targets, tables, JSON."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

__all__ = ["Figure", "MeasurementError", "Section", "Target", "document", "number", "table"]


class MeasurementError(Exception):
    """A measurement could not be made; the message says why."""


@dataclass(frozen=True, slots=True)
class Target:
    """What a figure must be: at most, or at least, `limit`, in the figure's own unit."""

    limit: float
    bound: Literal["at most", "at least", "below"] = "at most"

    def met_by(self, value: float) -> bool:
        """Whether `value` is good enough; what is no number never is."""
        if self.bound == "at least":
            return value >= self.limit
        return value < self.limit if self.bound == "below" else value <= self.limit

    def __str__(self) -> str:
        sign = {"at most": "<=", "at least": ">=", "below": "<"}[self.bound]
        return f"{sign} {number(self.limit)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One number. `unit` is `x` for ratios; `note` says what qualifies it."""

    name: str
    value: float
    unit: str = "x"
    target: Target | None = None
    note: str = ""

    @property
    def verdict(self) -> str:
        """`met`, `missed`, or nothing where there is no target."""
        if self.target is None:
            return ""
        return "met" if self.target.met_by(self.value) else "missed"

    def to_json(self) -> dict[str, Any]:
        """The figure for programs."""
        found: dict[str, Any] = {"name": self.name, "value": self.value, "unit": self.unit}
        if self.target is not None:
            found |= {"target": str(self.target), "verdict": self.verdict}
        return found | ({"note": self.note} if self.note else {})


@dataclass(frozen=True, slots=True)
class Section:
    """One measurement's figures, and what has to be said about all of them."""

    name: str
    figures: Sequence[Figure]
    remarks: Sequence[str] = field(default=())


def number(value: float) -> str:
    """Three significant digits, without an exponent."""
    if not math.isfinite(value):
        return "n/a"
    if value == 0:
        return "0"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    text = f"{value:.{digits}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def table(section: Section) -> str:
    """The section as text: columns of equal width, remarks below."""
    rows = [
        (
            figure.name,
            f"{number(figure.value)} {figure.unit}",
            str(figure.target) if figure.target else "",
            figure.verdict,
            figure.note,
        )
        for figure in section.figures
    ]
    heads = (section.name, "found", "target", "", "")
    widths = [max(len(row[column]) for row in (heads, *rows)) for column in range(len(heads))]
    lines = [_line(heads, widths), "-" * (sum(widths[:4]) + 6)]
    lines += [_line(row, widths) for row in rows]
    return "\n".join([*lines, *(f"  {remark}" for remark in section.remarks)])


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    name, found, *rest = cells
    padded = [cell.ljust(width) for cell, width in zip(rest, widths[2:], strict=True)]
    return "  ".join([name.ljust(widths[0]), found.rjust(widths[1]), *padded]).rstrip()


def document(
    sections: Sequence[Section], failures: Sequence[tuple[str, str]], facts: dict[str, Any]
) -> dict[str, Any]:
    """Everything as one JSON document; `facts` say where and how it was measured."""
    return {
        **facts,
        "sections": [
            {
                "name": section.name,
                "figures": [figure.to_json() for figure in section.figures],
                "remarks": list(section.remarks),
            }
            for section in sections
        ],
        "failures": [{"name": name, "problem": problem} for name, problem in failures],
    }
