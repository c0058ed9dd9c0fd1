"""What answers lose in the format of Chat Completions; see `services.providers.losing`."""

from __future__ import annotations

from typing import Final

from services.providers.answer_losses import (
    MALFORMED,
    ChunkRule,
    Chunks,
    each_answer_part,
    finish_of,
    loses_answer_fields,
    loses_answer_parts,
    loses_blocked_prompts,
    loses_empty_answer_parts,
    loses_empty_chunks,
    loses_finish_reasons,
    loses_usage_details,
)
from services.providers.arranging import Arrangement
from services.providers.carried import packed, unpacked
from services.providers.exchange import joined, parts_of
from services.providers.provider import Provider
from services.wire import JsonObject, Part

__all__ = ["ANSWER_LOSSES", "CHUNK_LOSSES", "WHOLE_ANSWER_LOSSES", "ChatBorders"]


def loses_signatures_of_answers(chunks: Chunks) -> Chunks:
    """A thought signature comes with a call only, and travels in the call's `extra_content`; the
    runtimes see it packed (`services.providers.carried`).
    """
    return each_answer_part(chunks, _signed)


def _signed(part: Part) -> list[Part]:
    signature = part.get("thoughtSignature")
    rest = {key: value for key, value in part.items() if key != "thoughtSignature"}
    if signature is None or "functionCall" not in part:
        return [rest]
    if unpacked(Provider.OPENAI, signature) is None:
        signature = packed(Provider.OPENAI, {"google": {"thought_signature": signature}})
    return [{**rest, "thoughtSignature": signature}]


def loses_chunk_borders(chunks: Chunks) -> Chunks:
    """A chunk has one text, or a whole thought, or all calls up to the next text. The number of
    tokens comes once, at the end, with the finish reason and the last calls. Every chunk has the id
    and the model of the first one that has them. A call that cannot be read takes the calls with it
    that follow the last text.
    """
    borders = ChatBorders()
    return [*(each for chunk in chunks for each in borders.feed(chunk)), *borders.end()]


class ChatBorders:
    """The chunks of an answer, one after the other, as the format has them."""

    def __init__(self) -> None:
        self._arranged = Arrangement()

    def feed(self, chunk: JsonObject) -> list[JsonObject]:
        """Return the chunks that are complete."""
        self._arranged.describe(chunk.get("modelVersion"), chunk.get("responseId"))
        found = [each for part in parts_of(chunk) for each in self._arranged.add(part)]
        self._arranged.finish(finish_of(chunk), chunk.get("usageMetadata"))
        return found

    def end(self) -> list[JsonObject]:
        """Return the chunks that are left."""
        return self._arranged.end()


def loses_order_of_parts(chunks: Chunks) -> Chunks:
    """A whole answer, which is not streamed, has one thought, then one text, then all calls; with a
    call that cannot be read, no call.
    """
    kinds = {"thought": 0, "text": 1, "functionCall": 2}

    def place(part: Part) -> int:
        return next(order for kind, order in kinds.items() if part.get(kind) is not None)

    whole = joined(chunks)
    parts = sorted(parts_of(whole), key=place)
    if finish_of(whole) == MALFORMED:
        parts = [part for part in parts if "functionCall" not in part]
    if not whole.get("candidates"):
        return [whole]
    first = {**whole["candidates"][0], "content": {"role": "model", "parts": parts}}
    return [joined([{**whole, "candidates": [first]}])]


CHUNK_LOSSES: Final[tuple[ChunkRule, ...]] = (
    loses_blocked_prompts,
    loses_answer_fields,
    loses_answer_parts,
    loses_empty_answer_parts,
    loses_signatures_of_answers,
    loses_finish_reasons,
    loses_usage_details,
    loses_empty_chunks,
)
"""The rules that look at one chunk at a time."""

ANSWER_LOSSES: Final[tuple[ChunkRule, ...]] = (*CHUNK_LOSSES, loses_chunk_borders)
"""The rules for a streamed answer, in the order of application."""

WHOLE_ANSWER_LOSSES: Final[tuple[ChunkRule, ...]] = (*ANSWER_LOSSES, loses_order_of_parts)
"""The rules for a whole answer, in the order of application."""
