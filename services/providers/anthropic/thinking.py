"""Thinking blocks: thoughts with a signature that the next request must contain again.

A thinking block precedes the text or call that the model thought about. The runtimes keep no
thoughts in the history, so the blocks travel in the `thoughtSignature` of the part that follows
them (`services.providers.carried`).
"""

from __future__ import annotations

from collections.abc import Sequence

from services.providers.carried import packed, unpacked
from services.providers.provider import Provider
from services.providers.shape import items, text
from services.wire import Json, JsonObject

__all__ = ["block_of", "blocks_of", "signature_of", "signed_blocks"]


def block_of(thought: str, signature: str = "") -> JsonObject:
    """Return a thinking block."""
    return {"type": "thinking", "thinking": thought, "signature": signature}


def signature_of(blocks: Sequence[JsonObject]) -> str | None:
    """Return the thought signature that carries the signed blocks among `blocks`, if any."""
    signed = [block for block in blocks if block["type"] != "thinking" or block["signature"]]
    return packed(Provider.ANTHROPIC, signed) if signed else None


def blocks_of(signature: Json) -> list[JsonObject] | None:
    """Return the blocks in a thought signature; `None` in that of another provider."""
    found = unpacked(Provider.ANTHROPIC, signature)
    if not isinstance(found, list):
        return None
    return [block for each in items(found) if (block := read_block(each)) is not None]


def read_block(block: JsonObject) -> JsonObject | None:
    """Return a thinking block with its known fields; `None` for any other block."""
    if block.get("type") == "thinking":
        return block_of(text(block.get("thinking")) or "", text(block.get("signature")) or "")
    if block.get("type") == "redacted_thinking":
        return {"type": "redacted_thinking", "data": text(block.get("data")) or ""}
    return None


def signed_blocks(thoughts: Sequence[str], signature: Json) -> list[JsonObject]:
    """Return the blocks before a part, from the thoughts before it and its signature.

    A signature of another provider signs the last thought, or is a block of its own.
    """
    blocks = blocks_of(signature)
    if blocks is None:
        if not isinstance(signature, str) or not signature:
            return [block_of(thought) for thought in thoughts]
        if not thoughts:
            return [{"type": "redacted_thinking", "data": signature}]
        *before, last = thoughts
        return [*map(block_of, before), block_of(last, signature)]
    found: list[JsonObject] = []
    left = list(thoughts)
    for block in blocks:
        while left and block["type"] == "thinking" and block["thinking"] in left:
            thought = left.pop(0)
            if thought == block["thinking"]:
                break
            found.append(block_of(thought))
        found.append(block)
    return [*found, *map(block_of, left)]
