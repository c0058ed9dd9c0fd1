"""The state of one send: what its invocations, steps and tool rounds share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from services.abort import AbortController, AbortSignal
from services.loop_detection.detector import LoopDetector, LoopVerdict
from services.model.configs import ModelConfigKey
from services.model.parts import response_texts
from services.scheduler.calls import ToolCallRequest
from services.wire import JsonObject, Part, js_trim

__all__ = [
    "LOOP_DETECTED",
    "AskedCall",
    "Call",
    "CallOutcome",
    "End",
    "ModelCallFailed",
    "Run",
    "RunLink",
    "Step",
    "Turn",
]

LOOP_DETECTED: Final = "LOOP_DETECTED"
"""Why a model's stream was called off where the user did not do it."""

_MAX_FOLLOW_UPS: Final = 100


class AskedCall(Protocol):
    """A call that a model asked for, as far as ADK has to see it."""

    @property
    def call_id(self) -> str:
        """Its id."""
        ...

    @property
    def name(self) -> str:
        """The tool's name."""
        ...

    @property
    def args(self) -> JsonObject:
        """Its arguments."""
        ...


class ModelCallFailed(Exception):
    """A model request came to nothing; `cause` is why.

    Tells failures of the model layer, which become an `error` event of their own, from everything
    else that may go wrong in a run.
    """

    def __init__(self, cause: Exception) -> None:
        super().__init__(str(cause))
        self.cause = cause


@dataclass(frozen=True, slots=True)
class End:
    """How a stream ends: the `agent_end`'s reason and data."""

    reason: str
    data: Mapping[str, Any] | None = None


@dataclass(slots=True)
class Step:
    """One model request and what its stream has shown so far, failed attempts included."""

    requests: list[AskedCall] = field(default_factory=list)
    """Every call that this request's answer asked for, in order of arrival."""
    citations: set[str] = field(default_factory=set)
    key: ModelConfigKey | None = None
    """What the router asked for; set once the request is routed."""
    loop: LoopVerdict | None = None
    """The loop that ended the step, found before the request or in its answer."""
    loop_told: bool = False
    """The client has been told of that loop."""
    watch: LoopDetector | None = None
    """Is shown every delta of the chunk that is just being told, before clients are."""
    stream: AbortController = field(default_factory=AbortController)
    """Ends the model's stream alone; a user's abort is another thing."""
    answered: bool = False
    """The answer is complete and in the history, or a hook has taken its place."""
    noted: bool = False
    """What hooks are told of the answer has been put down."""
    responses: list[JsonObject] = field(default_factory=list)
    """The answer's chunks, one that was cut off for a loop included."""
    asked: bool = False
    """The answer asked for a tool, be it in a call that was cut off for a loop."""

    @property
    def texts(self) -> list[str]:
        """The texts of the chunks; once the answer is whole, its first one has the others too."""
        return response_texts(self.responses)

    @property
    def text(self) -> str:
        """What hooks are told that the answer said."""
        return " ".join(self.texts)

    def loops_with_text(self, text: str) -> bool:
        """Whether the answer is in a loop with this fragment, which is not to be told then."""
        return self.watch is not None and self._cut_off(self.watch.add_text(text))

    def loops_with_call(self, name: str, args: JsonObject) -> bool:
        """Whether the answer is in a loop with this call, which is not to be told then."""
        return self.watch is not None and self._cut_off(self.watch.add_tool_call(name, args))

    def _cut_off(self, verdict: LoopVerdict) -> bool:
        """End the model's stream where there is a loop."""
        if not verdict.count:
            return False
        self.loop = verdict
        self.stream.abort(LOOP_DETECTED)
        return True


@dataclass(slots=True)
class Turn:
    """One turn of the agent's loop: a request of it, and the requests that follow by themselves.

    What follows by itself is the feedback after a loop and `Please continue.`; what was seen of
    all of them together decides how the loop goes on.
    """

    display_content: str | None = None
    """Shown in the recording instead of what is sent."""
    left: int = _MAX_FOLLOW_UPS
    """How many requests there may still be without the user, this one included."""
    requests: list[ToolCallRequest] = field(default_factory=list)
    """Every call that clients were told of, those of answers that were cut off included: this is
    the batch that is scheduled."""
    finish_reason: str | None = None
    visible_text: bool = False

    def see_text(self, text: str) -> None:
        """Take note of a fragment of the answer."""
        self.visible_text = self.visible_text or bool(js_trim(text))


@dataclass(slots=True)
class CallOutcome:
    """What came of a call and of those that followed it by themselves."""

    stop_hook_active: bool = False
    """An AfterAgent hook asked for it."""
    step: Step | None = None
    """The last step that asked the model."""


@dataclass(slots=True)
class Call:
    """One user-role request, until nothing follows it any more."""

    request: list[Part]
    left: int
    """`Turn.left` as it was for this request."""
    outcome: CallOutcome
    went_on: bool = False
    """An AfterAgent hook blocked its end, and another call goes on in its place."""

    @property
    def pending(self) -> bool:
        """Whether the last answer asked for tools."""
        return self.outcome.step is not None and self.outcome.step.asked

    @property
    def text(self) -> str:
        """What the last answer said."""
        return "" if self.outcome.step is None else self.outcome.step.text


@dataclass(slots=True)
class Run:
    """One send, from `agent_start` to `agent_end`."""

    prompt_id: str
    signal: AbortSignal
    display_content: str | None = None
    """Shown in the recording instead of the message; only the first turn gets it."""
    after_tools: bool = False
    """The request under way answers tool calls."""
    follows_up: bool = False
    """The next request belongs to the turn that there is."""
    turn: Turn = field(default_factory=Turn)
    step: Step = field(default_factory=Step)
    end: End | None = None
    """The `agent_end` that was decided on while the invocation was still going."""
    calls: list[Call] = field(default_factory=list)
    """The requests that have not come to their end, outermost first."""

    def begin_step(self) -> bool:
        """Begin another model request; return whether it belongs to the turn that there is."""
        self.step = Step()
        follows, self.follows_up = self.follows_up, False
        return follows

    def begin_task_turn(self, prompt_id: str) -> None:
        """Begin a turn of a child's task, under a prompt id of its own."""
        self.prompt_id = prompt_id
        self.begin_step()

    def begin_turn(self) -> None:
        """Begin a turn; what the one before showed is forgotten."""
        shown, self.display_content = self.display_content, None
        self.turn = Turn(display_content=shown)

    def follow_up(self) -> None:
        """Let the next request be part of this turn."""
        self.follows_up = True
        self.turn.left = (self.calls[-1].left if self.calls else self.turn.left) - 1

    def go_on_after_block(self) -> None:
        """Let the next request stand in for the innermost call, whose end was blocked."""
        self.follow_up()
        self.calls[-1].went_on = True

    def enter(self, request: list[Part]) -> None:
        """Count in the call of a request, as part of the one that it follows."""
        outer = self.calls[-1] if self.calls else None
        outcome = CallOutcome(stop_hook_active=outer is not None and outer.went_on)
        if outer is not None and not outer.went_on:
            outcome = outer.outcome
        self.calls.append(Call(request, self.turn.left, outcome))

    def ask_model(self) -> None:
        """From now on the innermost call is judged by this step."""
        if self.calls:
            self.calls[-1].outcome.step = self.step


class RunLink:
    """Where an agent's ADK parts find the send that is under way."""

    def __init__(self) -> None:
        self._run: Run | None = None

    @property
    def run(self) -> Run:
        """The send under way.

        Raises:
            RuntimeError: there is none: ADK's parts were driven from elsewhere.
        """
        if self._run is None:
            raise RuntimeError("no send is under way")
        return self._run

    def begin(self, run: Run) -> None:
        """From now on `run` is under way."""
        self._run = run

    def finish(self) -> None:
        """Nothing is under way any more."""
        self._run = None
