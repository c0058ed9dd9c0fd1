"""Profiles draw everything but the features that a runtime lacks."""

from __future__ import annotations

import random
from datetime import date
from pathlib import Path

import pytest

from harness.cassette.load import build_cassette
from harness.cassette.needs import FEATURES, features_of
from harness.parity.waivers import Waivers
from harness.scenarios.between import left_out, profile_between
from harness.scenarios.block import BlockTask, drawn_in
from harness.scenarios.chooser import Chooser
from harness.scenarios.grammar.document import scenario
from harness.scenarios.profiles import PROFILES
from tests.runtimes.third_party import GOOD, forgotten, install

__all__ = ["forgotten"]

DRAWN = FEATURES.keys() - {"mcp", "sign_in_question"}
"""The features that the grammar has."""
WITH_A_SURFACE = {
    "checkpoints",
    "loop_question",
    "new_agents_question",
    "plan_mode",
    "revert",
    "trust_question",
    "validation_question",
}
"""Those of them that only the profile `interactive` has."""
WITH_AGENTS = {"subagents", "steering"}


def needs(profile_weights: object, examples: int) -> set[str]:
    rng = random.Random(7)
    found: set[str] = set()
    for _ in range(examples):
        document = scenario(Chooser(rng.randint, profile_weights), "generated/x")  # type: ignore[arg-type]
        built = build_cassette(document, Path("generated/x.yaml").absolute())
        found |= features_of(built.document)
    return found


@pytest.mark.parametrize("profile", ["everything", "subagents", "interactive"])
@pytest.mark.sampled(2)
def test_without_every_feature_plain_turns_are_left(profile: str) -> None:
    assert needs(PROFILES[profile].without(FEATURES).weights, 150) == set()


@pytest.mark.parametrize("feature", sorted(DRAWN))
@pytest.mark.slow
def test_a_feature_alone_is_left_out_and_drawn_otherwise(feature: str) -> None:
    profile = PROFILES[
        "interactive"
        if feature in WITH_A_SURFACE
        else "subagents"
        if feature in WITH_AGENTS
        else "everything"
    ]

    assert feature in needs(profile.weights, 150)
    assert feature not in needs(profile.without([feature]).weights, 150)


def test_the_interactive_profile_draws_hints_without_agents() -> None:
    profile = PROFILES["interactive"]

    assert "steering" in needs(profile.weights, 60)
    assert "steering" not in needs(profile.without(["steering"]).weights, 60)


def test_removing_features_that_no_scenario_needs_changes_nothing() -> None:
    for profile in PROFILES.values():
        assert profile.without(["mcp", "sign_in_question"]) == profile
    assert PROFILES["everything"].without(WITH_A_SURFACE | WITH_AGENTS) == PROFILES["everything"]
    assert PROFILES["subagents"].without(WITH_A_SURFACE) == PROFILES["subagents"]
    for name in PROFILES:
        assert profile_between(name, "legacy", "adk") == PROFILES[name]
        assert profile_between(name, "upstream", "unknown") == PROFILES[name]


TRAITS = """
from runtimes.contract import RuntimeTraits
TRAITS = RuntimeTraits(features=frozenset({features}))
"""


def test_the_traits_of_a_side_decide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    features = sorted(DRAWN - {"hooks", "subagents"})
    monkeypatch.syspath_prepend(install(tmp_path, GOOD + TRAITS.format(features=features)))

    task = BlockTask(
        way="sample",
        profile="subagents",
        seed=1,
        number=0,
        examples=20,
        control="legacy",
        candidate="mine+adk",
        waivers=Waivers(as_of=date(2026, 1, 1)),
    )
    drawn = {str(one.document) for one in drawn_in(task)}

    assert left_out("subagents", "legacy", "mine") == {"mine": ["hooks", "subagents"]}
    assert left_out("everything", "legacy", "mine") == {"mine": ["hooks"]}
    assert len(drawn) > 10
    assert not any("hooks" in text or "invoke_agent" in text for text in drawn)
