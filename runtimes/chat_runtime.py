"""`ChatRuntime`: the common part of our own runtimes, around one conversation.

Each runtime has its own way to drive the model. The commands of a client outside a stream are here.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, Protocol

from agent_protocol.agent import AgentProtocol
from runtimes.contract import Runtime
from services.abort import AbortController
from services.background import BackgroundTasks
from services.bundle import Services
from services.chat import ChatSuccession
from services.checkpoints import Restored
from services.compression.service import CompressionInfo
from services.loop_detection.question import LoopPrompt
from services.mode_words import plan_mode_exit
from services.rewind import revert_files
from services.state import ApprovalMode, SessionUpdated
from services.steering import InjectionSource
from services.subagents.new_agents import ask_about_new_agents
from services.wire import Content, JsonObject

__all__ = ["ChatRuntime"]

_GRACE_S: Final = 5.0
"""How long an aborted stream may take to end by itself before its task is cancelled."""


class Abortable(Protocol):
    """An agent or a child."""

    async def abort(self) -> None:
        """Ask the active stream to end."""
        ...


class ChatRuntime(Runtime):
    """One conversation of a session. Its streams are tasks of `tasks`."""

    def __init__(self, services: Services, tasks: BackgroundTasks, chats: ChatSuccession) -> None:
        self._services = services
        self._tasks = tasks
        self._chats = chats

    @abstractmethod
    def _new_agent(self, prompt_id: str) -> AgentProtocol:
        """Make an agent over this conversation."""

    @abstractmethod
    def _running(self) -> Iterable[Abortable]:
        """The agents and children that `close` aborts."""

    async def _close_agents(self) -> None:
        """Close what a runtime's agents hold, once their tasks have ended."""

    def agent(self, *, prompt_id: str | None = None) -> AgentProtocol:
        """A new agent over this conversation."""
        services = self._services
        prompt_id = prompt_id or services.state.prompt_id
        agent, telemetry = self._new_agent(prompt_id), services.telemetry
        agent.subscribe(
            LoopPrompt(
                services.asides,
                prompt_id=prompt_id,
                disable=self._chats.loops.disable_for_session,
            )
        )
        return agent if telemetry is None else telemetry.agent(agent)

    def transcript(self) -> list[Content]:
        """The model-facing history, oldest first."""
        return self._chats.current.shown_history()

    async def open(self) -> None:
        """Begin the session: its hooks, and the question about new agents."""
        services = self._services
        ask_about_new_agents(services.subagents.registry, services.asides)
        await services.session_hooks.begin(lambda context: self._chats.current.add_history(context))

    async def reset(self) -> None:
        """Start the conversation anew."""

        def clear() -> None:
            self._services.steering.clear()
            self._chats.reset()

        await self._services.session_hooks.cleared(clear)

    async def compress(self) -> CompressionInfo:
        """Summarise the history now.

        Raises:
            ModelError: no summary could be got.
        """
        prompt_id = f"compress-{self._services.clock.now_ms()}"
        return await self._chats.compress(prompt_id, AbortController().signal, force=True)

    async def resume(self, recording: Path | None) -> None:
        """Go on from a chat recording; from this conversation's own where none is given.

        Raises:
            ValueError: it is not a chat recording.
        """
        self._chats.resume(recording)

    async def load_history(self, contents: Sequence[Content]) -> None:
        """Go on from another history; each content is recorded as a new turn."""
        self._chats.load_history(contents)
        await self._went_back()

    async def rewind(self, to: str | int) -> None:
        """Go back to before a message: its id, or its number among the user's own, from 0."""
        self._chats.rewind(to)
        await self._went_back()

    async def revert(self, to: str | int) -> None:
        """Take back the edits of files after a message, which is named as for `rewind`.

        What cannot be taken back is reported as `UserFeedback`.
        """
        message_id, services = self._chats.message_id(to), self._services
        revert_files(self.recorded, message_id, services.workspace, services.events.emit)

    async def restore(self, checkpoint: str | int) -> Restored:
        """Restore the conversation and the workspace of a checkpoint; see `Checkpoints.restore`.

        Raises:
            ValueError: checkpoints are switched off.
        """
        checkpoints = self._services.checkpoints
        if checkpoints is None:
            raise ValueError(
                "Checkpointing is not enabled. Please enable it in your settings "
                "(`general.checkpointing.enabled: true`) to use /restore."
            )
        restored = await checkpoints.restore(checkpoint, self._chats.load_history)
        if restored.shown is not None:
            await self._went_back()
        return restored

    @property
    def recorded(self) -> Sequence[JsonObject]:
        """The messages of the chat recording, oldest first: where `/rewind` can go back to."""
        return self._chats.current.recording.messages

    async def _went_back(self) -> None:
        """Have the engine and its clients follow a conversation that went back."""
        await self._follow_back()
        self._services.events.emit(SessionUpdated(model=self._services.state.active_model))

    async def _follow_back(self) -> None:
        """Have what a runtime keeps beside the history follow it back."""

    async def leave_plan_mode(self, mode: ApprovalMode) -> None:
        """Change the mode while no stream runs; if that ends plan mode, the history says so.

        Source: the published command line's prompt (`useGeminiStream`).

        Raises:
            PrivilegedModeRefused: the folder is not trusted, and the mode asks less than usual.
        """
        state = self._services.state
        planning = state.approval_mode is ApprovalMode.PLAN
        state.set_approval_mode(mode)
        if planning and mode is not ApprovalMode.PLAN:
            text = plan_mode_exit(mode, manual=True)
            self._chats.current.add_history({"role": "user", "parts": [{"text": text}]})

    async def note_folders(self) -> None:
        """Add the session's folders, and what is in them, to the history and the recording.

        Source: the published command line's `/directory add` (`finishAddingDirectories`).
        """
        services, chat = self._services, self._chats.current
        text = services.prompts.folders_context()
        chat.add_history({"role": "user", "parts": [{"text": text}]})
        chat.recording.record_directories(services.workspace.folders)

    def hint(self, text: str, source: str) -> None:
        """Give a hint to the children that run, and in an interactive session to the main loop.

        Raises:
            ValueError: there is no such source.
        """
        self._services.steering.add(text, InjectionSource(source))

    async def take_hints(self) -> str | None:
        """Take the hints that wait for the main loop, as a prompt of their own."""
        return self._services.steering.main.take_prompt()

    async def settled(self) -> None:
        """Return when no stream's work is left, rollbacks after an abort included."""
        await self._tasks.settled()

    async def close(self) -> None:
        """Abort what runs and await it."""
        for each in self._running():
            await each.abort()
        self._services.scheduler.cancel_all()
        await self._tasks.end(_GRACE_S)
        await self._close_agents()
        await self._services.session_hooks.finish()
        self._services.scheduler.dispose()
