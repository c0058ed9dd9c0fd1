"""Proposes a waiver for one divergence, as a TOML entry that the user completes.

Values are literal where TOML can hold them; otherwise, and where a long text was cut, they are
patterns. Impact, reason and owner are placeholders, which no waivers file may contain.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import chain, count
from typing import Any, Final

from pydantic import ValidationError

from harness.canonical import canonical
from harness.errors import HarnessError, first_problem
from harness.parity.divergence import Divergence, Kind
from harness.parity.verdict import CaseResult
from harness.parity.waiver import UNWRITTEN, Waiver
from services.redaction import secrets_in
from services.wire import Json

__all__ = ["DAYS", "NotWaivable", "Said", "proposed"]

DAYS: Final = 90
"""How long a proposed waiver holds by default."""

_CUT: Final = re.compile(r"… \(\d+ characters, sha256 [0-9a-f]{12}\)\Z")
_SHOWN: Final = 80
_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
_AUTHORED: Final = ("owner", "impact", "reason")


class NotWaivable(HarnessError):
    """Why no waiver can be proposed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What the author has said about an accepted difference."""

    owner: str | None = None
    impact: str | None = None
    reason: str | None = None

    @property
    def unsaid(self) -> tuple[str, ...]:
        """The keys that the author has still to write."""
        return tuple(key for key in _AUTHORED if getattr(self, key) is None)


def proposed(
    result: CaseResult,
    found: Divergence,
    *,
    as_of: date,
    days: int = DAYS,
    said: Said | None = None,
    taken: Sequence[str] = (),
    name: str | None = None,
) -> str:
    """The entry that covers `found`, and of its case only divergences that equal it.

    Args:
        result: The case.
        found: The divergence.
        as_of: The day from which `days` count.
        days: How long the waiver holds.
        said: Owner, impact and reason, as far as known.
        taken: Ids in use.
        name: The entry's id; made from the divergence if `None`.

    Raises:
        NotWaivable: the divergence can never be waived, or may hold a secret.
    """
    said = said or Said()
    if found.kind is Kind.NONDETERMINISTIC:
        raise NotWaivable(f"{found.place}: a run that differs from itself is never waived")
    control, candidate = _fitted(found.control), _fitted(found.candidate)
    if secrets_in(canonical([control, candidate])):
        problem = "a value looks like a secret, and no file may contain one"
        raise NotWaivable(f"{found.place}: {problem}; remove it from the cassette first")
    fields: dict[str, Any] = {
        "id": name or _id_of(found, taken),
        "between": [_base(side) for side in result.runtimes],
        "scenario": found.cassette,
        "channel": found.channel.value,
        "path": found.path,
        "kind": found.kind.value,
        "control": control,
        "candidate": candidate,
        "impact": said.impact or _unwritten("what a user notices"),
        "reason": said.reason or _unwritten("why the difference cannot be removed now"),
        "owner": said.owner or _unwritten("a role, such as adk-runtime"),
        "expires": as_of + timedelta(days=days),
        "max_count": 1,
    }
    fields["max_count"] = _count(fields, result, found)
    lines = [f"{key} = {_toml(value)}" for key, value in fields.items()]
    return "\n".join(["[[waiver]]", *lines, ""])


def _count(fields: dict[str, Any], result: CaseResult, found: Divergence) -> int:
    """How many of the case's divergences the entry fits.

    The entry is parsed, which proves that it is valid once the user has completed it.
    """
    open_ = (key for key in _AUTHORED if fields[key].startswith(UNWRITTEN))
    whole = {**fields, **{key: key for key in open_}}
    text = "\n".join(f"{key} = {_toml(value)}" for key, value in whole.items())
    try:
        waiver = Waiver.model_validate(tomllib.loads(text))
    except ValidationError as error:
        raise NotWaivable(": ".join(first_problem(error))) from error
    if not waiver.fits(found, result.runtimes):
        raise NotWaivable(f"{found.place}: its values cannot be written as TOML")
    return sum(waiver.fits(each, result.runtimes) for each in result.divergences)


def _fitted(value: Json) -> Json:
    """The waiver's entry for `value`: the value itself, or a pattern if it must be one."""
    if isinstance(value, str):
        if end := _CUT.search(value):
            return f"re:{re.escape(value[:_SHOWN])}.*{re.escape(end[0])}"
        if value.startswith("re:") or not _encodable(value):
            return f"re:{_escaped(value)}"
        return value
    if _holds_null(value) or not _encodable(json.dumps(value, ensure_ascii=False)):
        return f"re:{re.escape(canonical(value))}"
    return value


def _escaped(text: str) -> str:
    escaped = re.escape(text)
    return "".join(each if _encodable(each) else f"\\u{ord(each):04x}" for each in escaped)


def _encodable(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _holds_null(value: Json) -> bool:
    if isinstance(value, dict):
        return any(map(_holds_null, value.values()))
    if isinstance(value, list):
        return any(map(_holds_null, value))
    return value is None


def _id_of(found: Divergence, taken: Sequence[str]) -> str:
    words = re.findall(r"[A-Za-z]+", f"{found.cassette} {found.path or found.label}")
    name = "-".join([*words[:6], found.fingerprint[:6]]).lower()
    names = chain([name], (f"{name}-{number}" for number in count(2)))
    return next(each for each in names if each not in taken)


def _base(runtime: str) -> str:
    """A runtime's name without its version; `*` for a side of two runtimes."""
    base = runtime.partition("@")[0]
    return base if base and "+" not in base else "*"


def _unwritten(what: str) -> str:
    return f"{UNWRITTEN}: {what}>"


def _toml(value: Any) -> str:
    if isinstance(value, str):
        # TOML has JSON's escapes, and requires one for DEL, too.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, dict):
        pairs = (f"{_key(key)} = {_toml(item)}" for key, item in value.items())
        return f"{{ {', '.join(pairs)} }}" if value else "{}"
    return str(value)


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _toml(key)
