"""The state that changes while a session runs, and the events that report changes.

Source: the mutable half of core `config/config.ts`, and `utils/events.ts` (`coreEvents`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

__all__ = [
    "AgentsDiscovered",
    "AgentsRefreshed",
    "ApprovalMode",
    "ApprovalModeChanged",
    "CoreEvent",
    "CoreEvents",
    "HintsKept",
    "HookMessage",
    "Logged",
    "ModelChanged",
    "PrivilegedModeRefused",
    "QuotaErrorOccurred",
    "RetryAttempt",
    "SessionState",
    "SessionUpdated",
    "UserFeedback",
]

logger = logging.getLogger(__name__)


class ApprovalMode(StrEnum):
    """What a session may do without a question. The values are the core's (`autoEdit`)."""

    DEFAULT = "default"
    AUTO_EDIT = "autoEdit"
    YOLO = "yolo"
    PLAN = "plan"


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryAttempt:
    """A retry is about to wait. `attempt` counts from 1; `error` is a type name or a message."""

    attempt: int
    max_attempts: int
    delay_ms: float
    error: str
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChanged:
    """The configured model changed."""

    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalModeChanged:
    """The approval mode changed."""

    mode: ApprovalMode


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionUpdated:
    """A command replaced the conversation. A surface shows it as `session_update`."""

    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UserFeedback:
    """A message for the user. `severity` is `info`, `warning` or `error`."""

    severity: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentsDiscovered:
    """The project has agents with these names, which the user has not allowed yet."""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentsRefreshed:
    """The set of agents may have changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaErrorOccurred:
    """The client has noted that a quota is used up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HintsKept:
    """A stream has ended, and no request of it took these injections: they wait for the next."""

    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Logged:
    """A record for the session's log, which telemetry writes if the user switched it on.

    `name` (`gemini_cli.…`) and the names of `attributes` are the published core's. `spoken` are
    attributes with texts of users, models and tools. An attribute that is `None` is left out.
    """

    name: str
    body: str
    attributes: Mapping[str, Any]
    spoken: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class HookMessage:
    """A hook has a message for the user.

    Source: core `utils/events.ts` (`HookSystemMessagePayload`).
    """

    hook: str
    event: str
    """When it ran: `BeforeTool`, …"""
    message: str
    suppressed: bool = False
    """Whether a surface that writes a log leaves it out."""


CoreEvent = (
    RetryAttempt
    | ModelChanged
    | ApprovalModeChanged
    | UserFeedback
    | AgentsDiscovered
    | AgentsRefreshed
    | QuotaErrorOccurred
    | SessionUpdated
    | HintsKept
    | HookMessage
    | Logged
)


class CoreEvents:
    """A session's notices. Listeners are called in order; one that raises is logged and skipped."""

    def __init__(self) -> None:
        self._listeners: list[Callable[[CoreEvent], None]] = []

    def subscribe(self, listener: Callable[[CoreEvent], None]) -> Callable[[], None]:
        """Call `listener` with every notice from now on; returns the unsubscribe."""
        self._listeners.append(listener)

        def off() -> None:
            if listener in self._listeners:
                self._listeners.remove(listener)

        return off

    def emit(self, event: CoreEvent) -> None:
        """Call every listener."""
        for listener in list(self._listeners):
            try:
                listener(event)
            except Exception:
                logger.exception("a core event listener failed on %r", event)


class PrivilegedModeRefused(Exception):
    """A folder that is not trusted allows only the default mode and plan mode."""

    def __init__(self) -> None:
        super().__init__("Cannot enable privileged approval modes in an untrusted folder.")


class SessionState:
    """The mutable state of one session, shared by all of its parts."""

    def __init__(
        self,
        *,
        session_id: str,
        model: str,
        approval_mode: ApprovalMode,
        interactive: bool,
        events: CoreEvents,
        folder_trusted: bool = True,
    ) -> None:
        self.session_id = session_id
        self.first_session_id = session_id
        """The id that the session began under, which a fallback does not change: plans are kept
        under it."""
        self.prompt_id = session_id
        self.interactive = interactive
        self.quota_error_occurred = False
        self.sequence_model: str | None = None
        """The sticky model of the current sequence of requests; see its resets below."""
        self.approved_plan: Path | None = None
        """The plan that the user approved last. Source: core `config/config.ts`,
        `setApprovedPlanPath`."""
        self.topic_title: str | None = None
        self.last_prompt_id = session_id
        """The prompt that the turn loop works on, or worked on last."""
        self.last_prompt_tokens = 0
        """Tokens of the context, as the turn loop last published them; limits tools' outputs.
        It lags behind the chat's own count by a turn, as the core's telemetry does."""
        self._model = model
        self._active_model = model
        self._approval_mode = approval_mode
        self.mode_breaks = 0
        """How often plan or yolo mode was entered or left, which makes cached texts stale."""
        self._folder_trusted = folder_trusted
        self._events = events

    def log(
        self,
        name: str,
        body: str,
        attributes: Mapping[str, Any],
        spoken: Mapping[str, Any] | None = None,
    ) -> None:
        """Emit a record for the session's log; see `Logged`.

        `name` goes without its `gemini_cli.`.
        """
        self._events.emit(
            Logged(name=f"gemini_cli.{name}", body=body, attributes=attributes, spoken=spoken or {})
        )

    @property
    def model(self) -> str:
        """The configured model, perhaps an alias."""
        return self._model

    @property
    def active_model(self) -> str:
        """The model now in force; differs from `model` after a fallback or a selection."""
        return self._active_model

    def note_quota_error(self) -> None:
        """Note for the client that a quota is used up: no model is asked who speaks next.

        Source: core `config/config.ts` (`setQuotaErrorOccurred`).
        """
        self.quota_error_occurred = True
        self._events.emit(QuotaErrorOccurred())

    def set_active_model(self, model: str) -> None:
        """Set the active model only: no notice, no reset."""
        self._active_model = model

    def set_model(self, model: str) -> None:
        """Change configured and active model; an effective change clears the sticky one."""
        if model == self._model and model == self._active_model:
            return
        self._model = model
        self._active_model = model
        self.sequence_model = None
        self._events.emit(ModelChanged(model=model))

    @property
    def approval_mode(self) -> ApprovalMode:
        """The mode in force."""
        return self._approval_mode

    def set_approval_mode(self, mode: ApprovalMode) -> None:
        """Change the mode; entering or leaving plan or yolo clears the sticky model.

        Raises:
            PrivilegedModeRefused: the folder is not trusted, and the mode asks less than usual.
        """
        if not self._folder_trusted and mode not in {ApprovalMode.DEFAULT, ApprovalMode.PLAN}:
            raise PrivilegedModeRefused
        before = self._approval_mode
        if mode == before:
            return
        self._approval_mode = mode
        if {before, mode} & {ApprovalMode.PLAN, ApprovalMode.YOLO}:
            self.sequence_model = None
            self.mode_breaks += 1
        self._events.emit(ApprovalModeChanged(mode=mode))
