"""How a retry loop asks the user to verify the account.

Source: core `core/geminiChat.ts`, `core/client.ts` (`onValidationRequired`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from services.abort import AbortSignal
from services.interaction.interaction import Interaction
from services.interaction.questions import ValidationIntent, ValidationQuestion
from services.model.errors import ValidationRequiredError

__all__ = ["account_validation"]


def account_validation(
    interaction: Interaction, signal: AbortSignal
) -> Callable[[ValidationRequiredError], Awaitable[ValidationIntent | None]] | None:
    """Return the handler of a retry loop whose `signal` is given.

    Without a surface that answers there is no handler: the error is then not one that the user has
    dealt with.
    """
    if not interaction.answers(ValidationQuestion):
        return None

    async def ask(error: ValidationRequiredError) -> ValidationIntent | None:
        question = ValidationQuestion(
            link=error.validation_link,
            description=error.validation_description,
            learn_more_url=error.learn_more_url,
        )
        return await interaction.ask(question, signal)

    return ask
