"""`Policy`: the gates and waivers that a phase is judged by, from the files here or a revision.

A change must not pass because it lowers a limit or adds a waiver. So it can be judged by the
revision that it is to be merged into; the differences are reported.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Final

from harness.canonical import canonical
from harness.errors import UsageError
from harness.gate.gates import Gates, load_gates, parse_gates
from harness.parity.waivers import WaiverFileError, Waivers, load_waivers
from harness.triage.checkout import Checkout

__all__ = ["Policy", "policy_changes", "policy_here", "policy_of_revision"]

_ABSENT: Final = "nothing"
_NAMES: Final = ("name", "leg", "profile")
"""Keys that identify an entry of a list, so that moving one is no change."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Gates and waivers."""

    gates: Gates
    waivers: Waivers
    source: str
    """The origin of both, in words."""


def policy_here(gates: Path, waivers: Path | None, as_of: date) -> Policy:
    """The policy of the files here.

    Raises:
        GatesFileError, WaiverFileError: one of them cannot be used.
    """
    named = " and ".join(str(file) for file in (gates, waivers) if file is not None)
    return Policy(gates=load_gates(gates), waivers=load_waivers(waivers, as_of=as_of), source=named)


def policy_of_revision(revision: str, gates: Path, waivers: Path | None, as_of: date) -> Policy:
    """The policy of the same files in a revision of their checkout.

    Without waivers in the revision, nothing is waived.

    Raises:
        UsageError: there is no checkout, no such revision, no gates in it, or a file that cannot be
            used.
    """
    checkout = Checkout.at(gates.resolve().parent)
    commit = checkout.commit(revision, "--policy-from")
    content = _content(checkout, commit, gates)
    where = f"{revision}:{_inside(checkout, gates)}"
    if content is None:
        problem = f"--policy-from {revision}: there is no {_inside(checkout, gates)} in it"
        raise UsageError(problem, "name a revision that has gates")
    kept = None if waivers is None else _content(checkout, commit, waivers)
    return Policy(
        gates=parse_gates(content, where),
        waivers=_waivers(kept, f"{revision}:{waivers}", as_of),
        source=f"revision {revision} ({commit[:12]})",
    )


def policy_changes(then: Policy, now: Policy) -> list[str]:
    """The differences of `now`, a line each: waivers by id, gates by the place of the value."""
    before = {waiver.id: waiver.model_dump(mode="json") for waiver in then.waivers.entries}
    after = {waiver.id: waiver.model_dump(mode="json") for waiver in now.waivers.entries}
    lines = []
    for name in sorted({*before, *after}):
        if name not in before:
            lines.append(f"waiver {name}: added")
        elif name not in after:
            lines.append(f"waiver {name}: removed")
        else:
            lines += [f"waiver {name}: {line}" for line in _changed(before[name], after[name])]
    return lines + [f"gates: {line}" for line in _changed(_values(then.gates), _values(now.gates))]


def _values(gates: Gates) -> dict[str, Any]:
    return gates.model_dump(mode="json", exclude={"digest"})


def _changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    was, is_now = dict(_leaves(before, "")), dict(_leaves(after, ""))
    return [
        f"{place} was {was.get(place, _ABSENT)} and is {is_now.get(place, _ABSENT)}"
        for place in sorted({*was, *is_now})
        if was.get(place) != is_now.get(place)
    ]


def _leaves(value: Any, place: str) -> Iterator[tuple[str, str]]:
    """Every value with its place; entries of a list by their names, if they have any."""
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield from _leaves(each, f"{place}.{key}" if place else str(key))
    elif isinstance(value, list) and value and all(isinstance(each, Mapping) for each in value):
        for number, each in enumerate(value):
            names = [str(each[key]) for key in _NAMES if key in each]
            yield from _leaves(each, f"{place}[{' '.join(names) or number}]")
    else:
        yield place, canonical(value)


def _inside(checkout: Checkout, file: Path) -> str:
    try:
        return file.resolve().relative_to(checkout.root.resolve()).as_posix()
    except ValueError as error:
        problem = f"{file} is not in the checkout {checkout.root}"
        raise UsageError(problem, "--policy-from takes files of one checkout") from error


def _content(checkout: Checkout, commit: str, file: Path) -> bytes | None:
    """The file's content in that commit; `None` if it is missing."""
    name = _inside(checkout, file)
    listed = checkout.git("ls-tree", "--full-tree", "--name-only", "-z", commit, "--", name)
    return checkout.blob(f"{commit}:{name}") if listed else None


def _waivers(content: bytes | None, where: str, as_of: date) -> Waivers:
    if content is None:
        return load_waivers(None, as_of=as_of)
    with tempfile.TemporaryDirectory(prefix="parity-policy-") as folder:
        file = Path(folder, "waivers.toml")
        file.write_bytes(content)
        try:
            return load_waivers(file, as_of=as_of)
        except WaiverFileError as error:
            raise UsageError(f"{where}: {error.key}: {error.problem}") from error
