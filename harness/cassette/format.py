"""A cassette as values; `load` reads and checks them.

Source: the cassette format, version 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import Final, Literal

from agent_protocol.agent import AgentSend
from harness.cassette.macros import Paths, substitute
from services.model.replay.matching import MatchMode
from services.model.replay.steps import ModelStep
from services.output_files import safe_filename_part
from services.rewind import RewindChoice
from services.state import ApprovalMode
from services.tools.contract import ConfirmationOutcome
from services.wire import Json, JsonObject

__all__ = [
    "FORMAT_VERSIONS",
    "Abort",
    "Action",
    "AfterChunk",
    "AfterEvents",
    "Answers",
    "AtEventType",
    "AtHttpRequest",
    "AtOutput",
    "AtRequest",
    "AtTool",
    "Cassette",
    "Compress",
    "ConfirmationAnswer",
    "During",
    "DuringAction",
    "Hint",
    "HttpAnswer",
    "HttpStep",
    "LeavePlanMode",
    "NoteQuotaError",
    "Phase",
    "Provenance",
    "QuestionAnswer",
    "Reset",
    "Restore",
    "Resume",
    "ResumeSelf",
    "Rewind",
    "Send",
    "SessionSetup",
    "SetApprovalMode",
    "SetModel",
    "Trigger",
    "WriteFile",
]

FORMAT_VERSIONS: Final = (1,)
"""The format versions that this build reads."""

Phase = Literal["A", "B", "C"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionSetup:
    """The setup of the session. `settings` are checked configuration parameters of the core."""

    model: str
    approval_mode: ApprovalMode = ApprovalMode.DEFAULT
    interactive: bool = False
    new_session_per_send: bool = False
    settings: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """The origin of a cassette."""

    kind: str | None = None
    source: str | None = None
    recorded_at: str | None = None
    licence: str | None = None
    seed: Json = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Resume:
    """The lines of a chat recording to resume from, and the name of its file."""

    records: tuple[JsonObject, ...]
    file: str | None = None

    @property
    def name(self) -> str:
        """The file's name: `file`, or a name like the recorder's, which is never a path."""
        if self.file is not None:
            return self.file
        first = self.records[0] if self.records else {}
        start = str(first.get("startTime") or "2026-01-01T00:00")[:16].replace(":", "-")
        begun = str(first.get("sessionId") or "resumed")[:8]
        return f"session-{safe_filename_part(start)}-{safe_filename_part(begun)}.jsonl"


@dataclass(frozen=True, slots=True)
class Send:
    """Send something to the agent."""

    payload: AgentSend


@dataclass(frozen=True, slots=True)
class Compress:
    """Compress the history now."""


@dataclass(frozen=True, slots=True)
class Reset:
    """Start a new chat."""


@dataclass(frozen=True, slots=True)
class ResumeSelf:
    """Read this session's own recording back."""


@dataclass(frozen=True, slots=True)
class SetModel:
    """Choose another model."""

    model: str


@dataclass(frozen=True, slots=True)
class SetApprovalMode:
    """Choose another approval mode."""

    mode: ApprovalMode


@dataclass(frozen=True, slots=True)
class LeavePlanMode:
    """Leave plan mode for another mode, as a user does at the prompt."""

    mode: ApprovalMode


@dataclass(frozen=True, slots=True)
class Hint:
    """Steer the agent with a text in its next request."""

    text: str
    source: str = "user_steering"


@dataclass(frozen=True, slots=True)
class NoteQuotaError:
    """Note, as a client does, that a quota is used up."""


@dataclass(frozen=True, slots=True)
class WriteFile:
    """Change a file of the workspace. `path` is relative to it, with `/`."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Rewind:
    """Go back to an earlier message: its id, or its number."""

    to: str | int
    choice: RewindChoice = RewindChoice.CONVERSATION


@dataclass(frozen=True, slots=True)
class Restore:
    """Restore a checkpoint: its name, or its number from 0, oldest first."""

    checkpoint: str | int


@dataclass(frozen=True, slots=True)
class Abort:
    """Abort the active stream."""


Action = (
    Send
    | Compress
    | Reset
    | ResumeSelf
    | SetModel
    | SetApprovalMode
    | LeavePlanMode
    | Hint
    | NoteQuotaError
    | WriteFile
    | Rewind
    | Restore
)
"""An action of the client between streams."""

DuringAction = Abort | Hint | SetApprovalMode | Send
"""An action while a stream runs."""


@dataclass(frozen=True, slots=True)
class AfterEvents:
    """After the `count`-th event of the whole run."""

    count: int


@dataclass(frozen=True, slots=True)
class AtEventType:
    """At the first event of a type."""

    type: str


@dataclass(frozen=True, slots=True)
class AtTool:
    """At the first `tool_request` of a tool."""

    name: str


@dataclass(frozen=True, slots=True)
class AtOutput:
    """When calls of a tool show something for the `nth` time while they run.

    That is output, a report of its server, or an activity of its subagent.
    """

    name: str
    nth: int = 1


@dataclass(frozen=True, slots=True)
class AtRequest:
    """When a model request is made; counted from 0."""

    index: int


@dataclass(frozen=True, slots=True)
class AtHttpRequest:
    """When a request reaches an address of `http`; counted from 0 over all addresses."""

    index: int


@dataclass(frozen=True, slots=True)
class AfterChunk:
    """After a chunk of a model request; both counted from 0."""

    request: int
    chunk: int


Trigger = AfterEvents | AtEventType | AtTool | AtOutput | AtRequest | AtHttpRequest | AfterChunk


@dataclass(frozen=True, slots=True, kw_only=True)
class During:
    """Something that happens once while streams run, `delay_ms` virtual ms after its trigger."""

    when: Trigger
    do: DuringAction
    delay_ms: float = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmationAnswer:
    """The user's answer to a tool confirmation, `delay_ms` virtual ms after it is shown."""

    outcome: ConfirmationOutcome
    payload: JsonObject | None = None
    delay_ms: float = 0
    never: bool = False
    """Whether there is no answer at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionAnswer:
    """The user's answer to a question of the session, `delay_ms` virtual ms after it is asked."""

    value: Json = None
    """Also a value that is no answer to this question."""
    delay_ms: float = 0
    fails: str | None = None
    """The message of the error that the surface's handler raises instead."""
    never: bool = False
    """Whether there is no answer at all: the question waits until it is withdrawn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """The user's answers; the last of each kind repeats.

    Without confirmations the answer is `cancel`; without answers to a kind of question there is no
    handler for it.
    """

    confirmations: tuple[ConfirmationAnswer, ...] = ()
    questions: Mapping[str, tuple[QuestionAnswer, ...]] = field(default_factory=dict)
    """By the kinds of `services.interaction.questions`."""


class HttpAnswer(StrEnum):
    """How a step of `http` answers; the values are its keys."""

    JSON = "json"
    TEXT = "text"
    RESULT = "result"
    """The result of a call of JSON-RPC."""
    ERROR = "error"
    """The error of a call of JSON-RPC."""
    STREAM = "stream"
    """An event stream."""
    HANG = "hang"
    """No answer until the client closes the connection."""
    CUT = "cut"
    """The connection ends without an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpStep:
    """One answer of the HTTP addresses of a run, to one request."""

    place: str
    """Its key in the cassette, such as `http[2]`."""
    method: str
    target: str
    """Path and query of the address."""
    answer: HttpAnswer
    value: Json
    """The body, or the pieces of the stream."""
    rpc: str | None = None
    """The method of JSON-RPC that the request has to call; `None` for any request."""
    sent: Mapping[str, str] = field(default_factory=dict)
    """The headers that the request has to have, with lower-case names."""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    optional: bool = False
    """Whether the step may be left over."""

    @property
    def hangs(self) -> bool:
        """Whether the answer never ends by itself."""
        pieces = self.value if self.answer is HttpAnswer.STREAM else ()
        return self.answer is HttpAnswer.HANG or any("$hang" in piece for piece in pieces)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cassette:
    """All input of one run; immutable.

    Texts may hold placeholders (`<WS>` …) until `bind`. `document` is the whole cassette as JSON,
    macros expanded, `repeat` not.
    """

    name: str
    path: Path
    root: Path
    """The folder that the name is relative to; `<CASSETTES>` stands for it."""
    session: SessionSetup
    script: tuple[Action, ...]
    steps: tuple[ModelStep, ...]
    note: str = ""
    phase: Phase | None = None
    contract: tuple[str, ...] = ()
    provenance: Provenance = field(default_factory=Provenance)
    files: Mapping[str, str | bytes] = field(default_factory=dict)
    home_files: Mapping[str, str | bytes] = field(default_factory=dict)
    http: tuple[HttpStep, ...] = ()
    resume: Resume | None = None
    during: tuple[During, ...] = ()
    answers: Answers = field(default_factory=Answers)
    match: MatchMode = "in_order"
    unused: tuple[int, ...] = ()
    features: frozenset[str] = frozenset()
    """The features that a build needs for it, names of `needs.FEATURES`."""
    placeholders: bool = True
    document: JsonObject = field(default_factory=dict, repr=False, compare=False)

    @property
    def family(self) -> str:
        """The folder in the name: `loops` for `loops/tool_nudge`."""
        return str(PurePosixPath(self.name).parent)

    def bind(self, paths: Paths) -> Cassette:
        """Return this cassette with the placeholders in all texts filled in for one run."""
        if not self.placeholders:
            return self
        bound = substitute(replace(self, document={}), paths)
        return replace(bound, document=self.document)
