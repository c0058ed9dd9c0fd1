"""Faults of the legacy runtime in the history that is kept, and in recordings."""

from __future__ import annotations

from typing import Any

from seeded_faults import Behaviour, Faults, Site
from seeded_faults.altered import Altered
from seeded_faults.wrappers import instead, keeps, returns
from services.abort import AbortController
from services.compression.service import CompressionInfo
from services.prompts import ENVIRONMENT_CONTEXT_ID

fault = Faults(Site.LEGACY, Behaviour.CONTEXT)
fault_lifecycle = Faults(Site.LEGACY, Behaviour.LIFECYCLE)
held_out = Faults(Site.LEGACY, Behaviour.CONTEXT, held_out=True)
held_out_recording = Faults(Site.LEGACY, Behaviour.RECORDING, held_out=True)


def _found_by_masking(chat: Any) -> Any:
    masking, view = chat._services.masking, chat.view
    chat.match_configured_model()
    if not masking.due(view.raw, coalesced=view.strips_thoughts):
        return None
    result = masking.mask(chat.shown_history(), live=view.raw)
    return result if result.masked_count else None


tokens_kept_after_rollback = fault_lifecycle.wrap(
    "runtimes.legacy.chat:GeminiChat.go_back",
    keeps("last_prompt_token_count"),
    says="After a rollback, the history keeps the token count from before.",
    origin="a rollback of turns without their token counts",
)
tokens_not_published = fault.wrap(
    "runtimes.legacy.chats:Chats.publish_tokens",
    returns(None),
    says="Tool outputs are cut as if the conversation had just begun.",
    origin="a figure that two layers keep and one updates",
)
reset_goes_on_in_the_recording = held_out_recording.wrap(
    "runtimes.legacy.chats:Chats.reset",
    instead(lambda _, self: self.start(None, self._own_recording())),
    says="A reset conversation continues in the same recording.",
    origin="a reset implemented as a compression",
)


@fault(
    "runtimes.legacy.chat:GeminiChat.mask",
    origin="seen in agent migrations: masking by index instead of by id",
)
def masking_by_position(_: Any, self: Any) -> None:
    """Masked outputs are matched by position, so exempt ones are overwritten."""
    # The n-th masked response replaces the n-th response of the history.
    result = _found_by_masking(self)
    if result is None:
        return
    masked = [change.part for change in reversed(result.changes)]
    contents = []
    for content in self.shown_history():
        parts = [
            masked.pop(0) if part.get("functionResponse") and masked else part
            for part in content.get("parts") or ()
        ]
        contents.append({**content, "parts": parts})
    self.replace_history(contents)


@fault(
    "runtimes.legacy.chat:GeminiChat.mask",
    origin="seen in agent migrations: masking not persisted, the recording not synced",
)
def masking_not_recorded(_: Any, self: Any) -> None:
    """Masked outputs leave the history but stay whole in the recording."""
    result = _found_by_masking(self)
    if result is not None:
        ids = self._services.ids
        self.replace([(ids.uuid("message"), each) for each in result.history])


@fault(
    "runtimes.legacy.chats:Chats.compress",
    origin="a port for which compression only succeeds or fails",
)
async def shortened_history_dropped(compress: Any, /, self: Any, *args: Any, **kwargs: Any) -> Any:
    """When a summary fails and long outputs are cut instead, the cut is lost."""
    chat = self._current
    chat.replace_history = lambda contents: None
    try:
        return await compress(self, *args, **kwargs)
    finally:
        del chat.replace_history


@fault(
    "runtimes.legacy.client:GeminiClient.chat",
    origin="seen in agent migrations: compression breaking the next turn",
)
def chat_kept_after_compression(current: Any, self: Any) -> Any:
    """After a compression, requests still use the old history."""
    self.kept = getattr(self, "kept", None) or current(self)
    return self.kept


@held_out(
    "runtimes.legacy.runtime:LegacyRuntime.compress",
    origin="a parameter with a default that a call omits",
)
async def compress_command_minds_threshold(_: Any, self: Any) -> CompressionInfo:
    """A compression that the user requests is skipped while the history is short."""
    prompt_id = f"compress-{self._services.clock.now_ms()}"
    info: CompressionInfo = await self._chats.compress(prompt_id, AbortController().signal)
    return info


@held_out(
    "runtimes.legacy.chats:Chats.compress",
    origin="two lines in the other order, which reads as well",
    closed_by="limits/overflow_then_masked",
)
async def room_counted_after_masking(
    compress: Any, self: Any, *args: Any, force: bool = False
) -> Any:
    """The remaining room in the window is computed after masking, not before."""
    info = await compress(self, *args, force=force)
    if not force:
        self._current.mask()
    return info


@held_out_recording(
    "runtimes.legacy.chat:StreamAssembler", origin="an empty text mistaken for an empty answer"
)
def calls_alone_recorded_as_synthetic(assembler: Any, /, **kwargs: Any) -> Any:
    """An answer of calls alone is not recorded as a message of the model."""
    made = assembler(**kwargs)

    def finish() -> Any:
        turn = made.finish()
        return Altered(turn, recorded_as_message=bool(turn.response_text))

    return Altered(made, finish=finish)


@held_out_recording(
    "runtimes.legacy.chats:Chats.resume",
    origin="recordings that began to keep the environment after resuming was written",
)
def environment_twice_after_resume(resume: Any, self: Any, file: Any) -> None:
    """A resumed history begins with the environment context twice."""
    start = self.start

    def started(turns: Any, resumed: Any) -> None:
        messages = resumed.conversation.messages
        if any(message.get("id") == ENVIRONMENT_CONTEXT_ID for message in messages):
            turns = [self.environment(), *turns]
        start(turns, resumed)

    self.start = started
    try:
        resume(self, file)
    finally:
        del self.start


@held_out_recording(
    "runtimes.legacy.chats:Chats.rewind",
    origin="a number that is clamped instead of rejected",
    closed_by="resume/rewind_past_end",
)
def rewind_past_the_end_takes_the_last(rewind: Any, self: Any, to: Any) -> None:
    """A rewind to a missing message goes back to before the last one."""
    messages = self._current.recording.messages
    own = [message for message in messages if message.get("type") == "user"]
    rewind(self, min(to, len(own) - 1) if isinstance(to, int) and own else to)
