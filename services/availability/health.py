"""`ModelAvailabilityService`: which models are unavailable, and until when.

A model without a record is healthy. A terminal failure lasts until the session resets, a lack of
capacity for half a minute. A model on probation (`sticky_retry`) has one attempt per turn.

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
    """Why a model is unavailable."""

    QUOTA = "quota"
    CAPACITY = "capacity"


Unavailability = str
"""`quota`, `capacity`, or `retry_once_per_turn` once the turn's attempt is used."""
_USED_UP: Final[Unavailability] = "retry_once_per_turn"


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """Whether a model may be called now, and if not, why."""

    available: bool
    reason: Unavailability | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthSelection:
    """The first model that may be called.

    Attributes:
        model: Its normalised name; `None`: no model is available.
        attempts: The limit for a model on probation; `None` for a healthy one.
    """

    model: str | None
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
    """The health of a session's models. Names may begin with `models/`."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._states: dict[str, _Terminal | _Probation] = {}

    def mark_terminal(self, model: str, reason: TerminalReason) -> None:
        """Mark `model` as unavailable."""
        self._states[normalize_model_id(model)] = _Terminal(reason, self._clock.now_ms())

    def mark_healthy(self, model: str) -> None:
        """Remove the record of `model`."""
        self._states.pop(normalize_model_id(model), None)

    def mark_retry_once_per_turn(self, model: str, attempts: int = 1) -> None:
        """Put `model` on probation, unless it is unavailable.

        An attempt used in this turn stays used, so that a model that keeps failing is not called
        for ever.
        """
        name = normalize_model_id(model)
        state = self._state(name)
        if not isinstance(state, _Terminal):
            self._states[name] = _Probation(state is not None and state.consumed, attempts)

    def consume_sticky_attempt(self, model: str) -> None:
        """Use the turn's attempt of `model`, if it is on probation."""
        name = normalize_model_id(model)
        state = self._state(name)
        if isinstance(state, _Probation):
            self._states[name] = replace(state, consumed=True)

    def snapshot(self, model: str) -> Snapshot:
        """Return whether `model` may be called now."""
        state = self._state(normalize_model_id(model))
        if isinstance(state, _Terminal):
            return Snapshot(available=False, reason=state.reason.value)
        if state is not None and state.consumed:
            return Snapshot(available=False, reason=_USED_UP)
        return Snapshot(available=True)

    def select_first_available(self, models: Iterable[str]) -> HealthSelection:
        """Return the first of `models` that may be called."""
        for model in models:
            name = normalize_model_id(model)
            if self.snapshot(name).available:
                state = self._state(name)
                attempts = state.attempts if isinstance(state, _Probation) else None
                return HealthSelection(model=name, attempts=attempts)
        return HealthSelection(model=None)

    def reset_turn(self) -> None:
        """Restore the attempt of every model on probation, at the start of a turn."""
        for name, state in self._states.items():
            if isinstance(state, _Probation):
                self._states[name] = replace(state, consumed=False)

    def reset(self) -> None:
        """Remove all records: after a sign-in, a new session or a change of model."""
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
