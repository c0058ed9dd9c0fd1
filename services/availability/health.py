"""`ModelAvailabilityService`: which models are out of order, and until when.

A model that is not mentioned is healthy. A terminal failure stays until the session resets, or, for
a lack of capacity, until half a minute has passed. A model on probation (`sticky_retry`) has one
attempt per turn.

Source: core `availability/modelAvailabilityService.ts`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from services.clock import Clock
from services.model.names import normalize_model_id

__all__ = [
    "CAPACITY_TTL_MS",
    "HealthSelection",
    "ModelAvailabilityService",
    "Snapshot",
    "TerminalReason",
    "Unavailability",
]

CAPACITY_TTL_MS: Final = 30_000


class TerminalReason(StrEnum):
    """Why a model is out of order."""

    QUOTA = "quota"
    CAPACITY = "capacity"


Unavailability = str
"""`quota`, `capacity`, or `retry_once_per_turn` where the turn's one attempt is used up."""
_USED_UP: Final[Unavailability] = "retry_once_per_turn"


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """Whether a model may be asked now, and if not, why."""

    available: bool
    reason: Unavailability | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthSelection:
    """The first model that may be asked.

    Attributes:
        model: Its name, normalised; `None` where none may.
        skipped: Those before it, each with its reason.
        attempts: How often a model on probation may be tried; `None` for a healthy one.
    """

    model: str | None
    skipped: tuple[tuple[str, Unavailability], ...] = ()
    attempts: int | None = None


@dataclass(frozen=True, slots=True)
class _Terminal:
    reason: TerminalReason
    marked_at_ms: int


@dataclass(frozen=True, slots=True)
class _Probation:
    consumed: bool
    attempts: int


class ModelAvailabilityService:
    """The health of a session's models. Names may carry `models/`; it makes no difference."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._states: dict[str, _Terminal | _Probation] = {}

    def mark_terminal(self, model: str, reason: TerminalReason) -> None:
        """Take `model` out of order, whatever was known of it."""
        self._states[normalize_model_id(model)] = _Terminal(reason, self._clock.now_ms())

    def mark_healthy(self, model: str) -> None:
        """Forget what is held against `model`."""
        self._states.pop(normalize_model_id(model), None)

    def mark_retry_once_per_turn(self, model: str, attempts: int = 1) -> None:
        """Put `model` on probation, unless it is out of order.

        An attempt that this turn has used up stays used up: a model that fails again and again in
        one turn would otherwise be tried for ever.
        """
        name = normalize_model_id(model)
        state = self._state(name)
        if not isinstance(state, _Terminal):
            self._states[name] = _Probation(state is not None and state.consumed, attempts)

    def consume_sticky_attempt(self, model: str) -> None:
        """Use up the turn's attempt of a model on probation; nothing for others."""
        name = normalize_model_id(model)
        state = self._state(name)
        if isinstance(state, _Probation):
            self._states[name] = replace(state, consumed=True)

    def snapshot(self, model: str) -> Snapshot:
        """Whether `model` may be asked now; a lack of capacity counts for a while."""
        state = self._state(normalize_model_id(model))
        if isinstance(state, _Terminal):
            return Snapshot(available=False, reason=state.reason.value)
        if state is not None and state.consumed:
            return Snapshot(available=False, reason=_USED_UP)
        return Snapshot(available=True)

    def select_first_available(self, models: Iterable[str]) -> HealthSelection:
        """The first of `models` that may be asked."""
        skipped: list[tuple[str, Unavailability]] = []
        for model in models:
            name = normalize_model_id(model)
            snapshot = self.snapshot(name)
            if snapshot.available:
                state = self._state(name)
                attempts = state.attempts if isinstance(state, _Probation) else None
                return HealthSelection(model=name, skipped=tuple(skipped), attempts=attempts)
            skipped.append((name, snapshot.reason or "unknown"))
        return HealthSelection(model=None, skipped=tuple(skipped))

    def reset_turn(self) -> None:
        """Give every model on probation its attempt back. Called at the start of every turn."""
        for name, state in self._states.items():
            if isinstance(state, _Probation):
                self._states[name] = replace(state, consumed=False)

    def reset(self) -> None:
        """Forget everything: signing in, a new session, a change of model."""
        self._states.clear()

    def _state(self, name: str) -> _Terminal | _Probation | None:
        state = self._states.get(name)
        if (
            isinstance(state, _Terminal)
            and state.reason is TerminalReason.CAPACITY
            and self._clock.now_ms() - state.marked_at_ms >= CAPACITY_TTL_MS
        ):
            del self._states[name]
            return None
        return state
