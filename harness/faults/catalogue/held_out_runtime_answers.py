"""Faults of the runtimes, written after the corpus: what the model's stream becomes."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Final

from agent_protocol.events import Usage
from harness.faults.altered import holding
from harness.faults.fault import Behaviour, Fault, Site
from harness.faults.patching import replaced
from services.model.parts import citations, function_calls

__all__ = ["FAULTS"]

_legacy = partial(Fault, site=Site.LEGACY, behaviour=Behaviour.ANSWERS, held_out=True)
_adk = partial(Fault, site=Site.ADK, behaviour=Behaviour.ANSWERS, held_out=True)


def _without_cached(translate: Any) -> Any:
    def broken(self: Any, event: Any) -> Iterator[Any]:
        for found in translate(self, event):
            if found.type == "usage" and found.input_tokens is not None:
                yield replace(found, input_tokens=found.input_tokens - (found.cached_tokens or 0))
            else:
                yield found

    return broken


def _swapped(parse: Any) -> Any:
    def broken(text: str) -> Any:
        subject, description = parse(text)
        return description, subject

    return broken


def _calls_first(read: Any) -> Any:
    places = {"ThoughtText": 0, "ToolCallRequested": 1, "ContentText": 2}

    def broken(self: Any, chunk: Any) -> Iterator[Any]:
        events = list(read(self, chunk))
        return iter(sorted(events, key=lambda event: places.get(type(event).__name__, 3)))

    return broken


def _as_they_came(read: Any) -> Any:
    def broken(self: Any, chunk: Any) -> Iterator[Any]:
        self.came = {**getattr(self, "came", {}), **dict.fromkeys(citations(chunk))}
        for event in read(self, chunk):
            if type(event).__name__ == "Citation":
                came, self.came = self.came, {}
                yield replace(event, text="\n".join(["Citations:", *came]))
            else:
                yield event

    return broken


def _citing_again(deltas: Any) -> Any:
    def broken(self: Any, chunk: Any, requested: Any) -> Iterator[Any]:
        cited = {*self._citations, *citations(chunk)}
        yield from deltas(self, chunk, requested)
        self._citations.update(cited)

    return broken


def _usage_of_the_whole(translate: Any) -> Any:
    def broken(self: Any, event: Any, *args: Any) -> Iterator[Any]:
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

    return broken


def _thinking_at_once(deltas: Any) -> Any:
    def broken(self: Any, response: Any, requested: Any) -> Iterator[Any]:
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

    return broken


def _composed(deltas: Any) -> Any:
    def broken(self: Any, chunk: Any, requested: Any) -> Iterator[Any]:
        for delta in deltas(self, chunk, requested):
            part = delta.part or {}
            if part.get("text") and not part.get("thought") and delta.request is None:
                text = unicodedata.normalize("NFC", part["text"])
                yield replace(delta, part={**part, "text": text})
            else:
                yield delta

    return broken


def _texts_first(answer: Any) -> Any:
    def broken(self: Any, turn: Any, model: Any) -> None:
        texts = [part for part in turn.parts if "text" in part]
        others = [part for part in turn.parts if "text" not in part]
        answer(self, replace(turn, parts=[*texts, *others]), model)

    return broken


def _with_ids_of_ours(partials: Any) -> Any:
    def broken(self: Any, chunk: Any) -> Any:
        for call in function_calls(chunk):
            call.pop("id", None)
        return partials(self, chunk)

    return broken


FAULTS: Final = (
    _legacy(
        name="cached-tokens-not-counted-as-input",
        says="The input tokens told are those that were not cached, instead of all.",
        origin="another vendor's usage, in which cached tokens stand beside the input's",
        breaks=lambda: replaced(
            "runtimes.legacy.translate:StreamTranslator.translate", _without_cached
        ),
    ),
    _legacy(
        name="thought-and-heading-swapped",
        says="A thought's heading is told as its text, and its text as the heading.",
        origin="two results of one type, taken in the wrong order",
        breaks=lambda: replaced("runtimes.legacy.turn:parse_thought", _swapped),
    ),
    _legacy(
        name="calls-told-before-text",
        says="Of a chunk that has text and calls the calls are told first.",
        origin="a review: calls were handled where the chunk is taken apart, text afterwards",
        breaks=lambda: replaced("runtimes.legacy.turn:Turn._read", _calls_first),
    ),
    _legacy(
        name="sources-not-sorted",
        says="An answer's sources are told in the order in which they came.",
        origin="a set that became a dict, to keep an order that nobody asked for",
        closed_by="finish/citations_told_once",
        breaks=lambda: replaced("runtimes.legacy.turn:Turn._read", _as_they_came),
    ),
    _adk(
        name="sources-told-again",
        says="Sources that were told come again with the next chunk that finishes the answer.",
        origin="a collection that is told and not emptied",
        closed_by="finish/citations_told_once",
        breaks=lambda: replaced(
            "runtimes.adk.run:Step.__init__", holding("answer", deltas=_citing_again)
        ),
    ),
    _adk(
        name="usage-told-when-whole",
        says="Usage is told once the answer is whole, not with the chunk that finishes it.",
        origin="google-adk's consolidated event, which has the usage of the whole answer",
        breaks=lambda: replaced(
            "runtimes.adk.translate:EventTranslator.translate", _usage_of_the_whole
        ),
    ),
    _adk(
        name="thoughts-of-a-chunk-joined",
        says="Several thoughts in one chunk are told as one.",
        origin="google-adk's aggregator, which joins the texts of thoughts",
        breaks=lambda: replaced(
            "runtimes.adk.run:Step.__init__", holding("answer", deltas=_thinking_at_once)
        ),
    ),
    _adk(
        name="text-told-composed",
        says="Letters that the model wrote with combining marks are told as composed ones.",
        origin="a text filter for terminals, put where every client gets it",
        closed_by="text/combining_marks",
        breaks=lambda: replaced(
            "runtimes.adk.run:Step.__init__", holding("answer", deltas=_composed)
        ),
    ),
    _adk(
        name="texts-before-calls-in-history",
        says="Text that an answer had after its calls stands before them in the history.",
        origin="google-adk's aggregator, which gathers all text and puts the calls behind it",
        breaks=lambda: replaced("runtimes.adk.conversation:Conversation.answer", _texts_first),
    ),
    _adk(
        name="ids-of-the-model-replaced",
        behaviour=Behaviour.TOOLS,
        says="Calls that have an id of the model's get one of ours.",
        origin="google-adk, which gives ids of its own to calls",
        breaks=lambda: replaced("runtimes.adk.model_call:ModelCall._partials", _with_ids_of_ours),
    ),
)
