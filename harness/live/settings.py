"""Translates a settings file into a cassette's session settings, the core's parameters."""

from __future__ import annotations

from typing import Any, Final

from harness.cassette.problems import FormatProblem
from harness.cassette.settings import check_settings
from services.settings import PARAMETERS
from services.wire import Json, JsonObject

__all__ = ["session_settings"]

_NOT_THERE: Final = object()


def session_settings(
    document: JsonObject, *, interactive: bool = False
) -> tuple[JsonObject, list[str]]:
    """Translate `document`; also return the keys that a cassette cannot represent.

    Excludes the tool `ask_user` unless the run is `interactive`, as every headless run does.
    """
    settings: JsonObject = {}
    lost: list[str] = []
    for parameter in PARAMETERS:
        value = _NOT_THERE if parameter.key is None else _look_up(document, parameter.key)
        if value is _NOT_THERE:
            continue
        trial: JsonObject = {}
        _put(trial, parameter.name, value)
        try:
            check_settings(trial, "settings")
        except FormatProblem:
            lost.append(str(parameter.key))
            continue
        _put(settings, parameter.name, value)
    if not interactive:
        excluded: list[Json] = list(settings.get("excludeTools") or [])
        settings["excludeTools"] = [*excluded, "ask_user"]
    return settings, sorted(set(lost))


def _look_up(document: JsonObject, path: str) -> Any:
    value: Any = document
    for key in path.split("."):
        if not isinstance(value, dict) or key not in value:
            return _NOT_THERE
        value = value[key]
    return value


def _put(settings: JsonObject, path: str, value: Json) -> None:
    *folders, last = path.split(".")
    place = settings
    for key in folders:
        place = place.setdefault(key, {})
    place[last] = value
