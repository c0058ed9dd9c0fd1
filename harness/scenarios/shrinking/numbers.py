"""Shrinks by Hypothesis the numbers that a scenario was drawn from.

Hypothesis makes the list shorter and its numbers smaller, and the grammar turns each list into a
whole scenario. So prompts go together with their answers, which no pass over the document knows.
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
"""The key of the examples that Hypothesis may shrink."""


class _Shown(Exception):
    """Signals to Hypothesis that a scenario shows the finding."""


def shrink_numbers(
    profile: Profile, choices: Sequence[int], wanted: Callable[[JsonObject], bool]
) -> None:
    """Pass ever smaller scenarios to `wanted`, beginning with the one of `choices`.

    `wanted` returns whether a scenario shows the finding, and keeps the best. To end early it
    raises a `BaseException` that is no `Exception`, which is raised here.
    """
    known = InMemoryExampleDatabase()
    known.save(_OTHERS, choices_to_bytes(tuple(choices)))

    # `seed` removes the database, so `settings` must be applied after it.
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
        # The caller has kept the best, even if it showed the finding only once.
        return
