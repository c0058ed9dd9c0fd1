"""Retries of a request, and the model that replaces one that fails."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import cycle
from typing import Any, Final

from parity_tests.core_answers.model import access_of, error_of, key_of
from parity_tests.core_answers.subject import Subject
from services.abort import AbortController
from services.availability.chains import PolicyChains
from services.availability.fallback import FallbackHandler
from services.availability.health import ModelAvailabilityService
from services.availability.selection import ModelSelector
from services.availability.switching import ModelSwitch
from services.clock import VirtualClock
from services.ids import CountingIds
from services.interaction.interaction import Handlers, Interaction
from services.interaction.questions import FallbackIntent, FallbackQuestion
from services.model.classification import classify_google_error
from services.model.configs import ModelConfigKey, ModelConfigs
from services.model.errors import error_name
from services.model.retry import Retry
from services.state import ApprovalMode, CoreEvents, SessionState

__all__ = ["SUBJECTS"]


async def retries(asked: dict[str, Any]) -> dict[str, Any]:
    """What a retry loop calls and waits for until it returns or raises."""
    return await _Retried(asked).result()


async def play(asked: dict[str, Any]) -> list[dict[str, Any]]:
    """Failures of models and choices of models, and the session after each."""
    session = _Session(asked)
    return [await session.step(what, given) for what, *given in asked["steps"]]


class _Retried:
    """A retry loop with scripted outcomes; also its clock, random numbers and policy."""

    def __init__(self, asked: dict[str, Any]) -> None:
        self._asked = asked
        self._seen: list[list[Any]] = []
        self._stop = AbortController()
        self._numbers: Iterator[float] = cycle(asked.get("random", [0.5]))
        self._waits = self._calls = 0
        if asked.get("aborted"):
            self._stop.abort()

    async def result(self) -> dict[str, Any]:
        """What the loop returns or raises, with what was seen of it."""
        asked = self._asked
        limit = {"max_attempts": asked["most"]} if "most" in asked else {}
        loop = Retry(
            clock=self,
            rng=self,
            signal=self._stop.signal,
            **limit,
            retry_fetch_errors=asked.get("fetchErrors", True),
            auth_type=asked.get("auth"),
            variables=asked.get("variables", {}),
            on_persistent_429=self._answering("fallback", "fallback"),
            on_validation_required=self._answering("validation", "validate"),
            on_retry=lambda attempt, error, ms: self._seen.append(
                ["retry", attempt, str(error), ms]
            ),
            availability_context=lambda: self if "limits" in asked else None,
        )
        try:
            value = await loop.run(self._call, should_retry_on_content=lambda made: made == "bad")
        except Exception as error:  # noqa: BLE001 - the core's half gives every error, too
            return {
                "seen": self._seen,
                "error": error_name(error),
                "message": str(error),
                "handled": getattr(error, "user_handled", False),
                "delay": getattr(error, "retry_delay_ms", None),
            }
        return {"seen": self._seen, "value": value}

    async def _call(self) -> str:
        outcomes = self._asked["outcomes"]
        about = outcomes[min(self._calls, len(outcomes) - 1)]
        self._calls += 1
        self._seen.append(["call"])
        if self._calls == self._asked.get("abortedCall"):
            self._stop.abort()
        if "value" in about:
            value: str = about["value"]
            return value
        raise error_of(about)

    def _answering(self, key: str, shown: str) -> Callable[[Exception], Awaitable[Any]] | None:
        answers: Sequence[Any] | None = self._asked.get(key)
        if answers is None:
            return None
        waiting = list(answers)

        async def answer(error: Exception) -> Any:
            self._seen.append([shown, error_name(error)])
            found = waiting.pop(0) if len(waiting) > 1 else waiting[0]
            if found == "raises":
                raise RuntimeError("the handler failed")
            return found

        return answer

    def random(self) -> float:
        """The next of the random numbers."""
        return next(self._numbers)

    @property
    def max_attempts(self) -> int | None:
        """The limit of the policy, which may change with each wait."""
        limits: list[int | None] = self._asked["limits"]
        return limits[min(self._waits, len(limits) - 1)]

    def mark_healthy(self) -> None:
        """Note that the model answered."""
        self._seen.append(["healthy", "m"])

    def now_ms(self) -> int:
        """The time, which stands still."""
        return 0

    async def sleep(self, delay_ms: float) -> None:
        """Note a wait, and return at once or when the signal is aborted."""
        self._seen.append(["wait", delay_ms])
        self._waits += 1
        if self._waits == self._asked.get("abortedWait"):
            self._stop.abort()
            await asyncio.Event().wait()

    def real_work(self) -> AbstractContextManager[None]:
        """Nothing: there is no real work."""
        return nullcontext()

    no_real_work = real_work


class _Session:
    """The models of a session, its health service and its fallback handler."""

    def __init__(self, asked: dict[str, Any]) -> None:
        access = access_of(asked["flags"])
        self._shown: list[str] = asked["shown"]
        self._answers: Iterator[Any] = cycle(asked.get("answers", [None]))
        self._seen: list[list[str]] = []
        self._state = state = SessionState(
            session_id="s",
            model=asked["model"],
            approval_mode=ApprovalMode(asked.get("mode", "default")),
            interactive=True,
            events=CoreEvents(),
        )
        self._models = models = ModelConfigs(access)
        self._health = health = ModelAvailabilityService(VirtualClock())
        chains = PolicyChains(models, state)
        self._switch = ModelSwitch(models=models, state=state, health=health)
        self._rotated, self._id = 0, state.session_id
        self._selector = ModelSelector(models=models, state=state, health=health, chains=chains)
        handlers = Handlers(fallback=self._answer if "answers" in asked else None)
        self._handler = FallbackHandler(
            state=state,
            health=health,
            chains=chains,
            switch=self._switch,
            ids=CountingIds(),
            interaction=Interaction(handlers),
        )

    async def step(self, what: str, given: list[Any]) -> dict[str, Any]:
        """Take a step; return its answer and the session after it."""
        self._seen = []
        answer: Any = None
        if what == "fail":
            answer = await self._handler.handle(given[0], classify_google_error(error_of(given[1])))
        elif what == "apply":
            found = self._selector.apply(key_of(given[0]), consume_attempt=given[1])
            answer = [found.model, found.config, found.max_attempts]
        elif what == "context":
            context = self._selector.context_for(given[0])
            answer = None if context is None else [context.policy.model, context.max_attempts]
        elif what == "healthy":
            self._health.mark_healthy(given[0])
        else:
            _METHODS[what](self, *given)
        if self._state.session_id != self._id:
            self._rotated, self._id = self._rotated + 1, self._state.session_id
        snapshots = map(self._health.snapshot, self._shown)
        return {
            "answer": answer,
            "asked": self._seen,
            "rotated": self._rotated,
            "models": [self._state.model, self._state.active_model],
            "health": [[each.available, each.reason] for each in snapshots],
            "resolved": [
                self._models.resolve(ModelConfigKey(model=each)).model for each in self._shown
            ],
        }

    async def _answer(self, question: FallbackQuestion) -> FallbackIntent | None:
        self._seen.append([question.failed_model, question.fallback_model, question.error])
        answer = next(self._answers)
        if answer == "raises":
            raise RuntimeError("the handler failed")
        return None if answer is None else FallbackIntent(answer)

    def set_model(self, model: str) -> None:
        """Change the session's model, as a user does."""
        self._switch.set_model(model)

    def set_active_model(self, model: str) -> None:
        """Change the model in use alone."""
        self._state.set_active_model(model)

    def activate(self, model: str, failed: str | None = None) -> None:
        """Let a model replace another."""
        self._switch.activate_fallback(model, failed)

    def reset_turn(self) -> None:
        """Begin a turn."""
        self._switch.reset_turn()


_METHODS: Final[dict[str, Callable[..., None]]] = {
    "setModel": _Session.set_model,
    "setActiveModel": _Session.set_active_model,
    "activateFallbackMode": _Session.activate,
    "resetTurn": _Session.reset_turn,
}


SUBJECTS: Final = (
    Subject("retrying.retries", lambda asked: asyncio.run(retries(asked))),
    Subject("retrying.play", lambda asked: asyncio.run(play(asked))),
)
