"""`Recorder`: starts and ends spans by the session's clock, under the span that they belong to.

Which span that is goes with the task (a context variable of our own). OpenTelemetry's own notion
of the current span is left alone: libraries that look at it (google-adk, the MCP client) would
otherwise hang their spans into ours, or write our ids into what they send to servers.
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
    """What goes on belongs to `span`, as soon as there is one."""

    span: Span | None = None


_SCOPE: ContextVar[Scope | None] = ContextVar("telemetry_scope", default=None)


def current_scope() -> Scope | None:
    """What the running task belongs to."""
    return _SCOPE.get()


@contextmanager
def within(scope: Scope) -> Iterator[None]:
    """What the body does, and the tasks that it starts, belongs to `scope`."""
    token = _SCOPE.set(scope)
    try:
        yield
    finally:
        _SCOPE.reset(token)


def guarded(method: Callable[P, None]) -> Callable[P, None]:
    """`method`, but what goes wrong in it is logged: measuring must not change what is measured."""

    @functools.wraps(method)
    def safe(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            method(*args, **kwargs)
        except Exception:  # the border between a session and whoever watches it
            logger.warning("telemetry could not take something down", exc_info=True)

    return safe


class Recorder:
    """One session's spans and metrics.

    Args:
        tracer: makes spans; not the process's global one.
        instruments: the metrics.
        clock: what times are taken from, virtual ones in a replay.
        conversation: the id that the session began under.
        provider: who serves the models, as the conventions call them.
        content: whether what is said is recorded.
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
        """Start a span under the running task's, or a trace of its own."""
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
        """End a span that `begin` started; one that has ended is left alone."""
        if span not in self._open:
            return
        del self._open[span]
        span.set_attributes(cleaned(attributes))
        if failed:
            span.set_status(StatusCode.ERROR)
        span.end(ended_ms * _NS_PER_MS)

    def event(self, name: str, attributes: Attributes) -> None:
        """Note something that happened in the running task's span, where it has one."""
        scope = current_scope()
        if scope is not None and scope.span is not None and scope.span.is_recording():
            scope.span.add_event(name, cleaned(attributes), self.now_ms() * _NS_PER_MS)

    def end_open(self) -> None:
        """End what is still under way, latest first: the session is over."""
        for span in reversed(list(self._open)):
            self.end(span, {names.ERROR_TYPE: names.CANCELLED}, ended_ms=self.now_ms())
