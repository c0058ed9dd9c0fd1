import pytest

from services.availability.health import (
    HealthSelection,
    ModelAvailabilityService,
    Snapshot,
    TerminalReason,
)
from services.clock import VirtualClock

USED_UP = Snapshot(available=False, reason="retry_once_per_turn")
WELL = Snapshot(available=True)


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def health(clock: VirtualClock) -> ModelAvailabilityService:
    return ModelAvailabilityService(clock)


def test_a_model_without_a_record_is_healthy(health: ModelAvailabilityService) -> None:
    assert health.snapshot("m") == WELL


def test_the_prefix_of_a_name_makes_no_difference(health: ModelAvailabilityService) -> None:
    health.mark_terminal("models/m", TerminalReason.QUOTA)

    assert health.snapshot("m") == Snapshot(available=False, reason="quota")
    health.mark_healthy("models/m")
    assert health.snapshot("models/m") == WELL


@pytest.mark.parametrize(("waited_ms", "well"), [(29_999, False), (30_000, True)])
def test_a_lack_of_capacity_expires_after_half_a_minute(
    health: ModelAvailabilityService, clock: VirtualClock, waited_ms: int, well: bool
) -> None:
    health.mark_terminal("m", TerminalReason.CAPACITY)
    clock.advance(waited_ms)

    assert health.snapshot("m").available is well


def test_a_quota_does_not_expire(health: ModelAvailabilityService, clock: VirtualClock) -> None:
    health.mark_terminal("m", TerminalReason.QUOTA)
    clock.advance(10**9)

    assert health.snapshot("m") == Snapshot(available=False, reason="quota")


def test_probation_is_one_attempt_per_turn(health: ModelAvailabilityService) -> None:
    health.mark_retry_once_per_turn("m")
    assert health.snapshot("m") == WELL
    health.consume_sticky_attempt("m")
    assert health.snapshot("m") == USED_UP
    health.reset_turn()
    assert health.snapshot("m") == WELL


def test_a_used_attempt_stays_used_after_another_failure(
    health: ModelAvailabilityService,
) -> None:
    health.mark_retry_once_per_turn("m", 3)
    health.consume_sticky_attempt("m")
    health.mark_retry_once_per_turn("m", 5)

    assert health.snapshot("m") == USED_UP
    health.reset_turn()
    assert health.select_first_available(["m"]).attempts == 5


def test_probation_does_not_soften_a_terminal_failure(health: ModelAvailabilityService) -> None:
    health.mark_terminal("m", TerminalReason.QUOTA)
    health.mark_retry_once_per_turn("m")
    health.consume_sticky_attempt("m")
    health.reset_turn()

    assert health.snapshot("m").reason == "quota"


def test_capacity_that_came_back_may_be_put_on_probation(
    health: ModelAvailabilityService, clock: VirtualClock
) -> None:
    health.mark_terminal("m", TerminalReason.CAPACITY)
    clock.advance(30_000)
    health.mark_retry_once_per_turn("m")

    assert health.select_first_available(["m"]).attempts == 1


def test_only_models_on_probation_have_attempts_to_use_up(
    health: ModelAvailabilityService,
) -> None:
    health.consume_sticky_attempt("m")

    assert health.snapshot("m") == WELL


def test_selection_returns_the_first_available_model(
    health: ModelAvailabilityService,
) -> None:
    health.mark_terminal("a", TerminalReason.CAPACITY)
    health.mark_retry_once_per_turn("b", 3)
    health.consume_sticky_attempt("b")
    health.mark_retry_once_per_turn("c", 2)

    assert health.select_first_available(["models/a", "b", "c", "d"]) == HealthSelection(
        model="c", attempts=2
    )
    assert health.select_first_available(["d", "a"]) == HealthSelection(model="d")
    assert health.select_first_available(["a"]) == HealthSelection(model=None)


def test_a_reset_removes_all_records(health: ModelAvailabilityService) -> None:
    health.mark_terminal("a", TerminalReason.QUOTA)
    health.mark_retry_once_per_turn("b")
    health.consume_sticky_attempt("b")
    health.reset()

    assert [health.snapshot("a"), health.snapshot("b")] == [WELL, WELL]
