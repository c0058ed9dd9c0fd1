"""The settings that a cassette may give, with their types.

They are the core's configuration parameters, by their own names, except those that a run fixes
(folders, session, model, approval mode) or that only a program can give. The declarations in
`services.settings` check those that this build reads, and name those that have no effect.

Source: core `config/config.ts`, `ConfigParameters`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from harness.cassette.problems import FormatProblem, Problems, kind_of, suggest
from services.policy.from_settings import rule_from_settings
from services.settings import PARAMETERS
from services.settings.declaring import READERS, PlacedProblem, Read
from services.settings.hooks import HookEvent
from services.settings.without_effect import WITHOUT_EFFECT
from services.wire import Json, JsonObject

__all__ = ["INCLUDE_DIRECTORIES", "check_settings"]


INCLUDE_DIRECTORIES: Final = "includeDirectories"
"""The one setting that a replay itself heeds, as a surface does: further folders for tools."""


def _readers() -> dict[str, Read]:
    """Name of each parameter, dots leading into mappings → its reader; mappings come first."""
    readers: dict[str, Read] = {
        each.name: READERS[each.type] for each in WITHOUT_EFFECT if each.name is not None
    }
    readers |= {each.name: each.read for each in PARAMETERS if "telemetry" not in each.name}
    mappings = {
        ".".join(steps[:length])
        for steps in (name.split(".") for name in readers)
        for length in range(1, len(steps))
    }
    return {**dict.fromkeys(sorted(mappings), READERS[Mapping]), **readers}


_READERS: Final = _readers()
_CLOSED: Final = (
    "adk",
    "contextManagement",
    "contextManagement.tools",
    "contextManagement.tools.outputMasking",
)
"""Mappings whose keys are all known."""


def check_settings(settings: JsonObject, path: str) -> None:
    """Check names and types of settings.

    Raises:
        FormatProblem: a setting is unknown or of the wrong type; with the other such settings.
    """
    problems = Problems()
    of = problems.of
    of(partial(_check_keys, settings, "", path, "unknown setting"))
    for name in _CLOSED:
        of(partial(_check_keys, _value(settings, name), name, f"{path}.{name}", "unknown key"))
    for name in ("hooks", "projectHooks"):
        for event in _mapping(settings.get(name)):
            if event not in HookEvent.__members__.values():
                mend = suggest(event, HookEvent)
                problems.add(FormatProblem(f"{path}.{name}.{event}", "unknown hook event", mend))
    for name, read in _READERS.items():
        value = _value(settings, name)
        if value is not _ABSENT:
            of(partial(_check, read, value, f"{path}.{name}"))
    for server, spec in _mapping(settings.get("mcpServers")).items():
        of(partial(_check, READERS[Mapping], spec, f"{path}.mcpServers.{server}"))
    rules = settings.get("policyRules", [])
    for position, rule in enumerate(rules if isinstance(rules, list) else []):
        of(partial(_check, rule_from_settings, rule, f"{path}.policyRules[{position}]"))
    problems.refuse()


_ABSENT: Final = object()


def _value(settings: Json, name: str) -> Any:
    for key in name.split("."):
        if not isinstance(settings, dict) or key not in settings:
            return _ABSENT
        settings = settings[key]
    return settings


def _mapping(value: Json) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _check_keys(value: Any, name: str, path: str, problem: str) -> None:
    below = f"{name}." if name else ""
    known = {
        each.removeprefix(below).partition(".")[0] for each in _READERS if each.startswith(below)
    }
    problems = Problems()
    for key in _mapping(value):
        if key not in known:
            problems.add(FormatProblem(f"{path}.{key}", problem, suggest(key, known)))
    problems.refuse()


def _check(read: Callable[[Any], object], value: Json, path: str) -> None:
    try:
        read(value)
    except PlacedProblem as problem:
        where = f"{path}{problem.place}"
        raise FormatProblem(where, problem.problem, "see docs/settings.md") from problem
    except ValueError as problem:
        expected = str(problem).removesuffix(" expected")
        raise FormatProblem(
            path, f"must be {expected}, not {kind_of(value)}", f"write {expected}"
        ) from problem
