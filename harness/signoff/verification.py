"""Verify a record, and report every reason why it is invalid.

A record is valid if trusted signers signed it, and while its files are unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from harness.inventory import CODE, PACKAGES, Component, Inventory, changes
from harness.signoff.chain import Chain, standing, taken_back
from harness.signoff.records import Record
from harness.signoff.statement import Revocation, SignOff
from harness.signoff.trust import Signing
from harness.wording import listed
from services.wire import JsonObject

__all__ = ["Verification", "changed_since", "verified"]

_CASSETTES: Final = "corpus"
_BASELINES: Final = "baselines"
_MACHINE: Final = "distributions"
"""Components that may differ between machines, which is only a remark."""
_SYSTEM: Final = frozenset({"python", "platform", "node", "temporary folder"})
"""Parts of the environment that may differ between machines, likewise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """The result of a verification."""

    record: Record
    signers: tuple[str, ...]
    """Trusted signers whose signatures count for it."""
    problems: tuple[str, ...]
    """The reasons why the record is invalid, a line each."""
    undecided: tuple[str, ...] = ()
    """The questions that could not be decided."""
    remarks: tuple[str, ...] = ()
    replayed: tuple[str, ...] = ()
    """Cases that were run again."""
    seed: int | None = None
    """The seed that chose them."""

    @property
    def holds(self) -> bool:
        """Whether there is no problem, and nothing is undecided."""
        return not self.problems and not self.undecided

    def to_json(self) -> JsonObject:
        """As `parity verify --json` writes it."""
        said = self.record.statement
        written: JsonObject = {
            "verification": 1,
            "holds": self.holds,
            "record": self.record.name,
            "sha256": self.record.sha256,
            "kind": "revocation" if isinstance(said, Revocation) else "signoff",
            "signers": list(self.signers),
            "time": said.time,
            "problems": list(self.problems),
            "undecided": list(self.undecided),
            "remarks": list(self.remarks),
            "replayed": list(self.replayed),
            "seed": self.seed,
        }
        if isinstance(said, SignOff):
            written |= {
                "phase": said.phase,
                "profile": said.profile,
                "asOf": said.as_of,
                "notSaid": list(said.not_said),
            }
        return written


def verified(
    record: Record,
    chain: Chain,
    signing: Signing,
    now: Inventory,
    environment: Mapping[str, str],
    cassettes: Mapping[str, str],
    *,
    whole: bool = False,
) -> Verification:
    """Check a record: its chain, its signatures, and that its files are the current ones.

    A question that git could not answer leaves a record undecided; it is only a remark if a key of
    `--also-trust` signed the record.

    Args:
        record: The record.
        chain: Its chain.
        signing: The trusted signers.
        now: The current files.
        environment: The current machine.
        cassettes: Cassette to its file, for messages.
        whole: Whether to check the newest records of all phases, not only of the record's phase.
    """
    own = standing(record, chain, signing)
    problems = [*own.problems, *chain.problems]
    remarks = [*own.remarks, *chain.remarks]
    newest = chain.newest
    if newest is not None and newest.name != record.name:
        # The newest record confirms all before it, so a trusted signer must have signed it.
        problems += standing(newest, chain, signing).problems
    problems += _revoked_phases(record, chain, signing, whole=whole)
    unknown = chain.history.unknown
    guests = {each.name for each in signing.signers if each.only_now}
    if guests.intersection(own.signers):
        remarks += unknown
        unknown = ()
    said = record.statement
    if isinstance(said, SignOff):
        problems += changed_since(said, now, cassettes)
        problems += _other_packages(said, environment)
        remarks += _other_machine(said, now, environment)
    return Verification(
        record=record,
        signers=own.signers,
        problems=tuple(dict.fromkeys(problems)),
        undecided=unknown,
        remarks=tuple(dict.fromkeys(remarks)),
    )


def changed_since(
    said: SignOff, now: Inventory, cassettes: Mapping[str, str] | None = None
) -> list[str]:
    """Return the files that changed since the record was signed, a phrase each."""
    found: list[str] = []
    for name in dict.fromkeys([*said.components, *now.components]):
        was = said.components.get(name, Component())
        is_now = now.components.get(name, Component())
        if name != _MACHINE and was.digest != is_now.digest:
            found += _changes(name, was, is_now, cassettes or {})
    return found


def _revoked_phases(
    record: Record, chain: Chain, signing: Signing, *, whole: bool
) -> Iterator[str]:
    """Yield a problem for the record's phase, or any phase, whose newest sign-off was revoked."""
    said = record.statement
    named = record.name if isinstance(said, SignOff) else said.revokes.file
    statements = (each.statement for each in chain.records)
    phases = [each.phase for each in statements if isinstance(each, SignOff)]
    for phase in dict.fromkeys(phases):
        records = chain.of_phase(phase)
        if not records or records[-1] is record:
            continue
        asked = whole or any(each.name == named for each in records)
        if asked and (revoked := taken_back(records[-1], chain, signing)):
            yield f"phase {phase} has no record that stands: {revoked}"


def _changes(
    name: str, was: Component, now: Component, cassettes: Mapping[str, str]
) -> Iterator[str]:
    """Changes of a component: waivers by id, all else by file."""
    if was.parts or now.parts:
        singular = name.removesuffix("s")
        found = [
            f"{singular} {part} {word}" for part, word in changes(was.parts, now.parts).items()
        ]
        files = [f"{file} {word}" for file, word in changes(was.files, now.files).items()]
        yield from found or [f"{each}, in nothing that has a name" for each in files]
        return
    for file, word in changes(was.files, now.files).items():
        yield f"{_called(name, file, cassettes)} {word}"


def _called(component: str, file: str, cassettes: Mapping[str, str]) -> str:
    if component == _CASSETTES:
        return cassettes.get(file, f"cassette {file}")
    if component in CODE or file.startswith(tuple(f"{package}/" for package in PACKAGES)):
        return file
    return f"baseline {file}" if component == _BASELINES else file


def _other_packages(said: SignOff, environment: Mapping[str, str]) -> Iterator[str]:
    """Yield the packages that had another version when the record was signed."""
    for name, was in said.environment.items():
        here = environment.get(name, was)
        if name not in _SYSTEM and here != was:
            yield f"{name} was {was} and is {here} here"


def _other_machine(said: SignOff, now: Inventory, environment: Mapping[str, str]) -> Iterator[str]:
    """Remarks about another system or other installed packages."""
    for name in sorted(_SYSTEM & said.environment.keys() & environment.keys()):
        was, here = said.environment[name], environment[name]
        if here != was:
            yield f"signed with {name} {was}; here is {here}"
    was_there = said.components.get(_MACHINE, Component()).files
    are_here = now.components.get(_MACHINE, Component()).files
    differing = [name for name in changes(was_there, are_here) if name not in said.environment]
    if differing:
        yield f"other packages differ too: {listed(differing)}"
