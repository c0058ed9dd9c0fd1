"""`/model` and `/plan`.

Source: `packages/cli` `ui/commands/modelCommand.ts`, `planCommand.ts`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from services.regular_files import MOST_TEXT, read_regular
from services.state import ApprovalMode
from surfaces.commands.contract import Argument, CommandContext, CommandError, SlashCommand
from surfaces.commands.results import Dialog, Item, ItemKind, OpenDialog, Result, SubmitPrompt

__all__ = ["MODEL", "PLAN"]

_PERSIST: Final = "--persist"


async def _manage(context: CommandContext) -> Result:
    return OpenDialog(dialog=Dialog.MODEL)


async def _set(context: CommandContext) -> Result:
    words = context.args.split()
    if not words:
        raise CommandError(f"Usage: /model set <model-name> [{_PERSIST}]")
    persist = _PERSIST in words
    files = context.preferences if persist else None
    context.services.state.set_model(words[0])
    if files is not None:
        await files.save("model.name", words[0])
    kept = " (persisted)" if persist else ""
    return Item(kind=ItemKind.INFO, text=f"Model set to {words[0]}{kept}")


async def _plan(context: CommandContext) -> Result:
    state = context.services.state
    if state.approval_mode is not ApprovalMode.PLAN:
        state.set_approval_mode(ApprovalMode.PLAN)
        context.info("Switched to Plan Mode.")
    if context.args:
        return SubmitPrompt(content=({"text": context.args},))
    if state.approved_plan is None:
        return None
    text = _read_plan(state.approved_plan)
    context.info(f"Approved Plan: {state.approved_plan.name}")
    return Item(kind=ItemKind.AGENT, text=text, markdown=True)


def _read_plan(file: Path) -> str:
    try:
        return read_regular(file, MOST_TEXT).decode("utf-8", "replace")
    except OSError as error:
        raise CommandError(f"Failed to read approved plan at {file}: {error}") from error


async def _copy_plan(context: CommandContext) -> Result:
    plan = context.services.state.approved_plan
    if plan is None:
        return Item(kind=ItemKind.WARNING, text="No approved plan found to copy.")
    if context.session.copy is None:
        raise CommandError("Failed to copy plan: there is no clipboard here.")
    await context.session.copy(_read_plan(plan))
    return Item(kind=ItemKind.INFO, text=f"Plan copied to clipboard ({plan.name}).")


MODEL: Final = SlashCommand(
    name="model",
    description="Manage model configuration",
    action=_manage,
    subcommands=(
        SlashCommand(
            name="manage",
            description="Opens a dialog to configure the model",
            runs_at_once=True,
            action=_manage,
            needs=Dialog.MODEL,
        ),
        SlashCommand(
            name="set",
            description="Set the model to use. Usage: /model set <model-name> [--persist]",
            arguments=(
                Argument(name="model-name", description="The model", required=True),
                Argument(name=_PERSIST, description="Keep the model for later sessions"),
            ),
            action=_set,
        ),
    ),
)
PLAN: Final = SlashCommand(
    name="plan",
    description="Switch to Plan Mode and view current plan",
    arguments=(Argument(name="prompt", description="What to plan"),),
    action=_plan,
    subcommands=(
        SlashCommand(
            name="copy",
            description="Copy the currently approved plan to your clipboard",
            runs_at_once=True,
            takes_args=False,
            action=_copy_plan,
        ),
    ),
)
