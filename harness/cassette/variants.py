"""Variants: one cassette as several cases, each with another setting.

Running child agents through sessions must change only what their subscribers see. So each cassette
of phase B is judged without and with that flag, unless it sets the flag itself. The second case is
called `<name>@sessions`; files are named in the same way.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Final

from harness.cassette.document import MAX_BYTES
from harness.cassette.format import Cassette
from services.regular_files import read_regular
from services.wire import JsonObject

__all__ = [
    "SESSIONS",
    "VARIANTS",
    "as_variant",
    "named_file",
    "plain_name",
    "variant_of",
    "variants_of",
]

SESSIONS: Final = "sessions"
VARIANTS: Final[Mapping[str, str]] = MappingProxyType(
    {SESSIONS: "child agents run through sessions (adk.agentSessionSubagentEnabled)"}
)
"""Name of a variant → its difference."""
_FLAG: Final = "agentSessionSubagentEnabled"
_PHASE: Final = "B"


def variant_of(name: str) -> str | None:
    """The variant at the end of a case's or file's name."""
    _, mark, variant = name.rpartition("@")
    return variant if mark and variant in VARIANTS else None


def plain_name(name: str) -> str:
    """The name without its variant."""
    variant = variant_of(name)
    return name if variant is None else name.removesuffix(f"@{variant}")


def named_file(path: Path) -> tuple[Path, str | None]:
    """The file and the variant that `x.yaml@sessions` names."""
    variant = variant_of(path.name)
    if variant is None or path.exists():
        return path, None
    return path.with_name(plain_name(path.name)), variant


def variants_of(file: Path, phase: str) -> tuple[str, ...]:
    """The variants of a cassette of `phase`, without loading it."""
    if phase != _PHASE:
        return ()
    try:
        text = read_regular(file, MAX_BYTES)
    except OSError:
        return ()  # loading it reports why
    return () if _FLAG.encode() in text else (SESSIONS,)


def as_variant(cassette: Cassette, variant: str) -> Cassette:
    """The cassette with the variant's setting, under the variant's name."""
    session: JsonObject = dict(cassette.document.get("session") or {})
    settings = _with_sessions(cassette.session.settings)
    session["settings"] = _with_sessions(session.get("settings") or {})
    name = f"{cassette.name}@{variant}"
    return replace(
        cassette,
        name=name,
        session=replace(cassette.session, settings=settings),
        document={**cassette.document, "name": name, "session": session},
    )


def _with_sessions(settings: JsonObject) -> JsonObject:
    """Settings with the flag of the variant set."""
    return {**settings, "adk": {**(settings.get("adk") or {}), _FLAG: True}}
