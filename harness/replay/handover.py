"""A handover: a session begins in one runtime and resumes in another, as in `adk+legacy`.

Users who switch engines must be able to switch back. The first runtime plays the script up to the
middle of its prompts. The second resumes the recording with fresh services and a new session id, as
in a new process, and plays the rest. Model, workspace and the user's answers continue.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.cassette.format import Action, Send
from harness.sides import TURNS
from runtimes.contract import RuntimeTraits
from runtimes.registry import runtime_traits

__all__ = ["inspected", "joint_traits", "script_halves"]


def inspected(engine: str) -> str:
    """Return the name under which an engine is played: its inspected variant, where it has one."""
    variant = runtime_traits(engine).inspected
    return f"{engine}@{variant}" if variant and "@" not in engine else engine


def joint_traits(engines: Sequence[str]) -> RuntimeTraits:
    """Return the traits of engines that take turns: the features that all of them have.

    Raises:
        UnknownRuntime: there is no runtime of one of the names.
    """
    traits = [runtime_traits(name) for name in engines]
    features = [one.features for one in traits if one.features is not None]
    channels = [one.channels for one in traits if one.channels is not None]
    folders: Mapping[str, str] = {
        real: shown for one in traits for real, shown in one.folders.items()
    }
    return RuntimeTraits(
        features=frozenset.intersection(*features) if features else None,
        folders=folders,
        # The conversation contains the texts of both products.
        words=TURNS.join(dict.fromkeys(one.words for one in traits)),
        confinable=all(one.confinable for one in traits),
        channels=frozenset.intersection(*channels) if channels else None,
        custom=frozenset.intersection(*(one.custom for one in traits)),
    )


def script_halves(
    script: Sequence[Action],
) -> tuple[tuple[Action, ...], tuple[Action, ...]] | None:
    """Split a script at its middle prompt; return `None` if it has fewer than two prompts.

    With an odd number of prompts, the first half has the smaller share.
    """
    prompts = [place for place, action in enumerate(script) if isinstance(action, Send)]
    if len(prompts) < 2:
        return None
    cut = prompts[len(prompts) // 2 - 1] + 1
    return tuple(script[:cut]), tuple(script[cut:])
