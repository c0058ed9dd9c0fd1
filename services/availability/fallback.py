"""`FallbackHandler`: replaces a model for which retries are useless.

Source: core `fallback/handler.ts`.
"""

from __future__ import annotations

import logging
from collections import Counter
from typing import Final

from services.abort import AbortError, AbortSignal
from services.availability.chains import PolicyChains, fallback_candidates
from services.availability.health import ModelAvailabilityService
from services.availability.policies import (
    FailureKind,
    FallbackAction,
    ModelPolicy,
    PolicyChain,
    classify_failure_kind,
)
from services.availability.selection import PolicyContext
from services.availability.switching import ModelSwitch
from services.ids import IdSource
from services.interaction.interaction import Interaction
from services.interaction.questions import FallbackIntent, FallbackQuestion
from services.model.errors import error_name
from services.state import SessionState

__all__ = ["UPGRADE_URL", "FallbackHandler"]

logger = logging.getLogger(__name__)

UPGRADE_URL: Final = "https://goo.gle/set-up-gemini-code-assist"
_MAX_BYPASSES: Final = 10


class FallbackHandler:
    """Chooses a fallback model, asks the user where the policies say so, and switches.

    Args:
        state: The session.
        health: Records the state of the failed model.
        chains: The candidates for each model.
        switch: Changes the session's model.
        ids: The session's new id after a switch, scope `session`.
        interaction: Asks the user.
    """

    def __init__(
        self,
        *,
        state: SessionState,
        health: ModelAvailabilityService,
        chains: PolicyChains,
        switch: ModelSwitch,
        ids: IdSource,
        interaction: Interaction,
    ) -> None:
        self._state = state
        self._health = health
        self._chains = chains
        self._switch = switch
        self._ids = ids
        self._interaction = interaction
        self._bypasses: Counter[str] = Counter()

    def call_begins(self, model: str) -> None:
        """Reset the count of bypasses: a new call of `model` begins."""
        self._bypasses.pop(model, None)

    async def fall_back(
        self, failed_model: str, error: Exception, signal: AbortSignal | None = None
    ) -> bool | None:
        """Call `handle` for a retry loop, with a limit.

        A redirection of the failed name alone does not reach a running call, which calls the same
        model again; upstream has no limit on that. Here it may happen ten times per call.
        """
        active = self._state.active_model
        retry = await self.handle(failed_model, error, signal)
        if not retry or failed_model == active or self._state.active_model != active:
            return retry
        self._bypasses[failed_model] += 1
        return True if self._bypasses[failed_model] <= _MAX_BYPASSES else None

    async def handle(
        self, failed_model: str, error: Exception, signal: AbortSignal | None = None
    ) -> bool | None:
        """Handle the classified `error` of `failed_model`; `signal` withdraws the question.

        Returns:
            True: try again, perhaps with another model. False: the client declined. None: there
            was no decision. The caller raises the failure in both these cases.

        Raises:
            AbortError: The question was withdrawn.
        """
        kind = classify_failure_kind(error)
        failed, candidates = fallback_candidates(self._chains.resolve(), failed_model)
        active = self._state.active_model
        beside = failed_model if failed_model != active else None
        if not candidates:
            if beside is not None and self._health.snapshot(active).available:
                self._transition(failed, kind)
                return self._switch_to(active, beside)
            question = _question(failed_model, failed_model, error)
            return await self._ask(question, failed, kind, signal)
        chosen = self._choose(candidates)
        if chosen is None or chosen.model == failed_model:
            return None
        silent = chosen.actions.get(kind) is FallbackAction.SILENT
        if silent or (beside is not None and chosen.model == active):
            self._transition(failed, kind)
            return self._switch_to(chosen.model, beside)
        return await self._ask(_question(failed_model, chosen.model, error), failed, kind, signal)

    def _choose(self, candidates: PolicyChain) -> ModelPolicy | None:
        selection = self._health.select_first_available(policy.model for policy in candidates)
        last_resort = next((policy for policy in candidates if policy.is_last_resort), None)
        wanted = selection.model or (last_resort.model if last_resort else None)
        return next((policy for policy in candidates if policy.model == wanted), None)

    async def _ask(
        self,
        question: FallbackQuestion,
        failed: ModelPolicy | None,
        kind: FailureKind,
        signal: AbortSignal | None,
    ) -> bool | None:
        if not self._interaction.answers(FallbackQuestion):
            return None
        active, failed_model = self._state.active_model, question.failed_model
        try:
            intent = await self._interaction.ask(question, signal)
            if intent in (FallbackIntent.RETRY_ALWAYS, FallbackIntent.RETRY_ONCE):
                self._transition(failed, kind)
            beside = failed_model if failed_model != active else None
            return await self._carry_out(intent, question.fallback_model, beside)
        except AbortError:
            raise
        except Exception:  # the handler is a surface's code: its failure must not hide the model's
            logger.exception("Fallback handler failed:")
            return None

    async def _carry_out(
        self, intent: FallbackIntent | None, fallback_model: str, beside: str | None
    ) -> bool | None:
        match intent:
            case FallbackIntent.RETRY_ALWAYS:
                return self._switch_to(fallback_model, beside)
            case FallbackIntent.RETRY_ONCE | FallbackIntent.RETRY_WITH_CREDITS:
                return True
            case FallbackIntent.STOP | FallbackIntent.RETRY_LATER:
                return False
            case FallbackIntent.UPGRADE:
                logger.info("To upgrade, please visit: %s", UPGRADE_URL)
                return False
            case _:
                logger.error("Unexpected fallback intent from the handler: %r", intent)
                return None

    def _transition(self, failed: ModelPolicy | None, kind: FailureKind) -> None:
        if failed is not None:
            PolicyContext(self._health, failed).apply_transition(kind)

    def _switch_to(self, model: str, beside: str | None) -> bool:
        # The backend keeps what it knows of a session's model; a new id makes it forget.
        self._switch.rotate_session_id(self._ids.uuid("session"))
        self._switch.activate_fallback(model, beside)
        return True


def _question(failed_model: str, fallback_model: str, error: Exception) -> FallbackQuestion:
    return FallbackQuestion(
        failed_model=failed_model,
        fallback_model=fallback_model,
        error=error_name(error),
        cause=error,
    )
