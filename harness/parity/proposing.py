"""`proposed`: a waiver's entry for one divergence, as TOML that a person completes.

Values are literal wherever TOML can hold them; a pattern only stands where it cannot, or where a
long text was cut, whose digest pins it. What it means for users, why it is accepted and by whom
is left open, in words that no waivers file is accepted with.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
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


class NotWaivable(HarnessError):
    """No waiver can be proposed, and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What the author says of an accepted difference; the rest stays open."""

    owner: str | None = None
    impact: str | None = None
    reason: str | None = None

    @property
    def unsaid(self) -> tuple[str, ...]:
        """The keys that are still to be written."""
        keys = ("owner", "impact", "reason")
        return tuple(key for key in keys if getattr(self, key) is None)


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
    """The entry that covers `found`, and nothing else of its case but what is alike in every way.

    Args:
        result: The case that it is of.
        found: What differs.
        as_of: The day from which the waiver's days count.
        days: How many of them.
        said: What is known of owner, impact and reason.
        taken: Ids that are in use.
        name: The entry's id; one is made where none is given.

    Raises:
        NotWaivable: it can never be waived, or it holds what looks like a secret.
    """
    said = said or Said()
    if found.kind is Kind.NONDETERMINISTIC:
        raise NotWaivable(f"{found.place}: a run that differs from itself is never waived")
    control, candidate = _fitted(found.control), _fitted(found.candidate)
    if secrets_in(canonical([control, candidate])):
        problem = "a value holds what looks like a secret, and no file may keep one"
        raise NotWaivable(f"{found.place}: {problem}; take it out of the cassette first")
    fields: dict[str, Any] = {
        "id": name or _id_of(found, taken),
        "between": [_base(side) for side in result.runtimes],
        "scenario": found.cassette,
        "channel": found.channel.value,
        "path": found.path,
        "kind": found.kind.value,
        "control": control,
        "candidate": candidate,
        "impact": said.impact or _unwritten("what a user sees of it"),
        "reason": said.reason or _unwritten("why it cannot be otherwise, for now"),
        "owner": said.owner or _unwritten("a role, such as adk-runtime"),
        "expires": as_of + timedelta(days=days),
        "max_count": 1,
    }
    fields["max_count"] = _count(fields, result, found)
    lines = [f"{key} = {_toml(value)}" for key, value in fields.items()]
    return "\n".join(["[[waiver]]", *lines, ""])


def _count(fields: dict[str, Any], result: CaseResult, found: Divergence) -> int:
    """How many of the case's divergences the entry fits: itself, and those alike in every way.

    The entry is read back, so that what is proposed is known to be accepted once it is completed.
    """
    whole = {
        **fields,
        "owner": fields["owner"] if not fields["owner"].startswith(UNWRITTEN) else "owner",
        "impact": "impact" if fields["impact"].startswith(UNWRITTEN) else fields["impact"],
        "reason": "reason" if fields["reason"].startswith(UNWRITTEN) else fields["reason"],
    }
    text = "\n".join(f"{key} = {_toml(value)}" for key, value in whole.items())
    try:
        waiver = Waiver.model_validate(tomllib.loads(text))
    except ValidationError as error:
        raise NotWaivable(": ".join(first_problem(error))) from error
    if not waiver.fits(found, result.runtimes):
        raise NotWaivable(f"{found.place}: its values cannot be written down")
    return sum(waiver.fits(each, result.runtimes) for each in result.divergences)


def _fitted(value: Json) -> Json:
    """What a waiver has in the place of `value`: itself, or a pattern where it must be one."""
    if isinstance(value, str):
        if _CUT.search(value):
            return f"re:{re.escape(value[:_SHOWN])}.*{re.escape(_cut_end(value))}"
        if value.startswith("re:") or not _encodable(value):
            return f"re:{_escaped(value)}"
        return value
    if _holds_null(value) or not _encodable(json.dumps(value, ensure_ascii=False)):
        return f"re:{re.escape(canonical(value))}"
    return value


def _cut_end(value: str) -> str:
    found = _CUT.search(value)
    assert found is not None
    return found[0]


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
    number = 1
    while (name if number == 1 else f"{name}-{number}") in taken:
        number += 1
    return name if number == 1 else f"{name}-{number}"


def _base(runtime: str) -> str:
    """A runtime's name without its version; a side of two that took turns can only be any."""
    base = runtime.partition("@")[0]
    return base if base and "+" not in base else "*"


def _unwritten(what: str) -> str:
    return f"{UNWRITTEN}: {what}>"


def _toml(value: Any) -> str:
    if isinstance(value, str):
        # JSON's escapes are TOML's, but that TOML wants one for DEL too.
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
