"""The chats of a conversation, for every runtime: history, recording, rollback, events.

- `ChatHistory`: the turns of a chat, and the marks to which they can go back.
- `Chat`: a history and its recording, with the effects of a request and its answer on both.
- `ChatSuccession`: starts, compresses, resumes and rewinds chats; a `SuccessiveChat` is one object
  for all chats of a conversation.
- `Attempt`, `AnswerReader`: one request to the model until it begins to answer, and the answer.
- `NumberedEvents`, `ConversationEvents`: make a stream's agent events.
- `AgentStream`, `StreamingAgent`: emit them, one stream at a time.
- `TurnLimit`, `ContextRoom`: limit the number of turns and the size of a request.

The runtime decides when it asks the model, and how often.
"""

from services.chat.answer import AnswerReader, Delta, Requested
from services.chat.attempt import Attempt, RequestEdits, RequestParts, retry_kind
from services.chat.chat import Chat, SentRequest
from services.chat.events import (
    MAX_TURNS_EXCEEDED,
    ConversationEvents,
    NumberedEvents,
    request_display,
    tool_call_request,
)
from services.chat.history import ChatHistory, HistoryMark
from services.chat.limits import ContextRoom, SessionTurns, TurnLimit
from services.chat.lineage import successors, with_parts
from services.chat.streams import AgentStream, StreamingAgent
from services.chat.succession import ChatSuccession, SuccessiveChat

__all__ = [
    "MAX_TURNS_EXCEEDED",
    "AgentStream",
    "AnswerReader",
    "Attempt",
    "Chat",
    "ChatHistory",
    "ChatSuccession",
    "ContextRoom",
    "ConversationEvents",
    "Delta",
    "HistoryMark",
    "NumberedEvents",
    "RequestEdits",
    "RequestParts",
    "Requested",
    "SentRequest",
    "SessionTurns",
    "StreamingAgent",
    "SuccessiveChat",
    "TurnLimit",
    "request_display",
    "retry_kind",
    "successors",
    "tool_call_request",
    "with_parts",
]
