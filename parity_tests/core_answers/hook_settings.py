"""Hook settings: which hooks they define, and what of them is refused."""

from __future__ import annotations

from typing import Any, Final

from parity_tests.core_answers.subject import Subject
from services.hooks.events import HookEvent
from services.settings.declaring import PlacedProblem
from services.settings.hooks import HookDefinition, read_hooks

__all__ = ["SUBJECTS"]


def registered(asked: Any) -> Any:
    """The hooks of a setting, and its unknown events; or that something in it is refused."""
    try:
        found = read_hooks(asked)
    except PlacedProblem:
        return {"refused": True}
    known = [each for each in found if each.event in HookEvent.__members__.values()]
    unknown = [each.event for each in found if each not in known]
    return {
        "refused": False,
        "hooks": [hook for definition in known for hook in _shown(definition)],
        "unknown": list(dict.fromkeys(unknown)),
    }


def _shown(definition: HookDefinition) -> list[Any]:
    return [
        [
            definition.event,
            definition.matcher,
            definition.sequential,
            hook.command,
            hook.name,
            hook.shown_name,
            hook.key,
            hook.timeout_ms,
            hook.limit_ms,
            hook.env,
        ]
        for hook in definition.hooks
    ]


SUBJECTS: Final = (Subject("hook_settings.registered", registered),)
