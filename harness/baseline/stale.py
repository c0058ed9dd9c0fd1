"""Is what was kept of a runtime still what it does? In words, down to the first place."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from harness.baseline.files import (
    Baseline,
    BaselineFormatError,
    cassette_digest,
    read_baseline,
)
from harness.canonical import printable
from harness.explain import explain
from harness.parity.compare import compare_observations
from harness.parity.verdict import CaseResult

__all__ = ["outdated", "staleness"]

_OTHER_CASSETTE: Final = "is of another version of the cassette"


def staleness(folder: Path, fresh: Baseline) -> tuple[tuple[str, ...], str | None]:
    """Compare what `folder` holds with what was observed just now.

    What is compared is what `parity run` compares, under the same projection rules; files that
    differ only in what those hide are not stale, nor are ones that other versions made.

    Returns:
        Lines that say why the file is stale, none if it isn't; and a remark on versions, or None.
    """
    now = fresh.observation
    stored = _stored(folder, now.name)
    if isinstance(stored, str):
        return (stored,), None
    was = stored.observation
    if was.runtime != now.runtime:
        return (f"was made of {printable(was.runtime)}, not of {now.runtime}",), None
    if stored.cassette_sha256 != fresh.cassette_sha256:
        return (_OTHER_CASSETTE,), None
    compared = compare_observations(was, now)
    result = CaseResult(cassette=now.name, divergences=compared.divergences, cut=compared.cut)
    lines = tuple(explain(result, "stored", "now"))
    return lines, None if lines else _other_versions(was.versions, now.versions)


def outdated(folder: Path, name: str, cassette: Path) -> str | None:
    """Why a baseline cannot be of this cassette, as far as that shows without a run."""
    stored = _stored(folder, name)
    if isinstance(stored, str):
        return stored
    if stored.cassette_sha256 != cassette_digest(cassette):
        return _OTHER_CASSETTE
    return None


def _stored(folder: Path, name: str) -> Baseline | str:
    """What is kept under `name`, or what is wrong with that."""
    try:
        return read_baseline(folder, name) or "is missing"
    except BaselineFormatError as error:
        return printable(str(error))


def _other_versions(was: Mapping[str, str], now: Mapping[str, str]) -> str | None:
    changed = [
        f"{name} {was.get(name, 'absent')}, now {now.get(name, 'absent')}"
        for name in sorted({*was, *now})
        if was.get(name) != now.get(name)
    ]
    if not changed:
        return None
    return printable(f"made with {'; '.join(changed)}: nothing that is compared has changed")
