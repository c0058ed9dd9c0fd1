"""`SessionView`: a session behind the screen. It draws, asks, and sends the user's prompts.

It needs most of the product, so the screen imports it once the user can type.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Protocol

from runtimes.registry import Surface
from services.interaction.interaction import Interaction
from services.interaction.questions import FallbackIntent
from services.model.errors import FatalAuthenticationError
from services.progress import CallKey, CallQuestion
from services.recording.deletion import delete_stored_session
from services.state import ApprovalModeChanged, CoreEvent, CoreEvents, HintsKept
from surfaces.allowed import Allowed, allows_for_ever
from surfaces.commands import Suggestion, is_slash_command
from surfaces.headless.engine import chosen_runtime
from surfaces.headless.preferences import Preferences
from surfaces.headless.sessions import RecordedSession
from surfaces.terminal.approvals import Approvals
from surfaces.terminal.call_words import CallShown
from surfaces.terminal.dialogs.dialog import DialogHost
from surfaces.terminal.dialogs.questions import handlers
from surfaces.terminal.drawing import Cleared, Drawing, Screen, Shown, Typed
from surfaces.terminal.extension_updates import offer_extension_updates
from surfaces.terminal.external_editor import ExternalEditor, Suspend
from surfaces.terminal.failures import failure_of
from surfaces.terminal.farewell import GOODBYE, farewell_of
from surfaces.terminal.key_bindings import offer_key_bindings
from surfaces.terminal.live import LiveSession, OpenSession, open_live_session
from surfaces.terminal.mentions import Mentions, mention_place
from surfaces.terminal.mode_keys import next_mode, toggle_yolo
from surfaces.terminal.prepared import Prepared
from surfaces.terminal.signing_in import SigningIn
from surfaces.terminal.slash import Application, SlashCommands
from surfaces.terminal.status import Status
from surfaces.terminal.stored_sessions import conversation_of, earlier_prompts
from surfaces.terminal.transcript import Transcript
from surfaces.terminal.turns import Backlog, Turns

__all__ = ["Front", "SessionView"]


class Front(Protocol):
    """What a session needs of the screen."""

    theme: str

    @property
    def transcript(self) -> Transcript:
        """Shows what was said and done."""
        ...

    @property
    def dialogs(self) -> DialogHost:
        """Shows the questions."""
        ...

    @property
    def suspend(self) -> Suspend:
        """Gives the terminal to another program while it is entered."""
        ...

    def show_activity(self, words: str | None) -> None:
        """Show what the agent does; `None` for nothing."""
        ...

    def show_status(self) -> None:
        """Show the mode, the model and the like anew."""
        ...

    def show_waiting(self) -> None:
        """Show the prompts that wait anew."""
        ...

    def draft(self, text: str) -> None:
        """Put a text into the input."""
        ...

    def toggle_vim(self) -> bool:
        """Switch the input's Vim keys; returns whether they are on."""
        ...

    @property
    def recalls(self) -> bool:
        """Whether the prompts of earlier sessions are to be recalled."""
        ...

    def recall_earlier(self, texts: Sequence[str]) -> None:
        """Take the prompts of earlier sessions, oldest first."""
        ...

    def copy_to_clipboard(self, text: str) -> None:
        """Write a text to the clipboard."""
        ...


class SessionView:
    """One session, from its opening to its end."""

    def __init__(
        self,
        front: Front,
        prepared: Prepared,
        open_session: OpenSession | None = None,
        backlog: Backlog | None = None,
    ) -> None:
        """Hold a session.

        Args:
            front: the screen.
            prepared: what is known of the session.
            open_session: opens it; `None`: as the product does.
            backlog: what an earlier session has left for this one.
        """
        self._front = front
        self._prepared = prepared
        self._open_session = open_session or open_live_session
        self._events = CoreEvents()
        self._events.subscribe(self._on_core_event)
        self.drawing = Drawing(
            Screen(
                transcript=front.transcript,
                root=str(prepared.machine.workspace.root),
                auth_type=prepared.source.auth_type,
                activity=front.show_activity,
                settings_changed=front.show_status,
                question=self._ask,
                moved=self._moved,
            )
        )
        self._preferences = Preferences(
            prepared.machine.workspace, prepared.plan.document, prepared.options.settings_file
        )
        self.editor = ExternalEditor(
            self._preferences,
            prepared.machine.environment.variables,
            front.dialogs,
            self.drawing,
            front.suspend,
        )
        self.turns = Turns(self.drawing, front.show_waiting, backlog)
        self.session: LiveSession | None = None
        self._approvals: Approvals | None = None
        self._slash: SlashCommands | None = None
        self._mentions: Mentions | None = None
        self.farewell: Sequence[str] = (GOODBYE,)
        """What the session says when it has ended."""
        self._deletes = False
        """Whether the session's recording is deleted at its end."""
        self._next: Prepared | None = None
        """What opens the session that takes the place of this one."""
        self._leaving = asyncio.Event()

    @property
    def opened(self) -> bool:
        """Whether the session takes prompts."""
        return self._slash is not None and self.session is not None

    def leave(self) -> None:
        """End the session."""
        self._leaving.set()

    async def hold(self) -> Prepared | None:
        """Open the session, let it work until the user leaves, and close it.

        A user without a way to sign in is asked for one instead.

        Returns:
            What opens the session to go on with; `None`: the user has left.
        """
        prepared = self._prepared
        if prepared.unsigned is not None:
            self._next = await self._signing_in().required(prepared.unsigned, self._leaving)
        else:
            try:
                await self._work()
            except Exception as error:
                failure = failure_of(error)
                if not isinstance(failure, FatalAuthenticationError) or self.opened:
                    raise
                problem = f"Failed to sign in. Message: {failure}"
                self._next = replace(prepared, unsigned=problem)
        if self._next is not None:
            self._front.transcript.clear()
        return self._next

    async def _work(self) -> None:
        async with AsyncExitStack() as stack:
            tasks = await stack.enter_async_context(asyncio.TaskGroup())
            drawing = tasks.create_task(self.drawing.run(), name="drawing")
            stack.callback(drawing.cancel)
            # No part of a session: the question need not wait until it is open.
            asking = offer_key_bindings(self._prepared.machine, self._front.dialogs, self.drawing)
            bindings = tasks.create_task(asking, name="key bindings")
            stack.callback(bindings.cancel)
            kept: set[asyncio.Task[FallbackIntent | None]] = set()
            stack.push_async_callback(_withdrawn, kept)
            interaction = Interaction(handlers(lambda: self._front.dialogs, self.turns.abort, kept))
            session = await stack.enter_async_context(
                self._open_session(self._prepared, interaction, self._events, self._warn)
            )
            stack.callback(session.progress.subscribe(self.drawing.add))
            self._show_opened(session)
            slash = self._slash_commands(session)
            await slash.load()
            self._slash = slash
            self._mentions = Mentions(session.services)
            stack.callback(session.services.ide.context.subscribe(self._front.show_status))
            updates = offer_extension_updates(
                session.services.extensions, self.drawing, slash.consents
            )
            offering = tasks.create_task(updates, name="updates of extensions")
            turns = tasks.create_task(self.turns.run(session, slash), name="turns")
            recalling = tasks.create_task(self._recall(session), name="earlier prompts")
            await self._leaving.wait()
            await self.turns.abort()
            if self._approvals is not None:
                self._approvals.close()
            turns.cancel()
            offering.cancel()
            recalling.cancel()
            self.farewell = farewell_of(session, slash.summary(), deleted=self._deletes)
            session_id = session.services.state.session_id
        if self._deletes:
            delete_stored_session(self._prepared.machine.workspace.project_temp, session_id)

    def _signing_in(self) -> SigningIn:
        return SigningIn(self._prepared, self._preferences, self._front.dialogs)

    async def _sign_in_again(self) -> None:
        changed = await self._signing_in().changed()
        if changed is not None:
            self._go_on(changed)

    async def _sign_out(self) -> None:
        self._next = await self._signing_in().signed_out()
        self._leaving.set()

    def _go_on(self, prepared: Prepared) -> None:
        self._next = prepared
        self._leaving.set()

    async def _recall(self, session: LiveSession) -> None:
        if self._front.recalls:
            self._front.recall_earlier(await earlier_prompts(session.services))

    def _slash_commands(self, session: LiveSession) -> SlashCommands:
        async def copy(text: str) -> None:
            self._front.copy_to_clipboard(text)

        def leave(delete: bool) -> None:
            self._deletes = delete
            self._leaving.set()

        def resume(chosen: RecordedSession) -> None:
            self.turns.notes.forget()
            self._go_on(self._prepared.resuming(chosen))

        hooks = Application(
            draft=self._front.draft,
            leave=leave,
            go_on=resume,
            sign_in=self._sign_in_again,
            sign_out=self._sign_out,
            copy=copy,
            vim=self._front.toggle_vim,
            editor=self.editor,
            themed=self._front,
            preferences=self._preferences,
        )
        plan, options = self._prepared.plan, self._prepared.options
        name = chosen_runtime(options.runtime, plan.settings, Surface.INTERACTIVE)
        return SlashCommands(
            session, name, self._front.dialogs, self.drawing, hooks, self.turns.notes
        )

    def _show_opened(self, session: LiveSession) -> None:
        services = session.services
        self._approvals = Approvals(
            self._front.dialogs,
            services.bus,
            services.ide,
            Allowed(
                session=services.settings.folder_trusted,
                for_ever=allows_for_ever(self._prepared.plan.document),
            ),
            edit=self.editor.edit,
            refused=self.turns.abort,
        )
        self.session = session
        if services.session_hooks.started.message:
            self._warn(services.session_hooks.started.message)
        for item in conversation_of(session):
            self.drawing.add(Shown(item=item))
        for warning in self._prepared.plan.settings.warnings:
            self.drawing.add(Typed(text=warning, mark="warning"))
        self._front.show_status()

    # ------------------------------------------------------------------ what is shown

    @property
    def status(self) -> Status | None:
        """The facts for the footer; `None`: the session is not open."""
        return None if self.session is None else Status.of(self.session)

    async def suggestions(self, text: str, shell: bool) -> tuple[int, list[Suggestion]]:
        """What `text` may become, and the place in it that a suggestion replaces."""
        place = mention_place(text)
        if place is None and self._mentions is not None:
            self._mentions.forget()
        if self._slash is not None and is_slash_command(text) and "\n" not in text and not shell:
            return max(1, text.rfind(" ") + 1), await self._slash.suggestions(text)
        if place is not None and self._mentions is not None:
            with self._prepared.machine.clock.real_work():
                return place, await self._mentions.suggestions(text)
        return 0, []

    async def next_mode(self) -> None:
        """Take the next approval mode."""
        if self.session is not None:
            await next_mode(self.session.services, self.turns)

    async def toggle_yolo(self) -> None:
        """Switch YOLO mode."""
        if self.session is not None:
            await toggle_yolo(self.session.services, self.turns, self.drawing)

    async def show_tasks(self) -> None:
        """Show the commands that run in the background."""
        if self._slash is not None and not self._front.dialogs.busy:
            await self._slash.show_tasks()

    def clear_screen(self) -> None:
        """Remove what is shown; the conversation stays."""
        self.drawing.add(Cleared())

    def _warn(self, words: str) -> None:
        self.drawing.add(Typed(text=words, mark="info"))

    def _on_core_event(self, event: CoreEvent) -> None:
        if isinstance(event, ApprovalModeChanged) and self._approvals is not None:
            self._approvals.mode_changed(event.mode)
        if not isinstance(event, HintsKept):
            self.drawing.add(event)

    def _ask(self, question: CallQuestion, call: CallShown) -> None:
        if self._approvals is not None:
            self._approvals.ask(question, call)

    def _moved(self, call: CallKey, status: str) -> None:
        if self._approvals is not None:
            self._approvals.moved(call, status)


async def _withdrawn(questions: set[asyncio.Task[FallbackIntent | None]]) -> None:
    """End the questions that are still open."""
    tasks = list(questions)
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks)
