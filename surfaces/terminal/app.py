"""`TerminalApp`: the screen of an interactive session, and its keys."""

from __future__ import annotations

import asyncio
import logging
import os
from contextlib import AsyncExitStack
from typing import ClassVar, Final

from textual import work
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Static

from runtimes.registry import Surface
from services.interaction.interaction import Interaction
from services.model.errors import FatalError
from services.model.limits import token_limit
from services.progress import CallKey, CallQuestion
from services.recording.deletion import delete_stored_session
from services.state import ApprovalMode, ApprovalModeChanged, CoreEvent, CoreEvents, HintsKept
from surfaces.commands import Suggestion, is_slash_command, shortcut_lines
from surfaces.headless.engine import chosen_runtime
from surfaces.headless.sessions import RecordedSession
from surfaces.terminal.approvals import Approvals
from surfaces.terminal.call_words import CallShown
from surfaces.terminal.composer import Composer, PromptInput
from surfaces.terminal.dialogs.confirmation import Allowed
from surfaces.terminal.dialogs.dialog import DialogHost
from surfaces.terminal.dialogs.questions import handlers
from surfaces.terminal.drawing import Cleared, Drawing, Screen, Shown, Typed
from surfaces.terminal.external_editor import ExternalEditor
from surfaces.terminal.inert import inert_line
from surfaces.terminal.key_bindings import offer_key_bindings
from surfaces.terminal.live import LiveSession, OpenSession, Prepared, open_live_session
from surfaces.terminal.mentions import Mentions, mention_place
from surfaces.terminal.menu import SuggestionMenu
from surfaces.terminal.preferences import Preferences
from surfaces.terminal.slash import SHORTCUTS, Application, SlashCommands
from surfaces.terminal.status import ActivityLine, Footer, ModeLine, known_beside
from surfaces.terminal.stored_sessions import conversation_of
from surfaces.terminal.themes import DEFAULT_THEME, THEME_SETTING, textual_theme
from surfaces.terminal.transcript import Transcript
from surfaces.terminal.turns import Turns

__all__ = ["TerminalApp"]

logger = logging.getLogger(__name__)

_AGAIN_S: Final = 3.0
"""How long a first Ctrl+C, Ctrl+D or Esc waits for the second."""
_NEXT_MODE: Final = {
    ApprovalMode.DEFAULT: ApprovalMode.AUTO_EDIT,
    ApprovalMode.AUTO_EDIT: ApprovalMode.PLAN,
    ApprovalMode.PLAN: ApprovalMode.DEFAULT,
    ApprovalMode.YOLO: ApprovalMode.AUTO_EDIT,
}
_AGAIN: Final = {
    "ctrl+c": "Press Ctrl+C again to exit.",
    "ctrl+d": "Press Ctrl+D again to exit.",
    "escape": "Press Esc again to clear prompt.",
    "rewind": "Press Esc again to rewind.",
}


class TerminalApp(App[int]):
    """Holds one session; its result is the exit code."""

    TITLE = "parity"
    ENABLE_COMMAND_PALETTE = False
    CSS_PATH = "terminal.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c", "interrupt", show=False, priority=True),
        Binding("ctrl+d", "end_of_input", show=False, priority=True),
        Binding("ctrl+q", "quit_now", show=False, priority=True),
        Binding("escape", "escape", show=False),
        Binding("ctrl+y", "toggle_yolo", show=False, priority=True),
        Binding("ctrl+l", "clear_screen", show=False, priority=True),
        Binding("ctrl+g", "edit_prompt", show=False),
        Binding("ctrl+o", "toggle_expanded", show=False, priority=True),
        Binding("pageup", "scroll_transcript(-1)", show=False, priority=True),
        Binding("pagedown", "scroll_transcript(1)", show=False, priority=True),
    ]

    def __init__(self, prepared: Prepared, open_session: OpenSession = open_live_session) -> None:
        super().__init__()
        self.HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (80, "-wide")]
        self._prepared = prepared
        self._open_session = open_session
        self._events = CoreEvents()
        self._transcript = Transcript(id="transcript")
        self._dialogs = DialogHost(prepared.machine.clock)
        self._drawing = Drawing(
            Screen(
                transcript=self._transcript,
                root=str(prepared.machine.workspace.root),
                auth_type=prepared.source.auth_type,
                activity=self._show_activity,
                settings_changed=self._show_settings,
                question=self._ask,
                moved=self._moved,
            )
        )
        self._preferences = Preferences(
            prepared.machine.workspace, prepared.plan.document, prepared.options.settings_file
        )
        self._editor = ExternalEditor(
            self._preferences,
            prepared.machine.environment.variables,
            self._dialogs,
            self._drawing,
            self.suspend,
        )
        self._turns = Turns(self._drawing, self._turns_changed)
        self._session: LiveSession | None = None
        self._approvals: Approvals | None = None
        self._slash: SlashCommands | None = None
        self._mentions: Mentions | None = None
        self._deletes = False
        """Whether the session's recording is deleted at its end."""
        self._next: RecordedSession | None = None
        """The session that takes the place of this one when it ends."""
        self._leaving = asyncio.Event()
        self.failure: Exception | None = None
        """Why the session has ended, unless the user has left."""
        self._armed: str | None = None
        """The key that was pressed once and does something when it is pressed again."""

    def compose(self) -> ComposeResult:
        """The transcript above, and below it the dialogs or the input."""
        yield self._transcript
        yield self._dialogs
        with Vertical(id="below"):
            yield Static("", id="waiting", markup=False)
            yield ActivityLine()
            yield Static(_shortcuts(), id="shortcuts", markup=False)
            yield ModeLine(markup=False)
            yield Composer()
            yield SuggestionMenu()
        yield Footer(markup=False)

    def on_mount(self) -> None:
        """Show the screen, and open the session behind it."""
        self._events.subscribe(self._on_core_event)
        theme = self._preferences.in_force(THEME_SETTING)
        self.theme = textual_theme(str(theme or DEFAULT_THEME))
        prompt = self.query_one(PromptInput)
        prompt.connect(self.query_one(SuggestionMenu), self._turns.take_back)
        prompt.focus()
        self._show_settings()
        if self._prepared.options.prompt_interactive:
            self._turns.submit(self._prepared.options.prompt_interactive)
        self._hold_session()

    # ------------------------------------------------------------------ the session

    @property
    def opened(self) -> bool:
        """Whether the session takes prompts."""
        return self._slash is not None and self._session is not None

    @property
    def working(self) -> bool:
        """Whether the agent or a command works, or a prompt waits."""
        return self._turns.busy or bool(self._turns.waiting)

    @work(exit_on_error=False)
    async def _hold_session(self) -> None:
        """Open the session, let it work until the user leaves, and close it."""
        code = 0
        try:
            await self._with_session()
            while (chosen := self._next) is not None:
                self._begin_again(self._prepared.resuming(chosen))
                await self._with_session()
        except Exception as error:
            # The outermost layer of the session: the user gets a message for any error.
            logger.debug("the session failed", exc_info=True)
            failure = self.failure = _first(error)
            if isinstance(failure, FatalError):
                code, words = failure.exit_code, str(failure)
            else:
                code, words = 1, f"{type(failure).__name__}: {failure}"
            await self._failed(words)
        self.exit(code)

    def _begin_again(self, prepared: Prepared) -> None:
        """Forget the session that has ended, and take what opens the next one."""
        self._prepared = prepared
        self._session = self._slash = self._mentions = self._approvals = self._next = None
        self._leaving.clear()
        self._drawing.add(Cleared())

    async def _failed(self, words: str) -> None:
        """Show why the session ended, and wait for the user to leave."""
        self._session = None
        self._transcript.notice(words, "error")
        self._transcript.notice("The session has ended. Press Ctrl+C twice to leave.")
        await self._leaving.wait()

    async def _with_session(self) -> None:
        async with AsyncExitStack() as stack:
            tasks = await stack.enter_async_context(asyncio.TaskGroup())
            drawing = tasks.create_task(self._drawing.run(), name="drawing")
            stack.callback(drawing.cancel)
            interaction = Interaction(handlers(lambda: self._dialogs, self._turns.abort))
            session = await stack.enter_async_context(
                self._open_session(self._prepared, interaction, self._events, self._warn)
            )
            stack.callback(session.progress.subscribe(self._drawing.add))
            self._show_opened(session)
            slash = self._slash_commands(session)
            await slash.load()
            self._slash = slash
            self._mentions = Mentions(session.services)
            stack.callback(session.services.ide.context.subscribe(self._show_settings))
            offer = offer_key_bindings(session.services, self._dialogs, self._drawing)
            offering = tasks.create_task(offer, name="offer of key bindings")
            turns = tasks.create_task(self._turns.run(session, slash), name="turns")
            await self._leaving.wait()
            await self._turns.abort()
            if self._approvals is not None:
                self._approvals.close()
            turns.cancel()
            offering.cancel()
            session_id = session.services.state.session_id
        if self._deletes:
            delete_stored_session(self._prepared.machine.workspace.project_temp, session_id)

    def _slash_commands(self, session: LiveSession) -> SlashCommands:
        async def copy(text: str) -> None:
            self.copy_to_clipboard(text)

        def leave(delete: bool) -> None:
            self._deletes = delete
            self._leaving.set()

        def go_on(chosen: RecordedSession) -> None:
            self._next = chosen
            self._leaving.set()

        hooks = Application(
            draft=lambda text: self.query_one(PromptInput).replace_all(text),
            leave=leave,
            go_on=go_on,
            copy=copy,
            editor=self._editor,
            themed=self,
            preferences=self._preferences,
        )
        name = chosen_runtime(
            self._prepared.options.runtime, self._prepared.plan.settings, Surface.INTERACTIVE
        )
        return SlashCommands(session, name, self._dialogs, self._drawing, hooks, self._turns.notes)

    def _show_opened(self, session: LiveSession) -> None:
        services = session.services
        document = self._prepared.plan.document.get("security")
        permanent = isinstance(document, dict) and document.get("enablePermanentToolApproval")
        self._approvals = Approvals(
            self._dialogs,
            services.bus,
            services.ide,
            Allowed(
                session=services.settings.folder_trusted,
                for_ever=permanent is True,
            ),
            edit=self._editor.edit,
            refused=self._turns.abort,
        )
        self._session = session
        if services.session_hooks.started.message:
            self._warn(services.session_hooks.started.message)
        for item in conversation_of(session):
            self._drawing.add(Shown(item=item))
        for warning in self._prepared.plan.settings.warnings:
            self._drawing.add(Typed(text=warning, mark="warning"))
        self._show_settings()

    def _warn(self, words: str) -> None:
        self._drawing.add(Typed(text=words, mark="info"))

    def _on_core_event(self, event: CoreEvent) -> None:
        if isinstance(event, ApprovalModeChanged) and self._approvals is not None:
            self._approvals.mode_changed(event.mode)
        if not isinstance(event, HintsKept):
            self._drawing.add(event)

    def _ask(self, question: CallQuestion, call: CallShown) -> None:
        if self._approvals is not None:
            self._approvals.ask(question, call)

    def _moved(self, call: CallKey, status: str) -> None:
        if self._approvals is not None:
            self._approvals.moved(call, status)

    # ------------------------------------------------------------------ what is shown

    def _show_activity(self, words: str | None) -> None:
        self.query_one(ActivityLine).activity = words

    def _turns_changed(self) -> None:
        if not self.is_running:
            return
        line = self.query_one("#waiting", Static)
        line.display = self._turns.busy and bool(self._turns.waiting)
        line.update("\n".join(f"… {inert_line(text)}" for text in self._turns.waiting))

    def _show_settings(self) -> None:
        plan, session = self._prepared.plan, self._session
        mode, model, left = plan.approval_mode, plan.model, None
        if session is not None:
            state = session.services.state
            mode, model = state.approval_mode, state.active_model
            if state.last_prompt_tokens:
                used = state.last_prompt_tokens / token_limit(model)
                left = max(0, round((1 - used) * 100))
        shell = self.query_one(PromptInput).shell
        self.query_one(ModeLine).show(mode, known_beside(session), shell=shell)
        mark = "!" if shell else "*" if mode is ApprovalMode.YOLO else ">"
        self.query_one(Composer).mark(mark)
        self.query_one(Footer).show(self._folder(), model, left)

    def _folder(self) -> str:
        workspace = self._prepared.machine.workspace
        root, home = str(workspace.root), str(workspace.home)
        return f"~{root.removeprefix(home)}" if root.startswith(f"{home}{os.sep}") else root

    def on_dialog_host_opened(self) -> None:
        """The dialog takes the place of the input."""
        self.query_one(ActivityLine).covered = True
        self.query_one("#below").display = False

    def on_dialog_host_closed(self) -> None:
        """The input is back."""
        if not self._dialogs.busy:
            self.query_one(ActivityLine).covered = False
            self.query_one("#below").display = True
            self.query_one(PromptInput).focus()

    # ------------------------------------------------------------------ keys

    def on_prompt_input_submitted(self, event: PromptInput.Submitted) -> None:
        """Send a prompt, or run a command."""
        text = event.text.strip()
        if event.shell:
            self._turns.submit_shell(text)
        elif self._slash is None and text in ("/quit", "/exit"):
            self._leaving.set()  # The session is still opening, or has failed.
        else:
            self._turns.submit(text)

    def on_prompt_input_shell_switched(self) -> None:
        """Show the mode."""
        self._show_settings()

    def on_prompt_input_asks_for_shortcuts(self) -> None:
        """Show the keys until the user writes, or asks again."""
        panel = self.query_one("#shortcuts")
        panel.display = not panel.display

    def on_text_area_changed(self) -> None:
        """Look for what the text may become."""
        prompt = self.query_one(PromptInput)
        if prompt.text:
            self.query_one("#shortcuts").display = False
        self._suggest(prompt.text, prompt.shell)

    @work(exclusive=True, group="menu")
    async def _suggest(self, text: str, shell: bool) -> None:
        offered: list[Suggestion] = []
        place = mention_place(text)
        if place is None and self._mentions is not None:
            self._mentions.forget()
        if self._slash is not None and is_slash_command(text) and "\n" not in text and not shell:
            place = max(1, text.rfind(" ") + 1)
            offered = await self._slash.suggestions(text)
        elif place is not None and self._mentions is not None:
            with self._prepared.machine.clock.real_work():
                offered = await self._mentions.suggestions(text)
        self.query_one(SuggestionMenu).offer(text, place or 0, offered)

    async def action_interrupt(self) -> None:
        """Ctrl+C: end what runs, or clear the input; twice: leave."""
        if self._again("ctrl+c"):
            self._leaving.set()
            return
        self.query_one(PromptInput).text = ""
        await self._turns.abort()

    def action_end_of_input(self) -> None:
        """Ctrl+D twice: leave."""
        if not self.query_one(PromptInput).text and self._again("ctrl+d"):
            self._leaving.set()

    def action_quit_now(self) -> None:
        """Leave."""
        self._leaving.set()

    async def action_escape(self) -> None:
        """Esc: close what is open, or end what runs; twice: clear the prompt, or rewind."""
        prompt, menu = self.query_one(PromptInput), self.query_one(SuggestionMenu)
        shortcuts = self.query_one("#shortcuts")
        if menu.is_for(prompt.text):
            menu.close()
        elif shortcuts.display:
            shortcuts.display = False
        elif self._turns.busy:
            waiting = self._turns.take_back()
            if waiting:
                prompt.replace_all(waiting)
            await self._turns.abort()
        elif prompt.shell:
            prompt.switch_shell(False)
        elif prompt.text:
            if self._again("escape"):
                prompt.text = ""
        elif self._again("rewind"):
            self._disarm()
            self._turns.submit("/rewind")

    def _again(self, key: str) -> bool:
        """Whether `key` was pressed a moment ago, too; if not, say what a second time does."""
        if self._armed == key:
            return True
        self._armed = key
        self.query_one(ActivityLine).hint = _AGAIN[key]
        self.set_timer(_AGAIN_S, self._disarm)
        return False

    def _disarm(self) -> None:
        self._armed = None
        self.query_one(ActivityLine).hint = ""

    async def action_next_mode(self) -> None:
        """Shift+Tab: the next approval mode."""
        if self._session is not None:
            mode = self._session.services.state.approval_mode
            await self._turns.set_mode(_NEXT_MODE[mode])

    async def action_toggle_yolo(self) -> None:
        """Ctrl+Y: YOLO mode on or off."""
        if self._session is None:
            return
        services = self._session.services
        yolo = services.state.approval_mode is ApprovalMode.YOLO
        if not yolo and services.settings.disable_yolo_mode:
            words = "YOLO mode is disabled by the settings file's security.disableYoloMode."
            self._drawing.add(Typed(text=words, mark="warning"))
            return
        await self._turns.set_mode(ApprovalMode.DEFAULT if yolo else ApprovalMode.YOLO)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave Ctrl+L to an open dialog."""
        return action != "clear_screen" or not self._dialogs.busy

    def action_clear_screen(self) -> None:
        """Ctrl+L: remove what is shown; the conversation stays."""
        self._drawing.add(Cleared())

    async def action_edit_prompt(self) -> None:
        """Ctrl+G: write the prompt in the user's editor."""
        prompt = self.query_one(PromptInput)
        edited = await self._editor.edit("prompt.md", prompt.text)
        if edited is not None:
            prompt.replace_all(edited.rstrip("\n"))

    def action_toggle_expanded(self) -> None:
        """Ctrl+O: long outputs whole, or short again."""
        self._transcript.toggle_expanded()

    def action_scroll_transcript(self, pages: int) -> None:
        """Scroll the transcript."""
        self._transcript.scroll_pages(pages)


def _first(error: Exception) -> Exception:
    """The error itself, without the groups that task groups put around it."""
    while isinstance(error, ExceptionGroup):
        error = error.exceptions[0]
    return error


def _shortcuts() -> str:
    return "\n".join(f" {line}" for line in shortcut_lines(SHORTCUTS))
