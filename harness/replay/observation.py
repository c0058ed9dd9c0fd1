"""`Observation`: everything observed of one run of one cassette in one runtime.

The runner fills it, `harness.parity` compares two, `harness.replay.trace` writes one. A request is
its difference from the request before and a digest (`request_log`), so memory is linear in the
conversation. Values have real paths; `paths` replaces them for comparison and reports.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Final

from pydantic import AfterValidator, ConfigDict
from pydantic.alias_generators import to_camel

from harness.codec import Coded
from harness.provider.rules import ProviderFinding
from runtimes.project import Vary
from services.state import RetryAttempt
from services.threads import MAIN
from services.wire import Content, JsonObject

__all__ = [
    "ChildObservation",
    "HookRun",
    "Observation",
    "ObservedRequest",
    "RunPaths",
    "Screen",
    "Thread",
]


class RunPaths:
    """Replaces the folders of one run: `<WS>`, `<HOME>`, `<CASSETTES>`.

    `<PROJECT_HASH>` stands for the hash of the workspace's path, `<WS>/..` for the folder around
    workspace and home.
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
        """Take absolute, resolved paths, and in `others` further folders with replacements.

        A `cassettes` folder of `/` is not replaced.
        """
        found = {workspace: "<WS>", home: "<HOME>", **(others or {})}
        if around is not None:
            found.setdefault(around, "<WS>/..")
        if cassettes is not None and cassettes.strip("/"):
            found.setdefault(cassettes.rstrip("/"), "<CASSETTES>")
        # The longest path first: a home inside the folder of cassettes is still the home.
        pairs = sorted(found.items(), key=lambda pair: (-len(pair[0]), pair[0]))
        project_hash = hashlib.sha256(workspace.encode("utf-8", "surrogateescape")).hexdigest()
        self._in_text = (*pairs, (project_hash, "<PROJECT_HASH>"))
        self._in_json = tuple((json.dumps(real)[1:-1], shown) for real, shown in self._in_text)

    def mask_text(self, text: str) -> str:
        """Return `text` with the run's own paths replaced."""
        for real, shown in self._in_text:
            text = text.replace(real, shown)
        return text

    def mask_json(self, text: str) -> str:
        """Replace the paths in JSON text in ASCII, as `canonical` returns it."""
        for real, shown in self._in_json:
            text = text.replace(real, shown)
        return text


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedRequest:
    """One request to a model, as its difference from the request before in its lineage.

    A lineage is a role on a thread: the main loop has one, each child agent another.
    """

    method: str
    """`generateContentStream`, `generateContent` or `countTokens`."""
    role: str
    model: str
    thread: str = "main"
    config: JsonObject = field(default_factory=dict)
    """The request's config without tools and system instruction."""
    tools: tuple[str, ...] = ()
    """Names of the declared functions, in order."""
    tools_digest: str | None = None
    """SHA-256 of the declarations; `None` without any."""
    system_instruction: str | None = None
    """The text of the system instruction; requests with equal texts share one string."""
    system_digest: str | None = None
    """SHA-256 of the text with the run's paths replaced."""
    same_as_previous: int = 0
    """The number of leading contents that the previous request of the lineage had, too."""
    new_contents: tuple[Content, ...] = ()
    """The contents after those, oldest first."""
    digest: str = ""
    """Running hash over all contents, paths replaced: equal digests mean equal contents."""
    provider: tuple[ProviderFinding, ...] = ()
    """Findings of the provider rules that the previous request of the lineage did not have."""

    @property
    def lineage(self) -> tuple[str, str]:
        """Role and thread."""
        return (self.role, self.thread)

    @property
    def contents_count(self) -> int:
        """The number of contents of the whole request."""
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
    """What one child agent reported."""

    __pydantic_config__: ClassVar[ConfigDict] = ConfigDict(alias_generator=to_camel, extra="forbid")

    thread: Thread
    """Its thread path, as in requests: `T/C`."""
    agent: str
    """The definition's name."""
    agent_id: str
    """The name of its chat recording; random in the product."""
    activities: Sequence[JsonObject] = ()
    """`{type, data}`, oldest first."""
    events: Sequence[JsonObject] | None = None
    """Its AgentEvents in wire form; `None` without a visible session, as in the published core
    unless `adk.agentSessionSubagentEnabled` is set."""

    def to_json(self) -> JsonObject:
        """For traces and baselines: without `events` if they are `None`."""
        fields: JsonObject = Coded.to_json(self)
        return {key: each for key, each in fields.items() if each is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class HookRun:
    """The start of one hook command."""

    event: str
    hook: str
    """Its name as users see it."""
    at_ms: int
    """Virtual milliseconds since the run began."""
    thread: str = MAIN


@dataclass(frozen=True, slots=True, kw_only=True)
class Screen:
    """One settled screen of a surface."""

    lines: tuple[str, ...]
    """Its rows from the top, without blanks at their ends and without empty rows at the end."""
    picture: Callable[[], str] = field(default=str, compare=False, repr=False)
    """Draws it as SVG."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One run. Sequences are in the order of the run."""

    name: str
    """The cassette's name."""
    runtime: str
    paths: RunPaths
    versions: Mapping[str, str] = field(default_factory=dict)
    """Distribution name → version."""
    events: Sequence[JsonObject] = ()
    """Every AgentEvent in wire form."""
    transcript: Sequence[Content] = ()
    """The history for the model at the end."""
    requests: Sequence[ObservedRequest] = ()
    recording: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    """Path of each chat recording → its parsed lines."""
    tool_states: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Call id → the scheduler's states, in order; calls by first appearance."""
    progress: Mapping[str, Sequence[JsonObject]] | None = None
    """Call id → what the call showed while it worked, in order (`harness.replay.progress`); `None`
    where it was not observed, as in older baselines and traces. Calls that showed nothing have no
    entry."""
    retries: Sequence[RetryAttempt] = ()
    side_events: Sequence[JsonObject] = ()
    """`{event, …}`: model and mode changes, confirmations shown, fallback questions."""
    children: Sequence[ChildObservation] = ()
    """Every started child, by thread; of one thread in the order of their starts."""
    threads: Mapping[str, Mapping[int, str]] = field(default_factory=dict)
    """For `tool_states`, `retries` and `side_events`: index → thread, except the main agent's."""
    screens: Sequence[Screen] = ()
    """The settled screens of a surface that has a screen, in order; each differs from the one
    before."""
    wire: Sequence[JsonObject] = ()
    """`{from, message}`: the messages between a surface with a protocol and its client, in order;
    `from` is `agent` or `client`."""
    workspace_changes: Mapping[str, str | None] = field(default_factory=dict)
    """Path relative to the workspace → new text; `None` for a deleted file."""
    custom: Mapping[str, Sequence[JsonObject]] = field(default_factory=dict)
    """Custom channel → its items: effects of tools that no event shows, such as rows of a table."""
    channels: frozenset[str] | None = None
    """The channels that the runtime can show; `None` for all."""
    left_out: Mapping[str, str] = field(default_factory=dict, compare=False)
    """Channel that the project does not compare → the reason."""
    vary: tuple[Vary, ...] = field(default=(), compare=False)
    """The values that may differ between any two runs of the project. Not written."""
    order: Sequence[tuple[str, int, int]] = field(default=(), compare=False)
    """How channels interleave: `(channel, index, events before)` of requests, retries, side events
    (which follow the retries in their channel) and tool calls (by their last state). Not compared;
    empty if unknown."""
    times: Mapping[tuple[str, int], int] = field(default_factory=dict, compare=False)
    """Channel and index of events and of the items in `order` → virtual milliseconds since the run
    began. Not written; `harness.parity.times` compares them."""
    hooks: Sequence[HookRun] = field(default=(), compare=False)
    """Every start of a hook, in order. Not written; `harness.parity.times` compares them."""
    raced: Sequence[tuple[float, float]] = field(default=(), compare=False)
    """Virtual time of each request that was made while real work was going on, and by how many
    milliseconds it moved time. The duration of the real work decides what comes before it."""
    notes: Sequence[str] = ()
    """Notes of the replayed model: requests that found no step, and why."""
    unused_steps: Sequence[int] = ()
    unfinished: Sequence[str] = ()
    """Work that the run began and did not finish (`harness.replay.unfinished`). Baselines have
    none: the published core runs in another process."""
    error: str | None = None
    """Why the run did not end by itself, if so: an exception of the runtime, or a stall."""
    error_place: str = field(default="", compare=False)
    """The line of a third party's code that raised the error; empty if there is none."""
    deadline_passed: bool = False
    """Whether the harness ended the run at its real deadline."""
    broken: bool = False
    """Whether the engine broke or could not be opened; then the observation decides nothing."""
    refused: str | None = None
    """The attempt at which the confinement ended the run; the observation decides nothing."""
    words: str = "parity"
    """The product whose prompts, tool descriptions and environment texts were used."""
    stalled: bool = False
    """Whether the run could not go on by itself, or passed its deadline."""

    def shows(self, channel: str) -> bool:
        """Whether the channel is compared, as far as this side decides it."""
        known = self.channels is None or channel in self.channels
        return known and channel not in self.left_out

    @property
    def hung(self) -> bool:
        """Whether the run stalled with no event pending, which virtual time shows for certain."""
        return self.stalled and not self.deadline_passed

    @property
    def blocker(self) -> str | None:
        """Why this run decides nothing, as a predicate of the runtime's name; `None` if it does."""
        if self.refused is not None:
            return f"stopped: {self.refused}"
        if self.stalled:
            return f"could not go on by itself: {self.placed_error or 'the run stalled'}"
        if self.broken:
            return f"broke: {self.placed_error}"
        if self.error is not None and not self.events and not self.requests:
            return f"got nowhere: {self.placed_error}"
        return None

    @property
    def placed_error(self) -> str | None:
        """The error with its place, if it has one."""
        return f"{self.error} ({self.error_place})" if self.error_place else self.error
