"""Waivers: accepted differences with owner, reason and expiry (`parity_tests/waivers.toml`).

A waiver names a place, the values of both sides, and perhaps the runtimes; it covers a divergence
only if all of these fit. A waiver that has expired, or fits more divergences than it allows, covers
nothing.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from harness.canonical import sha256_hex
from harness.errors import HarnessError, first_problem
from harness.parity.breadth import SCENARIOS, covers_nearly_all, is_wide_glob
from harness.parity.verdict import CaseResult
from harness.parity.waiver import UNWRITTEN, Waiver
from services.regular_files import MOST_TEXT, read_regular

__all__ = [
    "UNWRITTEN",
    "WARNING_DAYS",
    "Waiver",
    "WaiverFileError",
    "WaiverStatus",
    "Waivers",
    "load_waivers",
    "settle",
]

WARNING_DAYS: Final = 14
"""Reports warn about a waiver this many days before it expires."""


class WaiverFileError(HarnessError):
    """The waivers file cannot be used; none of its waivers applies."""

    def __init__(self, file: Path, key: str, problem: str) -> None:
        where = f"{file}: {key}" if key else str(file)
        super().__init__(f"{where}: {problem}")
        self.file = file
        self.key = key
        self.problem = problem


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal[1]
    waiver: tuple[Waiver, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Waivers:
    """The waivers in force on one day. `digest` identifies the file's content."""

    entries: tuple[Waiver, ...] = ()
    as_of: date
    digest: str = ""

    @property
    def live(self) -> tuple[Waiver, ...]:
        """The waivers that have not expired."""
        return tuple(waiver for waiver in self.entries if self.as_of <= waiver.expires)


@dataclass(frozen=True, slots=True, kw_only=True)
class WaiverStatus:
    """How one waiver was used in a run; the gate reads it."""

    id: str
    state: Literal["used", "unused", "expired", "exceeded"]
    count: int
    """How many divergences it covers; the first waiver that fits a divergence covers it."""
    max_count: int
    expires: date | None = None
    """Its last day."""
    days_left: int | None = None
    """Days until it expires; negative once it has."""

    @property
    def expiring(self) -> bool:
        """Whether it expires soon: a warning is due."""
        return self.days_left is not None and 0 <= self.days_left <= WARNING_DAYS

    @property
    def warning(self) -> str | None:
        """The warning; `None` if none is due."""
        if self.days_left is None or not self.expiring:
            return None
        left = {0: "today", 1: "tomorrow"}.get(self.days_left, f"in {self.days_left} days")
        return f"waiver {self.id} expires {left}, on {self.expires}"


def load_waivers(file: Path | None, *, as_of: date) -> Waivers:
    """Read a waivers file; `None` gives no waivers.

    Raises:
        WaiverFileError: the file is not readable or not TOML, a key or value is wrong, an id
            occurs twice, or a waiver, alone or with others, is too wide.
    """
    if file is None:
        return Waivers(as_of=as_of)
    try:
        text = read_regular(file, MOST_TEXT).decode("utf-8-sig")
        document = _File.model_validate(tomllib.loads(text))
    except OSError as error:
        raise WaiverFileError(file, "", f"cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise WaiverFileError(file, "", f"cannot be read: {error}") from error
    except ValidationError as error:
        raise WaiverFileError(file, *first_problem(error)) from error
    except (ValueError, RecursionError) as error:  # a number of too many digits is no TOML error
        raise WaiverFileError(file, "", f"not TOML: {error}") from error
    seen: set[str] = set()
    for number, waiver in enumerate(document.waiver):
        where = f"waiver[{number}]"
        if waiver.id in seen:
            raise WaiverFileError(file, f"{where}.id", f"{waiver.id!r} occurs twice")
        if waiver.too_wide is not None:
            problem = f"it would cover {waiver.too_wide}; restrict the path or the values"
            raise WaiverFileError(file, where, f"{waiver.id!r}: {problem}")
        seen.add(waiver.id)
    for together in _too_wide_together(document.waiver):
        problem = f"{', '.join(together)}: together they would cover nearly every difference of"
        problem += " their channel; restrict the paths or the values"
        raise WaiverFileError(file, "waiver", problem)
    return Waivers(entries=document.waiver, as_of=as_of, digest=sha256_hex(text))


def _too_wide_together(entries: Sequence[Waiver]) -> Iterator[list[str]]:
    """Ids of waivers that together cover more of a channel than one waiver may."""
    anywhere = [each for each in entries if is_wide_glob(each.scenario, SCENARIOS)]
    for channel, between in dict.fromkeys((each.channel, each.between) for each in anywhere):
        same = [w for w in anywhere if w.channel == channel and w.between in (between, None)]
        if len(same) > 1 and covers_nearly_all([each.covered for each in same]):
            yield [each.id for each in same]


def settle(
    results: Sequence[CaseResult], waivers: Waivers
) -> tuple[list[CaseResult], list[WaiverStatus]]:
    """Apply the waivers to the results of a whole run.

    The first waiver that fits a divergence covers it. A waiver that exceeds its count is removed,
    and the others are applied again. A waiver for runtimes that the run did not compare has no
    status.
    """
    live = list(waivers.live)
    exceeded: dict[str, int] = {}
    while True:
        settled = [replace(result, waived=_assign(result, live)) for result in results]
        counts = Counter(waiver for result in settled for waiver in result.waived.values())
        over = next((w for w in live if counts[w.id] > w.max_count), None)
        if over is None:
            break
        live.remove(over)
        exceeded[over.id] = counts[over.id]
    expired = [waiver for waiver in waivers.entries if waivers.as_of > waiver.expires]
    missed = Counter(
        waiver
        for result in settled
        for index, waiver in _assign(result, expired).items()
        if index not in result.waived
    )
    states = []
    for waiver in waivers.entries:
        concerned = any(waiver.concerns(result.runtimes) for result in results)
        if waiver.between is not None and not concerned:
            continue
        # For an expired waiver: how many divergences it would cover.
        count = exceeded.get(waiver.id, counts[waiver.id] + missed[waiver.id])
        state: Literal["used", "unused", "expired", "exceeded"] = "used" if count else "unused"
        if waiver.id in exceeded:
            state = "exceeded"
        elif waivers.as_of > waiver.expires:
            state = "expired"
        states.append(
            WaiverStatus(
                id=waiver.id,
                state=state,
                count=count,
                max_count=waiver.max_count,
                expires=waiver.expires,
                days_left=(waiver.expires - waivers.as_of).days,
            )
        )
    return settled, states


def _assign(result: CaseResult, live: Sequence[Waiver]) -> dict[int, str]:
    fitting = (
        (index, next((each.id for each in live if each.fits(found, result.runtimes)), None))
        for index, found in enumerate(result.divergences)
    )
    return {index: waiver for index, waiver in fitting if waiver is not None}
