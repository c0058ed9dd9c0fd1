"""Faults of services in the chat recording, and in what a session is resumed with."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from harness.faults.fault import Behaviour, Fault, Site
from harness.faults.patching import replaced

__all__ = ["FAULTS"]

_recording = partial(Fault, site=Site.SERVICE, behaviour=Behaviour.RECORDING)


def _nothing(_: Any) -> Any:
    def broken(_self: Any, *_more: Any) -> None:
        return None

    return broken


def _no_results(_: Any) -> Any:
    return lambda _message: []


def _blank_alone(_: Any) -> Any:
    return lambda text: not text


def _kept_itself(rewind_to: Any) -> Any:
    def broken(self: Any, message_id: str) -> Any:
        position = self._index.get(message_id)
        if position is None or position + 1 >= len(self._messages):
            return rewind_to(self, message_id)
        return rewind_to(self, self._messages[position + 1]["id"])

    return broken


def _unknown_is_nothing(rewind: Any) -> Any:
    def broken(self: Any, message_id: str) -> None:
        if message_id in self._messages or message_id in self._ids:
            rewind(self, message_id)

    return broken


def _for_the_next_message(record_tokens: Any) -> Any:
    def broken(self: Any, usage: Any) -> None:
        due, self.late_usage = getattr(self, "late_usage", None), usage
        if due is not None:
            record_tokens(self, due)

    return broken


def _cancelled_is_error(tool_record: Any) -> Any:
    def broken(call: Any, find_tool: Any, timestamp: str) -> Any:
        record = tool_record(call, find_tool, timestamp)
        return record | {"status": "error"} if record["status"] == "cancelled" else record

    return broken


def _unsynced(_: Any) -> Any:
    return lambda _messages, _history, _start: False


def _added(update: Any) -> Any:
    def broken(self: Any, updates: Any) -> None:
        known = dict(self._messages)
        update(self, updates)
        self._messages = {**known, **self._messages}

    return broken


def _first_version(add: Any) -> Any:
    def broken(self: Any, message: Any, **more: Any) -> None:
        if message["id"] not in self._messages:
            add(self, message, **more)

    return broken


def _as_run(tool_record: Any) -> Any:
    def broken(call: Any, find_tool: Any, timestamp: str) -> Any:
        record = tool_record(call, find_tool, timestamp)
        return {**record, "name": call.request.name, "args": call.request.args}

    return broken


def _with_billed_thoughts(token_record: Any) -> Any:
    def broken(usage: Any) -> Any:
        counts = token_record(usage)
        return {**counts, "output": counts["output"] + counts["thoughts"]}

    return broken


def _without_display(record: Any) -> Any:
    def broken(self: Any, *, display_content: Any = None, **more: Any) -> Any:
        return record(self, **more)

    return broken


def _text_alone(_: Any) -> Any:
    def broken(message: Any) -> Any:
        content = message.get("content")
        if isinstance(content, str):
            return [{"text": content}] if content else []
        return [part for part in content or () if "text" in part]

    return broken


def _no_partner(_: Any) -> Any:
    return lambda *_args: None


FAULTS: Final = (
    _recording(
        name="recording-not-synced",
        says="When the history is masked, compressed or rolled back the recording stays behind.",
        origin="a session service that stores its own events and forgets the recording",
        breaks=lambda: replaced(
            "services.chat_recording:ChatRecording.update_messages_from_history", _nothing
        ),
    ),
    _recording(
        name="metadata-updates-not-written",
        says="The recording lacks the lines that update its metadata.",
        origin="metadata written once, by a writer of messages",
        breaks=lambda: replaced("services.chat_recording:ChatRecording._set", _nothing),
    ),
    _recording(
        name="resumed-without-results",
        says="A resumed session has its calls and not what came of them.",
        origin="messages converted one to one, where results are kept with the calls",
        breaks=lambda: replaced("services.recording.conversion:_results", _no_results),
    ),
    _recording(
        name="resumed-without-calls",
        says="A resumed answer has its text and not its calls.",
        origin="a conversion made for sessions without tools",
        breaks=lambda: replaced("services.recording.conversion:_model_parts", _text_alone),
    ),
    _recording(
        name="commands-resumed-as-words",
        says="Commands and injected context of a recording go to the model as the user's words.",
        origin="a filter of messages by their type alone",
        breaks=lambda: replaced(
            "services.recording.conversion:is_ignored_user_content", _blank_alone
        ),
    ),
    _recording(
        name="resumed-pairs-come-apart",
        says="A call and its response that were recorded without ids get different ones.",
        origin="ids made for each part on its own",
        breaks=lambda: replaced("services.recording.conversion:_nameless_partner", _no_partner),
    ),
    _recording(
        name="rewind-keeps-the-message",
        says="Rewinding to a message keeps that message.",
        origin="an end that is included for one that is not",
        breaks=lambda: replaced("services.chat_recording:ChatRecording.rewind_to", _kept_itself),
    ),
    _recording(
        name="rewind-to-unknown-ignored",
        says="A rewind in a file to a message that is not there takes nothing back.",
        origin="the sensible thing to do, which is not what the published core does",
        breaks=lambda: replaced("services.recording.loading:_Reader._rewind", _unknown_is_nothing),
    ),
    _recording(
        name="tokens-with-next-message",
        says="An answer's token counts are recorded with the answer after it.",
        origin="usage that arrives after the text, kept for whatever comes next",
        breaks=lambda: replaced(
            "services.chat_recording:ChatRecording.record_tokens", _for_the_next_message
        ),
    ),
    _recording(
        name="tokens-include-thoughts",
        says="Recorded output tokens include those of the thoughts.",
        origin="another client library's idea of output",
        breaks=lambda: replaced("services.chat_recording:token_record", _with_billed_thoughts),
    ),
    _recording(
        name="cancelled-call-recorded-as-error",
        says="A call that was cancelled is recorded as one that failed.",
        origin="a framework's results, which know success and error",
        breaks=lambda: replaced("services.chat_recording:tool_record", _cancelled_is_error),
    ),
    _recording(
        name="masked-results-not-recorded",
        says="Records of tool calls keep their results when those are masked.",
        origin="messages synced, and what hangs on them not",
        breaks=lambda: replaced("services.recording.sync:_sync_results", _unsynced),
    ),
    _recording(
        name="checkpoint-adds",
        says="On resuming, a checkpoint adds to the messages before it instead of replacing them.",
        origin="a reader that treats every line as an addition",
        breaks=lambda: replaced("services.recording.loading:_Reader._update", _added),
    ),
    _recording(
        name="first-version-of-a-message-counts",
        says="On resuming, a message that was written twice is as it was at first.",
        origin="a reader that skips ids it knows",
        breaks=lambda: replaced("services.recording.loading:_Reader._add", _first_version),
    ),
    _recording(
        name="tail-call-recorded-as-run",
        says="A call that a hook put another in the place of is recorded as that other.",
        origin="records made of what ran instead of what was asked for",
        breaks=lambda: replaced("services.chat_recording:tool_record", _as_run),
    ),
    _recording(
        name="shown-words-not-recorded",
        says="What was shown instead of the user's message is not recorded.",
        origin="a message type without the field",
        breaks=lambda: replaced(
            "services.chat_recording:ChatRecording.record_message", _without_display
        ),
    ),
)
