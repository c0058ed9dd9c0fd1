"""The state of one send: what its invocations, steps and tool rounds share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from runtimes.adk.notes import LOOP_DETECTED
from runtimes.adk.request_edits import RequestBase
from services.abort import AbortController, AbortSignal
from services.chat import AnswerReader
from services.loop_detection.detector import LoopVerdict
from services.model.configs import ModelConfigKey
from services.scheduler.calls import ToolCallRequest
from services.wire import Part

__all__ = [
    "Call",
    "CallOutcome",
    "End",
    "Run",
    "RunLink",
    "Step",
    "Turn",
]

_MAX_FOLLOW_UPS: Final = 100


@dataclass(frozen=True, slots=True)
class End:
    """How a stream ends: the `agent_end`'s reason and data."""

    reason: str
    data: Mapping[str, Any] | None = None


@dataclass(slots=True)
class Step:
    """One model request and what its stream has shown so far, failed attempts included."""

    base: RequestBase = field(default_factory=RequestBase)
    """What the product wrote into the request; the processors write it."""
    answer: AnswerReader = field(default_factory=AnswerReader)
    """What the answer has shown; the model layer writes it."""
    key: ModelConfigKey | None = None
    """What the router asked for; set once the request is routed."""
    loop: LoopVerdict | None = None
    """The loop that ended the step, found before the request or in its answer."""
    loop_emitted: bool = False
    """Clients have got the `error` of that loop."""
    stream: AbortController = field(default_factory=AbortController)
    """Ends the model's stream alone; a user's abort is another thing."""
    failure: Exception | None = None
    """What the model layer raised: it becomes an `error` event of its own."""
    keeps_turn: bool = False
    """History kept the turn of the failed request, which answers tool calls."""
    noted: bool = False
    """Hooks have got the answer's text for AfterAgent."""

    def routed(self, key: ModelConfigKey) -> None:
        """Take what the request was routed to."""
        self.key = key

    def cut_off(self, verdict: LoopVerdict) -> None:
        """End the model's stream: the answer loops with the delta seen last."""
        self.loop = verdict
        self.answer.withdraw()
        self.stream.abort(LOOP_DETECTED)


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
    answers: list[AnswerReader] = field(default_factory=list)
    """The answers to its requests, oldest first."""

    @property
    def requests(self) -> list[ToolCallRequest]:
        """Every call that clients have seen, those of answers that were cut off included.

        This is the batch that is scheduled.
        """
        calls = (call for answer in self.answers for call in answer.calls)
        return [call for call in calls if isinstance(call, ToolCallRequest)]

    @property
    def finish_reason(self) -> str | None:
        """The last one that an answer gave."""
        reasons = (answer.finish_reason for answer in reversed(self.answers))
        return next(filter(None, reasons), None)

    @property
    def visible_text(self) -> bool:
        """Whether any answer has shown a text that is more than white space."""
        return any(answer.visible_text for answer in self.answers)


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
        return self.outcome.step is not None and self.outcome.step.answer.asked

    @property
    def text(self) -> str:
        """What the last answer said."""
        return "" if self.outcome.step is None else self.outcome.step.answer.text


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
        self.turn.answers.append(self.step.answer)
        follows, self.follows_up = self.follows_up, False
        return follows

    def begin_task_turn(self, prompt_id: str) -> None:
        """Begin a turn of a child's task, under a prompt id of its own."""
        self.prompt_id = prompt_id
        self.begin_step()

    def begin_turn(self) -> None:
        """Begin a turn; what the one before showed is forgotten."""
        shown, self.display_content = self.display_content, None
        self.turn = Turn(display_content=shown, answers=[self.step.answer])

    def takes_nudge(self) -> bool:
        """Whether the model is to be nudged: it had results of tools, and answered without text.

        Results are nudged for once.
        """
        if not self.after_tools or self.turn.visible_text:
            return False
        self.after_tools = False
        return True

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
    """Where the parts of an agent that ADK calls find the run of the send under way.

    `AdkAgentProtocol` puts the run in around its call of the Runner, and nowhere else.
    """

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
        """Take the run of the invocation that begins."""
        self._run = run

    def finish(self) -> None:
        """Forget the run: its invocation is over."""
        self._run = None
