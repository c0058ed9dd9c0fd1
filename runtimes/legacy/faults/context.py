"""Faults of the legacy runtime in what is kept of the history, and in recordings."""

from __future__ import annotations

from typing import Any

from seeded_faults import Behaviour, Faults, Site
from seeded_faults.altered import Altered
from seeded_faults.wrappers import instead, keeps, returns
from services.abort import AbortController
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
    says="After a rollback the history still counts for as long as it was.",
    origin="a rollback of turns that leaves the figures about them",
)
tokens_not_published = fault.wrap(
    "runtimes.legacy.chats:Chats.publish_tokens",
    returns(None),
    says="Tools' outputs are cut as if the conversation had only begun.",
    origin="a figure that two layers keep; one is updated",
)
reset_goes_on_in_the_recording = held_out_recording.wrap(
    "runtimes.legacy.chats:Chats.reset",
    instead(lambda _, self: self.start(None, self._own_recording())),
    says="A conversation that was reset goes on in the recording that there is.",
    origin="a reset that does what a compression does",
)


@fault(
    "runtimes.legacy.chat:GeminiChat.mask",
    origin="seen in agent migrations: masking by index instead of by id",
)
def masking_by_position(_: Any, self: Any) -> None:
    """Masked outputs are put back by counting responses, so exempt ones are overwritten."""
    # The n-th masked response goes where the n-th response of the history is.
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
    """Masked outputs leave the history, and stay whole in the recording."""
    result = _found_by_masking(self)
    if result is not None:
        ids = self._services.ids
        self.replace([(ids.uuid("message"), each) for each in result.history])


@fault(
    "runtimes.legacy.chats:Chats.compress",
    origin="a port that knows compression to succeed or fail, and no third",
)
async def shortened_history_dropped(compress: Any, /, self: Any, *args: Any, **kwargs: Any) -> Any:
    """Where summarising failed and long outputs were cut instead, the cut is lost."""
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
    """Requests after a compression go on with the history before it."""
    self.kept = getattr(self, "kept", None) or current(self)
    return self.kept


@held_out(
    "runtimes.legacy.runtime:LegacyRuntime.compress",
    origin="a parameter with a default, lost on the way",
)
async def compress_command_minds_threshold(_: Any, self: Any) -> None:
    """A compression that the user asks for is not made while the history is short."""
    prompt_id = f"compress-{self._services.clock.now_ms()}"
    await self._chats.compress(prompt_id, AbortController().signal)


@held_out(
    "runtimes.legacy.chats:Chats.compress",
    origin="two lines in the other order, which reads as well",
    closed_by="limits/overflow_then_masked",
)
async def room_counted_after_masking(
    compress: Any, self: Any, *args: Any, force: bool = False
) -> Any:
    """What room the window has is counted after old outputs are masked, not before."""
    info = await compress(self, *args, force=force)
    if not force:
        self._current.mask()
    return info


@held_out_recording(
    "runtimes.legacy.chat:StreamAssembler", origin="an empty text taken for an empty answer"
)
def calls_alone_recorded_as_synthetic(assembler: Any, /, **kwargs: Any) -> Any:
    """An answer that consists of calls is not recorded as a message of the model's."""
    made = assembler(**kwargs)

    def finish() -> Any:
        turn = made.finish()
        return Altered(turn, recorded_as_message=bool(turn.response_text))

    return Altered(made, finish=finish)


@held_out_recording(
    "runtimes.legacy.chats:Chats.resume",
    origin="recordings learned to keep the environment later than resuming",
)
def environment_twice_after_resume(resume: Any, self: Any, file: Any) -> None:
    """A resumed history begins with the environment's context twice."""
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
    origin="a number that is brought into its range instead of refused",
    closed_by="resume/rewind_past_end",
)
def rewind_past_the_end_takes_the_last(rewind: Any, self: Any, to: Any) -> None:
    """Rewinding to a message that there is not goes back to before the last one."""
    messages = self._current.recording.messages
    own = [message for message in messages if message.get("type") == "user"]
    rewind(self, min(to, len(own) - 1) if isinstance(to, int) and own else to)
