"""A session that is begun in one runtime and gone on with in another: the side `adk+legacy`.

What a flag flip must not cost is the way back: a chat that was recorded under the new engine is
resumed under the old one, and the other way round. So a side can name two runtimes. The first plays
the script up to the middle of its prompts and is left; the second, in a process of its own as far
as it can tell (fresh services, a new session id), resumes the recording and plays the rest. The
model, the workspace and what the user answers go on as they stand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from harness.cassette.format import Action, Send
from harness.sides import TURNS
from runtimes.contract import RuntimeTraits
from runtimes.registry import runtime_traits

__all__ = ["joint_traits", "script_halves"]


def joint_traits(engines: Sequence[str]) -> RuntimeTraits:
    """What can be asked of engines that take turns: what each of them can do.

    Raises:
        UnknownRuntime: there is none of one of the names.
    """
    traits = [runtime_traits(name) for name in engines]
    features = [one.features for one in traits if one.features is not None]
    folders: Mapping[str, str] = {
        real: shown for one in traits for real, shown in one.folders.items()
    }
    return RuntimeTraits(
        features=frozenset.intersection(*features) if features else None,
        folders=folders,
        # Texts of two products in one conversation are nobody's own.
        words=TURNS.join(dict.fromkeys(one.words for one in traits)),
        confinable=all(one.confinable for one in traits),
    )


def script_halves(
    script: Sequence[Action],
) -> tuple[tuple[Action, ...], tuple[Action, ...]] | None:
    """A script up to the stream of its middle prompt, and what follows; `None` if it has but one.

    Of an odd number of prompts the first half has the smaller part.
    """
    prompts = [place for place, action in enumerate(script) if isinstance(action, Send)]
    if len(prompts) < 2:
        return None
    cut = prompts[len(prompts) // 2 - 1] + 1
    return tuple(script[:cut]), tuple(script[cut:])
