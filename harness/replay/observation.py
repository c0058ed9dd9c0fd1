"""`Observation`: all that was seen of one run of one cassette in one runtime.

The runner fills it, `harness.parity` compares two of them, `harness.replay.trace` writes one down.
It is kept small: a request is its difference from the one before and a digest (`request_log`), so
memory is linear in the conversation. Values are as the run gave them, real paths included; `paths`
says what is written instead wherever they are compared or shown.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Final

from pydantic import AfterValidator, ConfigDict
from pydantic.alias_generators import to_camel

from harness.codec import Coded
from harness.provider.rules import ProviderFinding
from services.state import RetryAttempt
from services.threads import MAIN
from services.wire import Content, JsonObject

__all__ = ["ChildObservation", "Observation", "ObservedRequest", "RunPaths", "Thread"]


class RunPaths:
    """The folders of one run, and how they are written: `<WS>`, `<HOME>`, `<CASSETTES>`.

    The project hash, which is made from the workspace's path, is written `<PROJECT_HASH>`; the
    folder around workspace and home, whose name is new in every run, `<WS>/..`.
    """

    def __init__(
        self,
        *,
        workspace: str,
        home: str,
        cassettes: str | None = None,
        around: str | None = None,
        others: Mapping[str, str] | None = None,
    ) -> None:
        """Take absolute, resolved paths. A `cassettes` of `/` or nothing is not replaced.

        `others` are further folders, and what is written instead of each.
        """
        found = {workspace: "<WS>", home: "<HOME>", **(others or {})}
        if around is not None:
            found.setdefault(around, "<WS>/..")
        if cassettes is not None and cassettes.strip("/"):
            found.setdefault(cassettes.rstrip("/"), "<CASSETTES>")
        # The longest first: a home inside the cassettes' folder is still the home.
        pairs = sorted(found.items(), key=lambda pair: (-len(pair[0]), pair[0]))
        project_hash = hashlib.sha256(workspace.encode("utf-8", "surrogateescape")).hexdigest()
        self._in_text = (*pairs, (project_hash, "<PROJECT_HASH>"))
        self._in_json = tuple((json.dumps(real)[1:-1], shown) for real, shown in self._in_text)

    def mask_text(self, text: str) -> str:
        """`text` with the run's own paths replaced."""
        for real, shown in self._in_text:
            text = text.replace(real, shown)
        return text

    def mask_json(self, text: str) -> str:
        """The same for JSON text in ASCII (as `canonical` writes it), before it is parsed."""
        for real, shown in self._in_json:
            text = text.replace(real, shown)
        return text


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedRequest:
    """One question to a model, as its difference from the one before of the same lineage.

    A lineage is a role on a thread: the main loop's requests form one, each child agent's another.
    """

    method: str
    """`generateContentStream`, `generateContent` or `countTokens`."""
    role: str
    model: str
    thread: str = "main"
    config: JsonObject = field(default_factory=dict)
    """Everything of the request's config but tools and system instruction."""
    tools: tuple[str, ...] = ()
    """Names of the declared functions, in order."""
    tools_digest: str | None = None
    """SHA-256 of the whole declarations; `None` where nothing is declared."""
    system_instruction: str | None = None
    """The text, shared between all requests that carry the same one."""
    system_digest: str | None = None
    """SHA-256 of the text with the run's paths replaced."""
    same_as_previous: int = 0
    """How many leading contents the lineage's previous request had already."""
    new_contents: tuple[Content, ...] = ()
    """What follows them, oldest first."""
    digest: str = ""
    """Running hash over all contents, paths replaced: equal digests mean equal contents."""
    provider: tuple[ProviderFinding, ...] = ()
    """What the real API would object to in it, and did not in the lineage's previous request."""

    @property
    def lineage(self) -> tuple[str, str]:
        """Which requests this one is a difference from."""
        return (self.role, self.thread)

    @property
    def contents_count(self) -> int:
        """How many contents the whole request has."""
        return self.same_as_previous + len(self.new_contents)


def _is_thread(value: str) -> str:
    if value != MAIN and not _THREAD.fullmatch(value):
        raise ValueError(f"{value!r} is no thread; write a path like 0/1")
    return value


_THREAD: Final = re.compile(r"\d{1,6}/\d{1,6}(?:/\d{1,6}/\d{1,6})*")
Thread = Annotated[str, AfterValidator(_is_thread)]
"""A thread's path: `T/C`, `T/C/T/C`, …, or `main`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildObservation(Coded):
    """What one child agent reported while it worked."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(alias_generator=to_camel, extra="forbid")

    thread: Thread
    """Its path: `T/C`, as requests have it."""
    agent: str
    """The definition's name."""
    agent_id: str
    """Which chat recording is its own; random in the product."""
    activities: Sequence[JsonObject] = ()
    """`{type, data}`, oldest first."""
    events: Sequence[JsonObject] | None = None
    """Its own AgentEvents in wire form; `None` where it had no session that could be seen, as in
    the published core unless `adk.agentSessionSubagentEnabled` is set."""

    def to_json(self) -> JsonObject:
        """As traces and baselines have it: without `events` where there are none to be seen."""
        fields: JsonObject = Coded.to_json(self)
        return {key: each for key, each in fields.items() if each is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One run, whole. Sequences are in the order in which things happened."""

    name: str
    """The cassette's name."""
    runtime: str
    paths: RunPaths
    versions: Mapping[str, str] = field(default_factory=dict)
    """What ran: distribution name to version."""
    events: Sequence[JsonObject] = ()
    """Every AgentEvent in wire form."""
    transcript: Sequence[Content] = ()
    """The model-facing history at the end."""
    requests: Sequence[ObservedRequest] = ()
    recording: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    """Path of each chat recording to its parsed lines."""
    tool_states: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Call id to the scheduler's states, in order; calls by first appearance."""
    retries: Sequence[RetryAttempt] = ()
    side_events: Sequence[JsonObject] = ()
    """`{event, …}`: model and mode changes, confirmations shown, fallback questions."""
    children: Sequence[ChildObservation] = ()
    """Every child that was started, by thread; of one thread in the order of their starts."""
    threads: Mapping[str, Mapping[int, str]] = field(default_factory=dict)
    """On whose behalf things happened that are not the main agent's: of `tool_states`, `retries`
    and `side_events` index to thread. Requests say it themselves."""
    workspace_changes: Mapping[str, str | None] = field(default_factory=dict)
    """Path relative to the workspace to the new text; `None` where the file was deleted."""
    order: Sequence[tuple[str, int, int]] = field(default=(), compare=False)
    """How channels interleave: `(channel, index, events before)` in the order in which things
    happened, of requests, retries, side events (which follow the retries in their channel) and
    tool calls (by the last of their states). Nothing compares it; empty where it is not known."""
    times: Mapping[tuple[str, int], int] = field(default_factory=dict, compare=False)
    """Channel and index of an item to the virtual milliseconds from the run's begin until it
    happened: of events and of all that `order` has. Nothing compares it, no document keeps it."""
    notes: Sequence[str] = ()
    """What the replayed model had to say: requests that found no step, and why."""
    unused_steps: Sequence[int] = ()
    error: str | None = None
    """What kept the run from ending by itself, if anything did: an exception out of the runtime."""
    deadline_passed: bool = False
    """The run was cut off by the harness's real deadline: what it would have done is not known."""
    broken: bool = False
    """The engine itself broke, or could not be opened: what was seen of it decides nothing."""
    refused: str | None = None
    """What the run's confinement refused, and where the cassette asked for it: the run was ended
    there and decides nothing."""
    words: str = "parity"
    """Whose prompts, tool descriptions and environment texts were used."""
    stalled: bool = False
    """The run could never have gone on by itself, or passed its deadline."""

    @property
    def hung(self) -> bool:
        """Nothing was left to happen, which virtual time knows for certain: an observation too."""
        return self.stalled and not self.deadline_passed

    @property
    def blocker(self) -> str | None:
        """Why this run decides nothing, whatever else was seen of it; `None` for most.

        Reads on from the runtime's name: `got nowhere: …`.
        """
        if self.refused is not None:
            return f"stopped: {self.refused}"
        if self.stalled:
            return f"could not go on by itself: {self.error or 'the run stalled'}"
        if self.broken:
            return f"broke: {self.error}"
        if self.error is not None and not self.events and not self.requests:
            return f"got nowhere: {self.error}"
        return None
