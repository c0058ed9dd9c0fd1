"""A conversation's chats, as every runtime has them: history, recording, rollback, events.

`ChatHistory` has the turns, and the places that they may go back to. `Chat` keeps the recording in
step with them; it knows what a request and its answer leave in both. `ChatSuccession` opens one
chat after another: start, compress, resume, rewind; a `SuccessiveChat` is one object for all of
them. `successors` says which turns of a history are still there in the one that took its place.
`NumberedEvents` and `ConversationEvents` make a stream's agent events. `AgentStream` emits them; a
`StreamingAgent` has one stream at a time. `TurnLimit` and `ContextRoom` say when a request is one
too many, or too long. `Attempt` asks the model until it begins to answer, `AnswerReader` takes in
what it answers. How many attempts there are, and when the model is asked, is the runtime's own.
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
