"""What a runtime's factory opens: one conversation's engine, and the agents that drive it.

The protocol keeps its four members; what a client outside the protocol may do with an engine
(start it anew, read its model-facing history) stands here, because slash commands and the harness
need it of every runtime alike, child processes included.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

from agent_protocol.agent import AgentProtocol
from services.bundle import Services
from services.wire import Content

__all__ = [
    "ConversationCommands",
    "ReportsVersions",
    "Runtime",
    "RuntimeBroken",
    "RuntimeFactory",
    "RuntimeTraits",
    "RuntimeUnavailable",
    "UnusableRuntime",
]


class RuntimeBroken(Exception):
    """The engine itself broke (its process died, say): what it did decides nothing."""


class CommandFailed(Exception):
    """A command of a conversation could not be carried out, by the engine's own account.

    `message` is the engine's, `name` what it calls such an error.
    """

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
    """A runtime's package cannot be imported, or is not what this module asks of a runtime.

    What such a runtime does decides nothing, and no case can be judged with it.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeTraits:
    """What is known of an engine before it is opened.

    A runtime's package may hold its own as `TRAITS`, or make them in `traits(variant)`.
    """

    features: frozenset[str] | None = None
    """What it can do beyond plain turns, by the names of a cassette's needs; `None`: everything."""
    folders: Mapping[str, str] = field(default_factory=dict)
    """Folders of this machine that may show in what it does, and what is written instead."""
    words: str = "parity"
    """Whose prompts, tool descriptions and environment texts it uses. Two engines with the same
    ones must send the same texts; of others only the rest is compared."""
    confinable: bool = True
    """Whether all that it does goes through the services that it is given. The harness does not
    give a cassette that is not trusted to an engine that works in another program."""


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
    """What slash commands do with a conversation, for engines that can."""

    async def compress(self) -> None:
        """Summarise the history now, as `/compress` does."""
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
class ReportsVersions(Protocol):
    """An engine that is more than this project's own code."""

    @property
    def versions(self) -> Mapping[str, str]:
        """What runs in it: name → version."""
        ...


RuntimeFactory = Callable[[Services], AbstractAsyncContextManager[Runtime]]
"""Leaving the context aborts what runs, awaits it, and disposes of the engine."""
