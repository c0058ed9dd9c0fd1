"""Matches requests with steps; without a match, finds the nearest step and its differences.

Source: the cassette format, "Model steps" and `match`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from services.model.generator import EmbedRequest, LlmRole, ModelRequest
from services.model.replay.steps import ModelStep, StepMethod

__all__ = ["MatchMode", "Miss", "ObservedRequest", "StepQueue"]

MatchMode = Literal["in_order", "by_role"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedRequest:
    """A request. `index` counts the run's requests from 0; embeddings have no role or thread."""

    index: int
    method: StepMethod
    request: ModelRequest | EmbedRequest

    @property
    def role(self) -> LlmRole | None:
        """The part of the product that made the request."""
        return self.request.role if isinstance(self.request, ModelRequest) else None

    @property
    def thread(self) -> str | None:
        """`main`, or the path of the call that started the subagent."""
        return self.request.thread if isinstance(self.request, ModelRequest) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Miss:
    """No step matches. `step` is the nearest one, `None` when every step is used."""

    step: ModelStep | None
    differences: tuple[str, ...]


class StepQueue:
    """The steps of a run that are still to be used."""

    def __init__(self, steps: Sequence[ModelStep], match: MatchMode) -> None:
        self._steps = tuple(steps)
        self._used = bytearray(len(self._steps))
        self._head = 0
        """All steps before this position are used."""
        self._match = match

    def unused(self) -> list[int]:
        """The indices of unused steps, ascending."""
        return sorted(step.index for _, step in self._remaining())

    def take(self, request: ObservedRequest) -> ModelStep | Miss:
        """Use the step that matches `request`, or return why none matches."""
        nearest: tuple[ModelStep, tuple[str, ...]] | None = None
        for position, step in self._remaining():
            differences = _differences(step, request)
            if not differences:
                self._use(position)
                return step
            if self._match == "in_order" and not _of_another_thread(step, request):
                nearest = step, differences
                break
            if nearest is None or len(differences) < len(nearest[1]):
                nearest = step, differences
        if nearest is None:
            return Miss(step=None, differences=())
        return Miss(step=nearest[0], differences=nearest[1])

    def _remaining(self) -> Iterator[tuple[int, ModelStep]]:
        for position in range(self._head, len(self._steps)):
            if not self._used[position]:
                yield position, self._steps[position]

    def _use(self, position: int) -> None:
        self._used[position] = 1
        while self._head < len(self._steps) and self._used[self._head]:
            self._head += 1


def _of_another_thread(step: ModelStep, request: ObservedRequest) -> bool:
    return step.thread is not None and step.thread != request.thread


def _differences(step: ModelStep, request: ObservedRequest) -> tuple[str, ...]:
    found = []
    if step.method != request.method:
        found.append(f"method: the step answers {step.method}, the request is {request.method}")
    if step.role is not None and step.role != request.role:
        role = request.role or "none"
        found.append(f"role: the step is for {step.role}, the request from {role}")
    if _of_another_thread(step, request):
        thread = request.thread or "none"
        found.append(f"thread: the step is for {step.thread}, the request from {thread}")
    return tuple(found)
