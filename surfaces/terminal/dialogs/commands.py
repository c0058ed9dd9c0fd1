"""The dialogs of slash commands.

Source: `packages/cli` `ui/components/ShellConfirmationDialog.tsx`, `ConsentPrompt.tsx`,
`RewindViewer.tsx`, `RewindConfirmation.tsx`, for the options, their order and their words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from rich.text import Text

from services.rewind import RewindChoice
from surfaces.commands.rewinding import RewindPoint
from surfaces.terminal.dialogs.dialog import ChoiceDialog
from surfaces.terminal.inert import inert, inert_line

__all__ = [
    "action_dialog",
    "rewind_choice_dialog",
    "rewind_point_dialog",
    "shell_commands_dialog",
]

_PROCEED: Final = "Do you want to proceed?"
_MOST_LETTERS: Final = 100

ShellAnswer = Literal["once", "always", "no"]


def shell_commands_dialog(commands: Sequence[str]) -> ChoiceDialog[ShellAnswer]:
    """May a command file run `commands`? Esc refuses."""
    options: list[tuple[str, ShellAnswer]] = [
        ("Allow once", "once"),
        ("Allow for this session", "always"),
        ("No (esc)", "no"),
    ]
    head = "Shell Command Execution\nA custom command wants to run the following shell commands:"
    body = [Text(inert(command)) for command in commands]
    return ChoiceDialog(head, body, _PROCEED, options, escape="no")


def action_dialog(prompt: str) -> ChoiceDialog[bool]:
    """Yes or no to the question of a command. Esc is a no."""
    return ChoiceDialog("", [Text(inert(prompt))], "", [("Yes", True), ("No", False)], escape=False)


def rewind_point_dialog(points: Sequence[RewindPoint]) -> ChoiceDialog[RewindPoint | None]:
    """The message to go back to; `None`: to none."""
    options: list[tuple[str, RewindPoint | None]] = [(_line(point), point) for point in points]
    options.append(("Stay at current position", None))
    return ChoiceDialog("> Rewind", [], "", options, escape=None)


def rewind_choice_dialog(point: RewindPoint) -> ChoiceDialog[RewindChoice | None]:
    """What goes back to `point`; `None`: nothing."""
    options: list[tuple[str, RewindChoice | None]] = [
        ("Rewind conversation", RewindChoice.CONVERSATION),
        ("Do nothing (esc)", None),
    ]
    body = [Text("No code changes to revert.")]
    if point.since is not None:
        options.insert(0, ("Rewind conversation and revert code changes", RewindChoice.BOTH))
        options.insert(2, ("Revert code changes", RewindChoice.FILES))
        lines = f"+{point.since.added_lines} -{point.since.removed_lines}"
        body = [Text(f"{point.since.file_count} files changed, {lines}")]
    return ChoiceDialog("Confirm Rewind", body, "Select an action:", options, escape=None)


def _line(point: RewindPoint) -> str:
    text = inert_line(point.text)
    return text if len(text) <= _MOST_LETTERS else f"{text[:_MOST_LETTERS]}…"
