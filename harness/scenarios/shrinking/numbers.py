"""Hypothesis' own shrinking, over the numbers that a scenario was drawn from.

A drawn scenario is a list of small numbers, of which 0 is always the plainest choice. Hypothesis
makes the list shorter and its numbers smaller, and the grammar turns each into a whole scenario: so
prompts go with their answers, which no pass over the document can know belong together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final
from unittest import SkipTest

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.database import InMemoryExampleDatabase, choices_to_bytes
from hypothesis.errors import HypothesisException

from harness.scenarios.drawing import DrawnScenario, scenarios
from harness.scenarios.profiles import Profile
from services.wire import JsonObject

__all__ = ["shrink_numbers"]

_KEY: Final = b"scenario"
_OTHERS: Final = _KEY + b".secondary"
"""Where Hypothesis keeps what it may make smaller; under the key itself, what it has."""


class _Shown(Exception):
    """How Hypothesis is told that a scenario shows what is looked for."""


def shrink_numbers(
    profile: Profile, choices: Sequence[int], wanted: Callable[[JsonObject], bool]
) -> None:
    """Hand ever smaller scenarios to `wanted`, beginning with the one that `choices` make.

    `wanted` says whether a scenario still shows what is looked for, and keeps the best; to end
    early it raises a `BaseException` that is no `Exception`, which comes out here.
    """
    known = InMemoryExampleDatabase()
    known.save(_OTHERS, choices_to_bytes(tuple(choices)))

    # A seed takes the database away, so the settings come after it.
    @settings(
        database=known,
        phases=(Phase.reuse, Phase.shrink),
        deadline=None,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    @seed(0)
    @given(scenarios(profile))
    def run(drawn: DrawnScenario) -> None:
        if wanted(drawn.document):
            raise _Shown

    run._hypothesis_internal_database_key = _KEY  # type: ignore[attr-defined]
    try:
        run()
    except (_Shown, HypothesisException, SkipTest):
        # Whoever asked knows what was kept, even where it showed but once.
        return
