"""The chain: records in order, each with the digest of the one before, and `HEAD` for the last.

Somebody who can write to the folder can remove records, restore old ones, or keep two chains. The
links show changes in the middle. `HEAD` shows that the end is missing, unless it was replaced as
well; then the history of the repository shows it, or a digest that the reader knows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Final

from harness.errors import UsageError
from harness.gate.gates import Signing as SigningRules
from harness.signoff.envelope import Signatures
from harness.signoff.history import History, history_of
from harness.signoff.problems import RecordRefused, RecordUnknown
from harness.signoff.records import (
    HEAD_FILE,
    Record,
    file_name,
    is_record_name,
    number_of,
    read_head,
    read_record,
)
from harness.signoff.statement import Revocation, SignOff
from harness.signoff.trust import Signing, TrustedSigner

__all__ = ["Chain", "Standing", "read_chain", "standing", "taken_back", "verified_head"]

_SHOWN: Final = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """A folder of records. With `problems`, none of them may be trusted."""

    folder: Path
    records: tuple[Record, ...] = ()
    problems: tuple[str, ...] = ()
    """What is wrong with the chain, a line each."""
    remarks: tuple[str, ...] = ()
    history: History = field(default_factory=History)
    """The folder's history in git. Its problems are among those of the chain."""

    @property
    def newest(self) -> Record | None:
        """The last record."""
        return self.records[-1] if self.records else None

    def revocation_of(self, record: Record) -> Record | None:
        """The first record that revokes `record`."""
        return next((each for each in self.records if _revokes(each, record)), None)

    def of_phase(self, phase: str | None) -> list[Record]:
        """The sign-offs of a phase, or of all, oldest first."""
        return [
            each
            for each in self.records
            if isinstance(each.statement, SignOff) and phase in (None, each.statement.phase)
        ]

    def head_of(self, phase: str | None) -> Record | None:
        """The newest sign-off of a phase, or of all."""
        return next(reversed(self.of_phase(phase)), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Whether trusted signers signed a record, and whether it is still valid."""

    signers: tuple[str, ...] = ()
    """Names of trusted signers whose signatures count for it."""
    problems: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def read_chain(
    folder: Path,
    signing: Signing,
    *,
    expect_head: str | None = None,
    history: History | None = None,
) -> Chain:
    """Read all records of a folder and check the links between them.

    Args:
        folder: The records; a missing folder holds none.
        signing: The signers that may sign `HEAD`.
        expect_head: Digest of the newest record's file, or its beginning, that the reader knows.
        history: The folder's history in git; `None` asks the repository that it lies in.

    Raises:
        UsageError: the folder is there and cannot be read.
    """
    known = history_of(folder) if history is None else history
    records, unread, problems = _read_all(folder)
    problems += _links(records, unread)
    remarks: list[str] = []
    _check_head(folder, records, unread, signing, problems, remarks)
    if expect_head is not None:
        newest = records[-1] if records else None
        if newest is None or not newest.sha256.startswith(expect_head.lower()):
            there = "there is none" if newest is None else f"it is {newest.sha256[:_SHOWN]}"
            problems.append(f"the newest record is not {expect_head[:_SHOWN]} as expected: {there}")
    here = {record.name for record in records}
    problems += [
        f"{name} was committed once and is gone: records are never taken away"
        for name in sorted(known.records)
        if name not in here and not (folder / name).exists()
    ]
    return Chain(
        folder=folder,
        records=tuple(records),
        problems=(*known.problems, *problems),
        remarks=tuple(remarks),
        history=known,
    )


def standing(record: Record, chain: Chain, signing: Signing) -> Standing:
    """Which trusted signers signed a record, and whether it was revoked."""
    said = record.statement
    signatures = Signatures(record.envelope, signing.keys)
    problems = [
        f"{record.name}: the record's signature does not fit its bytes ({_name(signing, key)})"
        for key in signatures.bad
    ]
    remarks = [f"{record.name}: signed by the unknown key {k[:_SHOWN]}" for k in signatures.unknown]
    counted: list[str] = []
    for key in signatures.good:
        signer = signing.who(key)
        assert signer is not None
        if _counts(signer, said):
            counted.append(signer.name)
            if signer.only_now:
                words = "is trusted by --also-trust, for this call and pull requests only"
                remarks.append(f"{record.name}: {signer.name} {words}")
        else:
            what = "revocations"
            if isinstance(said, SignOff):
                what = f"{said.profile} records of phase {said.phase}"
            remarks.append(f"{record.name}: {signer.name} may not sign {what}")
    # One trusted signer is enough for a revocation.
    needed = signing.threshold if isinstance(said, SignOff) else 1
    if len(counted) < needed and not problems:
        by = f" ({', '.join(counted)})" if counted else ""
        problems.append(
            f"{record.name}: signed by {len(counted)} trusted signers{by}, and {needed} must"
        )
    if counted and said.signer not in counted:
        problems.append(f"{record.name}: calls its signer {said.signer!r}, who did not sign it")
    if (revoked := taken_back(record, chain, signing)) is not None:
        problems.append(revoked)
    return Standing(signers=tuple(counted), problems=tuple(problems), remarks=tuple(remarks))


def taken_back(record: Record, chain: Chain, signing: Signing) -> str | None:
    """The sentence that a sign-off was revoked, by which signer and why; `None` if it was not.

    A revocation in the folder counts even without a trusted signature. One that only git has (on
    another branch, from before a reset) counts if a trusted signer signed it, and if it revokes the
    same bytes or the record of that name in this folder. A revocation cannot be revoked.
    """
    if not isinstance(record.statement, SignOff):
        return None
    revoked = chain.revocation_of(record)
    if revoked is not None:
        where, known = revoked.name, not standing(revoked, chain, signing).problems
    else:
        place = chain.history.place
        revoked = next(
            (
                each
                for each in chain.history.revocations
                if (_revokes(each, record) or _revokes_the_name(each, record, place))
                and not standing(each, chain, signing).problems
            ),
            None,
        )
        if revoked is None:
            return None
        where, known = f"{revoked.file.as_posix()}, which git has and the folder has not", True
    said = revoked.statement
    assert isinstance(said, Revocation)
    by = said.signer if known else "somebody who is not trusted"
    return f"{record.name}: revoked by {by} on {said.time[:10]} ({where}): {said.reason}"


def verified_head(
    folder: Path,
    signing: SigningRules,
    *,
    phase: str | None = None,
    expect_head: str | None = None,
    history: History | None = None,
) -> SignOff | None:
    """The newest sign-off of a folder, or of one phase, after checking the chain and signatures.

    If the newest one was revoked or is not trusted, no older one takes its place. The caller checks
    its profile, and whether its files are the current ones.

    Returns:
        `None` where there is no sign-off at all.

    Raises:
        RecordRefused: the chain or its newest record does not hold; with all reasons.
        RecordUnknown: git could not say whether records are missing.
    """
    trusted = Signing.of(signing)
    chain = read_chain(folder, trusted, expect_head=expect_head, history=history)
    record = chain.head_of(phase)
    problems: Sequence[str] = chain.problems
    if record is not None:
        problems = [*problems, *standing(record, chain, trusted).problems]
        newest = chain.newest
        if newest is not None and newest is not record:
            # It confirms all records before it, so a trusted signer must have signed it.
            problems = [*problems, *standing(newest, chain, trusted).problems]
    if problems:
        raise RecordRefused(folder, "; ".join(problems), "see `parity verify`")
    if chain.history.unknown:
        raise RecordUnknown(folder, "; ".join(chain.history.unknown))
    if record is None:
        return None
    assert isinstance(record.statement, SignOff)
    return record.statement


def _read_all(folder: Path) -> tuple[list[Record], set[int], list[str]]:
    """The records, the numbers of unreadable ones, and the problems."""
    records: list[Record] = []
    unread: set[int] = set()
    problems: list[str] = []
    try:
        names = sorted(each.name for each in folder.iterdir()) if folder.is_dir() else []
    except OSError as error:
        problem = f"the folder {folder} cannot be read: {error.strerror}"
        raise UsageError(problem, "mend its permissions") from error
    for name in names:
        if not name.endswith(".json"):
            continue
        if not is_record_name(name):
            problems.append(f"{name}: is no record's name")
            continue
        try:
            records.append(read_record(folder / name))
        except RecordRefused as error:
            unread.add(number_of(name))
            problems.append(f"{name}: is not as it was signed: {error.problem}")
    return records, unread, problems


def _links(records: Sequence[Record], unread: Collection[int]) -> list[str]:
    problems: list[str] = []
    by_number: dict[int, list[Record]] = defaultdict(list)
    for record in records:
        if file_name(record.statement) != record.name:
            problems.append(f"{record.name}: was signed as {file_name(record.statement)}")
        by_number[record.statement.number].append(record)
    for number, same in by_number.items():
        if len(same) > 1:
            listed = " and ".join(record.name for record in same)
            problems.append(f"the chain forks: {listed} are both number {number}")
    last = max([*by_number, *unread], default=0)
    for number in range(1, last + 1):
        if number not in by_number and number not in unread:
            problems.append(f"record {number:04} is missing")
        for record in by_number.get(number, []):
            problems += _link(record, by_number.get(number - 1, []))
    return problems


def _link(record: Record, before: Sequence[Record]) -> list[str]:
    named = record.statement.predecessor
    number = record.statement.number
    if number == 1:
        return [] if named is None else [f"{record.name}: is the first and names a predecessor"]
    if named is None:
        return [f"{record.name}: names no predecessor"]
    if not before:
        return []  # reported as missing or unreadable
    if not any(named.file == each.name and named.sha256 == each.sha256 for each in before):
        problem = f"its predecessor {named.file} is not as it was when this was signed"
        return [f"{record.name}: {problem}"]
    return []


def _check_head(
    folder: Path,
    records: Sequence[Record],
    unread: Collection[int],
    signing: Signing,
    problems: list[str],
    remarks: list[str],
) -> None:
    """Compare `HEAD` with the records. It lags behind after a signing that was interrupted."""
    try:
        found = read_head(folder)
    except RecordRefused as error:
        problems.append(f"{HEAD_FILE}: {error.problem}")
        return
    if found is None:
        if records or unread:
            words = "whether newer records were taken away cannot be seen"
            problems.append(f"{HEAD_FILE} is missing: {words}; restore it")
        return
    head, envelope = found
    if not Signatures(envelope, signing.keys).good:
        problems.append(f"{HEAD_FILE}: has no signature of a trusted signer")
    by_number = {record.statement.number: record for record in records}
    last = max([*by_number, *unread], default=0)
    if head.number > last:
        problems.append(
            f"rolled back: {HEAD_FILE} knows record {head.number:04}, and the newest is {last:04}"
        )
    elif (known := by_number.get(head.number)) is None:
        pass  # reported as missing or unreadable
    elif known.payload_sha256 != head.payload_sha256:
        problems.append(f"{known.name}: is another record than the one that {HEAD_FILE} knows")
    elif head.number < last:
        remarks.append(f"{HEAD_FILE} lags behind record {last:04}; the next signature mends it")


def _counts(signer: TrustedSigner, said: SignOff | Revocation) -> bool:
    if isinstance(said, SignOff):
        return signer.may_sign(said.phase, said.profile)
    return not signer.only_now


def _revokes(record: Record, revoked: Record) -> bool:
    said = record.statement
    if not isinstance(said, Revocation):
        return False
    return said.revokes.file == revoked.name and said.revokes.sha256 == revoked.sha256


def _revokes_the_name(record: Record, revoked: Record, place: PurePosixPath) -> bool:
    """Whether a revocation of this folder names that record, with any signatures."""
    said = record.statement
    if not isinstance(said, Revocation) or said.revokes.file != revoked.name:
        return False
    return PurePosixPath(record.file.as_posix()).parent == place


def _name(signing: Signing, key: object) -> str:
    return next((each.name for each in signing.signers if each.key == key), "unknown")
