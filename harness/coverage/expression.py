"""`ProbeExpression`: the probes that show a behaviour, as globs joined by `and` and `or`.

`and` binds tighter. There are no brackets and no `not`. `*` stands for any text.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field

__all__ = ["ProbeExpression", "ProbeProblem", "parse_probes"]


class ProbeProblem(ValueError):
    """A text is no expression over probes; the message says why."""


@dataclass(frozen=True, slots=True)
class ProbeExpression:
    """Alternatives; in one of them, every glob must match a probe."""

    alternatives: tuple[tuple[str, ...], ...]
    _patterns: tuple[tuple[str | re.Pattern[str], ...], ...] = field(
        init=False, repr=False, compare=False, hash=False
    )

    def __post_init__(self) -> None:
        compiled = tuple(tuple(map(_compiled, each)) for each in self.alternatives)
        object.__setattr__(self, "_patterns", compiled)

    def holds(self, reached: Collection[str]) -> bool:
        """Whether a run with these probes satisfies the expression."""
        return any(all(_shown(pattern, reached) for pattern in every) for every in self._patterns)

    @property
    def globs(self) -> tuple[str, ...]:
        """Every glob, in order."""
        return tuple(glob for every in self.alternatives for glob in every)

    def __str__(self) -> str:
        return " or ".join(" and ".join(every) for every in self.alternatives)


def parse_probes(text: str) -> ProbeExpression:
    """Read `a:b and c:* or d:e`.

    Raises:
        ProbeProblem: it is empty, or a joining word has nothing on one of its sides.
    """
    alternatives = []
    for part in _split(text, "or"):
        globs = tuple(glob.strip() for glob in _split(part, "and"))
        for glob in globs:
            if not glob:
                raise ProbeProblem(f"a probe is missing in {text.strip()!r}")
            if " " in glob:
                raise ProbeProblem(f"{glob!r} is two words: join probes with `and` or `or`")
        alternatives.append(globs)
    return ProbeExpression(tuple(alternatives))


def _split(text: str, word: str) -> list[str]:
    return re.split(rf"(?:^|(?<=\s)){word}(?=\s|$)", text.strip())


def _compiled(glob: str) -> str | re.Pattern[str]:
    if "*" not in glob:
        return glob
    return re.compile(".*".join(re.escape(part) for part in glob.split("*")), re.DOTALL)


def _shown(pattern: str | re.Pattern[str], reached: Collection[str]) -> bool:
    if isinstance(pattern, str):
        return pattern in reached
    return any(pattern.fullmatch(probe) for probe in reached)
