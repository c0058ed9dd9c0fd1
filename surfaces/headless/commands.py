"""A prompt that is a slash command: it is answered here, and not sent to the model.

Source: `packages/cli` `nonInteractiveCliCommands.ts`, where commands may only submit a prompt. Ours
also answers with what a command shows.
"""

from __future__ import annotations

from services.model.errors import FatalInputError
from services.wire import Part
from surfaces.commands import (
    CommandLayer,
    CommandSession,
    ConfirmAction,
    ConfirmShellCommands,
    Item,
    ItemKind,
    NotACommand,
    SubmitPrompt,
    default_sources,
    is_slash_command,
)
from surfaces.commands.results import CallTool
from surfaces.headless.presenters import Presenter
from surfaces.headless.streams import strip_ansi

__all__ = ["Answered", "run_command"]

_ASKS = "Exiting due to a confirmation prompt requested by the command."
_UNSUPPORTED = "Exiting due to command result that is not supported in non-interactive mode."


class Answered:
    """The command has been answered: nothing is sent."""


async def run_command(
    prompt: str, session: CommandSession, presenter: Presenter
) -> Answered | tuple[Part, ...] | None:
    """Run the command that `prompt` is.

    Args:
        prompt: what the user wrote.
        session: what the command acts on.
        presenter: presents what the command shows.

    Returns:
        The parts to send to the model instead, or `None`: `prompt` is no command.

    Raises:
        FatalInputError: the command failed, or wants what only an interactive session has.
    """
    prompt = prompt.strip()
    if not is_slash_command(prompt):
        return None
    layer = CommandLayer(session, default_sources())
    await layer.load()
    shown = _Shown(presenter)
    result = await layer.run(prompt, shown.show)
    match result:
        case NotACommand():
            return None
        case SubmitPrompt():
            shown.warn()
            return result.content
        case ConfirmShellCommands() | ConfirmAction():
            raise FatalInputError(_ASKS)
        case CallTool():
            raise FatalInputError(_UNSUPPORTED)
        case Item():
            shown.show(result)
        case _:
            pass  # The rest changes a screen, and there is none.
    shown.answer(prompt)
    return Answered()


class _Shown:
    """Keeps what a command shows until its end, and presents it as the answer."""

    def __init__(self, presenter: Presenter) -> None:
        self._presenter = presenter
        self._items: list[Item] = []

    def show(self, item: Item) -> None:
        """Keep `item`."""
        self._items.append(item)

    def answer(self, prompt: str) -> None:
        """Present the items.

        Raises:
            FatalInputError: one of them is an error; the others are presented before.
        """
        self._presenter.user(prompt)
        said = [each for each in self._items if each.kind not in _ASIDE]
        text = "\n".join(strip_ansi(each.text) for each in said)
        if text:
            self._presenter.answer(text)
        self._warn_of(ItemKind.WARNING)
        errors = [strip_ansi(each.text) for each in self._items if each.kind is ItemKind.ERROR]
        if errors:
            raise FatalInputError("\n".join(errors))
        self._presenter.finish()

    def warn(self) -> None:
        """Present what went wrong before a prompt is sent all the same."""
        self._warn_of(ItemKind.WARNING, ItemKind.ERROR)

    def _warn_of(self, *kinds: ItemKind) -> None:
        for each in self._items:
            if each.kind in kinds:
                self._presenter.warned(each.text)


_ASIDE = frozenset({ItemKind.USER, ItemKind.WARNING, ItemKind.ERROR})
