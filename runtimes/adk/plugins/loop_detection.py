"""`LoopDetectionAdkPlugin`: watches the answer while it arrives, and ends it in a loop."""

from __future__ import annotations

from typing import Final

from google.adk.agents.invocation_context import InvocationContext
from google.adk.events.event import Event
from google.adk.plugins.base_plugin import BasePlugin

from runtimes.adk.notes import Chunk, note_of
from runtimes.adk.run import RunLink
from services.loop_detection.detector import LoopDetector

__all__ = ["LoopDetectionAdkPlugin"]

_NAME: Final = "loop_detection"


class LoopDetectionAdkPlugin(BasePlugin):
    """Has the detector see the partial deltas, before clients are told of them.

    A consolidated event says nothing new and is left out. The deltas of a chunk are shown one by
    one, as the translator comes to them: an abort in the middle of a chunk ends what clients are
    told and what the detector has seen at the same place, and it remembers that for later sends.
    """

    def __init__(self, loops: LoopDetector, link: RunLink) -> None:
        super().__init__(name=_NAME)
        self._loops = loops
        self._link = link

    async def on_event_callback(
        self, *, invocation_context: InvocationContext, event: Event
    ) -> Event | None:
        """Leave the event as it is; only say whether it is to be watched."""
        delta = event.partial and isinstance(note_of(event), Chunk)
        self._link.run.step.watch = self._loops if delta else None
        return None
