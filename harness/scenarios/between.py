"""Profiles for two runtimes: without the features that one of them lacks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from harness.cassette.needs import FEATURES
from harness.scenarios.profiles import PROFILES, Profile
from harness.sides import engines_of
from runtimes.contract import UnusableRuntime
from runtimes.registry import UnknownRuntime, runtime_traits

__all__ = ["left_out", "profile_between"]


def profile_between(
    name: str,
    control: str,
    candidate: str,
    weights: Mapping[str, Mapping[str, int]] | None = None,
) -> Profile:
    """The profile of that name without the features that one of the sides lacks.

    `weights` replace the profile's own.

    Raises:
        KeyError: there is no such profile.
    """
    lacking = {feature for side in (control, candidate) for feature in _lacking(side)}
    profile = PROFILES[name]
    if weights is not None:
        profile = replace(profile, weights=weights)
    return profile.without(lacking)


def left_out(name: str, *sides: str) -> dict[str, list[str]]:
    """Side → features of the profile `name` that it lacks, sorted; only sides that lack some."""
    drawn = {side: PROFILES[name].drawn_of(_lacking(side)) for side in sides}
    return {side: features for side, features in drawn.items() if features}


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
