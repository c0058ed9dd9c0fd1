"""The dialogs of slash commands.

Source: `packages/cli` `ui/components/ShellConfirmationDialog.tsx`, `ConsentPrompt.tsx`,
`RewindViewer.tsx`, `RewindConfirmation.tsx`, `PermissionsModifyTrustDialog.tsx`,
`MultiFolderTrustDialog.tsx`, for the options, their order and their words.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Final, Literal

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Static

from services.interaction.questions import TrustChoice
from services.rewind import Change, RewindChoice
from surfaces.commands.builtin.folders import FolderTrust
from surfaces.commands.durations import age
from surfaces.commands.rewinding import RewindPoint
from surfaces.terminal.dialogs.dialog import ChoiceDialog, Dialog
from surfaces.terminal.dialogs.options import Choice, NumberedOptions
from surfaces.terminal.inert import inert, inert_line

__all__ = [
    "RewindPointDialog",
    "consent_dialog",
    "folder_trust_dialog",
    "rewind_choice_dialog",
    "shell_commands_dialog",
    "trust_dialog",
]

_PROCEED: Final = "Do you want to proceed?"
_MOST_LINES: Final = 2
"""The lines of a message that is not expanded."""
_NOT_REVERTED: Final = (
    "\u2139 Rewinding does not affect files edited manually or by the shell tool."
)
_REWIND_KEYS: Final = "(Use Enter to select a message, Esc to close, Right/Left to expand/collapse)"
_TRUSTING: Final = (
    "Trusting a folder allows Gemini to read and perform auto-edits when in auto-approval mode. "
    "This is a security feature to prevent accidental execution in untrusted directories."
)
_STAY: Final = Choice(label="Stay at current position", detail="Cancel rewind and stay here")

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


def consent_dialog(prompt: str) -> ChoiceDialog[bool]:
    """Yes or no to the question of a command, the last paragraph of `prompt`. Esc is a no."""
    about, _, question = prompt.rpartition("\n\n")
    return ChoiceDialog(
        "",
        [Text(inert(about))] if about else [],
        inert(question),
        [("Yes", True), ("No", False)],
        escape=False,
        keys="Enter to select · ↑/↓ to navigate · Esc to cancel",
    )


def folder_trust_dialog(folders: Sequence[str]) -> ChoiceDialog[FolderTrust]:
    """Are these folders trusted, which are to be added to the workspace? Esc adds none."""
    listed = "\n".join(f"- {inert_line(folder)}" for folder in folders)
    return ChoiceDialog(
        "Do you trust the following folders being added to this workspace?",
        [Text(listed), Text(f"\n{_TRUSTING}")],
        "",
        [
            ("Yes", FolderTrust.YES),
            ("Yes, and remember the directories as trusted", FolderTrust.REMEMBER),
            ("No", FolderTrust.NO),
        ],
        escape=FolderTrust.CANCEL,
    )


def trust_dialog(
    folder: Path, present: TrustChoice | None, *, inherited: bool
) -> ChoiceDialog[TrustChoice | None]:
    """How far `folder` is trusted; `None` for Esc.

    Args:
        folder: the folder that is asked about.
        present: its own rule.
        inherited: whether it is trusted because a folder above it is.
    """
    body = [
        Text(f"Folder: {inert_line(str(folder))}"),
        Text(f"Current Level: {present.value if present else 'Not Set'}"),
    ]
    if inherited:
        note = "Note: This folder behaves as a trusted folder because a parent folder is trusted."
        body.append(Text(note, style="dim"))
    options: list[tuple[str, TrustChoice | None]] = [
        (f"Trust this folder ({inert_line(folder.name)})", TrustChoice.TRUST_FOLDER),
        (f"Trust parent folder ({inert_line(folder.parent.name)})", TrustChoice.TRUST_PARENT),
        ("Don't trust", TrustChoice.DO_NOT_TRUST),
    ]
    return ChoiceDialog(
        "> Modify Trust Level",
        body,
        "",
        options,
        escape=None,
        keys="(Use Enter to select)",
        first=next((n for n, (_, each) in enumerate(options) if each is present), 0),
    )


class RewindPointDialog(Dialog[RewindPoint | None]):
    """The message to go back to; `None`: to none. Staying is highlighted at first.

    Right shows the whole highlighted message, Left its beginning again.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right", "expand(True)", show=False),
        Binding("left", "expand(False)", show=False),
    ]

    def __init__(self, points: Sequence[RewindPoint]) -> None:
        super().__init__(None)
        self._points = points

    def compose(self) -> ComposeResult:
        """Heading, messages, keys."""
        labels = self._labels(None)
        choices = [
            Choice(label=label, detail=_changed(each.turn))
            for label, each in zip(labels, self._points, strict=True)
        ]
        yield Static(Text("> Rewind", style="bold"), markup=False, classes="heading")
        yield NumberedOptions([*choices, _STAY], numbered=False, first=len(choices))
        yield Static(_REWIND_KEYS, markup=False, classes="keys")

    def on_mount(self) -> None:
        """The messages have the keys."""
        self.query_one(NumberedOptions).focus()

    def action_expand(self, whole: bool) -> None:
        """Show the highlighted message whole, or only its beginning."""
        options = self.query_one(NumberedOptions)
        options.relabel(self._labels(options.highlighted if whole else None))

    def _labels(self, expanded: int | None) -> list[str]:
        most = _MOST_LINES * max(1, self.app.size.width - 4)
        return [
            each.text if index == expanded else _beginning(each.text, most)
            for index, each in enumerate(self._points)
        ]

    def on_numbered_options_chosen(self, event: NumberedOptions.Chosen) -> None:
        """Answer with the message."""
        event.stop()
        self.settle(self._points[event.index] if event.index < len(self._points) else None)


def rewind_choice_dialog(point: RewindPoint, now_ms: int) -> ChoiceDialog[RewindChoice | None]:
    """What goes back to `point`; `None`: nothing. `now_ms` is the time in Unix milliseconds."""
    options: list[tuple[str, RewindChoice | None]] = [
        ("Rewind conversation", RewindChoice.CONVERSATION),
        ("Do nothing (esc)", None),
    ]
    body = [Text("No code changes to revert.")]
    since = point.since
    if since is not None:
        options.insert(0, ("Rewind conversation and revert code changes", RewindChoice.BOTH))
        options.insert(2, ("Revert code changes", RewindChoice.FILES))
        ago = "" if point.at_ms is None else f" ({age(now_ms - point.at_ms)})"
        body = [
            Text(_files(since)),
            Text(f"Lines added: {since.added_lines} Lines removed: {since.removed_lines}{ago}"),
            Text(f"\n{_NOT_REVERTED}"),
        ]
    return ChoiceDialog("Confirm Rewind", body, "Select an action:", options, escape=None)


def _beginning(text: str, most: int) -> str:
    """The first lines of a message, `most` letters at most."""
    lines = text.split("\n")
    begun = "\n".join(lines[:_MOST_LINES])
    if len(begun) > most:
        return f"{begun[:most]}..."
    return f"{begun}..." if len(lines) > _MOST_LINES else begun


def _changed(change: Change | None) -> str:
    """The size of a turn's edits in one line."""
    if change is None:
        return "No files have been changed"
    count = change.file_count
    words = [f"{count} file{'' if count == 1 else 's'} changed"]
    words += [f"+{change.added_lines}"] if change.added_lines else []
    words += [f"-{change.removed_lines}"] if change.removed_lines else []
    return " ".join(words)


def _files(change: Change) -> str:
    if change.file_count == 1 and change.details:
        return f"File: {inert_line(change.details[0][0])}"
    return f"{change.file_count} files affected"
