"""Held-out faults of services in compression."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from harness.faults.fault import Behaviour, Fault, Site
from harness.faults.patching import replaced

__all__ = ["FAULTS"]

_compression = partial(Fault, site=Site.SERVICE, behaviour=Behaviour.CONTEXT, held_out=True)


def _first_turn_alone(turns: Any) -> Any:
    def broken(summary: str) -> Any:
        return turns(summary)[:1]

    return broken


def _none_there(_: Any) -> Any:
    return lambda _history: False


def _as_if_unasked(judged: Any) -> Any:
    async def broken(self: Any, *args: Any) -> Any:
        return await judged(self, *args[:-1], False)

    return broken


def _kept(_: Any) -> Any:
    def broken(_self: Any) -> None:
        return None

    return broken


def _one_for_all(_: Any) -> Any:
    return {}


class _FirstWord:
    """A model that is asked each time, and whose first answer is given each time."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self._said: Any = None

    async def generate_content(self, request: Any) -> Any:
        answer = await self._model.generate_content(request)
        self._said = self._said or answer
        return self._said


def _unimproved(summarise: Any) -> Any:
    async def broken(self: Any, *args: Any) -> Any:
        asked = self._model
        self._model = _FirstWord(asked)
        try:
            return await summarise(self, *args)
        finally:
            self._model = asked

    return broken


def _zero_as_it_is(prepare: Any) -> Any:
    def broken(self: Any, *, threshold: Any = None, **seams: Any) -> None:
        prepare(self, threshold=threshold, **seams)
        if threshold is not None:
            self._threshold = threshold

    return broken


def _all_alike(_: Any) -> Any:
    return lambda _text: 1


def _without_environment(judged: Any) -> Any:
    async def broken(self: Any, *args: Any) -> Any:
        told = self._session_context
        self._session_context = lambda: {"role": "user", "parts": []}
        try:
            return await judged(self, *args)
        finally:
            self._session_context = told

    return broken


FAULTS: Final = (
    _compression(
        name="summary-unacknowledged",
        says="After a compression the model has not answered the summary.",
        origin="a summary that is put in the place of turns, one for all",
        breaks=lambda: replaced("services.compression.service:_turns", _first_turn_alone),
    ),
    _compression(
        name="earlier-snapshot-unnoticed",
        says="A second summary is asked for as if there had been none before.",
        origin="a prompt built before the history is looked at",
        breaks=lambda: replaced("services.compression.service:_has_snapshot", _none_there),
    ),
    _compression(
        name="forced-failure-counts",
        says="Where a compression that a user asked for fails, none is made unasked any more.",
        origin="a flag set wherever a compression fails",
        breaks=lambda: replaced(
            "services.compression.service:ChatCompressionService._judged", _as_if_unasked
        ),
    ),
    _compression(
        name="failed-compression-outlives-chat",
        says="What failed in one chat keeps the next one from being summarised.",
        origin="a service that lives longer than the chats it serves",
        breaks=lambda: replaced(
            "services.compression.service:ChatCompressionService.chat_started", _kept
        ),
    ),
    _compression(
        name="one-model-summarises-all",
        says="Conversations with any model are summarised by the same one.",
        origin="a table of configurations that was not carried over",
        breaks=lambda: replaced("services.compression.service:_CONFIG_KEYS", _one_for_all),
    ),
    _compression(
        name="improved-summary-thrown-away",
        says="The model is asked what its summary left out, and what it says is not used.",
        origin="the older of two variables returned",
        breaks=lambda: replaced(
            "services.compression.service:ChatCompressionService._summarise", _unimproved
        ),
    ),
    _compression(
        name="zero-threshold-taken-literally",
        says="A threshold of 0 has every request compress what is there, not half a window.",
        origin="`is None` for `or`",
        breaks=lambda: replaced(
            "services.compression.service:ChatCompressionService.__init__", _zero_as_it_is
        ),
    ),
    _compression(
        name="split-counts-turns",
        says="What a compression keeps is a share of the turns, whatever their length.",
        origin="a compactor with a window of events",
        breaks=lambda: replaced("services.compression.budget:js_length", _all_alike),
    ),
    _compression(
        name="summary-weighed-alone",
        says="Whether a summary is shorter is judged without the context that goes before it.",
        origin="a comparison of texts for one of requests",
        breaks=lambda: replaced(
            "services.compression.service:ChatCompressionService._judged", _without_environment
        ),
    ),
)
