"""Waivers: accepted differences, by whom, why and until when (`parity_tests/waivers.toml`).

A waiver says what each side does at which place, and between which runtimes if not between any two;
it covers a divergence only where all of that fits. One that has expired, or that fits more
divergences than it allows, covers nothing at all.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from harness.canonical import canonical, sha256_hex
from harness.errors import HarnessError
from harness.parity.divergence import ChannelName, Divergence, Kind
from harness.parity.verdict import CaseResult
from services.wire import Json

__all__ = ["Waiver", "WaiverFileError", "WaiverStatus", "Waivers", "load_waivers", "settle"]

_PROBES: Final = ("", "a", "0", "null", "family/behaviour", "zz[0].y: Ünlikely\n{[(", "<absent>")
"""Values that have nothing in common; what fits them all fits everything."""

_RUNTIME: Final = re.compile(r"\*|[A-Za-z0-9][A-Za-z0-9_.-]*")

Text = Annotated[str, Field(min_length=1)]


class WaiverFileError(HarnessError):
    """The waivers file cannot be used; nothing is waived by half a file."""

    def __init__(self, file: Path, key: str, problem: str) -> None:
        where = f"{file}: {key}" if key else str(file)
        super().__init__(f"{where}: {problem}")
        self.file = file
        self.key = key
        self.problem = problem


class Waiver(BaseModel):
    """One accepted difference. Every key without a default must be there."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    id: Text
    between: tuple[str, str] | None = None
    """Control and candidate, by the runtimes' base names (`upstream` for `upstream@0.60.0` too),
    `*` for any; in runs of other runtimes the waiver does not exist. `None`: of whatever two."""
    scenario: Text
    """Cassette names, `*` standing for any text: `abort/*`."""
    channel: str
    path: str
    """Path in the item, `*` standing for any text: `contents[*].parts[0].text`; `""`: the item."""
    kind: str | None = None
    """Only this kind of divergence; any if absent. `nondeterministic` is never waived."""
    control: Json
    """What the control has there: a literal, `<absent>`, or `re:` and a pattern for its whole text
    (a dot stands for line ends too)."""
    candidate: Json
    impact: Text
    """What a user sees of it."""
    reason: Text
    owner: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*$")]
    """A role, such as `adk-runtime`."""
    expires: date
    """The last day on which it holds."""
    max_count: Annotated[int, Field(ge=1)]
    """The most divergences of one run that it may cover."""

    @field_validator("between", mode="before")
    @classmethod
    def _two_runtimes(cls, value: Any) -> Any:
        if value is None:
            return value
        names = value if isinstance(value, (list, tuple)) else ()
        if len(names) != 2 or not all(isinstance(name, str) for name in names):
            raise ValueError('must be two names, control and candidate: ["upstream", "legacy"]')
        for name in names:
            if not _RUNTIME.fullmatch(name):
                mend = "write its base name (`upstream` for every version of it), or `*` for any"
                raise ValueError(f"{name!r} is no runtime's base name; {mend}")
        return tuple(names)

    @field_validator("channel")
    @classmethod
    def _known_channel(cls, value: str) -> str:
        if value not in set(ChannelName):
            raise ValueError(f"no such channel; use one of {', '.join(ChannelName)}")
        return value

    @field_validator("kind")
    @classmethod
    def _known_kind(cls, value: str | None) -> str | None:
        allowed = [kind.value for kind in Kind if kind is not Kind.NONDETERMINISTIC]
        if value is not None and value not in allowed:
            raise ValueError(f"use one of {', '.join(allowed)}")
        return value

    @field_validator("control", "candidate")
    @classmethod
    def _sound_pattern(cls, value: Json) -> Json:
        if isinstance(value, str) and value.startswith("re:"):
            try:
                re.compile(value[3:])
            except re.error as error:
                raise ValueError(f"not a regular expression: {error}") from error
        try:
            canonical(value)
        except TypeError as error:  # TOML has dates and times
            raise ValueError("no such value can be observed; write it as text") from error
        return value

    def concerns(self, runtimes: tuple[str, str]) -> bool:
        """Whether this waiver is meant for comparisons of these two: control and candidate."""
        return self.between is None or all(
            name == "*" or _engines(runtime) == {name}
            for name, runtime in zip(self.between, runtimes, strict=True)
        )

    def fits(self, found: Divergence, runtimes: tuple[str, str]) -> bool:
        """Whether this waiver speaks of `found`, a difference between `runtimes`.

        Says nothing about expiry and count.
        """
        return (
            self.concerns(runtimes)
            and found.kind is not Kind.NONDETERMINISTIC
            and found.channel == self.channel
            and self.kind in (None, found.kind)
            and _glob(self.scenario, found.cassette)
            and _glob(self.path, found.path)
            and _value_fits(self.control, found.control)
            and _value_fits(self.candidate, found.candidate)
        )

    @property
    def boundless(self) -> bool:
        """True when path and both values would fit anything."""
        return all(_glob(self.path, probe) for probe in _PROBES) and all(
            _value_fits(value, probe)
            for value in (self.control, self.candidate)
            for probe in _PROBES
        )


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
        """Those that have not expired."""
        return tuple(waiver for waiver in self.entries if self.as_of <= waiver.expires)


@dataclass(frozen=True, slots=True, kw_only=True)
class WaiverStatus:
    """What became of one waiver in a run. The gate asks; a case's verdict doesn't."""

    id: str
    state: Literal["used", "unused", "expired", "exceeded"]
    count: int
    """Divergences that it fits, the first waiver that fits one taking it."""
    max_count: int
    days_left: int | None = None
    """From the day of judging to the last one on which it holds; below 0 once it has expired."""


def load_waivers(file: Path | None, *, as_of: date) -> Waivers:
    """Read a waivers file; `None` is none at all.

    Raises:
        WaiverFileError: not readable, not TOML, an unknown or missing key, a wrong value, an id
            that is there twice, or a waiver that would cover everything.
    """
    if file is None:
        return Waivers(as_of=as_of)
    try:
        text = file.read_text("utf-8")
        document = _File.model_validate(tomllib.loads(text))
    except (OSError, UnicodeDecodeError) as error:
        raise WaiverFileError(file, "", f"cannot be read: {error}") from error
    except tomllib.TOMLDecodeError as error:
        raise WaiverFileError(file, "", f"not TOML: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        key = "".join(f"[{x}]" if isinstance(x, int) else f".{x}" for x in first["loc"])
        raise WaiverFileError(file, key.removeprefix("."), _in_words(first)) from error
    seen: set[str] = set()
    for number, waiver in enumerate(document.waiver):
        where = f"waiver[{number}]"
        if waiver.id in seen:
            raise WaiverFileError(file, f"{where}.id", f"{waiver.id!r} is there twice")
        if waiver.boundless:
            problem = "it would cover every difference of its channel; say where, or which values"
            raise WaiverFileError(file, where, f"{waiver.id!r}: {problem}")
        seen.add(waiver.id)
    return Waivers(entries=document.waiver, as_of=as_of, digest=sha256_hex(text))


def settle(
    results: Sequence[CaseResult], waivers: Waivers
) -> tuple[list[CaseResult], list[WaiverStatus]]:
    """Apply the waivers to a whole run: counts only show at its end.

    Each divergence goes to the first waiver that fits it. A waiver that gets more than its count
    drops out, and what it held is offered to the others again. One that is `between` runtimes of
    which the run compared nothing has no status: this run can say nothing of it.
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
    states = []
    for waiver in waivers.entries:
        concerned = any(waiver.concerns(result.runtimes) for result in results)
        if waiver.between is not None and not concerned:
            continue
        count = exceeded.get(waiver.id, counts[waiver.id])
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


def _engines(runtime: str) -> set[str]:
    """The base names of the runtimes that took turns on a side; most often it is one."""
    return {name.partition("@")[0] for name in runtime.split("+")}


def _glob(pattern: str, text: str) -> bool:
    """`*` stands for any text and nothing else is special: paths are full of brackets."""
    words = (re.escape(word) for word in pattern.split("*"))
    return re.fullmatch(".*".join(words), text, re.DOTALL) is not None


def _value_fits(pattern: Json, value: Json) -> bool:
    if isinstance(pattern, str) and pattern.startswith("re:"):
        text = value if isinstance(value, str) else canonical(value)
        return re.fullmatch(pattern[3:], text, re.DOTALL) is not None
    return canonical(pattern) == canonical(value)


def _in_words(error: Mapping[str, Any]) -> str:
    kind, message = error["type"], str(error["msg"])
    if kind == "extra_forbidden":
        return "unknown key"
    if kind == "missing":
        return "this key must be there"
    return message.removeprefix("Value error, ")
