"""Decides by the newest signed record whether a flag may be flipped.

The record must be of profile `release`, and of the code, cassettes and rules that are here; its
waivers must not have expired since.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Final

from harness.gate.answer import Answer, Reason, ReasonKind, answer_of
from harness.gate.gates import Gates
from harness.gate.scope import FOLDER, counted, listed
from harness.inventory import Inventory
from harness.signoff.chain import verified_head
from harness.signoff.history import History
from harness.signoff.problems import RecordRefused, RecordUnknown
from harness.signoff.statement import SignOff

__all__ = ["Flip", "judge_record", "judged_flip"]

_RELEASE: Final = "release"
_MACHINE: Final = frozenset({"distributions"})
"""Components that depend on the machine: the environment names the packages that matter."""
_SYSTEM: Final = frozenset({"python", "platform", "node"})
"""What of an environment may differ between where a record was made and where it is used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Flip:
    """What is known of one phase."""

    phase: str
    record: SignOff | None
    reasons: tuple[Reason, ...]

    @property
    def answer(self) -> Answer:
        """What follows from the reasons."""
        return answer_of(self.reasons)


def judged_flip(
    phase: str,
    folder: Path,
    gates: Gates,
    current: Inventory,
    environment: Mapping[str, str],
    as_of: date,
    history: History,
    expect_head: str | None = None,
) -> Flip:
    """Judge a phase by the newest record of it in `folder`.

    There is no falling back to an older one, whatever the newest is. Where git cannot say whether
    records were taken away, which is in `history`, the answer is never yes.
    """
    try:
        record = verified_head(
            folder, gates.signing, phase=phase, expect_head=expect_head, history=history
        )
    except RecordRefused as error:
        unknown = isinstance(error, RecordUnknown)
        reason = Reason(
            kind=ReasonKind.RECORD_UNKNOWN if unknown else ReasonKind.RECORD_REFUSED,
            about=phase,
            says=str(error),
            change="run this in a full clone of the project"
            if unknown
            else "restore the records, or sign again",
        )
        return Flip(phase=phase, record=None, reasons=(reason,))
    if record is None:
        reason = Reason(
            kind=ReasonKind.RECORD_MISSING,
            about=phase,
            says=f"{folder} holds no record of phase {phase}",
            change=_sign(phase),
        )
        return Flip(phase=phase, record=None, reasons=(reason,))
    reasons = tuple(judge_record(record, gates, current, environment, as_of))
    return Flip(phase=phase, record=record, reasons=reasons)


def judge_record(
    record: SignOff,
    gates: Gates,
    current: Inventory,
    environment: Mapping[str, str],
    as_of: date,
) -> Iterator[Reason]:
    """Why a record that is properly signed does not let a flag be flipped here and now."""
    phase, sign = record.phase, _sign(record.phase)
    if record.profile != _RELEASE:
        yield Reason(
            kind=ReasonKind.RECORD_OTHER_PROFILE,
            about=phase,
            says=f"the newest record of phase {phase} is of profile {record.profile}, which flips "
            f"nothing; only {_RELEASE} does",
            change=sign,
        )
    moved = _moved(record.inventory, current)
    if moved:
        yield Reason(
            kind=ReasonKind.RECORD_STALE,
            about=phase,
            says=f"the signed files differ from the current ones: {listed(moved)}",
            change=f"check out the signed revision, or sign the current one: {sign}",
        )
    other = [
        f"{name} {record.environment[name]}, here {environment[name]}"
        for name in sorted({*record.environment} & {*environment} - _SYSTEM)
        if record.environment[name] != environment[name]
    ]
    if other:
        yield Reason(
            kind=ReasonKind.RECORD_STALE,
            about=phase,
            says=f"it was signed with other packages: {listed(other)}",
            change=f"install the signed packages, or sign the current ones: {sign}",
        )
    old = _old(record, gates.signing.valid_days, as_of)
    if old:
        yield Reason(kind=ReasonKind.RECORD_OLD, about=phase, says=old, change=sign)
    for waiver in record.answer.waivers:
        # Both are days in ISO, which sort as texts; what a record holds may be none.
        if waiver.state == "used" and as_of.isoformat() > waiver.expires:
            yield Reason(
                kind=ReasonKind.WAIVER_EXPIRED,
                about=waiver.id,
                says=f"it rests on the waiver {waiver.id}, which ended on {waiver.expires}",
                change=f"fix its differences, or let {waiver.owner} extend it; then {sign}",
            )


def _old(record: SignOff, valid_days: int, as_of: date) -> str:
    """Why the record is not of these days, in words; empty if it is."""
    signed = record.time[:10]
    if signed > as_of.isoformat():
        return f"it was signed on {signed}, which is after {as_of}"
    stands = f"and stands for {counted(valid_days, 'day')}"
    earliest = date.fromordinal(max(1, as_of.toordinal() - valid_days)).isoformat()
    if signed < earliest:
        return f"it was signed on {signed}, {stands}"
    if record.as_of < earliest:
        return f"its evidence was judged by {record.as_of}, {stands}"
    return ""


def _moved(signed: Inventory, current: Inventory) -> list[str]:
    parts = (
        Inventory({k: v for k, v in each.components.items() if k not in _MACHINE})
        for each in (signed, current)
    )
    was, now = parts
    return was.differences(now)


def _sign(phase: str) -> str:
    return f"parity sign --phase {phase} --profile {_RELEASE} --journal {FOLDER} --key FILE"
