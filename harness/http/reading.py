"""What google-genai's client makes of an answer, as named rules, for the scripted side of a pair.

A scenario runs once over a socket and once from its script. Each rule rewrites a step of the script
into what the client would return, and gives the reason; any other difference is a finding.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from harness.cassette.format import Cassette
from services.abort import AbortSignal
from services.clock import VirtualClock
from services.model.errors import ApiError, NetworkError
from services.model.replay.generator import ReplayedContentGenerator
from services.model.replay.matching import ObservedRequest
from services.model.replay.steps import ErrorSpec, ModelStep
from services.wire import Json, JsonObject

__all__ = ["READING_RULES", "as_read", "read_source"]

_PART_FIELDS: Final = frozenset(
    {
        "audioTranscription",
        "codeExecutionResult",
        "executableCode",
        "fileData",
        "functionCall",
        "functionResponse",
        "inlineData",
        "mediaProcessing",
        "mediaResolution",
        "partMetadata",
        "speechMetadata",
        "text",
        "thought",
        "thoughtSignature",
        "toolCall",
        "toolResponse",
        "videoMetadata",
    }
)
_FREE: Final = frozenset({"args"})
"""Fields that hold any JSON."""


class _ErrorEvent(ErrorSpec):
    """An API error that arrives as an event of a stream that had begun."""

    def to_exception(self) -> ApiError | NetworkError:
        """As the client raises it: with words before the JSON."""
        error = super().to_exception()
        assert isinstance(error, ApiError)
        return ApiError(error.status, f"got status: {self.grpc}. {error.message}")


def nulls(step: ModelStep) -> ModelStep:
    """The client's objects do not distinguish a null field from an absent one.

    A call's arguments are not fields of the API, and stay.
    """
    return _rewritten(step, _without_nulls)


def unknown_parts(step: ModelStep) -> ModelStep:
    """The client returns only the fields of a part that it knows; the API may be newer."""
    return _rewritten(step, _with_known_fields)


def error_events(step: ModelStep) -> ModelStep:
    """The message of an error within a stream has a prefix before the response's JSON.

    Upstream's SDK does the same; a script raises its error like that of a refused call.
    """
    error = step.then_error
    if error is None or error.status is None:
        return step
    spoken = _ErrorEvent(
        message=error.message, status=error.status, grpc=error.grpc, details=error.details
    )
    return replace(step, then_error=spoken)


def resets(step: ModelStep) -> ModelStep:
    """Every network failure within a stream is a reset, the one failure the stand-in can cause."""
    error = step.then_error
    if error is None or error.status is not None:
        return step
    reset = ErrorSpec(name="TypeError", message="terminated", code="ECONNRESET")
    return replace(step, then_error=reset)


READING_RULES: Final[tuple[Callable[[ModelStep], ModelStep], ...]] = (
    nulls,
    unknown_parts,
    error_events,
    resets,
)
"""Every rule, in the order of application. Its name is the function's, its reason the docstring."""


def as_read(step: ModelStep, fired: Counter[str] | None = None) -> ModelStep:
    """`step` as the client would return it; counts in `fired` the rules that changed it."""
    for rule in READING_RULES:
        changed = rule(step)
        if changed is not step and fired is not None and changed != step:
            fired[rule.__name__] += 1
        step = changed
    return step


def read_source(
    fired: Counter[str],
) -> Callable[
    [Cassette, VirtualClock, Callable[[ObservedRequest], None], Callable[[int, int], None]],
    ReplayedContentGenerator,
]:
    """A `ModelSource` of the runner: the cassette's own steps, as the client would return them.

    Like the client, and unlike a plain script, it raises in the middle of an aborted stream.
    """

    def source(
        cassette: Cassette,
        clock: VirtualClock,
        on_request: Callable[[ObservedRequest], None],
        on_chunk: Callable[[int, int], None],
    ) -> ReplayedContentGenerator:
        signals: list[AbortSignal] = []

        def requested(observed: ObservedRequest) -> None:
            signals.append(observed.request.signal)
            on_request(observed)

        def handled(request: int, chunk: int) -> None:
            on_chunk(request, chunk)
            signals[request].raise_if_aborted()

        return ReplayedContentGenerator(
            [as_read(step, fired) for step in cassette.steps],
            clock=clock,
            match=cassette.match,
            on_request=requested,
            on_chunk=handled,
        )

    return source


def _rewritten(step: ModelStep, change: Callable[[JsonObject], JsonObject]) -> ModelStep:
    chunks = tuple(change(each) if isinstance(each, dict) else each for each in step.chunks)
    return replace(step, chunks=chunks, value=None if step.value is None else change(step.value))


def _without_nulls(value: Json) -> Json:
    if isinstance(value, dict):
        return {
            key: item if key in _FREE else _without_nulls(item)
            for key, item in value.items()
            if item is not None
        }
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    return value


def _with_known_fields(response: JsonObject) -> JsonObject:
    candidates: Json = response.get("candidates")
    if not candidates:
        return response
    return {**response, "candidates": [_known_candidate(each) for each in candidates]}


def _known_candidate(candidate: JsonObject) -> JsonObject:
    content = candidate.get("content")
    if not isinstance(content, dict) or not content.get("parts"):
        return candidate
    parts = [
        {key: item for key, item in part.items() if key in _PART_FIELDS}
        for part in content["parts"]
    ]
    return {**candidate, "content": {**content, "parts": parts}}
