"""`SlashCommands`: the command layer on the terminal, from a text to what it changes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from runtimes.contract import KeepsRecording
from services.presentation.content import parts_to_content
from services.wire import Json, Part
from surfaces.commands import (
    CallTool,
    CommandContext,
    CommandError,
    CommandLayer,
    CommandSession,
    ConfirmAction,
    ConfirmShellCommands,
    Dialog,
    Item,
    ItemKind,
    LoadHistory,
    NotACommand,
    OpenDialog,
    Quit,
    Result,
    SubmitPrompt,
    Suggestion,
    default_sources,
)
from surfaces.commands.builtin.usage import session_lines
from surfaces.commands.histories import items_of_recording
from surfaces.commands.rewinding import RewindPoint, rewind_to
from surfaces.headless.preferences import Preferences
from surfaces.headless.sessions import RecordedSession
from surfaces.terminal.command_dialogs import COMMAND_DIALOGS, CommandDialogs
from surfaces.terminal.composer import VIM_SETTING
from surfaces.terminal.dialogs.commands import (
    RewindPointDialog,
    consent_dialog,
    rewind_choice_dialog,
    shell_commands_dialog,
)
from surfaces.terminal.dialogs.dialog import DialogHost
from surfaces.terminal.drawing import Cleared, Drawing, Shown
from surfaces.terminal.external_editor import ExternalEditor
from surfaces.terminal.live import LiveSession
from surfaces.terminal.notes import Notes
from surfaces.terminal.own_calls import OwnCalls
from surfaces.terminal.settings_dialogs import SettingsDialogs, Themed
from surfaces.terminal.shortcuts import SHORTCUTS, shortcuts
from surfaces.terminal.stored_sessions import browse_sessions
from surfaces.terminal.turns import Prompt

__all__ = ["Application", "SlashCommands"]

_DIALOGS: Final = COMMAND_DIALOGS | frozenset(
    {
        Dialog.AUTH,
        Dialog.EDITOR,
        Dialog.LOGOUT,
        Dialog.MODEL,
        Dialog.PERMISSIONS,
        Dialog.REWIND,
        Dialog.SESSIONS,
        Dialog.SETTINGS,
        Dialog.SHORTCUTS,
        Dialog.THEME,
        Dialog.VIM,
    }
)
_VIM_ON: Final = "Entered Vim mode. Run /vim again to exit."
_VIM_OFF: Final = "Exited Vim mode."
_SHELL_DECLINED: Final = "Slash command shell execution declined."
_DECLINED: Final = "Operation cancelled."
_SHOWN_TYPES: Final[Mapping[ItemKind, str]] = {ItemKind.USER: "user", ItemKind.AGENT: "gemini"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Application:
    """What commands need of the application."""

    draft: Callable[[str], None]
    """Puts a text into the input."""
    leave: Callable[[bool], None]
    """Ends the session; with `True` its recording is deleted."""
    go_on: Callable[[RecordedSession], None]
    """Ends the session, and goes on with a recorded one in its place."""
    sign_in: Callable[[], Awaitable[None]]
    """Lets the user change how to sign in."""
    sign_out: Callable[[], Awaitable[None]]
    """Signs the user out, and in again or the session ends."""
    copy: Callable[[str], Awaitable[None]]
    """Writes a text to the clipboard."""
    vim: Callable[[], bool]
    """Switches the editing mode of the input; returns whether it is on."""
    editor: ExternalEditor
    themed: Themed
    preferences: Preferences
    """What the user may change for later sessions."""


class SlashCommands:
    """The commands of one open session.

    Args:
        session: what they act on.
        runtime_name: the runtime's name, for `/about`.
        host: where their dialogs open.
        drawing: shows what they show.
        hooks: the application.
        notes: what goes to the model with the next prompt.
    """

    def __init__(
        self,
        session: LiveSession,
        runtime_name: str,
        host: DialogHost,
        drawing: Drawing,
        hooks: Application,
        notes: Notes,
    ) -> None:
        services, prepared = session.services, session.prepared
        self._notes = notes
        self._calls = OwnCalls(services, host, drawing, notes)
        self._host = host
        self._drawing = drawing
        self._hooks = hooks
        self._asking = CommandDialogs(services, host, hooks.preferences)
        self._witness = session.witness
        self._session = CommandSession(
            runtime=session.runtime,
            services=services,
            settings=prepared.plan.document,
            auth_type=prepared.source.auth_type,
            runtime_name=runtime_name,
            metrics=session.metrics.stats,
            started_ms=services.clock.now_ms(),
            dialogs=_DIALOGS,
            shortcuts=SHORTCUTS,
            preferences=hooks.preferences,
            consent=self.consents,
            copy=hooks.copy,
            write_cassette=None if session.witness is None else self._write_cassette,
        )
        self._dialogs = SettingsDialogs(
            services,
            prepared.source.auth_type,
            host,
            hooks.preferences,
            hooks.themed,
            lambda words: self._show(Item(kind=ItemKind.INFO, text=words)),
        )
        self._layer = CommandLayer(self._session, default_sources())
        if services.checkpoints is not None:
            services.checkpoints.shown = self._conversation

    async def _write_cassette(self, note: str) -> Path | None:
        """Write what the session's witness has seen, beside the session's recordings."""
        folder = self._session.services.workspace.project_temp / "cassettes"
        return None if self._witness is None else await self._witness.keep(folder, note)

    def summary(self) -> list[str]:
        """What the session has used, as `/stats` says it."""
        context = CommandContext(session=self._session, raw="", args="", show=lambda _: None)
        return session_lines(context)

    async def load(self) -> None:
        """Load the commands."""
        await self._layer.load()

    def runs_while_busy(self, text: str) -> bool:
        """Whether `text` may run while the agent works."""
        return self._layer.runs_while_busy(text)

    async def suggestions(self, text: str) -> list[Suggestion]:
        """The menu for `text`."""
        return await self._layer.suggestions(text)

    async def run(self, text: str) -> Prompt | None:
        """Run the command `text`; return what is to be sent to the model, if anything."""
        echo = Item(kind=ItemKind.USER, text=text)
        echoed = False

        def show(item: Item) -> None:
            nonlocal echoed
            if not echoed:
                self._show(echo)
            echoed = True
            self._show(item)

        result = await self._layer.run(text, show)
        if not echoed and not isinstance(result, NotACommand | SubmitPrompt | Quit):
            self._show(echo)
            echoed = True  # A dialog may show further items.
        return await self._carry_out(text, result)

    async def _carry_out(self, text: str, result: Result | NotACommand) -> Prompt | None:
        match result:
            case NotACommand():
                return Prompt(text=text)
            case SubmitPrompt():
                return _prompt(text, result.content)
            case ConfirmShellCommands() | ConfirmAction():
                return await self._confirm(text, result)
            case Item():
                self._show(result)
            case LoadHistory():
                self._load(result)
            case CallTool():
                return await self._call_tool(text, result)
            case OpenDialog():
                await self._open(result.dialog, result.details)
            case Quit():
                for item in result.items:
                    self._show(item)
                self._hooks.leave(result.delete)
            case None:
                pass
        return None

    async def _confirm(
        self, text: str, asked: ConfirmShellCommands | ConfirmAction
    ) -> Prompt | None:
        if isinstance(asked, ConfirmAction):
            if not await self._host.ask(consent_dialog(asked.prompt)):
                self._show(Item(kind=ItemKind.INFO, text=_DECLINED))
                return None
            return await self._carry_out(
                text, await self._layer.run(text, self._show, confirmed=True)
            )
        answer = await self._host.ask(shell_commands_dialog(asked.commands))
        if answer == "no":
            self._show(Item(kind=ItemKind.INFO, text=_SHELL_DECLINED))
            return None
        if answer == "always":
            self._session.shell_allowlist.update(asked.commands)
        again = await self._layer.run(text, self._show, approved=asked.commands)
        return await self._carry_out(text, again)

    async def _call_tool(self, text: str, asked: CallTool) -> Prompt | None:
        if asked.history is not None:
            self._load(asked.history)
        try:
            await self._calls.run(asked.tool, asked.args)
        except CommandError as error:
            self._error(str(error))
            return None
        return _prompt(text, asked.then) if asked.then else None

    async def _open(self, dialog: Dialog, details: Mapping[str, Any]) -> None:
        own: Mapping[Dialog, Callable[[], Awaitable[None]]] = {
            Dialog.AUTH: self._hooks.sign_in,
            Dialog.EDITOR: self._choose_editor,
            Dialog.LOGOUT: self._hooks.sign_out,
            Dialog.MODEL: self._dialogs.model,
            Dialog.PERMISSIONS: lambda: self._dialogs.trust(details["folder"]),
            Dialog.REWIND: lambda: self._rewind(details["points"]),
            Dialog.SESSIONS: self._browse,
            Dialog.SETTINGS: self._dialogs.settings,
            Dialog.SHORTCUTS: self._list_shortcuts,
            Dialog.THEME: self._dialogs.theme,
            Dialog.VIM: self._toggle_vim,
        }
        try:
            if dialog in own:
                await own[dialog]()
            else:
                await self._asking.open(dialog, details)
        except CommandError as error:
            self._error(str(error))

    async def _choose_editor(self) -> None:
        await self._hooks.editor.choose()

    async def _list_shortcuts(self) -> None:
        lines = ["Shortcuts", *shortcuts()]
        self._show(Item(kind=ItemKind.PANEL, text="\n".join(lines)))

    async def consents(self, text: str) -> bool:
        """Whether the user agrees to `text`."""
        return await self._host.ask(consent_dialog(text))

    async def show_tasks(self) -> None:
        """Show the commands that run in the background, as `/tasks` does."""
        await self._carry_out("/tasks", await self._layer.run("/tasks", self._show))

    async def _toggle_vim(self) -> None:
        on = self._hooks.vim()
        self._show(Item(kind=ItemKind.INFO, text=_VIM_ON if on else _VIM_OFF))
        await self._hooks.preferences.save(VIM_SETTING, on)

    async def _browse(self) -> None:
        chosen = await browse_sessions(self._session.services, self._host)
        if chosen is None:
            return
        if chosen.file.exists():
            self._hooks.go_on(chosen)
        else:
            self._error(f"Error resuming session: {chosen.file} is not there any more.")

    async def _rewind(self, points: Sequence[RewindPoint]) -> None:
        now_ms = self._session.services.clock.now_ms()
        while True:
            point = await self._host.ask(RewindPointDialog(points))
            if point is None:
                return
            choice = await self._host.ask(rewind_choice_dialog(point, now_ms))
            if choice is not None:  # "Do nothing" leads back to the list.
                break
        result = await rewind_to(self._session, point, choice)
        if isinstance(result, LoadHistory):
            self._load(result)
        elif result.text:
            self._show(result)

    def _load(self, history: LoadHistory) -> None:
        self._notes.forget()
        self._drawing.add(Cleared())
        for item in history.items:
            self._show(item)
        if history.draft is not None:
            self._hooks.draft(history.draft)

    def _show(self, item: Item) -> None:
        self._drawing.add(Shown(item=item))

    def _error(self, words: str) -> None:
        self._show(Item(kind=ItemKind.ERROR, text=words))

    def _conversation(self) -> list[Json]:
        """The conversation as `/restore` will show it."""
        runtime = self._session.runtime
        if not isinstance(runtime, KeepsRecording):
            return []
        items = items_of_recording(runtime.recorded)
        return [
            {"type": _SHOWN_TYPES.get(item.kind, item.kind.value), "text": item.text}
            for item in items
        ]


def _prompt(text: str, parts: tuple[Part, ...]) -> Prompt:
    return Prompt(text=text, content=parts_to_content(parts))
