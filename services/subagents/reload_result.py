"""What has changed about a session's agents since they were last looked for.

Source: core `agents/registry.ts` (`reload`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

__all__ = ["ReloadResult"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReloadResult:
    """Numbers and names of agents."""

    total_loaded: int
    local_count: int
    remote_count: int
    new_agents: list[str]
    updated_agents: list[str]
    """Those whose file, or card, is another."""
    deleted_agents: list[str]
    errors: list[str]

    @classmethod
    def between(
        cls,
        before: Mapping[str, str | None],
        now: Mapping[str, str | None],
        *,
        remote: int,
        errors: Sequence[str],
    ) -> ReloadResult:
        """Compare two lists of agents.

        Args:
            before: names to hashes.
            now: the same, afterwards.
            remote: how many of these are remote.
            errors: what people were told meanwhile.
        """
        return cls(
            total_loaded=len(now),
            local_count=len(now) - remote,
            remote_count=remote,
            new_agents=[name for name in now if name not in before],
            updated_agents=[
                name for name, known in now.items() if name in before and known != before[name]
            ],
            deleted_agents=[name for name in before if name not in now],
            errors=list(errors),
        )
