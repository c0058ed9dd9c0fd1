"""The files behind a seam, and changed files sorted by how near they are to it.

A seam is the border at which a difference was observed. The code behind it is in a few files of the
judged runtime, and in the services that they call.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from harness.parity.guess import Seam
from harness.sides import base_names, engines_of

__all__ = ["Ranked", "lies_at", "places_of", "ranked"]

_OURS: Final = frozenset({"legacy", "adk"})
_CORE: Final = "upstream"

_SHARED: Final[Mapping[Seam, tuple[str, ...]]] = {
    Seam.REQUEST_ASSEMBLY: (
        "services/chat",
        "services/history",
        "services/compression",
        "services/output_masking.py",
        "services/masking_previews.py",
    ),
    Seam.MODEL_CONFIG: (
        "services/model/configs.py",
        "services/model/config_settings.py",
        "services/prompts.py",
        "services/tools/declaring.py",
        "services/chat/attempt.py",
    ),
    Seam.ROUTING: ("services/routing", "services/model/names.py"),
    Seam.RETRY: (
        "services/model/retry.py",
        "services/model/classification.py",
        "services/model/google_errors.py",
        "services/chat/attempt.py",
    ),
    Seam.FALLBACK: ("services/availability", "services/chat/attempt.py"),
    Seam.STREAM: (
        "services/model/stream.py",
        "services/model/parts.py",
        "services/chat/answer.py",
        "services/chat/chat.py",
    ),
    Seam.SCHEDULER: ("services/scheduler", "services/tool_distillation.py"),
    Seam.TOOL: ("services/tools", "services/mcp", "services/skills"),
    Seam.HOOKS: ("services/hooks", "services/scheduler/call_hooks.py"),
    Seam.POLICY: (
        "services/policy",
        "services/scheduler/approvals.py",
        "services/scheduler/confirmation.py",
    ),
    Seam.HISTORY: ("services/chat", "services/history", "services/recording"),
    Seam.RECORDING: ("services/chat", "services/chat_recording.py", "services/recording"),
    Seam.EVENTS: ("services/chat/events.py", "services/presentation"),
    Seam.LIFECYCLE: (
        "services/chat/streams.py",
        "services/next_speaker.py",
        "services/abort.py",
        "services/presentation/finish.py",
    ),
    Seam.LOOPS: ("services/loop_detection",),
    Seam.SUBAGENTS: ("services/children", "services/subagents"),
    Seam.SURFACE: ("surfaces/terminal", "surfaces/acp", "surfaces/commands"),
}
"""Seam to files and folders of the services, the likeliest first."""

_OWN: Final[Mapping[str, Mapping[Seam, tuple[str, ...]]]] = {
    "adk": {
        Seam.REQUEST_ASSEMBLY: (
            "conversation.py",
            "model_call.py",
            "flow.py",
            "processors/contents.py",
            "processors/conversation.py",
        ),
        Seam.MODEL_CONFIG: ("tools.py", "model_call.py"),
        Seam.ROUTING: ("processors/conversation.py",),
        Seam.RETRY: ("model_call.py",),
        Seam.FALLBACK: ("model_call.py", "processors/conversation.py"),
        Seam.STREAM: ("responses.py", "model_call.py", "conversation.py"),
        Seam.SCHEDULER: ("flow.py",),
        Seam.TOOL: ("flow.py",),
        Seam.HOOKS: ("continuation.py", "model_call.py", "processors/conversation.py"),
        Seam.POLICY: ("flow.py",),
        Seam.HISTORY: ("conversation.py", "runtime.py"),
        Seam.RECORDING: ("conversation.py", "flow.py", "runtime.py"),
        Seam.EVENTS: ("translate.py", "stream.py", "agent.py"),
        Seam.LIFECYCLE: (
            "agent.py",
            "stream.py",
            "continuation.py",
            "plugins/limits.py",
            "processors/conversation.py",
            "flow.py",
        ),
        Seam.LOOPS: (
            "continuation.py",
            "plugins/loop_detection.py",
            "processors/conversation.py",
            "run.py",
        ),
        Seam.SUBAGENTS: ("child", "plugins/limits.py", "plugins/child.py"),
        Seam.SURFACE: ("translate.py", "agent.py"),
    },
    "legacy": {
        Seam.REQUEST_ASSEMBLY: ("chat.py", "client.py", "chats.py", "agent.py"),
        Seam.MODEL_CONFIG: ("chats.py", "chat.py"),
        Seam.ROUTING: ("client.py",),
        Seam.RETRY: ("chat.py",),
        Seam.FALLBACK: ("chat.py", "client.py"),
        Seam.STREAM: ("turn.py", "chat.py"),
        Seam.SCHEDULER: ("agent.py",),
        Seam.TOOL: ("agent.py",),
        Seam.HOOKS: ("agent_hooks.py", "client.py", "chat.py"),
        Seam.POLICY: ("agent.py",),
        Seam.HISTORY: ("chats.py", "chat.py"),
        Seam.RECORDING: ("chat.py", "chats.py", "agent.py"),
        Seam.EVENTS: ("translate.py", "turn.py", "agent.py"),
        Seam.LIFECYCLE: ("agent.py", "client.py"),
        Seam.LOOPS: ("client.py",),
        Seam.SUBAGENTS: ("executor.py", "subagent.py"),
        Seam.SURFACE: ("translate.py", "agent.py"),
    },
}
"""Runtime and seam to files and folders below `runtimes/<runtime>`, the likeliest first."""


def places_of(seam: Seam, control: str, candidate: str) -> tuple[str, ...]:
    """Files and folders with the code of a seam, the likeliest first.

    Our own runtimes share the services, so the candidate's own files come first. Against any other
    control, the services come first.

    Args:
        seam: The border of a difference; `Seam.UNKNOWN` has no place, and no seam of a third
            party's runtime has one.
        control: The side that is right, by name: `legacy`, `baseline:DIR`.
        candidate: The side that is judged: `adk`, `upstream@0.60.0`, `adk+legacy`.
    """
    if seam is Seam.UNKNOWN:
        return ()
    runtime = _engine(candidate)
    if runtime not in (*_OWN, _CORE):  # nothing is known of the files of a third party
        return ()
    own: tuple[str, ...] = (f"runtimes/{runtime}",)
    if runtime in _OWN:
        own = tuple(f"runtimes/{runtime}/{name}" for name in _OWN[runtime][seam])
    shared = _SHARED[seam]
    if _OURS.issuperset(base_names(control) | base_names(candidate)):
        return (*own, *shared)
    return (*shared, *own)


def lies_at(file: str, places: Iterable[str]) -> bool:
    """Return whether `file` is one of `places` or below one of them."""
    return any(file == place or file.startswith(f"{place}/") for place in places)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """Changed files by how near they are to a seam."""

    at: tuple[str, ...] = ()
    """Files of the seam, the likeliest first."""
    others: tuple[str, ...] = ()
    """Other files: those of the judged runtime, of the services, and the rest."""


def ranked(files: Collection[str], places: tuple[str, ...], candidate: str) -> Ranked:
    """Sort changed files by how near they are to a seam.

    Args:
        files: Paths in the checkout.
        places: Files and folders of the seam (`places_of`).
        candidate: The side that is judged.
    """
    own = f"runtimes/{_engine(candidate)}/"

    def rank(file: str) -> tuple[int, str]:
        near = [number for number, place in enumerate(places) if lies_at(file, (place,))]
        if near:
            return (near[0], file)
        tiers = (own, "services/", "runtimes/", "agent_protocol/")
        far = next((n for n, start in enumerate(tiers) if file.startswith(start)), len(tiers))
        return (len(places) + far, file)

    found = sorted(set(files), key=rank)
    return Ranked(
        at=tuple(file for file in found if lies_at(file, places)),
        others=tuple(file for file in found if not lies_at(file, places)),
    )


def _engine(side: str) -> str:
    """Return the first runtime of a side, without its version."""
    return engines_of(side)[0].partition("@")[0]
