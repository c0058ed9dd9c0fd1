"""The state of one send: what its invocations, model requests and tool rounds share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import InitVar, dataclass, field
from typing import Any, Final

from google.adk.agents.invocation_context import InvocationContext
from google.adk.models.llm_request import LlmRequest

from runtimes.adk.notes import LOOP_DETECTED
from runtimes.adk.request_edits import RequestBase
from services.abort import AbortController, AbortSignal
from services.chat import AnswerReader
from services.hooks.prompt_calls import PromptCalls
from services.hooks.prompt_hooks import PromptHooks
from services.loop_detection.detector import LoopVerdict
from services.model.configs import ModelConfigKey
from services.scheduler.calls import ToolCallRequest

__all__ = ["End", "Run", "RunLink", "Step"]

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

    def routed(self, key: ModelConfigKey) -> None:
        """Take what the request was routed to."""
        self.key = key

    def cut_off(self, verdict: LoopVerdict) -> None:
        """End the model's stream: the answer loops with the delta seen last."""
        self.loop = verdict
        self.answer.withdraw()
        self.stream.abort(LOOP_DETECTED)


@dataclass(slots=True)
class Run:
    """One send, from `agent_start` to `agent_end`.

    A turn of its loop is a request, and the requests that follow that one by themselves. What was
    seen of all of them together decides how the loop goes on.
    """

    prompt_id: str
    signal: AbortSignal
    display_content: str | None = None
    """Shown in the recording instead of the message, in the first turn."""
    hooks: InitVar[PromptHooks | None] = None
    """The conversation's."""
    after_tools: bool = False
    """The request under way answers tool calls."""
    follows_up: bool = False
    """The next request belongs to the turn that there is."""
    left: int = _MAX_FOLLOW_UPS
    """How many requests the turn may still have without the user, this one included."""
    answers: list[AnswerReader] = field(default_factory=list)
    """The answers to the requests of the turn, oldest first."""
    step: Step = field(default_factory=Step)
    asked: tuple[InvocationContext, LlmRequest] | None = None
    """The last model request and its invocation: calls that run after it have its tools."""
    end: End | None = None
    """The `agent_end` that was decided on while the invocation was still going."""
    calls: PromptCalls = field(init=False)
    """The requests that have not come to their end, and the hooks around them."""

    def __post_init__(self, hooks: PromptHooks | None) -> None:
        self.calls = PromptCalls(hooks or PromptHooks(None), self.prompt_id, self.signal)

    @property
    def requests(self) -> list[ToolCallRequest]:
        """The batch of the turn: all its calls that clients have seen.

        Those of attempts that failed, and of answers that were cut off, are included.
        """
        calls = (call for answer in self.answers for call in answer.calls)
        return [call for call in calls if isinstance(call, ToolCallRequest)]

    @property
    def finish_reason(self) -> str | None:
        """The last one that the turn's answers gave."""
        reasons = (answer.finish_reason for answer in reversed(self.answers))
        return next(filter(None, reasons), None)

    @property
    def visible_text(self) -> bool:
        """Whether an answer of the turn has shown a text that is more than white space."""
        return any(answer.visible_text for answer in self.answers)

    def begin_turn(self) -> None:
        """Begin a turn; what the one before showed is forgotten."""
        if self.answers:
            self.display_content = None
        self.left, self.answers = _MAX_FOLLOW_UPS, []

    def begin_step(self) -> None:
        """Begin another model request of the turn."""
        self.follows_up = False
        self.step = Step()
        self.answers.append(self.step.answer)

    def takes_nudge(self) -> bool:
        """Whether to nudge, once: the model got results of tools, and answered without text."""
        if not self.after_tools or self.visible_text:
            return False
        self.after_tools = False
        return True

    def follow_up(self) -> None:
        """Let the next request be part of this turn."""
        self.follows_up = True
        self.left -= 1

    def resume_after_block(self) -> None:
        """Let the next request stand in for the innermost call, whose end AfterAgent blocked."""
        self.left, self.follows_up = self.calls.left - 1, True
        self.calls.resume_after_block()


class RunLink:
    """Where the parts of an agent that ADK calls find the run of the send under way.

    `AdkAgentProtocol` puts the run in around its call of the Runner, and nowhere else.
    """

    _run: Run | None = None

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
