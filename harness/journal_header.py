"""The first line of a journal: what is compared with what, by which build, on what machine."""

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
"""Fields that describe a run and not what it found: never compared."""

_SHARD: Final = re.compile(r"[1-9]\d{0,3}/[1-9]\d{0,3}", re.ASCII)
_REVISION: Final = re.compile(r"([0-9a-f]{40}|[0-9a-f]{64})?", re.ASCII)
_MAPPINGS: Final = ("components", "environment", "made_of")


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalHeader:
    """What a run compares. Results of runs with different headers are not put together."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(extra="forbid")

    control: str
    candidate: str
    repeat: StrictInt = 1
    trust: StrictBool = False
    as_of: str
    """The day by which waivers are judged, ISO."""
    phase: str | None = None
    """Only cassettes of this rollout phase."""
    shard: str = ""
    """`2/3`: the second of three parts of the corpus; empty where it is not divided."""
    components: Mapping[str, str] = field(default_factory=dict)
    """Component of the inventory to its digest: see `harness.inventory`."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Python, platform, core, node and the packages that this project asks for, by version."""
    made_of: Mapping[str, str] = field(default_factory=dict)
    """Side that is a baseline to what made its files, in words."""
    paths: tuple[str, ...] = ()
    """The paths that the command line named, or those that were taken for want of any."""
    expr: str | None = None
    """`-k`, by which cassettes were chosen."""
    started_at: str = ""
    """When the run began, UTC, ISO; information only, so that another text is possible."""
    revision: str = ""
    """The commit of the checkout that the run was started in; empty where there is none."""
    dirty: StrictBool = False
    """Files of that checkout differed from the commit."""

    @property
    def corpus(self) -> str:
        """Digest over names and contents of the cassettes that the whole run was given."""
        return self.components.get("corpus", "")

    @property
    def waivers(self) -> str:
        """Digest of the waivers; empty without any."""
        return self.components.get("waivers", "")

    def differences(self, other: JournalHeader, *, but: frozenset[str] = frozenset()) -> list[str]:
        """In what two headers differ, in words; `self` is what the journal says.

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
        """As the journal's first line says it."""
        return {"journal": FORMAT, **asdict(self), "paths": list(self.paths)}

    @classmethod
    def from_json(cls, line: Any) -> JournalHeader:
        """The inverse of `to_json`.

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
