import logging
from collections.abc import Callable
from typing import Any

import pytest

from services.availability.fallback import UPGRADE_URL
from services.availability.health import TerminalReason
from services.availability.switching import FallbackActivated
from services.ids import CountingIds
from services.interaction.questions import FallbackIntent, FallbackQuestion
from services.model.aliases import ModelOverride
from services.model.configs import ModelConfigKey
from services.model.errors import (
    ApiError,
    ModelNotFoundError,
    RetryableQuotaError,
    TerminalQuotaError,
)
from services.model.google_errors import GoogleError
from services.state import ApprovalMode

MakeWorld = Callable[..., Any]

PRO, FLASH = "gemini-3-pro-preview", "gemini-3-flash-preview"
LITE, LITE_FLASH = "gemini-3.1-flash-lite", "gemini-3.5-flash"
SAID = GoogleError(code=429, message="no", details=())
TERMINAL = TerminalQuotaError("no", SAID)
TRANSIENT = RetryableQuotaError("slow", SAID)


async def test_without_a_client_to_ask_nothing_changes(world: MakeWorld) -> None:
    w = world("auto")
    w.state.set_active_model(PRO)

    assert await w.availability.fallback.handle(PRO, TERMINAL) is None
    assert (w.state.model, w.state.session_id, w.health_of(PRO), w.switches) == (
        "auto",
        "s",
        [None],
        [],
    )


async def test_a_silent_switch_sets_the_sessions_model(world: MakeWorld) -> None:
    w = world("auto", mode=ApprovalMode.PLAN)
    w.state.set_active_model(PRO)
    w.state.sequence_model = PRO

    assert await w.availability.fallback.handle(PRO, TERMINAL) is True
    assert (w.state.model, w.state.active_model, w.changes) == (FLASH, FLASH, [FLASH])
    assert w.state.sequence_model is None
    assert w.state.session_id == w.state.prompt_id == CountingIds().uuid("session")
    assert w.switches == [FallbackActivated(model=FLASH, failed_model=None)]


async def test_a_switch_resets_the_failed_models_state(world: MakeWorld) -> None:
    w = world("auto", mode=ApprovalMode.PLAN)
    w.state.set_active_model(PRO)
    await w.availability.fallback.handle(PRO, TERMINAL)

    assert w.health_of(PRO) == [None]


async def test_utility_models_fall_back_silently(world: MakeWorld) -> None:
    w = world(LITE)

    assert await w.availability.fallback.handle(LITE, TERMINAL) is True
    assert (w.state.model, w.state.active_model) == (LITE_FLASH, LITE_FLASH)


@pytest.mark.contract("P-083")
async def test_a_transient_failure_of_flash_switches_to_pro_silently(world: MakeWorld) -> None:
    w = world("auto")
    w.state.set_active_model(FLASH)

    assert await w.availability.fallback.handle(FLASH, TRANSIENT) is True
    assert (w.state.model, w.questions) == (PRO, [])


@pytest.mark.parametrize(
    ("intent", "retry", "model", "health", "rotated"),
    [
        (FallbackIntent.RETRY_ALWAYS, True, FLASH, None, True),
        (FallbackIntent.RETRY_ONCE, True, "auto", "quota", False),
        (FallbackIntent.RETRY_WITH_CREDITS, True, "auto", None, False),
        (FallbackIntent.STOP, False, "auto", None, False),
        (FallbackIntent.RETRY_LATER, False, "auto", None, False),
        (FallbackIntent.UPGRADE, False, "auto", None, False),
        (None, None, "auto", None, False),
        (RuntimeError("no dialog"), None, "auto", None, False),
    ],
)
async def test_effects_of_each_intent(
    world: MakeWorld,
    intent: FallbackIntent | Exception | None,
    retry: bool | None,
    model: str,
    health: str | None,
    rotated: bool,
) -> None:
    w = world("auto", intents=[intent])
    w.state.set_active_model(PRO)

    assert await w.availability.fallback.handle(PRO, TERMINAL) is retry
    assert w.questions == [
        FallbackQuestion(failed_model=PRO, fallback_model=FLASH, error="TerminalQuotaError")
    ]
    assert (w.state.model, w.health_of(PRO), w.state.session_id != "s") == (
        model,
        [health],
        rotated,
    )


async def test_an_upgrade_logs_its_page_and_raises_the_failure(
    world: MakeWorld, caplog: pytest.LogCaptureFixture
) -> None:
    w = world("auto", intents=[FallbackIntent.UPGRADE])

    with caplog.at_level(logging.INFO):
        assert await w.availability.fallback.handle(PRO, TERMINAL) is False

    assert UPGRADE_URL in caplog.messages[-1]


@pytest.mark.parametrize(
    ("error", "name"),
    [
        (ModelNotFoundError("gone"), "ModelNotFoundError"),
        (ApiError.from_parts(500, "internal"), "ApiError"),
    ],
)
async def test_every_failure_asks_and_blocks_the_model_for_half_a_minute(
    world: MakeWorld, error: Exception, name: str
) -> None:
    w = world("auto", intents=[FallbackIntent.RETRY_ONCE])
    w.state.set_active_model(PRO)

    assert await w.availability.fallback.handle(PRO, error) is True
    assert w.questions[0].error == name
    assert w.health_of(PRO) == ["capacity"]


async def test_a_question_about_a_single_model_names_it_as_its_own_fallback(
    world: MakeWorld,
) -> None:
    w = world("my-model", intents=[FallbackIntent.RETRY_ALWAYS])

    assert await w.availability.fallback.handle("my-model", TERMINAL) is True
    assert w.questions[0].fallback_model == "my-model"
    assert (w.state.model, w.health_of("my-model"), w.changes) == ("my-model", ["quota"], [])
    assert w.state.session_id != "s"


async def test_a_helper_beside_the_active_model_is_redirected_to_it(world: MakeWorld) -> None:
    w = world("auto", intents=[])
    w.state.set_active_model(PRO)

    assert await w.availability.fallback.handle(FLASH, TERMINAL) is True
    assert (w.state.model, w.state.active_model, w.questions) == ("auto", PRO, [])
    assert w.health_of(FLASH) == ["quota"]
    assert w.models.resolve(ModelConfigKey(model=FLASH)).model == PRO


async def test_a_model_outside_the_chain_is_redirected_to_the_active_one(world: MakeWorld) -> None:
    w = world("auto")
    w.state.set_active_model(PRO)

    assert await w.availability.fallback.handle("gemini-2.5-flash-lite", TERMINAL) is True
    assert w.models.resolve(ModelConfigKey(model="gemini-2.5-flash-lite")).model == PRO
    assert w.health_of("gemini-2.5-flash-lite") == [None]


async def test_a_running_call_may_bypass_the_failed_model_at_most_ten_times(
    world: MakeWorld,
) -> None:
    w = world("auto")
    w.state.set_active_model(PRO)
    availability = w.availability

    answers = [await availability.fall_back(FLASH, TERMINAL) for _ in range(11)]
    assert answers == [True] * 10 + [None]

    availability.health.reset()
    w.models.register_runtime_override(ModelOverride(match={"model": FLASH}, model=FLASH))
    availability.select(ModelConfigKey(model=FLASH))
    assert await availability.fall_back(FLASH, TERMINAL) is True


@pytest.mark.contract("P-083")
async def test_the_last_resort_is_taken_where_no_candidate_is_available(world: MakeWorld) -> None:
    w = world("auto", intents=[FallbackIntent.STOP])
    w.state.set_active_model(PRO)
    w.availability.health.mark_terminal(FLASH, TerminalReason.QUOTA)

    assert await w.availability.fallback.handle(PRO, TERMINAL) is False
    assert w.questions[0].fallback_model == FLASH


def test_redirections_of_earlier_fallbacks_follow_later_ones(world: MakeWorld) -> None:
    w = world("auto")
    switch = w.availability.switch
    switch.activate_fallback("b", "a")
    switch.activate_fallback("c", "b")

    assert [w.models.resolve(ModelConfigKey(model=name)).model for name in "ab"] == ["c", "c"]
    assert w.state.model == "c"


def test_setting_a_model_resets_health_even_without_a_change(world: MakeWorld) -> None:
    w = world(PRO)
    w.availability.health.mark_terminal(FLASH, TerminalReason.QUOTA)
    w.availability.set_model(PRO)

    assert (w.changes, w.health_of(FLASH)) == ([], [None])


def test_a_fallback_to_the_active_model_changes_nothing(
    world: MakeWorld,
) -> None:
    w = world("auto")
    w.state.set_active_model(PRO)
    w.availability.health.mark_terminal(FLASH, TerminalReason.QUOTA)
    w.availability.switch.activate_fallback(PRO, FLASH)

    assert (w.state.model, w.changes, w.health_of(FLASH)) == ("auto", [], ["quota"])
