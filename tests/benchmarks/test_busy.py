from __future__ import annotations

import asyncio

import pytest

from benchmarks.busy import Equipment, core_plan, large_file, open_busy, sentence
from benchmarks.figures import MeasurementError
from benchmarks.services_on import WINDOW, _growth
from services.clock import virtual_loop
from services.settings import settings_from_parameters

TRUNCATED_FROM = 40_000
MASKED_FROM_TURN = 12


def test_what_is_said_never_repeats_itself() -> None:
    assert len({sentence("said", number) for number in range(1000)}) == 1000


def test_an_output_is_large_and_yet_read_whole() -> None:
    assert TRUNCATED_FROM * 0.8 < len(large_file(0)) < TRUNCATED_FROM


@pytest.mark.parametrize("runtime", ["legacy", "adk"])
def test_a_busy_conversation_masks_its_old_outputs(runtime: str) -> None:
    async def converse() -> tuple[int, int]:
        async with open_busy(runtime) as conversation:
            await conversation.turns(MASKED_FROM_TURN)
            return conversation.masked(), conversation.history_size()

    with asyncio.Runner(loop_factory=virtual_loop) as runner:
        masked, size = runner.run(converse())

    assert 0 < masked < MASKED_FROM_TURN
    assert size < MASKED_FROM_TURN * len(large_file(0))


def test_a_turn_that_does_not_go_as_it_should_is_no_measurement(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def converse() -> None:
        async with open_busy("legacy") as conversation:
            monkeypatch.setattr(conversation, "_per_turn", 3)
            await conversation.turn()

    with asyncio.Runner(loop_factory=virtual_loop) as runner, pytest.raises(MeasurementError):
        runner.run(converse())


def test_equipment_is_what_the_settings_say() -> None:
    settings = settings_from_parameters(Equipment(hooks=1, loop_detection=False).parameters())

    assert settings.disable_loop_detection
    assert len(settings.hooks) == 1
    assert len(settings.policy_rules) == Equipment().rules


def test_the_core_is_asked_for_the_same() -> None:
    plan = core_plan((10, 100), WINDOW)

    assert plan["rules"] == Equipment().parameters()["policyRules"]
    assert plan["lines"] == large_file(0).count("\n")


def test_masking_counts_in_the_mean_and_not_in_the_quiet_turn() -> None:
    costs = {"legacy@10": [0.001] * 3, "legacy@100": [0.001, 0.001, 0.007]}

    found = {figure.name: figure.value for figure in _growth(["legacy"], (10, 100), costs)}

    assert found["legacy, quiet turn: turn 100 / turn 10"] == pytest.approx(1)
    assert found["legacy, masking included: turn 100 / turn 10"] == pytest.approx(3)
