from contextlib import suppress

import pytest

from harness.scenarios.drawing import DrawnScenario, block_seed, draw_block
from harness.scenarios.profiles import PROFILES
from harness.scenarios.shrinking import shrink
from harness.scenarios.shrinking.numbers import shrink_numbers
from harness.scenarios.trial import Trial
from tests.harness.scenarios.shrinking.descending import FINGERPRINT, Document, trial

EVERYTHING = PROFILES["everything"]


def drawn() -> DrawnScenario:
    """A scenario of several prompts, always the same for the same grammar."""
    found: list[DrawnScenario] = []
    draw_block("sample", EVERYTHING, block_seed(3, EVERYTHING, 0), 9, found.append)
    return sorted(found, key=lambda scenario: len(scenario.choices))[6]


def tries_of(scenario: DrawnScenario, *, most: int) -> list[Document]:
    """The proposals of Hypothesis if every scenario shows the finding."""
    seen: list[Document] = []

    class Enough(BaseException):
        pass

    def wanted(document: Document) -> bool:
        seen.append(document)
        if len(seen) == most:
            raise Enough
        return True

    with suppress(Enough):
        shrink_numbers(EVERYTHING, scenario.choices, wanted)
    return seen


def test_the_numbers_make_the_scenario_that_was_drawn() -> None:
    scenario = drawn()

    assert tries_of(scenario, most=1)[0] == scenario.document


def test_scenarios_become_smaller() -> None:
    scenario = drawn()
    sizes = [len(repr(document)) for document in tries_of(scenario, most=60)]

    assert min(sizes) < sizes[0]


def test_the_same_numbers_are_gone_through_in_the_same_way() -> None:
    scenario = drawn()

    assert tries_of(scenario, most=20) == tries_of(scenario, most=20)


def test_numbers_that_show_nothing_are_given_up() -> None:
    seen: list[Document] = []

    shrink_numbers(EVERYTHING, drawn().choices, lambda document: bool(seen.append(document)))

    assert len(seen) == 1


@pytest.mark.slow
def test_drawn_numbers_come_before_the_passes() -> None:
    scenario = drawn()
    stages: list[str] = []

    def judge(document: Document) -> Trial | None:
        return trial(document, shows=bool(document["script"]) and bool(document["model"]))

    shrunk = shrink(
        scenario.document,
        judge,
        fingerprint=FINGERPRINT,
        enough=lambda: False,
        choices=scenario.choices,
        profile=EVERYTHING,
        on_progress=lambda progress: stages.append(progress.stage),
    )

    assert stages[1] == "drawn numbers"
    assert stages[-1] != "drawn numbers"
    assert [len(shrunk.document["script"]), len(shrunk.document["model"])] == [1, 1]
