"""Faults of the runtimes in what is kept of the history: masking, compression, rollback."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from harness.faults.fault import Behaviour, Fault, Site
from harness.faults.patching import replaced

__all__ = ["FAULTS"]

_legacy = partial(Fault, site=Site.LEGACY, behaviour=Behaviour.CONTEXT)
_adk = partial(Fault, site=Site.ADK, behaviour=Behaviour.CONTEXT)


def _found_by_masking(chat: Any) -> Any:
    masking, view = chat._services.masking, chat.view
    chat.match_configured_model()
    if not masking.due(view.raw, coalesced=view.strips_thoughts):
        return None
    result = masking.mask(chat.shown_history(), live=view.raw)
    return result if result.masked_count else None


def _masking_by_position(_: Any) -> Any:
    """The n-th masked response goes where the n-th response of the history is."""

    def broken(self: Any) -> None:
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

    return broken


def _masking_in_memory(_: Any) -> Any:
    def broken(self: Any) -> None:
        result = _found_by_masking(self)
        if result is not None:
            ids = self._services.ids
            self.replace([(ids.uuid("message"), each) for each in result.history])

    return broken


def _keeping_long_history(compress: Any) -> Any:
    async def broken(self: Any, *args: Any, **kwargs: Any) -> Any:
        chat = self._current
        chat.replace_history = lambda contents: None
        try:
            return await compress(self, *args, **kwargs)
        finally:
            del chat.replace_history

    return broken


def _keeping_count(go_back: Any) -> Any:
    def broken(self: Any, mark: Any) -> None:
        count = self.last_prompt_token_count
        go_back(self, mark)
        self.last_prompt_token_count = count

    return broken


def _keeping_chat(current: Any) -> Any:
    def broken(self: Any) -> Any:
        self.kept = getattr(self, "kept", None) or current(self)
        return self.kept

    return broken


def _silent(_: Any) -> Any:
    def broken(self: Any) -> None:
        return None

    return broken


def _with_pending_turn(step: Any) -> Any:
    async def broken(self: Any, context: Any, *args: Any) -> None:
        conversation, pending = self._conversation, self._sessions.pending(context.session)
        if pending is not None and pending.wire is not None:
            conversation.push("pending", pending.wire)
        await step(self, context, *args)
        if pending is not None and pending.wire is not None:
            conversation._ids.pop()
            conversation.view.truncate(len(conversation._ids))

    return broken


def _no_recording(_: Any) -> Any:
    def broken(self: Any) -> None:
        return None

    return broken


def _without_environment(compress: Any) -> Any:
    async def broken(self: Any, *args: Any, **kwargs: Any) -> Any:
        start = self.start
        self.start = lambda turns, resumed: start(turns[1:], resumed)
        try:
            return await compress(self, *args, **kwargs)
        finally:
            del self.start

    return broken


class _Inclusive(int):
    """A number that another one exceeds by being equal."""

    def __lt__(self, other: int) -> bool:
        return int(self) <= other


def _refusing_what_just_fits(run: Any) -> Any:
    async def broken(self: Any, *args: Any) -> Any:
        self._room = _Inclusive(self._room)
        return await run(self, *args)

    return broken


def _back_to_request(fail: Any) -> Any:
    def broken(self: Any, request: Any, *, aborted: bool, error: Any) -> None:
        fail(self, request, aborted=False, error=None)

    return broken


def _left_open(_: Any) -> Any:
    def broken(self: Any) -> None:
        return None

    return broken


def _as_adk_sees_it(_: Any) -> Any:
    def broken(content: Any) -> Any:
        return content.model_dump(mode="json", by_alias=True, exclude_none=True)

    return broken


def _unrecorded(roll_back: Any) -> Any:
    def broken(self: Any, *args: Any) -> None:
        self._sync_recording = lambda: None
        try:
            roll_back(self, *args)
        finally:
            del self._sync_recording

    return broken


def _never_replaced(follow: Any) -> Any:
    def broken(self: Any, wires: Any, *, replaced: bool = False) -> Any:
        return follow(self, wires)

    return broken


FAULTS: Final = (
    _legacy(
        name="masking-by-position",
        says="Masked outputs are put back by counting responses, so exempt ones are overwritten.",
        origin="seen in agent migrations: masking by index instead of by id",
        breaks=lambda: replaced("runtimes.legacy.chat:GeminiChat.mask", _masking_by_position),
    ),
    _legacy(
        name="masking-not-recorded",
        says="Masked outputs leave the history, and stay whole in the recording.",
        origin="seen in agent migrations: masking not persisted, the recording not synced",
        breaks=lambda: replaced("runtimes.legacy.chat:GeminiChat.mask", _masking_in_memory),
    ),
    _legacy(
        name="shortened-history-dropped",
        says="Where summarising failed and long outputs were cut instead, the cut is lost.",
        origin="a port that knows compression to succeed or fail, and no third",
        breaks=lambda: replaced("runtimes.legacy.chats:Chats.compress", _keeping_long_history),
    ),
    _legacy(
        name="tokens-kept-after-rollback",
        behaviour=Behaviour.LIFECYCLE,
        says="After a rollback the history still counts for as long as it was.",
        origin="a rollback of turns that leaves the figures about them",
        breaks=lambda: replaced("runtimes.legacy.chat:GeminiChat.go_back", _keeping_count),
    ),
    _legacy(
        name="chat-kept-after-compression",
        says="Requests after a compression go on with the history before it.",
        origin="seen in agent migrations: compression breaking the next turn",
        breaks=lambda: replaced("runtimes.legacy.client:GeminiClient.chat", _keeping_chat),
    ),
    _legacy(
        name="tokens-not-published",
        says="Tools' outputs are cut as if the conversation had only begun.",
        origin="a figure that two layers keep, of which one is updated",
        breaks=lambda: replaced("runtimes.legacy.chats:Chats.publish_tokens", _silent),
    ),
    _adk(
        name="masking-with-pending-turn",
        says="The turn about to be sent counts as the latest, so the one before it is masked.",
        origin="google-adk's processors, which see the pending turn as part of the contents",
        breaks=lambda: replaced(
            "runtimes.adk.processors.conversation:ToolOutputMaskingProcessor._step",
            _with_pending_turn,
        ),
    ),
    _adk(
        name="compressed-into-new-recording",
        says="A compressed conversation begins a recording of its own.",
        origin="seen in agent migrations: compression breaking what comes after it",
        breaks=lambda: replaced(
            "runtimes.adk.conversation:Conversation._own_recording", _no_recording
        ),
    ),
    _adk(
        name="environment-lost-by-compression",
        says="A compressed history begins with the summary, without the environment's context.",
        origin="google-adk's compaction, which summarises whatever stands first",
        breaks=lambda: replaced(
            "runtimes.adk.conversation:Conversation.compress", _without_environment
        ),
    ),
    _adk(
        name="overflow-off-by-one",
        behaviour=Behaviour.LOOPS,
        says="A request that just fills the window is refused.",
        origin="seen in agent migrations: off by one at every threshold",
        breaks=lambda: replaced(
            "runtimes.adk.plugins.limits:TokenLimitAdkPlugin.request_measured",
            _refusing_what_just_fits,
        ),
    ),
    _adk(
        name="abort-undoes-one-request",
        says="An abort takes back the request under way, and leaves the rest of its prompt.",
        origin="google-adk's sessions, where an event that was appended stays",
        breaks=lambda: replaced("runtimes.adk.conversation:Conversation.fail", _back_to_request),
    ),
    _adk(
        name="rollback-not-recorded",
        behaviour=Behaviour.RECORDING,
        says="What an abort or a failure took back stays in the recording.",
        origin="seen in agent migrations: the recording not synced",
        breaks=lambda: replaced("runtimes.adk.conversation:Conversation._roll_back", _unrecorded),
    ),
    _adk(
        name="interrupted-answer-left-open",
        says="A prompt after tool results that nobody answered is joined to them.",
        origin="a port that leaves out upstream's placeholder for the missing answer",
        breaks=lambda: replaced(
            "runtimes.adk.conversation:Conversation._close_unanswered_response", _left_open
        ),
    ),
    _adk(
        name="sent-as-typed-content",
        says="What google-genai's types do not carry, a user's image say, is not sent.",
        origin="google-genai's types between the conversation and the API",
        breaks=lambda: replaced("runtimes.adk.model_call:wire_of", _as_adk_sees_it),
    ),
    _adk(
        name="request-contents-stale",
        says="The contents of ADK's request keep turns that masking or compression replaced.",
        origin="a list brought up to date at its end, of a history that changed in its middle",
        unobservable="what is sent is read from the conversation unless a plugin edits the "
        "request: tests/harness/faults/test_unobservable.py",
        breaks=lambda: replaced("services.model.sdk_contents:TypedHistory.follow", _never_replaced),
    ),
)
