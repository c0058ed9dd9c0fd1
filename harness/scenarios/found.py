"""Stores findings: one cassette for each, written as soon as it is found.

A file begins with comments: what differs, where it comes from and how to replay it. Some of them
(`# finding: …`) are read later, so that a known finding is not reported as new.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Final, Literal

from harness.canonical import printable
from harness.cassette.dump import dump_yaml
from harness.errors import UsageError
from harness.sides import USUAL
from harness.whole_file import write_whole
from services.redaction import redacted
from services.regular_files import open_regular
from services.wire import JsonObject

__all__ = [
    "FOUND",
    "FoundCassette",
    "KnownFinding",
    "found_name",
    "known_finding",
    "read_found",
    "write_found",
]

FOUND: Final = Path(".parity") / "found"
"""The default folder of findings."""

_HEAD_BYTES: Final = 16_384
_NOTE: Final = 160
_UNFIT: Final = re.compile(r"[^A-Za-z0-9.-]+")
_FACT: Final = re.compile(r"^# (finding|sides|fault|plan): (.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundCassette:
    """A finding as it is stored."""

    document: JsonObject
    fingerprint: str
    control: str
    candidate: str
    fault: str | None
    """The seeded fault that was in force, if any; the finding needs it."""
    profile: str | None
    """The profile of the draw; `None` for a shrunk cassette."""
    seed: int | None
    block: int | None
    kind: Literal["generated", "shrunk"]
    says: str
    """What differs, as lines of text."""
    way: str | None = None
    """`search` or `sample`."""
    plan: str = ""
    """Digest of the `GenerationPlan` of the run that found it."""
    over_bytes: bool = False
    """Whether only a run over a socket shows it."""
    command: str = ""
    """The command line that finds it again, if a replay does not show it."""
    source: str | None = None
    """The name of the cassette that it was shrunk from, if it was not drawn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownFinding:
    """The facts in the head of a stored finding."""

    file: Path
    fingerprint: str
    control: str
    candidate: str
    fault: str | None
    plan: str


def found_name(found: FoundCassette) -> str:
    """The cassette's name, under the folder of findings.

    It contains a fault, and runtimes other than legacy and adk.
    """
    words = [found.fingerprint]
    if (found.control, found.candidate) != USUAL:
        words += [found.control, found.candidate]
    if found.fault is not None:
        words.append(found.fault)
    stem = "_".join(_UNFIT.sub("-", word) for word in words)
    return f"shrunk/{stem}" if found.profile is None else f"generated/{found.profile}_{stem}"


def write_found(folder: Path, found: FoundCassette, name: str | None = None) -> Path:
    """Write a finding under `folder`, over the same finding, by default as `found_name`.

    Raises:
        UsageError: it cannot be written.
    """
    name = found_name(found) if name is None else name
    file = folder / f"{name}.yaml"
    rest = {key: value for key, value in found.document.items() if key not in _OWN}
    document: JsonObject = {
        "cassette": found.document.get("cassette", 1),
        "name": name,
        "note": _note(found),
        **({"phase": found.document["phase"]} if "phase" in found.document else {}),
        "provenance": _provenance(found),
        **rest,
    }
    head = "".join(f"# {line}".rstrip() + "\n" for line in _head(found, file))
    text = redacted(head) + dump_yaml(document)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_whole(file, text)
    except OSError as error:
        problem = f"the finding {file} cannot be written: {error.strerror}"
        raise UsageError(problem, "choose another folder with --found") from error
    return file


def read_found(folder: Path) -> list[KnownFinding]:
    """The findings under `folder`, by file name; other files are ignored.

    Raises:
        UsageError: the folder or a file in it cannot be read.
    """
    files = (file for file in folder.rglob("*.yaml") if not file.name.startswith("."))
    try:
        known = [known_finding(file) for file in sorted(files) if not file.is_dir()]
        return [each for each in known if each is not None]
    except OSError as error:
        problem = f"the findings in {folder} cannot be read: {error.strerror}"
        raise UsageError(problem, "choose another folder with --found") from error


def known_finding(file: Path) -> KnownFinding | None:
    """The facts in the head of one file; `None` if it is no finding.

    Raises:
        OSError: it cannot be read.
    """
    with open_regular(file) as stream:
        head = stream.read(_HEAD_BYTES).decode("utf-8", "replace")
    facts = _facts(head)
    sides = facts.get("sides", "").split()
    if "finding" not in facts or len(sides) != 2:
        return None
    return KnownFinding(
        file=file,
        fingerprint=facts["finding"],
        control=sides[0],
        candidate=sides[1],
        fault=facts.get("fault"),
        plan=facts.get("plan", ""),
    )


_OWN: Final = frozenset({"cassette", "name", "note", "phase", "provenance"})


def _head(found: FoundCassette, file: Path) -> Iterator[str]:
    yield from (printable(line) for line in found.says.splitlines())
    yield ""
    yield f"{found.kind}: {_origin(found)}"
    sides = ["--control", found.control, "--candidate", found.candidate]
    if found.fault is None and not found.over_bytes:
        yield f"replay: {shlex.join(['parity', 'run', str(file), *sides, '--trust'])}"
    else:
        only = f"with the seeded fault {found.fault} put in" if found.fault else "over a socket"
        yield f"seen only {only}" + (f"; again: {found.command}" if found.command else "")
    yield ""
    yield f"finding: {found.fingerprint}"
    yield f"sides: {found.control} {found.candidate}"
    if found.fault is not None:
        yield f"fault: {found.fault}"
    if found.plan:
        yield f"plan: {found.plan}"


def _origin(found: FoundCassette) -> str:
    if found.profile is None:
        return "from a cassette" if found.source is None else f"from {found.source}"
    words = f"profile {found.profile}"
    if found.seed is not None:
        words += f", seed {found.seed}"
    if found.block is not None:
        words += f", block {found.block}"
    return f"{words}, drawn by {found.way}" if found.way is not None else words


def _note(found: FoundCassette) -> str:
    lines = found.says.splitlines() or ["nothing is known of it"]
    text = printable(f"{found.candidate} against {found.control}: {lines[0]}")
    return text if len(text) <= _NOTE else f"{text[: _NOTE - 1]}…"


def _provenance(found: FoundCassette) -> JsonObject:
    given = found.document.get("provenance")
    kept: JsonObject = {**given} if found.profile is None and isinstance(given, dict) else {}
    source = f"parity {_origin(found)}" if found.source is None else f"shrunk from {found.source}"
    seed = {} if found.seed is None else {"seed": found.seed}
    return {**kept, "kind": found.kind, "source": source, **seed}


def _facts(head: str) -> dict[str, str]:
    """The facts in the last paragraph of the leading comments."""
    comments = list(takewhile(lambda line: line.startswith("#"), head.splitlines()))
    last = "\n".join(comments).rpartition("\n#\n")[2]
    return dict(_FACT.findall(last))
