"""Faults of the runtimes in what the model's stream becomes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Final

from agent_protocol.content import TextPart
from agent_protocol.events import Message, ToolRequest
from harness.faults.altered import holding
from harness.faults.fault import Behaviour, Fault, Site
from harness.faults.patching import replaced

__all__ = ["FAULTS"]

_legacy = partial(Fault, site=Site.LEGACY, behaviour=Behaviour.ANSWERS)
_adk = partial(Fault, site=Site.ADK, behaviour=Behaviour.ANSWERS)


def _without_usage(translate: Any) -> Any:
    def broken(self: Any, event: Any) -> Iterator[Any]:
        return (found for found in translate(self, event) if found.type != "usage")

    return broken


def _adding_usage_up(translate: Any) -> Any:
    def broken(self: Any, event: Any) -> Iterator[Any]:
        for found in translate(self, event):
            if found.type == "usage":
                self.total = getattr(self, "total", 0) + (found.input_tokens or 0)
                yield replace(found, input_tokens=self.total)
            else:
                yield found

    return broken


def _dropping_blanks(translate: Any) -> Any:
    def broken(self: Any, event: Any) -> Iterator[Any]:
        if type(event).__name__ == "ContentText" and not event.text.strip():
            return iter(())
        found: Iterator[Any] = translate(self, event)
        return found

    return broken


def _ending_without_candidates(read: Any) -> Any:
    def broken(self: Any, stream: Any, *args: Any) -> Any:
        async def cut() -> AsyncIterator[Any]:
            async for chunk in stream:
                if not chunk.get("candidates"):
                    return
                yield chunk

        return read(self, cut(), *args)

    return broken


def _citing_last_chunk(read: Any) -> Any:
    def broken(self: Any, chunk: Any) -> Iterator[Any]:
        self.answer._citations.clear()
        found: Iterator[Any] = read(self, chunk)
        return found

    return broken


def _without_signatures(push: Any) -> Any:
    def broken(self: Any, turn_id: Any, content: Any) -> None:
        parts = [
            {key: value for key, value in part.items() if key != "thoughtSignature"}
            for part in content.get("parts") or ()
        ]
        push(self, turn_id, {**content, "parts": parts})

    return broken


def _usage_of_every_chunk(deltas: Any) -> Any:
    def broken(self: Any, chunk: Any, requested: Any) -> Iterator[Any]:
        yield from deltas(self, chunk, requested)
        used = chunk.get("usageMetadata")
        candidate = (chunk.get("candidates") or [{}])[0]
        if used is not None and not candidate.get("finishReason"):
            yield replace(self._last, part=None, request=None, usage=used)

    return broken


def _consolidated(event: Any) -> Any:
    return getattr(getattr(event.content, "note", None), "turn", None)


def _text_again(translate: Any) -> Any:
    def broken(self: Any, event: Any, *args: Any) -> Iterator[Any]:
        yield from translate(self, event, *args)
        turn = _consolidated(event)
        if turn is not None and turn.response_text:
            said = (TextPart(text=turn.response_text),)
            yield Message(**self.fields(), role="agent", content=said)

    return broken


def _calls_again(translate: Any) -> Any:
    def broken(self: Any, event: Any, *args: Any) -> Iterator[Any]:
        yield from translate(self, event, *args)
        turn = _consolidated(event)
        for part in () if turn is None else turn.parts:
            if part.get("functionCall"):
                call = part["functionCall"]
                yield ToolRequest(
                    **self.fields(), request_id=call["id"], name=call["name"], args=call["args"]
                )

    return broken


def _not_partial(partial_of: Any) -> Any:
    def broken(*args: Any) -> Any:
        response = partial_of(*args)
        response.partial = None
        return response

    return broken


def _without_empty_content(partial_of: Any) -> Any:
    def broken(*args: Any) -> Any:
        response = partial_of(*args)
        if not response.content.parts:
            response.content = None
        return response

    return broken


def _with_thoughts(deltas: Any) -> Any:
    def broken(self: Any, chunk: Any, requested: Any) -> Iterator[Any]:
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

    return broken


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


def _recording_raw_text(answer: Any) -> Any:
    def broken(self: Any, turn: Any, model: Any) -> None:
        text = "".join(part.get("text") or "" for part in turn.parts)
        answer(self, replace(turn, response_text=text), model)

    return broken


def _remembering_model(init: Any) -> Any:
    def broken(self: Any, services: Any, log: Any) -> None:
        init(self, services, log)
        self.translator._model = services.state.sequence_model

    return broken


FAULTS: Final = (
    _legacy(
        name="usage-dropped",
        says="The tokens used are not told.",
        origin="a translator that knows fewer kinds of events than the turn sends",
        breaks=lambda: replaced(
            "runtimes.legacy.translate:StreamTranslator.translate", _without_usage
        ),
    ),
    _legacy(
        name="usage-added-up",
        says="The input tokens told of a request are those of all requests of the stream so far.",
        origin="seen in agent migrations: usage counted twice",
        breaks=lambda: replaced(
            "runtimes.legacy.translate:StreamTranslator.translate", _adding_usage_up
        ),
    ),
    _legacy(
        name="blank-deltas-dropped",
        says="Fragments of nothing but whitespace are not told, so paragraphs run together.",
        origin="a translator that takes empty text for no text",
        breaks=lambda: replaced(
            "runtimes.legacy.translate:StreamTranslator.translate", _dropping_blanks
        ),
    ),
    _legacy(
        name="chunk-without-candidates-ends-answer",
        says="A chunk that carries no candidates, only usage say, ends the reading of the answer.",
        origin="seen in agent migrations: the last chunk without candidates ending the run",
        breaks=lambda: replaced(
            "runtimes.legacy.chat:GeminiChat._read", _ending_without_candidates
        ),
    ),
    _legacy(
        name="citations-of-last-chunk",
        says="Only the sources of the chunk that finishes the answer are cited.",
        origin="a port that reads grounding metadata off the final chunk alone",
        breaks=lambda: replaced("runtimes.legacy.turn:Turn._read", _citing_last_chunk),
    ),
    _legacy(
        name="signatures-dropped",
        says="Thought signatures are left out of the history that the next request carries.",
        origin="seen in agent migrations: signatures dropped",
        breaks=lambda: replaced("runtimes.legacy.chat:GeminiChat.push", _without_signatures),
    ),
    _adk(
        name="usage-on-partials",
        says="The usage that a partial chunk carries is told as well as the last one.",
        origin="seen in agent migrations: usage counted on the partial",
        breaks=lambda: replaced(
            "runtimes.adk.run:Step.__init__", holding("answer", deltas=_usage_of_every_chunk)
        ),
    ),
    _adk(
        name="consolidated-text-again",
        says="The consolidated event tells the answer's text once more.",
        origin="seen in agent migrations: the consolidated event re-emitting text",
        breaks=lambda: replaced("runtimes.adk.translate:EventTranslator.translate", _text_again),
    ),
    _adk(
        name="consolidated-calls-again",
        says="The consolidated event asks for the answer's tools once more.",
        origin="seen in agent migrations: the consolidated event re-emitting calls",
        breaks=lambda: replaced("runtimes.adk.translate:EventTranslator.translate", _calls_again),
    ),
    _adk(
        name="partial-flag-lost",
        says="Chunks reach ADK as if each of them were a whole answer.",
        origin="seen in agent migrations: a partial flag lost",
        breaks=lambda: replaced("runtimes.adk.model_call:partial", _not_partial),
    ),
    _adk(
        name="contentless-partial-dropped",
        says="A chunk without parts is dropped, and its finish reason, usage and sources with it.",
        origin="google-adk's flow, which passes over responses that have no content",
        breaks=lambda: replaced("runtimes.adk.model_call:partial", _without_empty_content),
    ),
    _adk(
        name="thoughts-told-as-text",
        says="The text of thoughts is told as part of the answer.",
        origin="google-adk's habit of joining `part.text` without a look at `part.thought`",
        breaks=lambda: replaced(
            "runtimes.adk.run:Step.__init__", holding("answer", deltas=_with_thoughts)
        ),
    ),
    _adk(
        name="signatures-reencoded",
        says="Thought signatures come back in the alphabet for URLs instead of the model's own.",
        origin="google-genai, which reads signatures as bytes and writes them urlsafe",
        breaks=lambda: replaced(
            "runtimes.adk.conversation:Conversation.answer", _signatures_for_urls
        ),
    ),
    _adk(
        name="recorded-text-unclean",
        says="The recording keeps an answer with its comments and invisible characters.",
        origin="a port that records what it streams, not what upstream says a person saw",
        breaks=lambda: replaced(
            "runtimes.adk.conversation:Conversation.answer", _recording_raw_text
        ),
    ),
    _adk(
        name="usage-model-remembered",
        says="A stream that announced no model tells usage under the model of the one before.",
        origin="a translator made once per conversation instead of once per stream",
        breaks=lambda: replaced("runtimes.adk.stream:Stream.__init__", _remembering_model),
    ),
)
