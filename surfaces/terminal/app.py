"""`TerminalApp`: the screen of an interactive session, and its keys.

The user can type before the session is open: the rest of the product is imported behind the screen.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Final

from textual import work
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.filter import LineFilter
from textual.widgets import Static
from textual.worker import Worker

from parity import own_name
from services.settings.declaring import look_up
from services.state import ApprovalMode
from surfaces.terminal.again import Again
from surfaces.terminal.composer import VIM_SETTING, Composer, PromptInput
from surfaces.terminal.device import Colourless, Device
from surfaces.terminal.dialogs.dialog import DialogHost
from surfaces.terminal.failures import exit_of, failure_of
from surfaces.terminal.farewell import GOODBYE
from surfaces.terminal.inert import inert_line
from surfaces.terminal.menu import SuggestionMenu
from surfaces.terminal.plain import PlainLines
from surfaces.terminal.prepared import Prepared
from surfaces.terminal.status import ActivityLine, Footer, ModeLine, Status
from surfaces.terminal.themes import DEFAULT_THEME, THEME_SETTING, textual_theme
from surfaces.terminal.transcript import Transcript

if TYPE_CHECKING:
    from textual.driver import Driver

    from surfaces.terminal.live import OpenSession
    from surfaces.terminal.session_view import SessionView

__all__ = ["TerminalApp"]

logger = logging.getLogger(__name__)

_SESSION: Final = own_name("surfaces.terminal.session_view")
_MOST_SHOWN: Final = 500
"""The letters of a waiting prompt that are shown."""
_ENDING_SIGNALS: Final = ("SIGTERM", "SIGHUP", "SIGINT")


class TerminalApp(App[int]):
    """Holds one session after the other; its result is the exit code."""

    TITLE = "parity"
    ENABLE_COMMAND_PALETTE = False
    CSS_PATH = "terminal.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c", "interrupt", show=False, priority=True),
        Binding("ctrl+d", "end_of_input", show=False, priority=True),
        Binding("ctrl+q", "quit_now", show=False, priority=True),
        Binding("ctrl+z", "suspend", show=False, priority=True),
        Binding("escape", "escape", show=False),
        Binding("ctrl+y", "toggle_yolo", show=False, priority=True),
        Binding("ctrl+b", "show_tasks", show=False),
        Binding("ctrl+l", "clear_screen", show=False, priority=True),
        Binding("ctrl+g", "edit_prompt", show=False),
        Binding("ctrl+o", "toggle_expanded", show=False, priority=True),
        Binding("pageup", "scroll_transcript(-1)", show=False, priority=True),
        Binding("pagedown", "scroll_transcript(1)", show=False, priority=True),
    ]

    def __init__(
        self,
        prepared: Prepared,
        open_session: OpenSession | None = None,
        driver_class: type[Driver] | None = None,
        device: Device | None = None,
        *,
        recalls: bool = True,
        plain: Callable[[str], object] | None = None,
    ) -> None:
        """Show a session.

        Args:
            prepared: what is known of the session.
            open_session: opens it; `None`: as the product does.
            driver_class: writes to the terminal; `None`: Textual chooses.
            device: what the terminal can do; `None`: what the environment says.
            recalls: whether the prompts of earlier sessions can be recalled.
            plain: gets the session as plain lines, piece by piece, in place of a drawing.
        """
        super().__init__(driver_class=driver_class)
        self.no_color = not (device or Device.of(os.environ)).colours
        self._recalls = recalls
        self._plain = None if plain is None else PlainLines(self, plain)
        self.ended_by: str | None = None
        """What has ended the session, unless the user has left it."""
        self.farewell: Sequence[str] = (GOODBYE,)
        """What is to be printed when the screen is gone."""
        self._holding: Worker[None] | None = None
        self.HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (80, "-wide")]
        self._prepared = prepared
        self._open_session = open_session
        self._transcript = Transcript(id="transcript")
        self._dialogs = DialogHost(prepared.machine.clock)
        self._view: SessionView | None = None
        self._early: list[tuple[str, bool]] = []
        """What was sent before there was a session, and whether it was sent to the shell."""
        self._leaving = asyncio.Event()
        self.failure: Exception | None = None
        """Why the session has ended, unless the user has left."""
        self._again = Again(lambda: self.query_one(ActivityLine))

    def compose(self) -> ComposeResult:
        """The transcript above, and below it the dialogs or the input."""
        yield self._transcript
        yield self._dialogs
        with Vertical(id="below"):
            yield Static("", id="waiting", markup=False)
            yield ActivityLine()
            yield Static("", id="shortcuts", markup=False)
            yield ModeLine(markup=False)
            yield Composer()
            yield SuggestionMenu()
        yield Footer(self._setting("ui.footer", {}))

    def on_load(self) -> None:
        """Take care of the signals before the screen takes the terminal."""
        self._listen()

    def on_mount(self) -> None:
        """Show the screen, and open the session behind it."""
        self.theme = textual_theme(str(self._setting(THEME_SETTING, DEFAULT_THEME)))
        prompt = self.query_one(PromptInput)
        prompt.connect(self.query_one(SuggestionMenu), self._take_back)
        prompt.switch_vim(self._setting(VIM_SETTING, False))
        prompt.focus()
        self.show_status()
        if self._prepared.options.prompt_interactive:
            self._submit(self._prepared.options.prompt_interactive)
        if self._plain is not None:
            self._transcript.display = False
            self._transcript.heard = lambda: self.call_later(self.post_display_hook)
        self.app_resume_signal.subscribe(self, lambda _: self.refresh(layout=True))
        self._holding = self._hold_sessions()

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Textual's; none but `Colourless` where the terminal has no colours."""
        return [Colourless()] if self.no_color else super().get_line_filters()

    def _setting(self, key: str, default: Any) -> Any:
        value = look_up(self._prepared.plan.document, key)[1]
        usable = isinstance(value, Mapping if isinstance(default, Mapping) else type(default))
        return value if usable else default

    def on_unmount(self) -> None:
        """Leave the line of the input, where nothing was drawn."""
        if self._plain is not None:
            self._plain.end()

    def post_display_hook(self) -> None:
        """Write what has changed, where nothing is drawn."""
        if self._plain is not None and self.is_running and self.query(PromptInput):
            self._plain.look()

    # ------------------------------------------------------------------ the session

    @property
    def view(self) -> SessionView | None:
        """The present session; `None`: the product is not imported yet."""
        return self._view

    @property
    def opened(self) -> bool:
        """Whether the session takes prompts."""
        return self._view is not None and self._view.opened

    @property
    def working(self) -> bool:
        """Whether the agent or a command works, or a prompt waits."""
        view = self._view
        return bool(self._early) if view is None else view.turns.busy or bool(view.turns.waiting)

    @work(exit_on_error=False)
    async def _hold_sessions(self) -> None:
        """Hold the session, and those that take its place, until the user leaves."""
        code = 0
        try:
            make = (await _imported(_SESSION)).SessionView
            going_on: Prepared | None = self._prepared
            backlog = None
            while going_on is not None and not self._leaving.is_set():
                self._prepared = going_on
                view = self._view = make(self, going_on, self._open_session, backlog)
                for text, shell in self._early:
                    self._submit(text, shell=shell)
                self._early.clear()
                going_on = await view.hold()
                self.farewell, backlog = view.farewell, view.turns.backlog
        except asyncio.CancelledError:
            logger.debug("left before the session was open")
        except Exception as error:
            # The outermost layer of the session: the user gets a message for any error.
            logger.debug("the session failed", exc_info=True)
            self.failure = failure_of(error)
            code, words = exit_of(self.failure)
            self.farewell = [words]
            await self._failed(words)
        self.exit(code)

    async def _failed(self, words: str) -> None:
        """Show why the session ended, and wait for the user to leave."""
        self._view = None
        self._transcript.notice(words, "error")
        self._transcript.notice("The session has ended. Press Ctrl+C twice to leave.")
        await self._leaving.wait()

    def _leave(self) -> None:
        self._leaving.set()
        if self._view is not None:
            self._view.leave()
        if not self.opened and self.failure is None and self._holding is not None:
            self._holding.cancel()  # What is opening may take long.

    def _listen(self) -> None:
        """Leave the session when a signal asks for it."""
        loop = asyncio.get_running_loop()
        for name in () if self.is_headless else _ENDING_SIGNALS:
            # Not every platform has all of them, and its loop may not listen.
            with suppress(AttributeError, NotImplementedError, RuntimeError, ValueError):
                loop.add_signal_handler(getattr(signal, name), partial(self._end, name))

    def panic(self, *renderables: Any) -> None:
        """Close the screen after an error of its own; the program says what has happened."""
        logger.debug("the screen failed: %s", renderables)
        super().panic()

    def _handle_exception(self, error: Exception) -> None:
        self.failure = error
        super()._handle_exception(error)

    def terminal_lost(self) -> None:
        """Leave the session: there is no terminal any more."""
        self._end("the loss of the terminal")

    def _end(self, reason: str) -> None:
        self.ended_by = self.ended_by or reason
        self._leave()

    def _submit(self, text: str, *, shell: bool = False) -> None:
        view = self._view
        if view is None:
            self._early.append((text, shell))
            self.show_waiting()
        elif shell:
            view.turns.submit_shell(text)
        else:
            view.turns.submit(text)

    def _take_back(self) -> str:
        if self._view is not None:
            return self._view.turns.take_back()
        texts = [text for text, _ in self._early]
        self._early.clear()
        self.show_waiting()
        return "\n\n".join(texts)

    # ------------------------------------------------------------------ what a session shows

    @property
    def transcript(self) -> Transcript:
        """Shows what was said and done."""
        return self._transcript

    @property
    def dialogs(self) -> DialogHost:
        """Shows the questions."""
        return self._dialogs

    def draft(self, text: str) -> None:
        """Put a text into the input."""
        self.query_one(PromptInput).replace_all(text)

    def toggle_vim(self) -> bool:
        """Switch the input's Vim keys; returns whether they are on."""
        prompt = self.query_one(PromptInput)
        prompt.switch_vim(prompt.vim_mode is None)
        return prompt.vim_mode is not None

    @property
    def recalls(self) -> bool:
        """Whether the prompts of earlier sessions are to be recalled."""
        return self._recalls

    def recall_earlier(self, texts: Sequence[str]) -> None:
        """Take the prompts of earlier sessions, oldest first."""
        self.query_one(PromptInput).recall_earlier(texts)

    def show_activity(self, words: str | None) -> None:
        """Show what the agent does; `None` for nothing."""
        self.query_one(ActivityLine).activity = words

    def show_waiting(self) -> None:
        """Show the prompts that wait."""
        if not self.is_running:
            return
        view = self._view
        waiting = view.turns.waiting if view is not None else [text for text, _ in self._early]
        line = self.query_one("#waiting", Static)
        line.display = bool(waiting) and (view is None or view.turns.busy)
        line.update("\n".join(f"… {inert_line(text[:_MOST_SHOWN])}" for text in waiting))

    def show_status(self) -> None:
        """Show the mode, the model and the like."""
        plan, view = self._prepared.plan, self._view
        status = view.status if view is not None else None
        status = status or Status(mode=plan.approval_mode, model=plan.model)
        prompt = self.query_one(PromptInput)
        self.query_one(ModeLine).show(status, shell=prompt.shell)
        mark = "!" if prompt.shell else "*" if status.mode is ApprovalMode.YOLO else ">"
        self.query_one(Composer).mark("(r:)" if prompt.searching else mark)
        self.query_one(Footer).show(self._folder(), self._sandbox(), status, prompt.vim_mode)

    def _folder(self) -> str:
        workspace = self._prepared.machine.workspace
        root, home = str(workspace.root), str(workspace.home)
        return f"~{root.removeprefix(home)}" if root.startswith(f"{home}{os.sep}") else root

    def _sandbox(self) -> str:
        """Where the tools run.

        Source: `packages/cli` `ui/components/Footer.tsx` (`SandboxIndicator`).
        """
        if not self._prepared.plan.settings.folder_trusted:
            return "untrusted"
        variables = self._prepared.machine.environment.variables
        return "current process" if variables.get("SANDBOX") else "no sandbox"

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
        if not event.shell and not self.opened and text in ("/quit", "/exit"):
            self._leave()  # The session is still opening, or has failed.
        else:
            self._submit(text, shell=event.shell)

    def on_prompt_input_mode_switched(self) -> None:
        """Show the mode."""
        self.show_status()

    def on_prompt_input_asks_for_shortcuts(self) -> None:
        """Show the keys until the user writes, or asks again."""
        from surfaces.terminal.shortcuts import shortcuts

        panel = self.query_one("#shortcuts", Static)
        panel.update("\n".join(f" {line}" for line in shortcuts()))
        panel.display = not panel.display

    def on_text_area_changed(self) -> None:
        """Look for what the text may become."""
        prompt = self.query_one(PromptInput)
        if prompt.text:
            self.query_one("#shortcuts").display = False
        if prompt.searching:
            prompt.search()
        else:
            self._suggest(prompt.text, prompt.shell)

    @work(exclusive=True, group="menu")
    async def _suggest(self, text: str, shell: bool) -> None:
        view = self._view
        place, offered = (0, []) if view is None else await view.suggestions(text, shell)
        self.query_one(SuggestionMenu).offer(text, place, offered)

    async def action_interrupt(self) -> None:
        """Ctrl+C: end what runs, or clear the input; twice: leave."""
        prompt = self.query_one(PromptInput)
        if prompt.searching:
            prompt.cancel_search()
            return
        if self._again.pressed("ctrl+c"):
            self._leave()
            return
        prompt.text = ""
        if self._view is not None:
            await self._view.turns.abort()

    def action_end_of_input(self) -> None:
        """Ctrl+D twice: leave."""
        if not self.query_one(PromptInput).text and self._again.pressed("ctrl+d"):
            self._leave()

    def action_quit_now(self) -> None:
        """Leave."""
        self._leave()

    async def action_escape(self) -> None:
        """Esc: close what is open, or end what runs; twice: clear the prompt, or rewind."""
        prompt, menu = self.query_one(PromptInput), self.query_one(SuggestionMenu)
        shortcuts, view = self.query_one("#shortcuts"), self._view
        if menu.is_for(prompt.text):
            menu.close()
        elif shortcuts.display:
            shortcuts.display = False
        elif view is not None and view.turns.busy:
            waiting = self._take_back()
            if waiting:
                prompt.replace_all(waiting)
            await view.turns.abort()
        elif prompt.shell:
            prompt.switch_shell(False)
        elif prompt.text:
            if self._again.pressed("escape"):
                prompt.text = ""
        elif prompt.vim_mode is None and self._again.pressed("rewind"):
            self._again.forget()
            self._submit("/rewind")

    def action_suspend(self) -> None:
        """Ctrl+Z twice: give the terminal back to the shell until it calls the session again."""
        if self._again.pressed("suspend"):
            self._again.forget()
            self.action_suspend_process()

    async def action_next_mode(self) -> None:
        """Shift+Tab: the next approval mode."""
        if self._view is not None:
            await self._view.next_mode()

    async def action_toggle_yolo(self) -> None:
        """Ctrl+Y: YOLO mode on or off."""
        if self._view is not None:
            await self._view.toggle_yolo()

    @work(group="tasks")
    async def action_show_tasks(self) -> None:
        """Ctrl+B: the commands that run in the background."""
        if self._view is not None:
            await self._view.show_tasks()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave Ctrl+L and the page keys to an open dialog."""
        return action not in ("clear_screen", "scroll_transcript") or not self._dialogs.busy

    def action_clear_screen(self) -> None:
        """Ctrl+L: remove what is shown; the conversation stays."""
        if self._view is not None:
            self._view.clear_screen()

    async def action_edit_prompt(self) -> None:
        """Ctrl+G: write the prompt in the user's editor."""
        prompt = self.query_one(PromptInput)
        if self._view is None:
            return
        edited = await self._view.editor.edit("prompt.md", prompt.text)
        if edited is not None:
            prompt.replace_all(edited.rstrip("\n"))

    def action_toggle_expanded(self) -> None:
        """Ctrl+O: long outputs whole, or short again."""
        self._transcript.toggle_expanded()

    def action_scroll_transcript(self, pages: int) -> None:
        """Scroll the transcript."""
        self._transcript.scroll_pages(pages)


async def _imported(name: str) -> Any:
    """The module of this name; a thread imports it, so that the screen stays alive."""
    return sys.modules.get(name) or await asyncio.to_thread(import_module, name)
