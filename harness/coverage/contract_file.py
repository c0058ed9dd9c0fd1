"""Reads the tables of `parity_tests/contract.md`; every error names its line.

The file is Markdown: the headings `## Phase A` and `### streaming` give phase and class of the rows
below. A row has an id, a sentence, the probes that show it, and its source. Other text is prose.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from harness.coverage.behaviour import PHASES, Behaviour, BehaviourClass
from harness.coverage.expression import ProbeProblem, parse_probes
from harness.coverage.probes import PREFIXES
from harness.errors import HarnessError
from services.regular_files import open_regular

__all__ = ["ContractFileError", "read_behaviours"]

_MOST: Final = 1024 * 1024
_COLUMNS: Final = ("id", "behaviour", "probes", "source")
_PHASE: Final = re.compile(r"## Phase (\w+)\b.*")
_CLASS: Final = re.compile(r"### (\w+)\b.*")
_ID: Final = re.compile(r"P-\d{3,4}")


class ContractFileError(HarnessError):
    """The contract cannot be used."""

    def __init__(self, file: Path, line: int, problem: str, mend: str) -> None:
        where = f"{file}:{line}" if line else str(file)
        super().__init__(f"{where}: {problem}; {mend}")
        self.file = file
        self.line = line


def read_behaviours(file: Path) -> tuple[str, tuple[Behaviour, ...]]:
    """The file's text and its behaviours, in order.

    Raises:
        ContractFileError: with the line of a malformed or repeated id, an unknown phase, class or
            probe, an empty cell, or a row outside of a class.
    """
    text = _text(file)
    found: dict[str, Behaviour] = {}
    phase: str | None = None
    kind: BehaviourClass | None = None
    for number, line in enumerate(text.split("\n"), 1):
        if match := _PHASE.fullmatch(line.strip()):
            phase, kind = _phase(file, number, match[1]), None
        elif line.startswith("## "):
            phase = kind = None
        elif phase is not None and (match := _CLASS.fullmatch(line.strip())):
            kind = _class(file, number, match[1])
        elif line.startswith("|") and phase is not None:
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if tuple(cells) == _COLUMNS or not "".join(cells).strip("-: "):
                continue
            if kind is None:
                mend = "write `### streaming`, or another class, above the table"
                raise ContractFileError(file, number, "the row belongs to no class", mend)
            row = _behaviour(file, number, cells, phase, kind)
            if row.id in found:
                mend = "numbers are given once: take the next free one"
                raise ContractFileError(file, number, f"{row.id} is there twice", mend)
            found[row.id] = row
    if not found:
        mend = "it has tables under `## Phase A` and `### streaming`"
        raise ContractFileError(file, 0, "there is no behaviour in it", mend)
    return text, tuple(found.values())


def _text(file: Path) -> str:
    try:
        with open_regular(file) as stream:
            data = stream.read(_MOST + 1)
        if len(data) > _MOST:
            raise ContractFileError(file, 0, "is larger than 1 MB", "name the contract's file")
        return data.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        mend = "name a readable file in UTF-8"
        raise ContractFileError(file, 0, f"cannot be read: {error}", mend) from error


def _phase(file: Path, number: int, name: str) -> str:
    if name not in PHASES:
        mend = f"use one of {', '.join(PHASES)}"
        raise ContractFileError(file, number, f"there is no phase {name!r}", mend)
    return name


def _class(file: Path, number: int, name: str) -> BehaviourClass:
    try:
        return BehaviourClass(name)
    except ValueError:
        mend = f"use one of {', '.join(BehaviourClass)}"
        raise ContractFileError(file, number, f"there is no class {name!r}", mend) from None


def _behaviour(
    file: Path, number: int, cells: list[str], phase: str, kind: BehaviourClass
) -> Behaviour:
    if len(cells) != len(_COLUMNS):
        problem = f"the row has {len(cells)} cells, not {len(_COLUMNS)}"
        raise ContractFileError(file, number, problem, f"write | {' | '.join(_COLUMNS)} |")
    number_of, title, probes, source = cells
    if not _ID.fullmatch(number_of):
        raise ContractFileError(file, number, f"{number_of!r} is no id", "write one like P-014")
    for name, cell in zip(_COLUMNS[1:], cells[1:], strict=True):
        if not cell:
            raise ContractFileError(file, number, f"{number_of} has no {name}", "fill in the cell")
    try:
        expression = parse_probes(probes.replace("`", ""))
    except ProbeProblem as error:
        mend = "write probes like `end:aborted and retry:*`"
        raise ContractFileError(file, number, f"{number_of}: {error}", mend) from None
    for glob in expression.globs:
        prefix, colon, rest = glob.partition(":")
        if prefix not in PREFIXES or not colon or not rest:
            problem = f"{number_of}: {glob!r} is no probe of a known kind"
            mend = f"begin it with one of {', '.join(f'{each}:' for each in PREFIXES)}"
            raise ContractFileError(file, number, problem, mend)
    return Behaviour(
        id=number_of,
        phase=phase,
        behaviour_class=kind,
        title=title,
        probes=expression,
        source=source,
    )
