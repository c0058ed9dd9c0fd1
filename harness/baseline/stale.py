"""Compare a stored baseline with a fresh one, and say where they differ first."""

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

_OTHER_CASSETTE: Final = "belongs to another version of the cassette"


def staleness(folder: Path, fresh: Baseline) -> tuple[tuple[str, ...], str | None]:
    """Compare the stored baseline in `folder` with a fresh one.

    It compares like `parity run`, with the same projection rules. Differences that these hide, and
    other versions, do not make a file stale.

    Returns:
        Lines that say why the file is stale, none if it is not; and a remark on versions, or None.
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
    """Why a baseline does not fit this cassette; `None` if no run is needed to see that."""
    stored = _stored(folder, name)
    if isinstance(stored, str):
        return stored
    if stored.cassette_sha256 != cassette_digest(cassette):
        return _OTHER_CASSETTE
    return None


def _stored(folder: Path, name: str) -> Baseline | str:
    """The stored baseline of `name`, or its problem."""
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
    return printable(f"made with {'; '.join(changed)}: no compared value changed")
