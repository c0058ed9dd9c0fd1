"""`LoopDetectionAdkPlugin`: watches the answer while it arrives, and ends it in a loop."""

from __future__ import annotations

from google.adk.agents.invocation_context import InvocationContext
from google.adk.events.event import Event
from google.adk.plugins.base_plugin import BasePlugin

from runtimes.adk.notes import LOOP_DETECTED, Looped, note_of
from runtimes.adk.run import RunLink
from services.chat import Delta
from services.loop_detection.detector import LoopDetector
from services.model.sdk_contents import WireContent, wire_of

__all__ = ["LoopDetectionAdkPlugin"]


class LoopDetectionAdkPlugin(BasePlugin):
    """Shows the detector each partial delta before clients get it.

    A delta with which the answer loops is replaced by an event without parts, whose `error_code`
    is `LOOP_DETECTED`, and the model's stream ends. Consolidated events repeat the deltas and are
    left out.
    """

    def __init__(self, loops: LoopDetector, link: RunLink | None = None) -> None:
        """Watch with `loops`.

        `link` finds the step whose stream is ended. Without it, in an ADK app of another kind, the
        plugin aborts the invocation, and every invocation is a prompt of its own.
        """
        super().__init__(name="loop_detection")
        self._loops = loops
        self._link = link

    async def before_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """Begin to count anew; where there is a link, a processor says when a prompt begins."""
        if self._link is None:
            self._loops.reset(invocation_context.invocation_id)

    async def on_event_callback(
        self, *, invocation_context: InvocationContext, event: Event
    ) -> Event | None:
        """Replace the delta that closes a loop."""
        if not event.partial or event.content is None:
            return None
        if self._link is not None and self._link.run.signal.aborted:
            note = note_of(event)
            # As in the published core, an abort ends the answer before the next chunk.
            if isinstance(note, Delta) and note.index == 0:
                return None
        verdict = self._loops.add_parts(wire_of(event.content).get("parts") or ())
        if not verdict.count:
            return None
        if self._link is None:
            invocation_context.abort()
        else:
            self._link.run.step.cut_off(verdict)
        return Event(
            author=event.author,
            content=WireContent.bare(Looped(verdict.count)),
            partial=True,
            error_code=LOOP_DETECTED,
        )
