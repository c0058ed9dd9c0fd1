"""What is drawn between two runtimes: a profile without what one of them cannot do."""

from __future__ import annotations

from harness.cassette.needs import FEATURES
from harness.scenarios.profiles import PROFILES, Profile
from harness.sides import engines_of
from runtimes.contract import UnusableRuntime
from runtimes.registry import UnknownRuntime, runtime_traits

__all__ = ["left_out", "profile_between"]


def profile_between(name: str, control: str, candidate: str) -> Profile:
    """The profile of that name without the features that one of the two sides lacks.

    Raises:
        KeyError: there is no such profile.
    """
    lacking = {feature for side in (control, candidate) for feature in _lacking(side)}
    return PROFILES[name].without(lacking)


def left_out(name: str, *sides: str) -> dict[str, list[str]]:
    """Side to the features that are not drawn because of it, sorted; sides that lack none left out.

    Only what scenarios of the profile `name` could have otherwise.
    """
    drawn = {side: PROFILES[name].drawn_of(_lacking(side)) for side in sides}
    return {side: features for side, features in drawn.items() if features}


def _lacking(side: str) -> frozenset[str]:
    """The features of cassettes that an engine of `side` says it does not have."""
    found: set[str] = set()
    for engine in engines_of(side):
        try:
            features = runtime_traits(engine).features
        except (UnknownRuntime, UnusableRuntime):  # opening it says so
            continue
        if features is not None:
            found |= FEATURES.keys() - features
    return frozenset(found)
