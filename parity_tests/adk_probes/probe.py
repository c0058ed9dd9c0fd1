"""`Probe`: a model's script, messages and the plugins of others; `Seen`: what a run showed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from google.adk.flows.llm_flows.base_llm_flow import BaseLlmFlow
from google.adk.plugins.base_plugin import BasePlugin

from runtimes.contract import Runtime
from services.wire import JsonObject

__all__ = [
    "MODEL",
    "OVER",
    "SAME_HISTORY",
    "Again",
    "Answer",
    "Noting",
    "Operation",
    "Probe",
    "Seen",
    "calls",
    "chunk",
    "notes_of",
    "text",
    "thought",
]

MODEL: Final = "gemini-2.5-flash"
OVER: Final = AssertionError("the script has no answer left")


@dataclass(frozen=True, slots=True)
class Again:
    """An error after which the runtime asks the model again.

    Stock ADK leaves that to the `BaseLlm`, so the stock run is not asked: its next answer is the
    next of the script.
    """

    error: Exception
    connected: bool = False
    """It comes from the stream of the answer, not when the connection is made."""
    said: Sequence[JsonObject] = ()
    """The chunks that come before it; then it is from the stream, too."""


Answer = Sequence[JsonObject] | Exception | Again
"""The chunks of one answer, or the error in its place."""


@dataclass(frozen=True, slots=True)
class Operation:
    """What happens between two messages to the runtime's conversation.

    Stock ADK has no such command. The stock run goes on with a session of the events that the
    runtime's next request shows: both must show a reader the same conversation.
    """

    apply: Callable[[Runtime], Awaitable[None]]
    rewinds_to: int | None = None
    """The number of the user's message that a rewind goes back to before, from 0. The stock run
    rewinds its session with `Runner.rewind_async`, which decides what state is left."""
    forgets: bool = False
    """The conversation begins anew, and with it the state."""


async def _nothing(_: Runtime) -> None:
    return


SAME_HISTORY: Final = Operation(_nothing)
"""Nothing happens; the runtime itself changes its history before the next request."""


class Noting(BasePlugin):
    """A plugin that notes what its callbacks see. The notes of both runs must be the same."""

    def __init__(self, name: str = "probe") -> None:
        super().__init__(name)
        self.seen: list[Any] = []

    def note(self, *what: Any) -> None:
        """Add one note, of JSON."""
        self.seen.append(list(what))


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One use of ADK by others."""

    name: str
    """Unique, of lower-case words and dashes."""
    row: str
    """What the table calls it."""
    plugins: Callable[[], Sequence[BasePlugin]]
    """Makes the plugins of one run."""
    script: Sequence[Answer] = ()
    messages: Sequence[str | Sequence[JsonObject] | Operation] = ("hello",)
    """What the user sends, one after the other: a text, or the API's parts."""
    arrange_flow: Callable[[BaseLlmFlow], None] | None = None
    """Places request processors."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Of the runtime's session."""
    files: Mapping[str, str] = field(default_factory=dict)
    """In the workspace, besides `a.txt` with one line `alpha`."""
    shown: Sequence[str] = ()
    """Texts that the client must see in the runtime's events."""
    hidden: Sequence[str] = ()
    """Texts that it must not see."""
    session: Sequence[str] | None = None
    """With an operation, the events that the session has at the end, a line each: the number of
    the invocation, the author, what it says, and in braces the state that it set."""
    notes_of: Callable[[Sequence[BasePlugin], str], list[Any]] | None = None
    """What the plugins of a run left behind, given them and what the run printed: more notes."""
    in_place: bool = False
    """The plugins change the contents of a request in place."""
    counted: bool = True
    """A plugin before those of the probe counts callbacks. It has them all, so that the runtime
    calls each; without it the runtime has to see for itself which ones it must call."""
    aborts_at: tuple[str, int] | None = None
    """The client of the runtime aborts with the agent event of this type and number, from 1."""
    model: str = MODEL
    falls_back: bool = False
    """The session's fallback handler agrees to another model."""


@dataclass(slots=True)
class Seen:
    """What one run showed, in JSON."""

    requests: list[JsonObject] = field(default_factory=list)
    """Of each request to the model: `model`, `contents`, `systemInstruction`, `tools`, and the rest
    of its configuration."""
    events: list[JsonObject] = field(default_factory=list)
    """Of each event that the Runner yielded: all that is not drawn anew. Of partial events author,
    role, kinds of parts, error and how the answer ended; those that follow each other are one."""
    asked: list[JsonObject] = field(default_factory=list)
    """The requests as the first plugin finds them: as `requests`, and the names of the tools that
    can be called."""
    session: list[JsonObject] = field(default_factory=list)
    """The events that the session has at the end."""
    state: JsonObject = field(default_factory=dict)
    """The session's, at the end."""
    result: list[list[Any]] = field(default_factory=list)
    """What a client sees (`clients.Items`)."""
    callbacks: Counter[str] = field(default_factory=Counter)
    """How often each callback of a plugin fired. `after_model` counts whole responses."""
    notes: list[Any] = field(default_factory=list)
    """Of the probe's own plugins."""
    emitted: list[JsonObject] = field(default_factory=list)
    """The runtime's agent events as on the wire; of stock ADK none."""
    unfinished: list[str] = field(default_factory=list)
    """What a run of stock ADK began and did not finish. What the runtime did not is in `client`."""
    client: list[str] = field(default_factory=list)
    """What the runtime's client should have seen and did not, or the other way round; and events
    with a time that is not the session's."""

    def records(self) -> dict[str, Any]:
        """What is compared with stock ADK, by name."""
        return {
            "requests": self.requests,
            "events": self.events,
            "asked": self.asked,
            "session": self.session,
            "state": self.state,
            "result": self.result,
            "callbacks": dict(sorted(self.callbacks.items())),
            "notes": self.notes,
            "client": self.client,
        }


def chunk(*parts: JsonObject, finish: str | None = "STOP", **more: Any) -> JsonObject:
    """One chunk of a stream: a `GenerateContentResponse` with these parts."""
    candidate: JsonObject = {"content": {"role": "model", "parts": list(parts)}, "index": 0}
    if finish is not None:
        candidate["finishReason"] = finish
    return {"candidates": [candidate], **more}


def text(words: str) -> list[JsonObject]:
    """A whole answer of one text."""
    return [chunk({"text": words})]


def thought(words: str) -> JsonObject:
    """A part that is a thought."""
    return {"text": words, "thought": True}


def calls(*wanted: tuple[str, JsonObject]) -> list[JsonObject]:
    """A whole answer that calls tools; their ids are `c1`, `c2` …"""
    numbered = enumerate(wanted, 1)
    parts = [
        {"functionCall": {"id": f"c{n}", "name": name, "args": args}}
        for n, (name, args) in numbered
    ]
    return [chunk(*parts)]


def notes_of(probe: Probe, plugins: Sequence[BasePlugin], printed: str) -> list[Any]:
    """All notes of a run's plugins."""
    notes = [each for plugin in plugins if isinstance(plugin, Noting) for each in plugin.seen]
    return notes if probe.notes_of is None else [*notes, *probe.notes_of(plugins, printed)]
