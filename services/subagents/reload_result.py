"""The changes of a session's agents between two searches.

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
    """Agents with a changed file or card."""
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
        """Compare the names and hashes of two searches.

        Args:
            before: the hash of each agent before.
            now: the hash of each agent now.
            remote: the number of remote agents now.
            errors: the errors of the second search.
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
