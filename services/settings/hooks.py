"""Hooks as settings define them.

The core drops an invalid definition with a line in its debug log, so that a hook meant to forbid
something is silently missing. Here it is an error with its place. An unknown event name is a
warning to the user when a session starts, as in the core.

Source: core `hooks/hookRegistry.ts`, `hooks/types.ts`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any, Final

from services.settings.declaring import READERS, Named, PlacedProblem, Read
from services.wire import js_json

__all__ = [
    "DEFAULT_TIMEOUT_MS",
    "CommandHook",
    "HookDefinition",
    "HookEvent",
    "HookSettings",
    "read_hooks",
]

_OTHER_FIELDS: Final = frozenset({"enabled", "disabled", "notifications"})
DEFAULT_TIMEOUT_MS: Final = 60_000
"""A minute, where the hook has no `timeout`."""
_LONGEST_MS: Final = 2**31 - 1
_EXAMPLE: Final = '{"type": "command", "command": "…"}'


class HookEvent(StrEnum):
    """The events of hooks; the wire's names."""

    BEFORE_TOOL = "BeforeTool"
    AFTER_TOOL = "AfterTool"
    BEFORE_AGENT = "BeforeAgent"
    NOTIFICATION = "Notification"
    AFTER_AGENT = "AfterAgent"
    SESSION_START = "SessionStart"
    SESSION_END = "SessionEnd"
    PRE_COMPRESS = "PreCompress"
    BEFORE_MODEL = "BeforeModel"
    AFTER_MODEL = "AfterModel"
    BEFORE_TOOL_SELECTION = "BeforeToolSelection"


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandHook:
    """A command that a shell runs."""

    command: str
    name: str = ""
    timeout_ms: float = DEFAULT_TIMEOUT_MS
    env: Mapping[str, str] = field(default_factory=dict)
    source: str = "project"
    """`extensions` for a hook of an extension; upstream calls all others `project`, in any file."""

    @property
    def shown_name(self) -> str:
        """Its name for the user, which also disables it: its name, else its command."""
        return self.name or self.command

    @property
    def key(self) -> str:
        """Identifies a hook, also for trust."""
        return f"{self.name}:{self.command}"

    @property
    def limit_ms(self) -> float:
        """The time limit in force. Source: Node's timers make 1 ms of what they cannot count."""
        return self.timeout_ms if 1 <= self.timeout_ms <= _LONGEST_MS else 1


@dataclass(frozen=True, slots=True, kw_only=True)
class HookDefinition:
    """Some hooks of one event. An unknown event is kept for the warning."""

    event: str
    hooks: tuple[CommandHook, ...] = ()
    matcher: str | None = None
    sequential: bool = False


def read_hooks(value: Any) -> tuple[HookDefinition, ...]:
    """The definitions of a `hooks` setting, in its order.

    Raises:
        PlacedProblem: something is not a hook definition.
    """
    if not value:
        return ()
    if not isinstance(value, Mapping):
        raise PlacedProblem("", f'a mapping like {{"BeforeTool": […]}} expected, not {value!r}')
    found: list[HookDefinition] = []
    for event, definitions in value.items():
        if event in _OTHER_FIELDS:
            continue
        if event not in HookEvent.__members__.values():
            found += _unknown(event, definitions)
            continue
        found += _definitions(event, definitions)
    return tuple(found)


def _unknown(event: str, value: Any) -> list[HookDefinition]:
    """The definitions of an unknown event, at least one, for the warning."""
    try:
        return _definitions(event, value) or [HookDefinition(event=event)]
    except PlacedProblem:
        return [HookDefinition(event=event)]


def _definitions(event: str, value: Any) -> list[HookDefinition]:
    place = f".{event}"
    if not isinstance(value, (list, tuple)):
        raise PlacedProblem(place, f"a list of definitions expected, not {_shown(value)}")
    return [
        _definition(event, definition, f"{place}[{index}]")
        for index, definition in enumerate(value)
    ]


def _definition(event: str, value: Any, place: str) -> HookDefinition:
    if not isinstance(value, Mapping) or not isinstance(value.get("hooks"), (list, tuple)):
        raise PlacedProblem(
            place, f'a mapping like {{"hooks": [{_EXAMPLE}]}} expected, not {_shown(value)}'
        )
    return HookDefinition(
        event=event,
        hooks=tuple(
            _hook(hook, f"{place}.hooks[{index}]") for index, hook in enumerate(value["hooks"])
        ),
        matcher=_given(value, "matcher", place, READERS[str]) or None,
        # Anything but `true` counts as unset upstream too.
        sequential=value.get("sequential") is True,
    )


def _hook(value: Any, place: str) -> CommandHook:
    if not isinstance(value, Mapping):
        raise PlacedProblem(place, f"a hook like {_EXAMPLE} expected, not {_shown(value)}")
    if value.get("type") != "command":
        raise PlacedProblem(
            f"{place}.type",
            f'"command" expected, the only type settings can give, not {value.get("type")!r}',
        )
    command = _given(value, "command", place, READERS[str])
    if not command:
        raise PlacedProblem(f"{place}.command", "the command to run expected; it is missing")
    timeout = _given(value, "timeout", place, _milliseconds)
    return CommandHook(
        command=command,
        name=_given(value, "name", place, READERS[str]) or "",
        timeout_ms=DEFAULT_TIMEOUT_MS if timeout is None else timeout,
        env=_given(value, "env", place, _variables) or {},
    )


def _given(value: Mapping[str, Any], key: str, place: str, read: Read) -> Any:
    """What `read` returns for a key; `None` where it is absent or null."""
    given = value.get(key)
    try:
        return None if given is None else read(given)
    except ValueError as problem:
        raise PlacedProblem(f"{place}.{key}", f"{problem}, not {_shown(given)}") from None


def _milliseconds(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError("a number of milliseconds expected")
    return value


def _variables(value: Any) -> Mapping[str, str]:
    if not isinstance(value, Mapping) or not all(
        isinstance(item, (str, int, float)) for item in value.values()
    ):
        raise ValueError("a mapping of names to texts expected")
    return {
        str(key): item if isinstance(item, str) else js_json(item) for key, item in value.items()
    }


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:79]}…"


@dataclass(frozen=True, kw_only=True)
class HookSettings:
    """Commands that run at events of the session."""

    hooks: Annotated[tuple[HookDefinition, ...], Named("hooks", "hooks", read_hooks)] = ()
    """All hooks of all settings files, in their order."""
    project_hooks: Annotated[
        tuple[HookDefinition, ...], Named("projectHooks", None, read_hooks)
    ] = ()
    """Those of the project's file, a part of `hooks`; the user is warned once."""
    disabled_hooks: Annotated[tuple[str, ...], Named("disabledHooks", "hooksConfig.disabled")] = ()
    """Names, or commands of hooks without one."""
    enable_hooks: Annotated[bool, Named("enableHooks", "hooksConfig.enabled")] = True
