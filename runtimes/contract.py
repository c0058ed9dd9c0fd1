"""The contract of a runtime: one conversation's engine, and the agents that drive it.

`AgentProtocol` has what clients need. This module has what slash commands and the harness need of
every runtime in addition: to restart a conversation, to read its model-facing history.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

from agent_protocol.agent import AgentProtocol
from services.bundle import Services
from services.checkpoints import Restored
from services.compression.service import CompressionInfo
from services.state import ApprovalMode
from services.wire import Content, JsonObject

__all__ = [
    "ConversationCommands",
    "KeepsHints",
    "KeepsRecording",
    "LeavesPlanMode",
    "NotesFolders",
    "ReplacesHistory",
    "ReportsPlace",
    "ReportsVersions",
    "RestoresCheckpoints",
    "Runtime",
    "RuntimeBroken",
    "RuntimeFactory",
    "RuntimeTraits",
    "RuntimeUnavailable",
    "ShowsMore",
    "TakesEditsBack",
    "UnusableRuntime",
]


class RuntimeBroken(Exception):
    """The engine itself broke, because its process died for example. Its results do not count."""


class CommandFailed(Exception):
    """The engine refused a command. `message` and the error's `name` are the engine's."""

    def __init__(self, command: str, name: str, message: str) -> None:
        super().__init__(f"{command}: {message}")
        self.name = name
        self.message = message


class RuntimeUnavailable(Exception):
    """The engine cannot be opened on this machine. `problem` says why, `mend` what to do."""

    def __init__(self, problem: str, mend: str) -> None:
        super().__init__(f"{problem}; {mend}")
        self.problem = problem
        self.mend = mend


class UnusableRuntime(RuntimeUnavailable):
    """A runtime's package cannot be imported, or does not fulfil this module's contract."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeTraits:
    """Facts about an engine before it is opened.

    A runtime's package may hold its own as `TRAITS`, or make them in `traits(variant)`.
    """

    features: frozenset[str] | None = None
    """Its features beyond plain turns, by the names of a cassette's needs; `None`: all."""
    folders: Mapping[str, str] = field(default_factory=dict)
    """Folders of this machine that its output may name, and their replacements."""
    words: str = "parity"
    """The owner of its prompts, tool descriptions and environment texts. The comparison includes
    these texts only between engines with the same owner."""
    confinable: bool = True
    """Whether it acts only through its services. Others do not get untrusted cassettes."""
    inspected: str = ""
    """Its variant that also checks what no comparison can see; the harness plays that one."""
    channels: frozenset[str] | None = None
    """The channels (`harness.parity.divergence.ChannelName`) that it can show; `None`: all. A
    comparison uses the channels that both sides show."""
    custom: frozenset[str] = frozenset()
    """The names of its custom channels: the keys of what `ShowsMore.shown` returns."""
    tools: Mapping[str, JsonObject] | None = None
    """Its own tools: name → JSON schema of the arguments. `None`: those of the services. Generated
    scenarios call these tools."""


class Runtime(Protocol):
    """One engine with one conversation. Several agents may take turns in driving it."""

    def agent(self, *, prompt_id: str | None = None) -> AgentProtocol:
        """A new agent over this engine's conversation.

        `prompt_id` is fixed for the agent's life and shared by its sends; the session's own when
        absent. Source: core `LegacyAgentProtocol`, whose config may give every agent its own.
        """
        ...

    def transcript(self) -> list[Content]:
        """The model-facing history, oldest first. A copy: the caller may keep it."""
        ...

    async def reset(self) -> None:
        """Start the conversation anew: only the environment's context stays in the history."""
        ...

    async def settled(self) -> None:
        """Return when no stream's work is left, rollbacks after its `agent_end` included."""
        ...


@runtime_checkable
class ConversationCommands(Protocol):
    """The slash commands for a conversation, for engines that have them."""

    async def compress(self) -> CompressionInfo | None:
        """Summarise the history now, as `/compress` does; `None`: the engine does not say how."""
        ...

    async def resume(self, recording: Path | None) -> None:
        """Go on from a chat recording; from this session's own where none is given.

        Raises:
            ValueError: it is not a chat recording.
        """
        ...

    async def rewind(self, to: str | int) -> None:
        """Go back to before a message: its id, or its number among the user's own, from 0."""
        ...

    def hint(self, text: str, source: str) -> None:
        """Steer the agent while it works. `source`: `user_steering` or `background_completion`."""
        ...


@runtime_checkable
class LeavesPlanMode(Protocol):
    """An engine whose user can leave plan mode without an approved plan."""

    async def leave_plan_mode(self, mode: ApprovalMode) -> None:
        """Change the mode while no stream runs; if that ends plan mode, the history says so.

        Raises:
            PrivilegedModeRefused: the folder is not trusted, and the mode asks less than usual.
        """
        ...


@runtime_checkable
class TakesEditsBack(Protocol):
    """The slash commands for the files that tools edited, for engines that have them."""

    async def rewind(self, to: str | int) -> None:
        """As `ConversationCommands.rewind`."""
        ...

    async def revert(self, to: str | int) -> None:
        """Take back the edits of files after a message, which is named as for `rewind`."""
        ...


@runtime_checkable
class RestoresCheckpoints(Protocol):
    """`/restore`, for engines that have it."""

    async def restore(self, checkpoint: str | int) -> Restored:
        """Restore a checkpoint: its name, or its number from 0, oldest first.

        Raises:
            ValueError: checkpoints are switched off.
        """
        ...


@runtime_checkable
class ReplacesHistory(Protocol):
    """An engine whose user can go on from another model-facing history, as `/chat resume` does."""

    async def load_history(self, contents: Sequence[Content]) -> None:
        """Go on from `contents`, oldest first; each is recorded as a new turn."""
        ...


@runtime_checkable
class NotesFolders(Protocol):
    """An engine that can put the session's folders into the conversation once more."""

    async def note_folders(self) -> None:
        """Add the session's folders, and what is in them, to the history, between two streams."""
        ...


@runtime_checkable
class KeepsRecording(Protocol):
    """An engine that records the conversation."""

    @property
    def recorded(self) -> Sequence[JsonObject]:
        """The messages of the chat recording, oldest first: where `/rewind` can go back to."""
        ...


@runtime_checkable
class KeepsHints(Protocol):
    """An engine that keeps the hints of an interactive session until its main loop takes them.

    They go in front of the next results of tools. After each stream an engine emits `HintsKept` for
    those that no request took.
    """

    async def take_hints(self) -> str | None:
        """Take what waits, as a prompt; `None` for nothing, and where hints are off.

        An interactive client sends it as a message of its own whenever the agent is idle.
        """
        ...


@runtime_checkable
class ReportsPlace(Protocol):
    """An engine that knows where in its user's code it is."""

    @property
    def place(self) -> str:
        """The line at which it stands, for messages; empty if it is not known."""
        ...


@runtime_checkable
class ShowsMore(Protocol):
    """An engine with custom channels: effects of its tools that no event shows."""

    def shown(self) -> Mapping[str, Sequence[JsonObject]]:
        """Return the items of each custom channel at the end of a run, such as rows of a table."""
        ...


@runtime_checkable
class ReportsVersions(Protocol):
    """An engine with code of other projects."""

    @property
    def versions(self) -> Mapping[str, str]:
        """Its parts: name → version."""
        ...


RuntimeFactory = Callable[[Services], AbstractAsyncContextManager[Runtime]]
"""Leaving the context aborts what runs, awaits it, and disposes of the engine."""
