"""The translator is a function of ADK's events: of a stock run's, and of the runtime's."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest
from google.adk.events.event import Event
from google.adk.models.llm_response import LlmResponse
from google.genai import types
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_protocol.events import AgentEvent
from runtimes.adk.notes import (
    LOOP_DETECTED,
    Answer,
    Blocked,
    Delta,
    Looped,
    ModelChosen,
    Stopped,
)
from runtimes.adk.translate import EventTranslator
from services.abort import AbortController, AbortError
from services.clock import VirtualClock
from services.model.sdk_contents import WireContent
from services.scheduler.calls import ToolCallRequest
from tests.runtimes.adk.stock import Stock, content


class NoTools:
    """A registry without tools: a stock agent's are not in it."""

    def get(self, name: str) -> None:
        return None


def translator() -> EventTranslator:
    tools: Any = NoTools()
    return EventTranslator("s", clock=VirtualClock(), tools=tools)


def event(*parts: types.Part, author: str = "stock", id: str = "e", **fields: Any) -> Event:
    made = content(*parts) if parts else None
    return Event(author=author, invocation_id="i", id=id, content=made, **fields)


def translated(*events: Event) -> list[Any]:
    made = translator()
    return [each for event in events for each in made.translate(event)]


def said(events: list[AgentEvent]) -> list[tuple[Any, ...]]:
    """What a client sees, in brief; fragments of one text that follow each other are joined."""
    return _joined([one for event in events for one in _brief(event)])


def _brief(event: Any) -> list[tuple[Any, ...]]:
    match event.type:
        case "message":
            if event.meta and event.meta.get("citation"):
                return [("citations", event.content[0].text)]
            return [
                (part.type, part.thought if part.type == "thought" else part.text)
                for part in event.content
            ]
        case "tool_request":
            return [("call", event.name, dict(event.args))]
        case "tool_response":
            return [("response", event.name, event.content[0].text, event.is_error)]
        case "usage":
            return [("usage", event.model, event.input_tokens, event.output_tokens)]
        case "error":
            return [("error", event.meta["code"], event.message)]
        case _:
            return [(event.type,)]


@dataclass(frozen=True)
class Said:
    """One answer of a script: segments in order, each a kind and words or a value."""

    segments: list[tuple[str, str]]
    usage: int | None = None
    sources: tuple[str, ...] = ()
    error: str | None = None

    def responses(self, cuts: int) -> list[LlmResponse]:
        """What a model yields: `cuts` fragments a text, and the whole; `cuts` 0 does not stream."""
        whole = content(*(_part(kind, value) for kind, value in self.segments))
        fields: dict[str, Any] = {"error_code": self.error, "model_version": "m"}
        if self.usage is not None:
            fields["usage_metadata"] = types.GenerateContentResponseUsageMetadata(
                prompt_token_count=self.usage, candidates_token_count=1
            )
        if self.sources:
            fields["citation_metadata"] = types.CitationMetadata(
                citations=[types.Citation(uri=uri) for uri in self.sources]
            )
        last = LlmResponse(content=whole if self.segments else None, **fields)
        streamed = [
            # A stream repeats the figures of the answer so far.
            LlmResponse(
                content=content(_part(kind, fragment)),
                partial=True,
                **fields | {"error_code": None},
            )
            for kind, value in self.segments
            if cuts and kind in ("text", "thought")
            for fragment in _cut(value, cuts)
        ]
        return [*streamed, last]

    def expected(self, cuts: int) -> list[tuple[Any, ...]]:
        """What a client sees of it; streamed text comes before the calls."""
        segments = sorted(self.segments, key=_is_call) if cuts else self.segments
        seen: list[tuple[Any, ...]] = [
            ("call", kind, {"path": value}) if _is_call((kind, value)) else (kind, value)
            for kind, value in segments
        ]
        if self.sources:
            seen.append(("citations", "\n".join(["Citations:", *sorted(self.sources)])))
        if self.usage is not None:
            seen.append(("usage", "m", self.usage, 1))
        if self.error is not None:
            seen.append(("error", self.error, self.error))
        for kind, value in self.segments:
            if _is_call((kind, value)):
                seen.append(("response", kind, value, kind == "fail"))
        return seen


def look(path: str) -> dict[str, Any]:
    """Look at a file."""
    return {"result": path}


def fail(path: str) -> dict[str, Any]:
    """Fail to look at a file."""
    return {"error": path}


def _is_call(segment: tuple[str, str]) -> bool:
    return segment[0] in ("look", "fail")


def _part(kind: str, value: str) -> types.Part:
    if _is_call((kind, value)):
        return types.Part(function_call=types.FunctionCall(name=kind, args={"path": value}))
    return types.Part(text=value, thought=True if kind == "thought" else None)


def _cut(value: str, cuts: int) -> list[str]:
    size = max(1, -(-len(value) // cuts))
    return [value[start : start + size] for start in range(0, len(value), size)]


WORDS = st.text("ab", min_size=1, max_size=6)
SPEECH = st.tuples(st.sampled_from(["text", "thought"]), WORDS)
CALL = st.tuples(st.sampled_from(["look", "fail"]), WORDS)
USAGE = st.none() | st.integers(1, 9)
SOURCES = st.lists(st.sampled_from(["x:a", "x:b", "x:c"]), max_size=2, unique=True).map(tuple)


@st.composite
def rounds(draw: st.DrawFn) -> Said:
    """An answer that asks for tools, with or without words before, between and after."""
    segments = [*draw(st.lists(SPEECH | CALL, max_size=4)), draw(CALL)]
    return Said(draw(st.permutations(segments)), draw(USAGE), draw(SOURCES))


ENDS = st.builds(Said, st.lists(SPEECH, min_size=1, max_size=3), USAGE, SOURCES) | st.builds(
    Said, st.lists(SPEECH, max_size=2), USAGE, SOURCES, st.just("SAFETY")
)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.lists(rounds(), max_size=2), ENDS, st.integers(0, 3))
def test_all_that_a_stock_run_shows_is_translated_once_and_in_order(answers, end, cuts):
    async def go() -> list[Event]:
        steps = [answer.responses(cuts) for answer in (*answers, end)]
        stock = Stock(steps, tools=[look, fail], streams=bool(cuts))
        return await stock.send("go")

    events = translated(*asyncio.run(go()))
    expected = [one for answer in (*answers, end) for one in answer.expected(cuts)]
    assert said(events) == _joined(expected)
    assert [event.id for event in events] == [f"s-{number}" for number in range(len(events))]
    requests = [event.request_id for event in events if event.type == "tool_request"]
    assert len(set(requests)) == len(requests)
    assert [event.request_id for event in events if event.type == "tool_response"] == requests


def _joined(brief: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    joined: list[tuple[Any, ...]] = []
    for one in brief:
        if joined and one[0] in ("text", "thought") and joined[-1][0] == one[0]:
            joined[-1] = (one[0], joined[-1][1] + one[1])
        else:
            joined.append(one)
    return joined


async def test_exception_of_a_stock_run_is_an_error_with_its_code():
    stock, seen = Stock([ValueError("broken")]), []
    with pytest.raises(ValueError, match="broken"):
        await stock.send("go", seen)
    assert said(translated(*seen)) == [("error", "ValueError", "broken")]


def test_text_that_a_plugin_put_in_place_of_what_was_streamed_is_not_shown():
    part = types.Part(text="streamed")
    whole = types.Part(text="replaced")
    assert said(translated(event(part, partial=True), event(whole))) == [("text", "streamed")]


def test_end_of_a_text_that_was_not_streamed_is_shown():
    streamed, whole = types.Part(text="ab"), types.Part(text="abc")
    assert said(translated(event(streamed, partial=True), event(whole))) == [("text", "abc")]


def test_answers_that_run_side_by_side_do_not_hide_each_others_text():
    a, b = types.Part(text="a"), types.Part(text="b")
    events = [
        event(a, id="1", partial=True),
        event(b, id="2", partial=True),
        event(a, id="1"),
        event(b, id="2"),
        event(a, id="3"),
    ]
    assert said(translated(*events)) == [("text", "aba")]


BLOB = types.Part(inline_data=types.Blob(data=b"x", mime_type="image/png"))
CODE = types.Part(executable_code=types.ExecutableCode(code="1", language=types.Language.PYTHON))


@pytest.mark.parametrize(
    ("event", "kinds"),
    [
        (event(types.Part(text="x"), author="user"), ["message"]),
        (event(BLOB), ["message"]),
        (event(BLOB, partial=True), []),
        (event(CODE), ["message"]),
        (event(types.Part(text="")), []),
        (event(types.Part()), []),
        (event(), []),
        (event(error_code="MAX_TOKENS"), ["error"]),
        (event(finish_reason="STOP", turn_complete=True, interrupted=True), []),
        (event(output_transcription=types.Transcription(text="x")), []),
    ],
)
def test_kind_of_event_that_stock_runs_above_do_not_have(event, kinds):
    assert [each.type for each in translated(event)] == kinds


def test_users_text_is_the_users_and_media_is_media():
    users, media = translated(event(types.Part(text="x"), author="user"), event(BLOB))
    assert (users.role, media.role) == ("user", "agent")
    assert (media.content[0].type, media.content[0].mime_type) == ("media", "image/png")


def test_media_is_in_the_alphabet_of_the_api():
    image: dict[str, Any] = {"mime_type": "image/png", "data": b"\xfb\xff"}
    part = types.FunctionResponsePart(inline_data=types.FunctionResponseBlob(**image))
    answer = types.FunctionResponse(id="1", name="f", response={"result": "x"}, parts=[part])
    shown, answered = translated(
        event(types.Part(inline_data=types.Blob(**image))),
        event(types.Part(function_response=answer)),
    )
    assert [each.content[-1].data for each in (shown, answered)] == ["+/8=", "+/8="]


WHOLE: Any = None  # the translator does not look into an answer
ANSWER = Answer(turn=WHOLE, model="m")


def noted(note: Any, *parts: dict[str, Any], **fields: Any) -> Event:
    wire = WireContent.of({"role": "model", "parts": list(parts)}, note)
    return Event(author="a", invocation_id="i", id="e", content=wire, **fields)


def test_notes_of_the_runtime_count_instead_of_the_content():
    words, last = {"text": "hello"}, Delta(citations=("b",), usage={"promptTokenCount": 1})
    events = translated(
        noted(ModelChosen("m"), partial=True),
        noted(Delta(part=words), words, partial=True),
        noted(last, partial=True),
        noted(ANSWER, words),
        noted(Blocked("no"), partial=True),
        noted(Stopped(reason="failed", error="why", data={"n": 1})),
    )
    assert said(events[:5]) == [
        ("session_update",),
        ("text", "hello"),
        ("citations", "Citations:\nb"),
        ("usage", "m", 1, None),
        ("error", "AGENT_EXECUTION_BLOCKED", "no"),
    ]
    assert (events[-2].message, events[-2].fatal) == ("why", True)
    assert (events[-1].type, events[-1].reason, events[-1].data) == (
        "agent_end",
        "failed",
        {"n": 1},
    )


def test_answer_that_a_plugin_copied_does_not_repeat_its_deltas():
    words, asked = {"text": "hello"}, {"functionCall": {"id": "1", "name": "f", "args": {}}}
    request = ToolCallRequest(call_id="1", name="f", args={}, prompt_id="p")
    usage = types.GenerateContentResponseUsageMetadata(prompt_token_count=1)
    whole = noted(ANSWER, words, asked, usage_metadata=usage)
    events = translated(
        noted(Delta(part=words), words, partial=True),
        noted(Delta(part=asked, request=request), asked, partial=True),
        noted(Delta(usage={"promptTokenCount": 1}), partial=True),
        whole.model_copy(update={"content": types.Content(parts=whole.content.parts)}),
    )
    assert said(events) == [("text", "hello"), ("call", "f", {}), ("usage", "unknown", 1, None)]


@pytest.mark.parametrize(("strikes", "codes"), [(1, []), (2, [LOOP_DETECTED])])
def test_only_a_prompts_second_loop_is_an_error(strikes, codes):
    looped = noted(Looped(strikes), error_code=LOOP_DETECTED, partial=True)
    assert [each.meta["code"] for each in translated(looped)] == codes


def test_abort_between_two_events_of_one_adk_event_loses_no_number():
    controller, made = AbortController(), translator()
    usage = types.GenerateContentResponseUsageMetadata(prompt_token_count=1)
    both = made.translate(
        event(types.Part(text="x"), usage_metadata=usage), controller.signal.raise_if_aborted
    )
    assert next(both).id == "s-0"
    controller.abort()
    with pytest.raises(AbortError):
        next(both)
    assert made.end("aborted").id == "s-1"
