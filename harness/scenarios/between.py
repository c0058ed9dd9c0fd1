"""Profiles for two runtimes: without what one of them lacks, with the tools that both have."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

from harness.cassette.needs import FEATURES
from harness.scenarios.profiles import PROFILES, Profile
from harness.sides import engines_of
from runtimes.contract import UnusableRuntime
from runtimes.registry import UnknownRuntime, runtime_traits
from services.wire import JsonObject

__all__ = ["left_out", "profile_between"]


def profile_between(
    name: str,
    control: str,
    candidate: str,
    weights: Mapping[str, Mapping[str, int]] | None = None,
) -> Profile:
    """The profile of that name without the features that one of the sides lacks.

    Where a side has tools of its own, scenarios have only what such agents have.

    `weights` replace the profile's own.

    Raises:
        KeyError: there is no such profile.
    """
    lacking = {feature for side in (control, candidate) for feature in _lacking(side)}
    profile = PROFILES[name]
    if weights is not None:
        profile = replace(profile, weights=weights)
    own = [tools for side in (control, candidate) if (tools := _own_tools(side)) is not None]
    if own:
        both = set.intersection(*(set(tools) for tools in own))
        profile = replace(profile, tools={name: own[0][name] for name in sorted(both)})
    return profile.without(lacking)


def left_out(name: str, *sides: str) -> dict[str, list[str]]:
    """Side → features of the profile `name` that it lacks, sorted; only sides that lack some."""
    if any(_own_tools(side) is not None for side in sides):
        return {}
    drawn = {side: PROFILES[name].drawn_of(_lacking(side)) for side in sides}
    return {side: features for side, features in drawn.items() if features}


def _own_tools(side: str) -> Mapping[str, JsonObject] | None:
    """The tools of an engine of `side` that has its own; `None` if it has ours."""
    for engine in engines_of(side):
        with suppress(UnknownRuntime, UnusableRuntime):  # opening the engine reports it
            tools = runtime_traits(engine).tools
            if tools is not None:
                return tools
    return None


def _lacking(side: str) -> frozenset[str]:
    """The features of cassettes that an engine of `side` lacks."""
    found: set[str] = set()
    for engine in engines_of(side):
        try:
            features = runtime_traits(engine).features
        except (UnknownRuntime, UnusableRuntime):  # opening the engine reports it
            continue
        if features is not None:
            found |= FEATURES.keys() - features
    return frozenset(found)
