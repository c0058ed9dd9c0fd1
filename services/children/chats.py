"""Opens and compresses the chat of a subagent, which has its own recording.

Source: core `agents/local-executor.ts` (`createChatObject`, `tryCompressChat`).
"""

from __future__ import annotations

from collections.abc import Sequence

from services.abort import AbortSignal
from services.chat import Chat
from services.children.child_services import ChildServices
from services.children.opening import chat_being_created
from services.compression.service import CompressionInfo
from services.recording.records import HistoryTurn
from services.wire import Content

__all__ = ["compress_chat", "open_chat"]


def open_chat(child: ChildServices, chat: Chat, contents: Sequence[Content]) -> None:
    """Begin the chat and its recording with `contents`.

    Raises:
        ChatNotCreated: the recording's file cannot be created.
    """
    with chat_being_created():
        chat.begin(child.open_recording(), _turns(child, contents))


async def compress_chat(
    child: ChildServices, chat: Chat, prompt_id: str, signal: AbortSignal
) -> CompressionInfo:
    """Summarise the history if it is long enough; the chat goes on in the same recording.

    Raises:
        ModelError: the model gave no summary.
        AbortError: the signal was aborted.
    """
    result = await child.services.compression.compress(
        chat, prompt_id, model=child.compression_model, signal=signal
    )
    if result.new_history is not None:
        chat.become(_turns(child, result.new_history))
    return result.info


def _turns(child: ChildServices, contents: Sequence[Content]) -> list[HistoryTurn]:
    return [(child.services.ids.uuid("message"), content) for content in contents]
