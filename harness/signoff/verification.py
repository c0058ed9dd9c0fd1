"""Does a record hold, here and now? Every reason why not, a line each.

A record is believed for its signatures under keys of the reader's gates, and holds for as long as
every file that it was signed over is what it was.
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
from services.wire import JsonObject

__all__ = ["Verification", "changed_since", "verified"]

_PHASES: Final = ("A", "B", "C")
_CASSETTES: Final = "corpus"
_BASELINES: Final = "baselines"
_MACHINE: Final = "distributions"
"""Differs from machine to machine: told, and no reason against a record."""
_SYSTEM: Final = frozenset({"python", "platform", "node", "temporary folder"})
"""What of the environment may differ, likewise."""
_MOST: Final = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What became of a record."""

    record: Record
    signers: tuple[str, ...]
    """Trusted signers whose signatures count for it."""
    problems: tuple[str, ...]
    """Why it does not hold, a line each."""
    undecided: tuple[str, ...] = ()
    """What could not be found out."""
    remarks: tuple[str, ...] = ()
    replayed: tuple[str, ...] = ()
    """Cases that were run again."""
    seed: int | None = None
    """By which these were chosen."""

    @property
    def holds(self) -> bool:
        """Whether nothing is against it and all was found out that was asked."""
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
    """Check a record against its chain, against who is trusted, and against what is here now.

    A record that holds by a key of `--also-trust` says nothing beyond this call, so for it what git
    could not say is a remark. For all others it leaves the record undecided.

    Args:
        record: The record.
        chain: The chain that it is of.
        signing: Whose signatures count.
        now: What is here now.
        environment: The machine, in words.
        cassettes: Cassette to its file, for messages.
        whole: Whether the newest records of all phases are asked about, not only of the record's.
    """
    own = standing(record, chain, signing)
    problems = [*own.problems, *chain.problems]
    remarks = [*own.remarks, *chain.remarks]
    newest = chain.newest
    if newest is not None and newest.name != record.name:
        # The end of the chain vouches for the rest: it must be somebody's who may.
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
    """What a record was signed over and is no longer so, by name, a phrase each."""
    told: list[str] = []
    for name in dict.fromkeys([*said.components, *now.components]):
        was = said.components.get(name, Component())
        is_now = now.components.get(name, Component())
        if name != _MACHINE and was.digest != is_now.digest:
            told += _changes(name, was, is_now, cassettes or {})
    return told


def _revoked_phases(
    record: Record, chain: Chain, signing: Signing, *, whole: bool
) -> Iterator[str]:
    """Of each phase that is asked about, that its newest sign-off was revoked."""
    said = record.statement
    named = record.name if isinstance(said, SignOff) else said.revokes.file
    for phase in _PHASES:
        records = chain.of_phase(phase)
        if not records or records[-1] is record:
            continue
        asked = whole or any(each.name == named for each in records)
        if asked and (revoked := taken_back(records[-1], chain, signing)):
            yield f"phase {phase} has no record that stands: {revoked}"


def _changes(
    name: str, was: Component, now: Component, cassettes: Mapping[str, str]
) -> Iterator[str]:
    """Waivers by their ids, cassettes and all else by their files."""
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
    """What was signed was run with the packages that this project asks for, in these versions."""
    for name, was in said.environment.items():
        here = environment.get(name, was)
        if name not in _SYSTEM and here != was:
            yield f"{name} was {was} and is {here} here"


def _other_machine(said: SignOff, now: Inventory, environment: Mapping[str, str]) -> Iterator[str]:
    """The machine is not what was signed for: that it differs is worth knowing, and no more."""
    for name in sorted(_SYSTEM & said.environment.keys() & environment.keys()):
        was, here = said.environment[name], environment[name]
        if here != was:
            yield f"signed with {name} {was}; here is {here}"
    was_there = said.components.get(_MACHINE, Component()).files
    are_here = now.components.get(_MACHINE, Component()).files
    differing = [name for name in changes(was_there, are_here) if name not in said.environment]
    if differing:
        more = f" and {len(differing) - _MOST} more" if len(differing) > _MOST else ""
        yield f"other packages differ too: {', '.join(differing[:_MOST])}{more}"
