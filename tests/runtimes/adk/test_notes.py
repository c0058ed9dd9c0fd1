"""What an event is about: the note of its content."""

from __future__ import annotations

from google.adk.events.event import Event
from google.genai import types

from runtimes.adk.notes import Delta, note_of
from services.model.sdk_contents import WireContent, wire_of


def test_event_keeps_the_very_content_and_its_note():
    wire = {"role": "model", "parts": [{"text": "x", "thoughtSignature": "%%%", "new": 1}]}
    event = Event(author="a", invocation_id="i", content=WireContent.of(wire, Delta()))
    assert event.content is not None
    assert wire_of(event.content) is wire
    assert note_of(event) == Delta()
    assert note_of(event.model_copy(update={"partial": True})) == Delta()


def test_event_of_others_has_no_note():
    content = types.Content(role="user", parts=[types.Part(text="x")])
    assert note_of(Event(author="a", invocation_id="i", content=content)) is None
    assert note_of(Event(author="a", invocation_id="i")) is None
