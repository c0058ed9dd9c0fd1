"""The order of the cassettes for a fault: those of its own class of behaviour come first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from harness.cassette.find import CassetteFile
from seeded_faults import Behaviour

__all__ = ["FAMILIES", "own_first"]

FAMILIES: Final[Mapping[Behaviour, tuple[str, ...]]] = {
    Behaviour.ANSWERS: ("text", "finish", "invalid_stream", "http"),
    Behaviour.ERRORS: ("errors", "invalid_stream", "hostile"),
    Behaviour.FALLBACK: ("fallback", "routing", "models", "errors"),
    Behaviour.TOOLS: ("tools", "truncation", "mcp", "skills", "distillation", "hostile"),
    Behaviour.APPROVAL: ("policy", "tools", "mcp"),
    Behaviour.HOOKS: ("hooks",),
    Behaviour.LOOPS: ("loops", "limits", "next_speaker"),
    Behaviour.CONTEXT: ("masking", "compression", "truncation", "distillation"),
    Behaviour.RECORDING: ("resume", "rewind", "restore", "text", "tools"),
    Behaviour.LIFECYCLE: ("abort", "limits", "text", "tools", "steering"),
    Behaviour.SUBAGENTS: (
        "subagent",
        "subagent_limits",
        "subagent_steering",
        "subagent_tools",
        "subagent_models",
        "subagent_policy",
        "subagent_threads",
        "subagent_definitions",
        "subagent_hooks",
        "subagent_sessions",
        "subagent_remote",
    ),
    Behaviour.INTERACTIVE: (
        "progress",
        "plan",
        "steering",
        "rewind",
        "restore",
        "interaction",
        "ask_user",
        "tracker",
        "todos",
        "topic",
        "policy",
        "hooks",
    ),
}
"""Class of behaviour to families of cassettes, likeliest first."""


def own_first(files: Sequence[CassetteFile], behaviour: Behaviour) -> list[CassetteFile]:
    """Sort cassettes: those of the class of `behaviour` first, one of each family in turn."""
    place = {family: index for index, family in enumerate(FAMILIES[behaviour])}
    own = [file for file in files if _family(file) in place]
    own.sort(key=lambda file: (place[_family(file)], file.name))
    turns: Counter[str] = Counter()
    others: list[tuple[int, str, CassetteFile]] = []
    for file in sorted(files, key=lambda file: file.name):
        family = _family(file)
        if family not in place:
            others.append((turns[family], family, file))
            turns[family] += 1
    others.sort(key=lambda other: other[:2])
    return [*own, *(file for _, _, file in others)]


def _family(file: CassetteFile) -> str:
    return file.name.partition("/")[0] if "/" in file.name else file.root.name
