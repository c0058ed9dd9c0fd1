"""Faults of the ADK runtime in what the model's stream becomes."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from agent_protocol.content import TextPart
from agent_protocol.events import Message, ToolRequest, Usage
from seeded_faults import Behaviour, Faults, Site
from seeded_faults.altered import holding
from seeded_faults.wrappers import instead
from services.model.parts import citations, function_calls

fault = Faults(Site.ADK, Behaviour.ANSWERS)
held_out = Faults(Site.ADK, Behaviour.ANSWERS, held_out=True)
held_out_tools = Faults(Site.ADK, Behaviour.TOOLS, held_out=True)


@instead
def _usage_of_every_chunk(deltas: Any, self: Any, chunk: Any, requested: Any) -> Iterator[Any]:
    yield from deltas(self, chunk, requested)
    used = chunk.get("usageMetadata")
    candidate = (chunk.get("candidates") or [{}])[0]
    if used is not None and not candidate.get("finishReason"):
        yield replace(self._last, part=None, request=None, usage=used)


def _consolidated(event: Any) -> Any:
    return getattr(getattr(event.content, "note", None), "turn", None)


@instead
def _with_thoughts(deltas: Any, self: Any, chunk: Any, requested: Any) -> Iterator[Any]:
    first, *others = chunk.get("candidates") or [{}]
    content, parts = first.get("content") or {}, []
    for part in content.get("parts") or ():
        thought = part.get("thought") and part.get("text")
        parts += [part, {"text": thought}] if thought else [part]
    if parts:
        chunk = {**chunk, "candidates": [{**first, "content": {**content, "parts": parts}}]}
        chunk["candidates"] += others
    found: Iterator[Any] = deltas(self, chunk, requested)
    return found


def _signatures_for_urls(answer: Any) -> Any:
    def encoded(part: Any) -> Any:
        signature = part.get("thoughtSignature")
        if not isinstance(signature, str):
            return part
        signature = signature.replace("+", "-").replace("/", "_")
        return {**part, "thoughtSignature": signature}

    def broken(self: Any, turn: Any, model: Any) -> None:
        answer(self, replace(turn, parts=[encoded(part) for part in turn.parts]), model)

    return broken


@instead
def _citing_again(deltas: Any, self: Any, chunk: Any, requested: Any) -> Iterator[Any]:
    cited = {*self._citations, *citations(chunk)}
    yield from deltas(self, chunk, requested)
    self._citations.update(cited)


@instead
def _thinking_at_once(deltas: Any, self: Any, response: Any, requested: Any) -> Iterator[Any]:
    candidate = (response.get("candidates") or [{}])[0]
    content = candidate.get("content") or {}
    parts = content.get("parts") or []
    thoughts = [part for part in parts if part.get("thought")]
    if len(thoughts) > 1:
        joined = "".join(part.get("text") or "" for part in thoughts)
        others = [part for part in parts if not part.get("thought")]
        content = {**content, "parts": [{**thoughts[0], "text": joined}, *others]}
        response = {**response, "candidates": [{**candidate, "content": content}]}
    found: Iterator[Any] = deltas(self, response, requested)
    return found


@instead
def _composed(deltas: Any, self: Any, chunk: Any, requested: Any) -> Iterator[Any]:
    for delta in deltas(self, chunk, requested):
        part = delta.part or {}
        if part.get("text") and not part.get("thought") and delta.request is None:
            text = unicodedata.normalize("NFC", part["text"])
            yield replace(delta, part={**part, "text": text})
        else:
            yield delta


usage_on_partials = fault.wrap(
    "runtimes.adk.run:Step.__init__",
    holding("answer", deltas=_usage_of_every_chunk),
    says="The usage that a partial chunk carries is emitted as well as the last one.",
    origin="seen in agent migrations: usage counted on the partial",
)
thoughts_told_as_text = fault.wrap(
    "runtimes.adk.run:Step.__init__",
    holding("answer", deltas=_with_thoughts),
    says="The text of thoughts is emitted as part of the answer.",
    origin="google-adk's habit of joining `part.text` without a look at `part.thought`",
)
signatures_reencoded = fault.wrap(
    "runtimes.adk.conversation:Conversation.answer",
    _signatures_for_urls,
    says="Thought signatures come back in the alphabet for URLs instead of the model's own.",
    origin="google-genai, which reads signatures as bytes and writes them urlsafe",
)
sources_told_again = held_out.wrap(
    "runtimes.adk.run:Step.__init__",
    holding("answer", deltas=_citing_again),
    says="Sources that were emitted come again with the next chunk that finishes the answer.",
    origin="a collection that is emitted and not emptied",
    closed_by="finish/citations_once",
)
thoughts_of_a_chunk_joined = held_out.wrap(
    "runtimes.adk.run:Step.__init__",
    holding("answer", deltas=_thinking_at_once),
    says="Several thoughts in one chunk are emitted as one.",
    origin="google-adk's aggregator, which joins the texts of thoughts",
)
text_told_composed = held_out.wrap(
    "runtimes.adk.run:Step.__init__",
    holding("answer", deltas=_composed),
    says="Letters that the model wrote with combining marks are emitted as composed ones.",
    origin="a text filter for terminals, put where every client gets it",
    closed_by="text/combining_marks",
)


@fault(
    "runtimes.adk.translate:EventTranslator.translate",
    origin="seen in agent migrations: the consolidated event re-emitting text",
)
def consolidated_text_again(translate: Any, self: Any, event: Any, *args: Any) -> Iterator[Any]:
    """The consolidated event emits the answer's text once more."""
    yield from translate(self, event, *args)
    turn = _consolidated(event)
    if turn is not None and turn.response_text:
        said = (TextPart(text=turn.response_text),)
        yield Message(**self.fields(), role="agent", content=said)


@fault(
    "runtimes.adk.translate:EventTranslator.translate",
    origin="seen in agent migrations: the consolidated event re-emitting calls",
)
def consolidated_calls_again(translate: Any, self: Any, event: Any, *args: Any) -> Iterator[Any]:
    """The consolidated event asks for the answer's tools once more."""
    yield from translate(self, event, *args)
    turn = _consolidated(event)
    for part in () if turn is None else turn.parts:
        if part.get("functionCall"):
            call = part["functionCall"]
            yield ToolRequest(
                **self.fields(), request_id=call["id"], name=call["name"], args=call["args"]
            )


@fault("runtimes.adk.model_call:partial", origin="seen in agent migrations: a partial flag lost")
def partial_flag_lost(partial_of: Any, *args: Any) -> Any:
    """Chunks reach ADK as if each of them were a whole answer."""
    response = partial_of(*args)
    response.partial = None
    return response


@fault(
    "runtimes.adk.model_call:partial",
    origin="google-adk's flow, which passes over responses that have no content",
)
def contentless_partial_dropped(partial_of: Any, *args: Any) -> Any:
    """A chunk without parts is dropped, and its finish reason, usage and sources with it."""
    response = partial_of(*args)
    if not response.content.parts:
        response.content = None
    return response


@fault(
    "runtimes.adk.conversation:Conversation.answer",
    origin="a port that records what it streams, not what upstream says a person saw",
)
def recorded_text_unclean(answer: Any, self: Any, turn: Any, model: Any) -> None:
    """The recording keeps an answer with its comments and invisible characters."""
    text = "".join(part.get("text") or "" for part in turn.parts)
    answer(self, replace(turn, response_text=text), model)


@fault(
    "runtimes.adk.stream:Stream.__init__",
    origin="a translator made once per conversation instead of once per stream",
)
def usage_model_remembered(init: Any, self: Any, services: Any, log: Any) -> None:
    """A stream that announced no model reports usage under the model of the one before."""
    init(self, services, log)
    self.translator._model = services.state.sequence_model


@held_out(
    "runtimes.adk.translate:EventTranslator.translate",
    origin="google-adk's consolidated event, which has the usage of the whole answer",
)
def usage_told_when_whole(translate: Any, self: Any, event: Any, *args: Any) -> Iterator[Any]:
    """Usage is emitted once the answer is whole, not with the chunk that finishes it."""
    for found in translate(self, event, *args):
        if found.type != "usage":
            yield found
    turn = getattr(getattr(event.content, "note", None), "turn", None)
    if turn is not None and turn.usage is not None:
        yield Usage(
            **self.fields(),
            model=self._model or "unknown",
            input_tokens=turn.usage.get("promptTokenCount"),
            output_tokens=turn.usage.get("candidatesTokenCount"),
            cached_tokens=turn.usage.get("cachedContentTokenCount"),
        )


@held_out(
    "runtimes.adk.conversation:Conversation.answer",
    origin="google-adk's aggregator, which gathers all text and puts the calls behind it",
)
def texts_before_calls_in_history(answer: Any, self: Any, turn: Any, model: Any) -> None:
    """Text that an answer had after its calls stands before them in the history."""
    texts = [part for part in turn.parts if "text" in part]
    others = [part for part in turn.parts if "text" not in part]
    answer(self, replace(turn, parts=[*texts, *others]), model)


@held_out_tools(
    "runtimes.adk.model_call:ModelCall._partials",
    origin="google-adk, which gives ids of its own to calls",
)
def ids_of_the_model_replaced(partials: Any, self: Any, chunk: Any) -> Any:
    """Calls that have an id of the model's get one of ours."""
    for call in function_calls(chunk):
        call.pop("id", None)
    return partials(self, chunk)
