"""`ChildConversation`: a child's chat. It begins with nothing, and is recorded in its own file."""

from __future__ import annotations

from collections.abc import Sequence

from runtimes.adk.conversation import Conversation
from services.abort import AbortSignal
from services.children.chats import compress_chat, open_chat
from services.children.child_services import ChildServices
from services.compression.service import CompressionInfo
from services.wire import Content

__all__ = ["ChildConversation"]


class ChildConversation(Conversation):
    """One child's turns. The session's figures and its context are its parent's."""

    def __init__(self, child: ChildServices) -> None:
        super().__init__(child.services)
        self._child = child

    def open(self, turns: Sequence[Content]) -> None:
        """Begin the chat and its recording, with `turns` in it already.

        Raises:
            ChatNotCreated: the recording's file cannot be made, or its id names no file.
        """
        open_chat(self._child, self, turns)

    async def compress(
        self, prompt_id: str, signal: AbortSignal, *, force: bool = False
    ) -> CompressionInfo:
        """Summarise the history if it is long enough; `force` is for a user's conversation.

        Raises:
            ModelError: no summary could be got.
            AbortError: the signal was aborted.
        """
        return await compress_chat(self._child, self, prompt_id, signal)

    def publish_tokens(self) -> None:
        """Do nothing: the session publishes its own conversation's prompts."""
