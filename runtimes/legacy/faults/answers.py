"""Faults of the legacy runtime in what the model's stream becomes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from typing import Any

from seeded_faults import Behaviour, Faults, Site
from seeded_faults.wrappers import first, instead, result
from services.model.parts import citations

fault = Faults(Site.LEGACY, Behaviour.ANSWERS)
held_out = Faults(Site.LEGACY, Behaviour.ANSWERS, held_out=True)


@held_out(
    "runtimes.legacy.turn:Turn._read",
    origin="a review: calls were handled where the chunk is taken apart, text afterwards",
)
def calls_told_before_text(read: Any, self: Any, chunk: Any) -> Iterator[Any]:
    """Of a chunk that has text and calls the calls are emitted first."""
    places = {"ThoughtText": 0, "ToolCallRequested": 1, "ContentText": 2}
    return iter(sorted(read(self, chunk), key=lambda each: places.get(type(each).__name__, 3)))


usage_dropped = fault.wrap(
    "runtimes.legacy.translate:StreamTranslator.translate",
    result(lambda found: (event for event in found if event.type != "usage")),
    says="The tokens used are not emitted.",
    origin="a translator that knows fewer kinds of events than the turn sends",
)


@fault(
    "runtimes.legacy.translate:StreamTranslator.translate",
    origin="seen in agent migrations: usage counted twice",
)
def usage_added_up(translate: Any, self: Any, event: Any) -> Iterator[Any]:
    """The input tokens reported of a request are those of all requests of the stream so far."""
    for found in translate(self, event):
        if found.type == "usage":
            self.total = getattr(self, "total", 0) + (found.input_tokens or 0)
            yield replace(found, input_tokens=self.total)
        else:
            yield found


blank_deltas_dropped = fault.wrap(
    "runtimes.legacy.translate:StreamTranslator.translate",
    instead(
        lambda translate, self, event: (
            iter(())
            if type(event).__name__ == "ContentText" and not event.text.strip()
            else translate(self, event)
        )
    ),
    says="Fragments of nothing but whitespace are not emitted, so paragraphs run together.",
    origin="a translator that takes empty text for no text",
)


@fault(
    "runtimes.legacy.chat:GeminiChat._read",
    origin="seen in agent migrations: the last chunk without candidates ending the run",
)
def chunk_without_candidates_ends_answer(read: Any, self: Any, stream: Any, *args: Any) -> Any:
    """A chunk that carries no candidates, only usage say, ends the reading of the answer."""

    async def cut() -> AsyncIterator[Any]:
        async for chunk in stream:
            if not chunk.get("candidates"):
                return
            yield chunk

    return read(self, cut(), *args)


citations_of_last_chunk = fault.wrap(
    "runtimes.legacy.turn:Turn._read",
    first(lambda self, chunk: self.answer._citations.clear()),
    says="Only the sources of the chunk that finishes the answer are cited.",
    origin="a port that reads grounding metadata off the final chunk alone",
)


@fault(
    "runtimes.legacy.chat:GeminiChat.push", origin="seen in agent migrations: signatures dropped"
)
def signatures_dropped(push: Any, self: Any, turn_id: Any, content: Any) -> None:
    """Thought signatures are left out of the history that the next request carries."""
    parts = [
        {key: value for key, value in part.items() if key != "thoughtSignature"}
        for part in content.get("parts") or ()
    ]
    push(self, turn_id, {**content, "parts": parts})


@held_out(
    "runtimes.legacy.translate:StreamTranslator.translate",
    origin="another vendor's usage, in which cached tokens stand beside the input's",
)
def cached_tokens_not_counted_as_input(translate: Any, self: Any, event: Any) -> Iterator[Any]:
    """The input tokens reported are those that were not cached, instead of all."""
    for found in translate(self, event):
        if found.type == "usage" and found.input_tokens is not None:
            yield replace(found, input_tokens=found.input_tokens - (found.cached_tokens or 0))
        else:
            yield found


thought_and_heading_swapped = held_out.wrap(
    "runtimes.legacy.turn:parse_thought",
    result(lambda thought: thought[::-1]),
    says="A thought's heading is emitted as its text, and its text as the heading.",
    origin="two results of one type, taken in the wrong order",
)


@held_out(
    "runtimes.legacy.turn:Turn._read",
    origin="a set that became a dict, to keep an order that no caller asked for",
    closed_by="finish/citations_once",
)
def sources_not_sorted(read: Any, self: Any, chunk: Any) -> Iterator[Any]:
    """An answer's sources are emitted in the order in which they came."""
    self.came = {**getattr(self, "came", {}), **dict.fromkeys(citations(chunk))}
    for event in read(self, chunk):
        if type(event).__name__ == "Citation":
            came, self.came = self.came, {}
            yield replace(event, text="\n".join(["Citations:", *came]))
        else:
            yield event
