"""The model requests of a recorded run: a file beside the cassette, one request a line.

A cassette has no place for requests. A line is a request in the words of a trace document, as its
difference from the one before of the same role and thread: whole ones would grow with the square
of a run's length.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.replay.observation import ObservedRequest
from harness.replay.trace import CONFIG_KEYS
from services.wire import JsonObject

__all__ = ["request_lines", "requests_file"]


def requests_file(cassette: Path) -> Path:
    """Return the file of a recorded cassette's requests."""
    return cassette.with_suffix(".requests.jsonl")


def request_lines(requests: Sequence[ObservedRequest]) -> Iterator[JsonObject]:
    """Yield a line for each of `requests`, in order."""
    shown: set[str] = set()
    for index, request in enumerate(requests):
        yield _line(index, request, shown)


def _line(index: int, request: ObservedRequest, shown: set[str]) -> JsonObject:
    line: JsonObject = {
        "request": index,
        "method": request.method,
        "role": request.role,
        "model": request.model,
        "sameAsPrevious": request.same_as_previous,
        "contents": list(request.new_contents),
        "config": {key: request.config[key] for key in CONFIG_KEYS if key in request.config},
        "tools": list(request.tools),
    }
    if request.thread != "main":
        line["thread"] = request.thread
    if request.system_instruction is not None and request.system_digest is not None:
        # In full only if it is new, since most requests repeat it.
        known = request.system_digest in shown
        line["systemInstruction"] = request.system_digest if known else request.system_instruction
        shown.add(request.system_digest)
    return line
