"""Answers of Chat Completions: there and back, and what they lose."""

import json

from hypothesis import given

from services.providers.losing import reduced
from services.providers.openai.answer_losses import ANSWER_LOSSES, WHOLE_ANSWER_LOSSES
from services.providers.openai.answers import (
    ChatReader,
    ChatWriter,
    chat_completion,
    read_chat_completion,
)
from tests.services.providers.drawn import CHUNKS


def through_a_stream(chunks):
    writer, reader = ChatWriter(), ChatReader()
    events = [*(event for chunk in chunks for event in writer.feed(chunk)), *writer.end()]
    events = json.loads(json.dumps(events))
    return [*(chunk for event in events for chunk in reader.feed(event)), *reader.end()]


@given(CHUNKS)
def test_what_the_rules_leave_of_a_stream_goes_there_and_back(chunks):
    assert through_a_stream(chunks) == reduced(chunks, ANSWER_LOSSES)


@given(CHUNKS)
def test_a_second_time_nothing_is_lost(chunks):
    once = reduced(chunks, ANSWER_LOSSES)
    assert reduced(once, ANSWER_LOSSES) == once


@given(CHUNKS)
def test_what_the_rules_leave_of_a_whole_answer_goes_there_and_back(chunks):
    (kept,) = reduced(chunks, WHOLE_ANSWER_LOSSES)
    body = json.loads(json.dumps(chat_completion(chunks)))
    assert read_chat_completion(body) == kept
