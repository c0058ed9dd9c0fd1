"""`Recorder`: starts and ends spans by the session's clock, under the current span.

A context variable of this module has the current span. OpenTelemetry's own current span is not set:
libraries that read it (google-adk, the MCP client) would add their spans to ours, or send our ids
to servers.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import ParamSpec

from opentelemetry.context import Context
from opentelemetry.trace import Span, SpanKind, StatusCode, Tracer, set_span_in_context

from services.clock import Clock
from services.redaction import redacted
from services.telemetry import names
from services.telemetry.cleaning import Attributes, cleaned
from services.telemetry.instruments import Instruments

__all__ = ["Attributes", "Recorder", "Scope", "current_scope", "guarded", "within"]

logger = logging.getLogger(__name__)

P = ParamSpec("P")
_NS_PER_MS = 1_000_000


@dataclass(slots=True, eq=False)
class Scope:
    """The parent of new spans, once `span` is set."""

    span: Span | None = None


_SCOPE: ContextVar[Scope | None] = ContextVar("telemetry_scope", default=None)


def current_scope() -> Scope | None:
    """Return the scope of the running task."""
    return _SCOPE.get()


@contextmanager
def within(scope: Scope) -> Iterator[None]:
    """Make `scope` current in the body and the tasks that it starts."""
    token = _SCOPE.set(scope)
    try:
        yield
    finally:
        _SCOPE.reset(token)


def guarded(method: Callable[P, None]) -> Callable[P, None]:
    """Make `method` log its failures, which must not change the session."""

    @functools.wraps(method)
    def safe(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            method(*args, **kwargs)
        except Exception:  # telemetry must not change the session
            logger.warning("telemetry could not take something down", exc_info=True)

    return safe


class Recorder:
    """One session's spans and metrics.

    Args:
        tracer: makes spans; not the process's global one.
        instruments: the metrics.
        clock: virtual in a replay.
        conversation: the session's first id.
        provider: the models' provider, as in the conventions.
        content: whether to record content.
    """

    def __init__(
        self,
        tracer: Tracer,
        instruments: Instruments,
        clock: Clock,
        *,
        conversation: str,
        provider: str,
        content: bool,
    ) -> None:
        self.instruments = instruments
        self.provider = provider
        self.content = content
        self.conversation = conversation
        self._tracer = tracer
        self._clock = clock
        self._open: dict[Span, None] = {}

    def now_ms(self) -> int:
        """Milliseconds since the Unix epoch, by the session's clock."""
        return self._clock.now_ms()

    def begin(
        self, name: str, attributes: Attributes, *, began_ms: int, client: bool = False
    ) -> Span:
        """Start a span under the current span, or a new trace."""
        scope = current_scope()
        parent = scope.span if scope is not None else None
        context = Context() if parent is None else set_span_in_context(parent, Context())
        span = self._tracer.start_span(
            redacted(name),
            context=context,
            kind=SpanKind.CLIENT if client else SpanKind.INTERNAL,
            attributes=cleaned({**attributes, names.CONVERSATION: self.conversation}),
            start_time=began_ms * _NS_PER_MS,
            record_exception=False,
            set_status_on_exception=False,
        )
        self._open[span] = None
        return span

    def end(
        self, span: Span, attributes: Attributes, *, ended_ms: int, failed: bool = False
    ) -> None:
        """End an open span of `begin`; do nothing for another one."""
        if span not in self._open:
            return
        del self._open[span]
        span.set_attributes(cleaned(attributes))
        if failed:
            span.set_status(StatusCode.ERROR)
        span.end(ended_ms * _NS_PER_MS)

    def event(self, name: str, attributes: Attributes) -> None:
        """Add an event to the current span, if any."""
        scope = current_scope()
        if scope is not None and scope.span is not None and scope.span.is_recording():
            scope.span.add_event(name, cleaned(attributes), self.now_ms() * _NS_PER_MS)

    def end_open(self) -> None:
        """End all open spans, latest first, at the session's end."""
        for span in reversed(list(self._open)):
            self.end(span, {names.ERROR_TYPE: names.CANCELLED}, ended_ms=self.now_ms())
