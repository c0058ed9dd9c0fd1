"""What replaces a conversation's history by another one: compression, resume, rewind.

The chat recording is the truth about a conversation: what is resumed or rewound is derived from
it, ids included, so that the same recording gives the same history every time.

Source: core `core/client.ts` (`tryCompressChat`, `resumeChat`) and `utils/sessionUtils.ts`.
"""

from __future__ import annotations

from pathlib import Path

from runtimes.adk.conversation import Conversation
from services.abort import AbortSignal
from services.bundle import Services
from services.compression.rebuild import rebuilt_turns
from services.compression.service import CompressionInfo, CompressionStatus
from services.prompts import ENVIRONMENT_CONTEXT_ID
from services.recording.conversion import convert_session_to_client_history
from services.recording.loading import load_conversation_record
from services.recording.records import ResumedSession

__all__ = ["compress", "model_for_limits", "resume", "rewind"]


def model_for_limits(services: Services) -> str:
    """The model that the next request is expected to go to, before it is routed."""
    state = services.state
    return state.sequence_model or services.models.concrete(state.active_model, custom_tools=False)


async def compress(
    services: Services,
    conversation: Conversation,
    prompt_id: str,
    signal: AbortSignal,
    *,
    force: bool = False,
) -> CompressionInfo:
    """Summarise the history if it is long enough, or because `force` says so.

    A summarised history is a new chat on the same recording.

    Raises:
        ModelError: no summary could be got.
        AbortError: the signal was aborted.
    """
    result = await services.compression.compress(
        conversation, prompt_id, model=model_for_limits(services), signal=signal, force=force
    )
    if result.new_history is None:
        return result.info
    if result.info.status is CompressionStatus.COMPRESSED:
        context = services.prompts.session_context()
        turns = rebuilt_turns(context, result.new_history, services.ids)
        conversation.start(turns, _own_recording(services, conversation))
    elif result.info.status is CompressionStatus.CONTENT_TRUNCATED:
        conversation.replace_history(result.new_history)
    conversation.publish_tokens()
    return result.info


def resume(services: Services, conversation: Conversation, file: Path | None) -> None:
    """Go on from a chat recording; from this conversation's own where none is given.

    Raises:
        ValueError: it is not a chat recording.
    """
    path = file or conversation.recording.path
    record = load_conversation_record(path, services.clock) if path else None
    if path is None or record is None:
        raise ValueError(f"{path} is not a chat recording")
    turns = convert_session_to_client_history(record.messages)
    if not turns or turns[0][0] != ENVIRONMENT_CONTEXT_ID:
        turns.insert(0, conversation.environment())
    conversation.start(turns, ResumedSession(record, path))


def rewind(conversation: Conversation, to: str | int) -> None:
    """Go back to before a message: its id, or its number among the user's own, from 0."""
    recording = conversation.recording
    if isinstance(to, int):
        own = [message for message in recording.messages if message.get("type") == "user"]
        to = str(own[to].get("id")) if 0 <= to < len(own) else ""
    left = recording.rewind_to(to)
    if left is not None:
        conversation.become(convert_session_to_client_history(left))
        conversation.publish_tokens()


def _own_recording(services: Services, conversation: Conversation) -> ResumedSession | None:
    path = conversation.recording.path
    record = load_conversation_record(path, services.clock) if path else None
    return ResumedSession(record, path) if path and record else None
