"""The state of one send: what its invocations, steps and tool rounds share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from services.abort import AbortSignal
from services.model.configs import ModelConfigKey
from services.scheduler.calls import ToolCallRequest
from services.wire import js_trim

__all__ = ["ModelCallFailed", "Run", "RunLink", "Step"]


class ModelCallFailed(Exception):
    """A model request came to nothing; `cause` is why.

    Tells failures of the model layer, which become an `error` event of their own, from everything
    else that may go wrong in a run.
    """

    def __init__(self, cause: Exception) -> None:
        super().__init__(str(cause))
        self.cause = cause


@dataclass(slots=True)
class Step:
    """One model request and what its stream has shown so far, failed attempts included."""

    requests: list[ToolCallRequest] = field(default_factory=list)
    """Every call that was asked for, in order of arrival: this is the batch that is scheduled."""
    citations: set[str] = field(default_factory=set)
    finish_reason: str | None = None
    visible_text: bool = False
    key: ModelConfigKey | None = None
    """What the router asked for; set once the request is routed."""

    def see_text(self, text: str) -> None:
        """Take note of a fragment of the answer."""
        self.visible_text = self.visible_text or bool(js_trim(text))


@dataclass(slots=True)
class Run:
    """One send, from `agent_start` to `agent_end`."""

    prompt_id: str
    signal: AbortSignal
    display_content: str | None = None
    """Shown in the recording instead of the first message; only the first request gets it."""
    turns: int = 0
    """Model turns begun, the empty-answer nudge's included."""
    after_tools: bool = False
    """The request under way answers tool calls."""
    step: Step = field(default_factory=Step)
    end: tuple[str, Mapping[str, Any] | None] | None = None
    """The `agent_end` that was decided on while the invocation was still going."""

    def next_step(self) -> None:
        """Forget what the model request before showed."""
        self.step = Step()


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
