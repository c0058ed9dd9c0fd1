"""The history that a chat begins with after a compression.

Source: core `core/client.ts` `tryCompressChat` and `startChat`, `utils/environmentContext.ts`
`getInitialChatHistory`.
"""

from __future__ import annotations

from collections.abc import Iterable

from services.chat_recording import HistoryTurn
from services.ids import IdSource
from services.prompts import ENVIRONMENT_CONTEXT_ID
from services.wire import Content

__all__ = ["rebuilt_turns"]


def rebuilt_turns(
    session_context: Content, new_history: Iterable[Content], ids: IdSource
) -> list[HistoryTurn]:
    """The turns of the new chat: the environment's context anew, then the compressed history.

    The context keeps its durable id, and so its message in the recording; all other turns, kept
    ones too, get new ids, so the recording's other messages are replaced.
    """
    context: HistoryTurn = (ENVIRONMENT_CONTEXT_ID, session_context)
    return [context, *((ids.uuid("message"), content) for content in new_history)]
