"""`ChildConversation`: a child's chat. It begins with nothing, and is recorded in its own file."""

from __future__ import annotations

from collections.abc import Sequence

from runtimes.adk.conversation import Conversation
from services.abort import AbortSignal
from services.children.child_services import ChildServices
from services.wire import Content

__all__ = ["ChildConversation"]


class ChildConversation(Conversation):
    """One child's turns. What the session is told of its conversation is its parent's."""

    def __init__(self, child: ChildServices) -> None:
        super().__init__(child.services)
        self._child = child

    def open(self, turns: Sequence[Content]) -> None:
        """Begin the chat and its recording, with `turns` in it already.

        Raises:
            OSError: the recording's file cannot be made.
            ValueError: its id names no file.
        """
        self.recording = self._child.open_recording()
        self._own(turns)

    async def compress(self, prompt_id: str, signal: AbortSignal) -> None:
        """Summarise the history if it is long enough; afterwards it is what was made of it.

        Raises:
            ModelError: no summary could be got.
            AbortError: the signal was aborted.
        """
        compression = self._child.services.compression
        model = self._child.compression_model
        result = await compression.compress(self, prompt_id, model=model, signal=signal)
        if result.new_history is not None:
            self._own(result.new_history)

    def publish_tokens(self) -> None:
        """Nothing: the session speaks of its own conversation's prompts."""

    def _own(self, contents: Sequence[Content]) -> None:
        ids = self._child.services.ids
        self.become([(ids.uuid("message"), content) for content in contents])
