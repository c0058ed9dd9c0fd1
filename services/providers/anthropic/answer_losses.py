"""What answers lose in the format of Messages; see `services.providers.losing`."""

from __future__ import annotations

from typing import Final

from services.providers.answer_losses import (
    ChunkRule,
    Chunks,
    finish_of,
    loses_answer_fields,
    loses_answer_parts,
    loses_blocked_prompts,
    loses_empty_answer_parts,
    loses_empty_chunks,
    loses_finish_reasons,
    loses_usage_details,
)
from services.providers.anthropic.thinking import signature_of, signed_blocks
from services.providers.arranging import Arrangement
from services.providers.exchange import parts_of
from services.wire import Json, JsonObject, Part

__all__ = ["ANSWER_LOSSES", "CHUNK_LOSSES", "MessageBorders"]


def loses_missing_counts(chunks: Chunks) -> Chunks:
    """The tokens of prompt and answer are always counted, and their sum is the total; a missing
    count is 0, and the cached part is at most the prompt. Where all are 0, nothing is counted.
    """
    found = []
    for chunk in chunks:
        given = chunk.get("usageMetadata")
        usage = None if given is None else _counted(given)
        rest = {name: value for name, value in chunk.items() if name != "usageMetadata"}
        found.append(rest if usage is None else {**rest, "usageMetadata": usage})
    return found


def _counted(usage: JsonObject) -> JsonObject | None:
    prompt, answer = usage.get("promptTokenCount", 0), usage.get("candidatesTokenCount", 0)
    cached = min(usage.get("cachedContentTokenCount", 0), prompt)
    thoughts = usage.get("thoughtsTokenCount", 0)
    if not (prompt or answer or thoughts):
        return None
    total = prompt + answer + thoughts
    found: JsonObject = {"promptTokenCount": prompt, "candidatesTokenCount": answer}
    found["totalTokenCount"] = total
    if cached:
        found["cachedContentTokenCount"] = cached
    return {**found, "thoughtsTokenCount": thoughts} if thoughts else found


def loses_chunk_borders(chunks: Chunks) -> Chunks:
    """A chunk has one text, or one thought, or all calls up to the next text. A thought comes when
    the part after it is known, because a thought signature belongs to the thoughts before its part;
    the runtimes see it packed with them (`services.providers.carried`). The number of tokens comes
    once, at the end, with the finish reason and the last calls. Every chunk has the id and the
    model of the first. A call that cannot be read takes the calls with it that follow the last
    text.
    """
    borders = MessageBorders()
    return [*(each for chunk in chunks for each in borders.feed(chunk)), *borders.end()]


class MessageBorders:
    """The chunks of an answer, one after the other, as the format has them."""

    def __init__(self) -> None:
        self._arranged = Arrangement()
        self._thoughts: list[str] = []
        self._began = False

    def feed(self, chunk: JsonObject) -> list[JsonObject]:
        """Return the chunks that are complete."""
        if not self._began:
            self._began = True
            self._arranged.describe(chunk.get("modelVersion"), chunk.get("responseId"))
        found: list[JsonObject] = []
        for part in parts_of(chunk):
            if part.get("thought"):
                self._thoughts.append(part["text"])
                continue
            blocks = self._blocks(part.get("thoughtSignature"))
            found += self._shown(blocks)
            found += self._arranged.add(_signed(part, signature_of(blocks)))
        self._arranged.finish(finish_of(chunk), chunk.get("usageMetadata"))
        return found

    def end(self) -> list[JsonObject]:
        """Return the chunks that are left."""
        return [*self._shown(self._blocks(None)), *self._arranged.end()]

    def _blocks(self, signature: Json) -> list[JsonObject]:
        blocks = signed_blocks(self._thoughts, signature)
        self._thoughts = []
        return blocks

    def _shown(self, blocks: list[JsonObject]) -> list[JsonObject]:
        found: list[JsonObject] = []
        for block in blocks:
            if block.get("thinking"):
                found += self._arranged.add({"text": block["thinking"], "thought": True})
                found += self._arranged.thought_ends()
        return found


def _signed(part: Part, signature: str | None) -> Part:
    rest = {key: value for key, value in part.items() if key != "thoughtSignature"}
    return rest if signature is None else {**rest, "thoughtSignature": signature}


CHUNK_LOSSES: Final[tuple[ChunkRule, ...]] = (
    loses_blocked_prompts,
    loses_answer_fields,
    loses_answer_parts,
    loses_empty_answer_parts,
    loses_finish_reasons,
    loses_usage_details,
    loses_missing_counts,
    loses_empty_chunks,
)
"""The rules that look at one chunk at a time."""

ANSWER_LOSSES: Final[tuple[ChunkRule, ...]] = (*CHUNK_LOSSES, loses_chunk_borders)
"""The rules for an answer, in the order of application."""
