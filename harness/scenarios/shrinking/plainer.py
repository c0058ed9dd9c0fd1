"""Plainer texts, answers, calls and failures; and several chunks joined into one.

Commands are never cut, since half a command is another command: they are replaced or kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from harness.scenarios.shrinking.descents import Options, lower
from services.wire import Json, JsonObject

__all__ = [
    "merged",
    "plainer_call",
    "plainer_error",
    "plainer_step",
    "plainer_text",
    "shorter_text",
    "together",
]

_WORD: Final = "ok"
_SHORT: Final = 4
_MARKERS: Final = ("$hang", "$sleep")
_READS: Final[JsonObject] = {"name": "read_file", "args": {"file_path": "a.txt"}}
_RUNS: Final[JsonObject] = {"name": "run_shell_command", "args": {"command": "true"}}


def shorter_text(value: Json) -> Options:
    """One word, or else ever smaller halves."""
    if not isinstance(value, str) or value in ("", _WORD):
        return
    if (yield _WORD):
        return
    text = value
    while len(text) > _SHORT:
        half = len(text) // 2
        if (yield text[:half]):
            text = text[:half]
        elif (yield text[half:]):
            text = text[half:]
        else:
            return


def plainer_step(step: Json) -> Options:
    """An answer as one text, in the short form."""
    where = {key: step[key] for key in ("role", "thread", "repeat") if key in step}
    if "stream" not in step and "error" not in step and "hang" not in step:
        return
    text = _only_text(step)
    for plain in dict.fromkeys([_WORD, *([text] if text is not None else [])]):
        if (yield {"text": plain, **where}):
            return


def _only_text(step: JsonObject) -> str | None:
    """The text of an answer that is only one text and ends normally."""
    chunks = step.get("stream")
    if not isinstance(chunks, list) or len(chunks) != 1 or "then_error" in step:
        return None
    candidates = chunks[0].get("candidates") or [{}]
    content = candidates[0].get("content") or {}
    parts = content.get("parts") or []
    one = len(candidates) == len(parts) == 1 and list(parts[0]) == ["text"]
    return str(parts[0]["text"]) if one and candidates[0].get("finishReason") == "STOP" else None


def plainer_call(call: Json) -> Options:
    """A call of the plainest tool, or of the same tool with the plainest arguments."""
    if not isinstance(call, dict) or call in (_READS, _RUNS):
        return
    if (yield _READS):
        return
    if call.get("name") == _RUNS["name"]:
        yield _RUNS


def plainer_error(error: Json) -> Options:
    """A failure of the same kind with the fewest details."""
    if not isinstance(error, dict):
        return
    status = error.get("status")
    plain: JsonObject
    if isinstance(status, int):
        plain = {"status": status, "message": _WORD}
        usual = 429 if status == 429 else 500 if status >= 500 else 400
        options: Sequence[JsonObject] = ({**plain, "status": usual}, plain)
    else:
        plain = {"name": "Error", "message": "read ECONNRESET", "code": "ECONNRESET"}
        options = (plain,)
    for option in options:
        if option == error or (yield option):
            return


def plainer_text(value: Json) -> Options:
    """A shorter text; for the text of a macro, fewer repetitions."""
    if isinstance(value, str):
        yield from shorter_text(value)
        return
    if not isinstance(value, Mapping) or (yield _WORD):
        return
    for key, count in (("$lines", "count"), ("$repeat", "times")):
        macro = value.get(key)
        if isinstance(macro, dict) and isinstance(macro.get(count), int):
            numbers = lower(0)(macro[count])
            kept: Any = None  # what a generator is first sent
            with suppress(StopIteration):
                while True:
                    kept = yield {key: {**macro, count: numbers.send(kept)}}
            return


def together(stream: Json) -> Options:
    """All chunks of a stream joined, or else neighbours, the last first."""
    chunks = list(stream) if isinstance(stream, list) else []
    whole = merged(chunks)
    if len(chunks) < 2 or (whole is not None and (yield [whole])):
        return
    for end in range(len(chunks), 1, -1):
        pair = merged(chunks[end - 2 : end])
        if pair is not None and (yield [*chunks[: end - 2], pair, *chunks[end:]]):
            chunks[end - 2 : end] = [pair]


def merged(chunks: Sequence[JsonObject]) -> JsonObject | None:
    """One chunk with the content of these; `None` if they cannot be joined."""
    if any(marker in chunk for chunk in chunks for marker in _MARKERS):
        return None
    if any(len(chunk.get("candidates") or ()) > 1 for chunk in chunks):
        return None
    candidate: JsonObject = {}
    whole: JsonObject = {}
    parts: list[JsonObject] = []
    for chunk in chunks:
        whole.update(chunk)
        for one in chunk.get("candidates") or ():
            candidate.update(one)
            parts += (one.get("content") or {}).get("parts") or []
    if candidate:
        content = {"role": "model", "parts": list(_joined(parts))}
        whole["candidates"] = [{**candidate, "content": content} if parts else candidate]
    return whole


def _joined(parts: Sequence[JsonObject]) -> Iterator[JsonObject]:
    """Parts, with neighbouring texts of one kind joined."""
    before: JsonObject | None = None
    for part in parts:
        if before is not None and _speaks_alike(before, part):
            before = {**before, "text": before["text"] + part["text"]}
            continue
        if before is not None:
            yield before
        before = part
    if before is not None:
        yield before


def _speaks_alike(one: JsonObject, other: JsonObject) -> bool:
    kinds = ({key: value for key, value in part.items() if key != "text"} for part in (one, other))
    return "text" in one and "text" in other and next(kinds) == next(kinds)
