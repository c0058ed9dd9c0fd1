"""Faults of the session's questions to its user, and of the hooks at its begin and end."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from seeded_faults import Behaviour, Faults, Site
from seeded_faults.wrappers import passing, result, returns
from services.hooks.session import StartSource
from services.interaction.questions import FallbackIntent

fault = Faults(Site.SERVICE, Behaviour.INTERACTIVE)
held_out = Faults(Site.SERVICE, Behaviour.INTERACTIVE, held_out=True)


@fault("services.interaction.interaction:Interaction.ask", origin="an await without a signal")
async def question_outlives_abort(ask: Any, self: Any, question: Any, signal: Any = None) -> Any:
    """An abort does not withdraw a question."""
    return await ask(self, question)


@held_out(
    "services.availability.fallback:FallbackHandler._carry_out",
    origin="the last branch of a match for every other answer",
)
async def any_answer_retries(
    carry_out: Any, self: Any, intent: Any, model: str, beside: Any
) -> Any:
    """An answer that is no intent makes the request again."""
    known = intent in tuple(FallbackIntent)
    return await carry_out(self, intent, model, beside) if known else True


verification_not_asked = fault.wrap(
    "services.chat.attempt:account_validation",
    returns(None),
    says="An account that must be verified ends the request without a question.",
    origin="a handler that is registered for the fallback alone",
)


@fault("services.model.retry:Retry._validate_or_raise", origin="a dialog with one way out")
async def any_answer_verifies(_: Any, self: Any, error: Any, failure: Any) -> None:
    """Cancelling the verification of an account makes the request again."""
    if self.on_validation_required is None:
        raise error from failure
    await self.on_validation_required(error)
    self.start_over()


@fault("services.loop_detection.question:LoopPrompt._take", origin="a dialog that only closes")
async def detection_stays_on(_: Any, self: Any, choice: Any) -> None:
    """Switching loop detection off has no effect."""


loop_not_asked_about = fault.wrap(
    "services.loop_detection.question:LoopPrompt.__call__",
    returns(None),
    says="After a loop nothing is asked.",
    origin="a stream hook with a stub for the dialog",
)


@fault(
    "services.subagents.registry:AgentRegistry.acknowledge",
    origin="an acknowledgment that is written, and read at the next start",
)
async def acknowledged_for_later(_: Any, self: Any, name: str) -> None:
    """An acknowledged agent is available from the next session on."""
    agent = self._found.unknown.pop(name)
    self.acknowledged.add(agent.name, agent.hash)


decision_about_folder_lost = fault.wrap(
    "services.compose:settled_trust",
    result(lambda settings: replace(settings, folder_trusted=True)),
    says="A folder that the user does not trust counts as trusted.",
    origin="a dialog whose answer the configuration does not read",
)

start_is_always_startup = fault.wrap(
    "services.compose:SessionHooks",
    passing(source=lambda _: StartSource.STARTUP),
    says="SessionStart of a resumed session says `startup`.",
    origin="a source that the opener of the session knows, and the runtime does not",
)
context_of_start_lost = fault.wrap(
    "services.hooks.session:SessionHooks.began",
    passing(context=lambda _: None),
    says="The context of SessionStart does not reach the model.",
    origin="a result that only the surface reads",
)


@fault("services.hooks.session:SessionHooks.cleared", origin="a reset below the command")
async def cleared_without_hooks(_: Any, self: Any, reset: Any) -> None:
    """A cleared conversation fires no hooks."""
    reset()


@held_out("services.hooks.session:SessionHooks.finish", origin="a clean-up of the surface")
async def end_not_fired(_: Any, self: Any) -> None:
    """SessionEnd is not fired."""


@held_out(
    "services.hooks.session:SessionHooks.begin", origin="one way to add context for all surfaces"
)
async def context_always_in_history(begin: Any, self: Any, add_history: Any) -> None:
    """The context of SessionStart goes into the history of a headless session, too."""
    self._interactive = True
    await begin(self, add_history)
