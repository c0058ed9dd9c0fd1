"""`Waiver`: one accepted difference, and which divergences it covers."""

from __future__ import annotations

import re
from datetime import date
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, field_validator

from harness.canonical import canonical
from harness.cassette.variants import plain_name
from harness.parity.breadth import (
    PATHS,
    SCENARIOS,
    VALUES,
    glob_pattern,
    is_wide_glob,
    is_wide_value,
    value_pattern,
)
from harness.parity.divergence import ABSENT, ChannelName, Divergence, Kind
from harness.sides import base_names
from services.wire import Json

__all__ = ["UNWRITTEN", "Waiver"]

UNWRITTEN: Final = "<to be written"
"""Prefix of the fields that a proposed waiver leaves to the user; no such waiver is accepted."""

_RUNTIME: Final = re.compile(r"\*|[A-Za-z0-9][A-Za-z0-9_.-]*")

Text = Annotated[str, Field(min_length=1)]


class Waiver(BaseModel):
    """One accepted difference."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    id: Text
    between: tuple[str, str] | None = None
    """Base names of control and candidate (`upstream` includes `upstream@0.60.0`), `*` for any.
    `None`: any two. The waiver is ignored in runs of other runtimes."""
    scenario: Text
    """Cassette names, where `*` matches any text: `abort/*`."""
    channel: str
    path: str
    """Path in the item, where `*` matches any text; `""` is the whole item."""
    kind: str | None = None
    """Only this kind of divergence; `None`: any but `nondeterministic`."""
    control: Json
    """The control's value: a literal, `<absent>`, or `re:` and a pattern for its whole text (a dot
    matches line ends, too)."""
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
                raise ValueError(f"{name!r} is not a base name of a runtime; {mend}")
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

    @field_validator("scenario", "path")
    @classmethod
    def _sound_glob(cls, value: str) -> str:
        glob_pattern(value)  # a `PatternProblem` is a `ValueError`
        return value

    @field_validator("impact", "reason", "owner", mode="before")
    @classmethod
    def _written(cls, value: Any) -> Any:
        if isinstance(value, str) and value.lstrip().startswith(UNWRITTEN):
            raise ValueError("must be completed by you")
        if isinstance(value, str) and value and not value.strip():
            raise ValueError("is empty")
        return value

    @field_validator("control", "candidate")
    @classmethod
    def _sound_pattern(cls, value: Json) -> Json:
        if isinstance(value, str) and value.startswith("re:"):
            value_pattern(value[3:])
        try:
            canonical(value)
        except TypeError as error:  # TOML has dates and times
            raise ValueError("no run can have such a value; write it as text") from error
        return value

    def concerns(self, runtimes: tuple[str, str]) -> bool:
        """Whether this waiver applies to comparisons of this control and candidate."""
        return self.between is None or all(
            name == "*" or base_names(runtime) == {name}
            for name, runtime in zip(self.between, runtimes, strict=True)
        )

    def fits(self, found: Divergence, runtimes: tuple[str, str]) -> bool:
        """Whether this waiver covers `found`, expiry and count aside."""
        return (
            self.concerns(runtimes)
            and found.kind is not Kind.NONDETERMINISTIC
            and found.channel == self.channel
            and self.kind in (None, found.kind)
            # A scenario covers the variants of its cassettes, too.
            and any(
                _glob(self.scenario, name) for name in {found.cassette, plain_name(found.cassette)}
            )
            and _glob(self.path, found.path)
            and _value_fits(self.control, found.control)
            and _value_fits(self.candidate, found.candidate)
        )

    @property
    def too_wide(self) -> str | None:
        """A description of what it would cover, if that is too much; else `None`."""
        values = (self.control, self.candidate)
        wide = [is_wide_value(value) for value in values]
        anywhere = is_wide_glob(self.path, PATHS)
        if all(wide) and anywhere:
            return "every difference of its channel"
        one_sided = any(wide[side] and _value_fits(values[1 - side], ABSENT) for side in range(2))
        if one_sided and (anywhere or not self.path) and is_wide_glob(self.scenario, SCENARIOS):
            return "everything that only one side has in its channel"
        return None

    @property
    def covered(self) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
        """The sample paths, and the sample values of either side, that it covers."""
        return (
            frozenset(path for path in PATHS if _glob(self.path, path)),
            frozenset(value for value in VALUES if _value_fits(self.control, value)),
            frozenset(value for value in VALUES if _value_fits(self.candidate, value)),
        )


def _glob(pattern: str, text: str) -> bool:
    """Whether `text` fits a pattern in which only `*` is special."""
    return glob_pattern(pattern).fits(text) if "*" in pattern else pattern == text


def _value_fits(pattern: Json, value: Json) -> bool:
    if isinstance(pattern, str) and pattern.startswith("re:"):
        text = value if isinstance(value, str) else canonical(value)
        return value_pattern(pattern[3:]).fits(text)
    return canonical(pattern) == canonical(value)
