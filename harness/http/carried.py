"""What the wire format of a provider carries of a cassette's answers.

A comparison between runs over two providers plays answers that both formats can carry, so that any
difference is one of the runtimes, the SDKs or the converters. The rules that changed something are
named in the report.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final, Protocol

import httpx2

from harness.cassette.format import Cassette
from harness.http.reading import READING_RULES, as_read
from services.model.errors import NetworkError
from services.model.replay.steps import ErrorSpec, Hang, ModelStep, Sleep, StepKind, StepMethod
from services.model.transport_errors import network_error
from services.providers.answer_losses import ChunkRule, Chunks
from services.providers.anthropic import answer_losses as anthropic
from services.providers.exchange import joined
from services.providers.losing import reduced
from services.providers.openai import answer_losses as openai
from services.providers.provider import Provider
from services.providers.refusals import STATUS_NAMES, refusal_of
from services.providers.wire.failures import library_failure
from services.wire import JsonObject

__all__ = ["STEP_LOSSES", "as_carried", "carried_step"]

_SOMETHING: Final = "loses_chunk_borders"


class _Borders(Protocol):
    """The borders of chunks in a format, one chunk after the other."""

    def feed(self, chunk: JsonObject) -> list[JsonObject]:
        """Return the chunks that are complete."""

    def end(self) -> list[JsonObject]:
        """Return the chunks that are left."""


_RULES: Final[dict[Provider, tuple[ChunkRule, ...]]] = {
    Provider.OPENAI: openai.CHUNK_LOSSES,
    Provider.ANTHROPIC: anthropic.CHUNK_LOSSES,
}
_WHOLE: Final[dict[Provider, tuple[ChunkRule, ...]]] = {
    Provider.OPENAI: openai.WHOLE_ANSWER_LOSSES,
    Provider.ANTHROPIC: anthropic.ANSWER_LOSSES,
}
_BORDERS: Final[dict[Provider, Callable[[], _Borders]]] = {
    Provider.OPENAI: openai.ChatBorders,
    Provider.ANTHROPIC: anthropic.MessageBorders,
}


def as_carried(
    cassette: Cassette, providers: Iterable[Provider]
) -> tuple[Cassette, tuple[str, ...]]:
    """Return `cassette` with the answers that every one of `providers` carries, and remarks.

    A remark names the rules that changed an answer.
    """
    steps, remarks = cassette.steps, []
    for provider in providers:
        fired: Counter[str] = Counter()
        steps = tuple(carried_step(step, provider, fired) for step in steps)
        if fired:
            names = ", ".join(sorted(name.removeprefix("loses_") for name in fired))
            remarks.append(f"answers as {provider} carries them: {names}")
    return replace(cassette, steps=steps), tuple(remarks)


def carried_step(step: ModelStep, provider: Provider, fired: Counter[str]) -> ModelStep:
    """Return `step` as the format of `provider` carries it."""
    if provider is Provider.GEMINI:
        return as_read(step, fired)
    for rule in STEP_LOSSES:
        changed = rule(step)
        if changed != step:
            fired[rule.__name__] += 1
        step = changed
    if step.kind is StepKind.STREAM:
        return replace(step, chunks=_carried_chunks(step, provider, fired))
    if step.value is None or step.method is not StepMethod.GENERATE:
        return step
    whole: Chunks = [step.value]
    kept: Chunks = reduced(whole, _WHOLE[provider], fired)
    return replace(step, value=joined(kept))


def _carried_chunks(
    step: ModelStep, provider: Provider, fired: Counter[str]
) -> tuple[JsonObject | Hang | Sleep, ...]:
    borders = _BORDERS[provider]()
    found: list[JsonObject | Hang | Sleep] = []
    plain: list[JsonObject | Hang | Sleep] = []
    for chunk in step.chunks:
        if isinstance(chunk, Hang | Sleep):
            found.append(chunk)
            plain.append(chunk)
            continue
        one: Chunks = [chunk]
        for each in reduced(one, _RULES[provider], fired):
            plain.append(each)
            found += borders.feed(each)
    if step.then_error is None:
        found += borders.end()
    if found != plain:
        fired[_SOMETHING] += 1
    return tuple(found)


def loses_error_details(step: ModelStep) -> ModelStep:
    """A refusal has a status, a message and the wait that the server asks for. The name of the
    status is the usual one; 529 is 503, both mean a lack of capacity.
    """
    return _with_errors(step, _carried_refusal)


def _carried_refusal(error: ErrorSpec) -> ErrorSpec:
    if error.status is None:
        return error
    refusal = refusal_of(error.to_exception())
    status = 503 if refusal.status == 529 else refusal.status
    carried = ErrorSpec(message=refusal.message, status=status, grpc=STATUS_NAMES.get(status))
    if refusal.delay_s is None or status not in (429, 500, 502, 503, 504):
        return carried
    wait = {
        "@type": "type.googleapis.com/google.rpc.RetryInfo",
        "retryDelay": f"{refusal.delay_s:g}s",
    }
    return replace(carried, details=(wait,))


def loses_network_messages(step: ModelStep) -> ModelStep:
    """A failure of the network has its code; the message is the client's."""

    def carried(error: ErrorSpec, *, answering: bool) -> ErrorSpec:
        if error.status is not None:
            return error
        raised = error.to_exception()
        assert isinstance(raised, NetworkError)
        failure = library_failure(httpx2, raised, answering=answering)
        found = network_error(failure, answering=answering)
        return ErrorSpec(message=str(found), name=found.name, code=found.code)

    late, early = step.then_error, step.error
    if late is not None:
        step = replace(step, then_error=carried(late, answering=True))
    return step if early is None else replace(step, error=carried(early, answering=False))


def _with_errors(step: ModelStep, change: Callable[[ErrorSpec], ErrorSpec]) -> ModelStep:
    late, early = step.then_error, step.error
    if late is not None:
        step = replace(step, then_error=change(late))
    return step if early is None else replace(step, error=change(early))


STEP_LOSSES: Final[Sequence[Callable[[ModelStep], ModelStep]]] = (
    loses_error_details,
    loses_network_messages,
    *(rule for rule in READING_RULES if rule.__name__ == "error_events"),
)
"""The rules for errors, in the order of application."""
