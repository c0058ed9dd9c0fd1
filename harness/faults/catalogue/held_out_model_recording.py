"""Held-out faults of services in the recording, in resuming it, and in the session's state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from harness.faults.fault import Behaviour, Fault, Site
from harness.faults.patching import replaced

__all__ = ["FAULTS"]

_recording = partial(Fault, site=Site.SERVICE, behaviour=Behaviour.RECORDING, held_out=True)

_NOTICES: Final = frozenset({"info", "warning", "error"})


def _keeping_thoughts(record: Any) -> Any:
    def broken(self: Any, *, type: str, **more: Any) -> Any:
        queued = list(self._queued_thoughts)
        message_id = record(self, type=type, **more)
        if type == "gemini":
            self._queued_thoughts = queued
        return message_id

    return broken


def _without_model(record: Any) -> Any:
    def broken(self: Any, *, model: Any = None, **more: Any) -> Any:
        del model
        return record(self, **more)

    return broken


def _texts_alone(tool_record: Any) -> Any:
    def broken(*args: Any) -> Any:
        record = tool_record(*args)
        if not isinstance(record.get("resultDisplay"), str):
            record.pop("resultDisplay", None)
        return record

    return broken


def _swapped_kinds(names: Any) -> Any:
    other = {"thoughts": "tool", "tool": "thoughts"}
    return tuple((other.get(name, name), count) for name, count in names)


def _without_rewinds(append: Any) -> Any:
    def broken(self: Any, record: Any) -> None:
        if "$rewindTo" not in record:
            append(self, record)

    return broken


def _that_one_alone(rewind: Any) -> Any:
    def broken(self: Any, message_id: str) -> None:
        if message_id in self._messages:
            del self._messages[message_id]
        else:
            rewind(self, message_id)

    return broken


def _as_said(thought_part: Any) -> Any:
    def broken(thought: Any) -> Any:
        return {"text": thought_part(thought)["text"]}

    return broken


def _without_arguments(model_parts: Any) -> Any:
    def broken(message: Any) -> Any:
        return [_bare_call(part) for part in model_parts(message)]

    return broken


def _bare_call(part: Mapping[str, Any]) -> Mapping[str, Any]:
    call = part.get("functionCall")
    if call is None:
        return part
    return {**part, "functionCall": {key: call[key] for key in call if key != "args"}}


def _notices_as_words(convert: Any) -> Any:
    def broken(messages: Any) -> Any:
        return convert(
            {**message, "type": "user"} if message.get("type") in _NOTICES else message
            for message in messages
        )

    return broken


def _in_latin_1(parse: Any) -> Any:
    def broken(text: str) -> Any:
        return parse(text.encode("utf-8", "surrogatepass").decode("latin-1"))

    return broken


def _old_contents(followed: Any) -> Any:
    def broken(messages: Any, positions: Any, *more: Any) -> Any:
        found = followed(messages, positions, *more)
        return found and [
            {**message, "content": messages[positions[message["id"]]]["content"]}
            if message["id"] in positions
            else message
            for message in found
        ]

    return broken


def _nothing_dropped(followed: Any) -> Any:
    def broken(messages: Sequence[Any], *more: Any) -> Any:
        found = followed(messages, *more)
        if found is None:
            return None
        there = {message["id"] for message in found}
        for position, message in enumerate(messages):
            if message["id"] not in there:
                found.insert(position, message)
        return found

    return broken


def _always_trusted(set_mode: Any) -> Any:
    def broken(self: Any, mode: Any) -> None:
        trusted, self._folder_trusted = self._folder_trusted, True
        try:
            set_mode(self, mode)
        finally:
            self._folder_trusted = trusted

    return broken


def _other_trigger(pre_compress: Any) -> Any:
    def broken(hooks: Any) -> Any:
        fire = pre_compress(hooks)

        async def swapped(trigger: str) -> None:
            await fire("auto" if trigger == "manual" else "manual")

        return fire and swapped

    return broken


FAULTS: Final = (
    _recording(
        name="thoughts-recorded-with-every-answer",
        says="An answer's thoughts are recorded again with each of the answers after it.",
        origin="a queue that is read and not emptied",
        breaks=lambda: replaced(
            "services.chat_recording:ChatRecording.record_message", _keeping_thoughts
        ),
    ),
    _recording(
        name="answers-recorded-without-model",
        says="It is not recorded which model gave an answer.",
        origin="a message type without the field",
        breaks=lambda: replaced(
            "services.chat_recording:ChatRecording.record_message", _without_model
        ),
    ),
    _recording(
        name="structured-display-not-recorded",
        says="What people were shown of a tool is recorded only where it is a text.",
        origin="a display that began as a text",
        breaks=lambda: replaced("services.chat_recording:tool_record", _texts_alone),
    ),
    _recording(
        name="token-kinds-swapped",
        says="Tokens of thoughts are recorded as those of tools, and the other way round.",
        origin="a tuple whose order was taken from elsewhere",
        breaks=lambda: replaced("services.recording.tool_records:_TOKENS", _swapped_kinds),
    ),
    _recording(
        name="rewind-not-written",
        says="A rewind is not written down, and is undone when the session is resumed.",
        origin="state changed before the file, and the file forgotten",
        breaks=lambda: replaced("services.chat_recording:ChatRecording._append", _without_rewinds),
    ),
    _recording(
        name="rewind-read-as-deletion",
        says="On resuming, a rewind takes back the message it names and none after it.",
        origin="a record about a place read as one about a message",
        breaks=lambda: replaced("services.recording.loading:_Reader._rewind", _that_one_alone),
    ),
    _recording(
        name="thoughts-resumed-as-text",
        says="Recorded thoughts go back to the model as what it said.",
        origin="a part built without its flag",
        breaks=lambda: replaced("services.recording.conversion:_thought_part", _as_said),
    ),
    _recording(
        name="calls-resumed-without-arguments",
        says="A resumed session has its calls by name alone.",
        origin="a list of fields that lacks one",
        breaks=lambda: replaced("services.recording.conversion:_model_parts", _without_arguments),
    ),
    _recording(
        name="notices-resumed-as-words",
        says="Notices of a recording go to the model as the user's words.",
        origin="every message that is not the model's taken for the user's",
        breaks=lambda: replaced(
            "services.chat.succession:convert_session_to_client_history", _notices_as_words
        ),
    ),
    _recording(
        name="recordings-read-as-latin-1",
        closed_by="resume/words_beyond_ascii",
        says="A recording is read back in another encoding than it was written in.",
        origin="a file opened with the machine's default",
        breaks=lambda: replaced("services.recording.loading:_parse", _in_latin_1),
    ),
    _recording(
        name="known-messages-keep-contents",
        says="A checkpoint has messages as they were first recorded, not as the history has them.",
        origin="messages matched by id, and taken as they are",
        breaks=lambda: replaced("services.chat_recording:followed", _old_contents),
    ),
    _recording(
        name="dropped-messages-recorded",
        says="A checkpoint still has the messages that the history has lost.",
        origin="a merge for a replacement",
        breaks=lambda: replaced("services.chat_recording:followed", _nothing_dropped),
    ),
    Fault(
        name="privileged-modes-unguarded",
        site=Site.SERVICE,
        behaviour=Behaviour.APPROVAL,
        held_out=True,
        says="In a folder that is not trusted a session may be set to do things unasked.",
        origin="trust looked at when a session begins, and not again",
        breaks=lambda: replaced("services.state:SessionState.set_approval_mode", _always_trusted),
    ),
    Fault(
        name="compression-trigger-swapped",
        site=Site.SERVICE,
        behaviour=Behaviour.HOOKS,
        held_out=True,
        says="PreCompress is told that users asked for what was done unasked, and vice versa.",
        origin="a flag that was turned round on its way",
        breaks=lambda: replaced("services.compression.opening:_pre_compress", _other_trigger),
    ),
)
