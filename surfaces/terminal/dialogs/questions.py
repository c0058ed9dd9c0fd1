"""The questions of a session as dialogs: the terminal's `Handlers`.

Source: `packages/cli` `ui/components/` `ProQuotaDialog.tsx`, `ValidationDialog.tsx`,
`LoopDetectionConfirmation.tsx`, `FolderTrustDialog.tsx`, `NewAgentsNotification.tsx`,
`ConsentPrompt.tsx`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import PurePath
from typing import Final, TypeVar

from rich.text import Text

from services.interaction.interaction import Handlers
from services.interaction.questions import (
    FallbackIntent,
    FallbackQuestion,
    LoopChoice,
    LoopQuestion,
    NewAgentsChoice,
    NewAgentsQuestion,
    SignInQuestion,
    TrustChoice,
    TrustQuestion,
    ValidationIntent,
    ValidationQuestion,
)
from surfaces.terminal.dialogs.dialog import ChoiceDialog, DialogHost
from surfaces.terminal.inert import inert, inert_line

__all__ = ["handlers"]

A = TypeVar("A")

_LOOP: Final = (
    "This can happen due to repetitive tool calls or other model behavior. Do you want to keep "
    "loop detection enabled or disable it for this session?"
)
_TRUST: Final = (
    "Trusting a folder allows its settings, commands, hooks, agents and MCP servers to run here."
)


class _FallbackDialog(ChoiceDialog[FallbackIntent | None]):
    """Esc cancels the request; the dialog stays until the user chooses."""

    def __init__(self, question: FallbackQuestion, abort: Callable[[], Awaitable[None]]) -> None:
        body, options = _fallback(question)
        super().__init__("", body, "", options, escape=FallbackIntent.RETRY_LATER)
        self._abort = abort

    async def action_escape(self) -> None:
        """Cancel the request."""
        await self._abort()


def handlers(
    host: Callable[[], DialogHost],
    abort: Callable[[], Awaitable[None]],
    kept: set[asyncio.Task[FallbackIntent | None]],
) -> Handlers:
    """The handlers that ask in `host`, which is looked up for each question.

    Args:
        host: returns where the dialogs open.
        abort: cancels the request that waits for an answer.
        kept: gets the questions that stay open without their request; the caller ends them.
    """

    async def ask(dialog: ChoiceDialog[A]) -> A:
        return await host().ask(dialog)

    async def fallback(question: FallbackQuestion) -> FallbackIntent | None:
        asking = asyncio.create_task(ask(_FallbackDialog(question, abort)), name="fallback")
        kept.add(asking)
        asking.add_done_callback(kept.discard)
        # A cancelled request withdraws the question. The dialog stays, as in the published CLI.
        return await asyncio.shield(asking)

    async def validation(question: ValidationQuestion) -> ValidationIntent | None:
        return await ask(_validation(question))

    async def loop(question: LoopQuestion) -> LoopChoice:
        return await ask(_loop())

    async def trust(question: TrustQuestion) -> TrustChoice | None:
        return await ask(_trust(question))

    async def new_agents(question: NewAgentsQuestion) -> NewAgentsChoice:
        return await ask(_new_agents(question))

    async def sign_in(question: SignInQuestion) -> bool:
        return await ask(_sign_in(question))

    return Handlers(
        fallback=fallback,
        validation=validation,
        loop=loop,
        trust=trust,
        new_agents=new_agents,
        sign_in=sign_in,
    )


def _lines(*lines: str) -> list[Text]:
    return [Text(inert(line)) for line in lines if line]


def _fallback(
    question: FallbackQuestion,
) -> tuple[list[Text], list[tuple[str, FallbackIntent | None]]]:
    failed, other = inert_line(question.failed_model), inert_line(question.fallback_model)
    quota = "Quota" in question.error
    models = "all Pro models" if "pro" in failed and quota else failed
    head = (
        f"Usage limit reached for {models}." if quota else f"{failed} is not available right now."
    )
    body = _lines(head, "/stats model for usage details", "/model to switch models.")
    options: list[tuple[str, FallbackIntent | None]]
    if failed == other:
        options = [("Keep trying", FallbackIntent.RETRY_ONCE), ("Stop", FallbackIntent.RETRY_LATER)]
    else:
        options = [
            (f"Switch to {other}", FallbackIntent.RETRY_ALWAYS),
            ("Stop", FallbackIntent.RETRY_LATER),
        ]
        if not quota:
            options.insert(0, ("Keep trying", FallbackIntent.RETRY_ONCE))
    return body, options


def _validation(question: ValidationQuestion) -> ChoiceDialog[ValidationIntent | None]:
    body = _lines(
        "Further action is required to use this service.",
        question.description or "",
        question.link or "",
        f"Learn more: {question.learn_more_url}" if question.learn_more_url else "",
    )
    return ChoiceDialog(
        "",
        body,
        "",
        [
            ("Verify your account", ValidationIntent.VERIFY),
            ("Change authentication", ValidationIntent.CHANGE_AUTH),
        ],
        escape=ValidationIntent.CANCEL,
    )


def _loop() -> ChoiceDialog[LoopChoice]:
    return ChoiceDialog(
        "A potential loop was detected",
        _lines(_LOOP),
        "",
        [
            ("Keep loop detection enabled (esc)", LoopChoice.KEEP),
            ("Disable loop detection for this session", LoopChoice.DISABLE),
        ],
        escape=LoopChoice.KEEP,
    )


def _trust(question: TrustQuestion) -> ChoiceDialog[TrustChoice | None]:
    folder = PurePath(question.folder)
    return ChoiceDialog(
        "Do you trust the files in this folder?",
        _lines(question.folder, _TRUST),
        "",
        [
            (f"Trust folder ({inert_line(folder.name)})", TrustChoice.TRUST_FOLDER),
            (f"Trust parent folder ({inert_line(folder.parent.name)})", TrustChoice.TRUST_PARENT),
            ("Don't trust", TrustChoice.DO_NOT_TRUST),
        ],
        escape=None,
    )


def _new_agents(question: NewAgentsQuestion) -> ChoiceDialog[NewAgentsChoice]:
    agents = [f"- {agent.name}: {agent.description}" for agent in question.agents]
    return ChoiceDialog(
        "New Agents Discovered",
        _lines("The following agents were found in this project. Please review them:", *agents),
        "",
        [
            ("Acknowledge and Enable", NewAgentsChoice.ACKNOWLEDGE),
            ("Do not enable (Ask again next time)", NewAgentsChoice.IGNORE),
        ],
        escape=NewAgentsChoice.IGNORE,
    )


def _sign_in(question: SignInQuestion) -> ChoiceDialog[bool]:
    return ChoiceDialog(
        "",
        _lines(question.prompt, question.url or ""),
        "",
        [("Yes", True), ("No", False)],
        escape=False,
    )
