"""Faults of the services in the chat recording, and in resuming a session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from seeded_faults import Behaviour, Faults, Site
from seeded_faults.wrappers import during, instead, only_when, passing, result, returns

fault = Faults(Site.SERVICE, Behaviour.RECORDING)
held_out = Faults(Site.SERVICE, Behaviour.RECORDING, held_out=True)
held_out_approval = Faults(Site.SERVICE, Behaviour.APPROVAL, held_out=True)
held_out_hooks = Faults(Site.SERVICE, Behaviour.HOOKS, held_out=True)
_NOTICES: Final = frozenset({"info", "warning", "error"})


def _swapped_kinds(names: Any) -> Any:
    other = {"thoughts": "tool", "tool": "thoughts"}
    return tuple((other.get(name, name), count) for name, count in names)


def _bare_call(part: Mapping[str, Any]) -> Mapping[str, Any]:
    call = part.get("functionCall")
    if call is None:
        return part
    return {**part, "functionCall": {key: call[key] for key in call if key != "args"}}


recording_not_synced = fault.wrap(
    "services.chat_recording:ChatRecording.update_messages_from_history",
    returns(None),
    says="The recording does not follow masking, compression or rollbacks of the history.",
    origin="a session service that stores its own events and forgets the recording",
)
metadata_updates_not_written = fault.wrap(
    "services.chat_recording:ChatRecording._set",
    returns(None),
    says="The recording lacks its metadata updates.",
    origin="metadata written once, by a writer of messages",
)
resumed_without_results = fault.wrap(
    "services.recording.conversion:_results",
    instead(lambda _, _message: []),
    says="A resumed session has its calls but not their results.",
    origin="messages converted one to one, though results are kept with the calls",
)
commands_resumed_as_words = fault.wrap(
    "services.recording.conversion:is_ignored_user_content",
    instead(lambda _, text: not text),
    says="Recorded commands and injected context go to the model as user messages.",
    origin="messages filtered by type alone",
)
resumed_pairs_come_apart = fault.wrap(
    "services.recording.conversion:_nameless_partner",
    returns(None),
    says="A call and its response get different ids if they were recorded without ids.",
    origin="ids made separately for each part",
)
rewind_to_unknown_ignored = fault.wrap(
    "services.recording.loading:RecordingReader._rewind",
    only_when(lambda self, message_id: message_id in self._messages),
    says="A recorded rewind to a missing message removes nothing.",
    origin="the sensible behaviour, which the published core does not have",
)
tokens_include_thoughts = fault.wrap(
    "services.chat_recording:token_record",
    result(lambda counts: {**counts, "output": counts["output"] + counts["thoughts"]}),
    says="Recorded output tokens include thought tokens.",
    origin="another client library's definition of output",
)
cancelled_call_recorded_as_error = fault.wrap(
    "services.chat_recording:tool_record",
    result(
        lambda record: record | {"status": "error"} if record["status"] == "cancelled" else record
    ),
    says="A cancelled call is recorded as failed.",
    origin="a framework's results, which know success and error",
)
masked_results_not_recorded = fault.wrap(
    "services.recording.sync:_sync_results",
    returns(False),
    says="Recorded tool calls keep results that are masked in the history.",
    origin="messages synced without their tool calls",
)
first_version_of_a_message_counts = fault.wrap(
    "services.recording.loading:RecordingReader._add",
    only_when(lambda self, message, **more: message["id"] not in self._messages),
    says="A message that was written twice is resumed in its first version.",
    origin="a reader that skips known ids",
)
shown_words_not_recorded = fault.wrap(
    "services.chat_recording:ChatRecording.record_message",
    instead(lambda record, /, self, *, display_content=None, **more: record(self, **more)),
    says="The display text of a user's message is not recorded.",
    origin="a message type without the field",
)
answers_recorded_without_model = held_out.wrap(
    "services.chat_recording:ChatRecording.record_message",
    instead(lambda record, /, self, *, model=None, **more: record(self, **more)),
    says="The model of an answer is not recorded.",
    origin="a message type without the field",
)
token_kinds_swapped = held_out.wrap(
    "services.recording.tool_records:_TOKENS",
    _swapped_kinds,
    says="Thought tokens are recorded as tool tokens, and vice versa.",
    origin="a tuple with its order taken from elsewhere",
)
rewind_not_written = held_out.wrap(
    "services.chat_recording:ChatRecording._append",
    only_when(lambda self, record: "$rewindTo" not in record),
    says="A rewind is not recorded, so resuming undoes it.",
    origin="state changed, but not the file",
)
thoughts_resumed_as_text = held_out.wrap(
    "services.recording.conversion:_thought_part",
    result(lambda found: {"text": found["text"]}),
    says="Recorded thoughts go back to the model as plain text.",
    origin="a part built without its flag",
)
calls_resumed_without_arguments = held_out.wrap(
    "services.recording.conversion:_model_parts",
    result(lambda found: [_bare_call(part) for part in found]),
    says="A resumed session keeps only the names of its calls.",
    origin="a list of fields without one of them",
)
recordings_read_as_latin_1 = held_out.wrap(
    "services.recording.loading:_parse",
    passing(text=lambda text: text.encode("utf-8", "surrogatepass").decode("latin-1")),
    says="A recording is read in a different encoding from the one it was written in.",
    origin="a file opened with the machine's default",
    closed_by="resume/words_beyond_ascii",
)
compression_trigger_swapped = held_out_hooks.wrap(
    "services.hooks.system:HookSystem.pre_compress",
    passing(forced=lambda forced: not forced),
    says="PreCompress reports automatic compression as manual, and vice versa.",
    origin="a flag inverted on its way",
)
privileged_modes_unguarded = held_out_approval.wrap(
    "services.state:SessionState.set_approval_mode",
    during("_folder_trusted", True),
    says="In an untrusted folder, a session may switch to a mode that skips confirmations.",
    origin="trust checked only when a session begins",
)


@fault(
    "services.recording.conversion:_model_parts",
    origin="a conversion for sessions without tools",
)
def resumed_without_calls(_: Any, message: Any) -> Any:
    """A resumed answer has its text but not its calls."""
    content = message.get("content")
    if isinstance(content, str):
        return [{"text": content}] if content else []
    return [part for part in content or () if "text" in part]


@fault(
    "services.chat_recording:ChatRecording.rewind_to",
    origin="an inclusive end in place of an exclusive one",
)
def rewind_keeps_the_message(rewind_to: Any, self: Any, message_id: str) -> Any:
    """Rewinding to a message keeps that message."""
    position = self._index.get(message_id)
    if position is None or position + 1 >= len(self._messages):
        return rewind_to(self, message_id)
    return rewind_to(self, self._messages[position + 1]["id"])


@fault(
    "services.chat_recording:ChatRecording.record_tokens",
    origin="usage that arrives after the text, kept for the next message",
)
def tokens_with_next_message(record_tokens: Any, self: Any, usage: Any) -> None:
    """An answer's token counts are recorded with the next answer."""
    due, self.late_usage = getattr(self, "late_usage", None), usage
    if due is not None:
        record_tokens(self, due)


@fault(
    "services.recording.loading:RecordingReader._update",
    origin="a reader that treats every line as an addition",
)
def checkpoint_adds(update: Any, self: Any, updates: Any) -> None:
    """When resuming, a checkpoint extends the earlier messages instead of replacing them."""
    known = dict(self._messages)
    update(self, updates)
    self._messages = {**known, **self._messages}


@fault(
    "services.chat_recording:tool_record",
    origin="records of what ran instead of what was requested",
)
def tail_call_recorded_as_run(tool_record: Any, call: Any, find_tool: Any, timestamp: str) -> Any:
    """A call that a hook replaced is recorded as its replacement."""
    record = tool_record(call, find_tool, timestamp)
    return {**record, "name": call.request.name, "args": call.request.args}


@held_out(
    "services.chat_recording:ChatRecording.record_message",
    origin="a queue that is read but not emptied",
)
def thoughts_recorded_with_every_answer(
    record: Any, /, self: Any, *, type: str, **more: Any
) -> Any:
    """An answer's thoughts are recorded again with every later answer."""
    queued = list(self._queued_thoughts)
    message_id = record(self, type=type, **more)
    if type == "gemini":
        self._queued_thoughts = queued
    return message_id


structured_display_not_recorded = held_out.wrap(
    "services.chat_recording:tool_record",
    result(
        lambda record: {
            key: record[key]
            for key in record
            if key != "resultDisplay" or isinstance(record[key], str)
        }
    ),
    says="A tool's display is recorded only if it is text.",
    origin="a display that began as a text",
)


@held_out(
    "services.recording.loading:RecordingReader._rewind",
    origin="a record of a position read as one of a message",
)
def rewind_read_as_deletion(rewind: Any, self: Any, message_id: str) -> None:
    """When resuming, a rewind removes only the named message and none after it."""
    if message_id in self._messages:
        del self._messages[message_id]
    else:
        rewind(self, message_id)


@held_out(
    "services.chat.succession:convert_session_to_client_history",
    origin="every message not from the model treated as the user's",
)
def notices_resumed_as_words(convert: Any, messages: Any) -> Any:
    """Recorded notices go to the model as user messages."""
    return convert(
        {**message, "type": "user"} if message.get("type") in _NOTICES else message
        for message in messages
    )


@held_out("services.chat_recording:followed", origin="messages matched by id and kept unchanged")
def known_messages_keep_contents(followed: Any, messages: Any, positions: Any, *more: Any) -> Any:
    """A checkpoint keeps messages as first recorded, not as in the history."""
    found = followed(messages, positions, *more)
    return found and [
        {**message, "content": messages[positions[message["id"]]]["content"]}
        if message["id"] in positions
        else message
        for message in found
    ]


@held_out("services.chat_recording:followed", origin="a merge instead of a replacement")
def dropped_messages_recorded(followed: Any, messages: Sequence[Any], *more: Any) -> Any:
    """A checkpoint keeps messages that the history has dropped."""
    found = followed(messages, *more)
    if found is None:
        return None
    there = {message["id"] for message in found}
    for position, message in enumerate(messages):
        if message["id"] not in there:
            found.insert(position, message)
    return found
