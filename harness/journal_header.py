"""The first line of a journal: the compared sides, the build, and the machine."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import date
from typing import Any, ClassVar, Final

from pydantic import ConfigDict, StrictBool, StrictInt

from harness.codec import read
from harness.json_lines import changed

__all__ = ["FORMAT", "INFORMATION", "JournalHeader"]

FORMAT: Final = 2
"""Version of the journal; goes up when a line changes its meaning."""

INFORMATION: Final = frozenset({"paths", "expr", "started_at", "revision", "dirty"})
"""Fields that describe a run but do not affect its results; they are never compared."""

_SHARD: Final = re.compile(r"[1-9]\d{0,3}/[1-9]\d{0,3}", re.ASCII)
_REVISION: Final = re.compile(r"([0-9a-f]{40}|[0-9a-f]{64})?", re.ASCII)
_MAPPINGS: Final = ("components", "environment", "made_of")


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalHeader:
    """The identity of a run. Results of runs with different headers are never merged."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    control: str
    candidate: str
    repeat: StrictInt = 1
    trust: StrictBool = False
    as_of: str
    """The day for which waivers are judged, ISO."""
    phase: str | None = None
    """The rollout phase whose cassettes run; `None` for all phases."""
    shard: str = ""
    """`2/3`: the second of three parts of the corpus; empty if it is not divided."""
    components: Mapping[str, str] = field(default_factory=dict)
    """Component of the inventory → its digest; see `harness.inventory`."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Python, platform, core, node and this project's dependencies → version."""
    made_of: Mapping[str, str] = field(default_factory=dict)
    """Side that is a baseline → description of the runtimes that made its files."""
    paths: tuple[str, ...] = ()
    """The paths on the command line, or the default paths."""
    expr: str | None = None
    """The expression of `-k`, which selected cassettes."""
    started_at: str = ""
    """The start of the run, UTC, ISO; only for information, so other texts are accepted."""
    revision: str = ""
    """The commit of the current checkout; empty without a checkout."""
    dirty: StrictBool = False
    """Whether files of that checkout differed from the commit."""

    @property
    def corpus(self) -> str:
        """Digest over names and contents of all cassettes of the run."""
        return self.components.get("corpus", "")

    @property
    def waivers(self) -> str:
        """Digest of the waivers; empty without any."""
        return self.components.get("waivers", "")

    def differences(self, other: JournalHeader, *, but: frozenset[str] = frozenset()) -> list[str]:
        """Return the differences of two headers as phrases; `self` is the journal's header.

        `but` names fields that may differ, besides those that are only information.
        """
        before, now = (
            {name: value for name, value in asdict(header).items() if name not in INFORMATION | but}
            for header in (self, other)
        )
        found = changed(
            *({k: v for k, v in h.items() if k not in _MAPPINGS} for h in (before, now))
        )
        for name in _MAPPINGS:
            if name in before:
                found += changed(before[name], now[name])
        return found

    def to_json(self) -> dict[str, Any]:
        """Return the header as the journal's first line."""
        return {"journal": FORMAT, **asdict(self), "paths": list(self.paths)}

    @classmethod
    def from_json(cls, line: Any) -> JournalHeader:
        """Return the inverse of `to_json`.

        Raises:
            ValueError: of another format; a key that is missing, unknown or of another type.
        """
        if not isinstance(line, dict) or "journal" not in line:
            raise ValueError("its header does not name a journal format")
        facts = dict(line)
        version = facts.pop("journal")
        if version != FORMAT:
            raise ValueError(f"journal format {version!r}; this build reads {FORMAT}")
        for each in fields(cls):
            if each.name not in facts:
                raise ValueError(f"{each.name} is missing")
        header = read(cls, facts)
        date.fromisoformat(header.as_of)
        if not _REVISION.fullmatch(header.revision):
            raise ValueError(f"{facts['revision']!r} is no revision")
        if header.shard and not _SHARD.fullmatch(header.shard):
            raise ValueError(f"{facts['shard']!r} is no part of a corpus")
        return header
