"""Held-out faults of services in what is kept of the history, and what a request carries."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from harness.faults.fault import Behaviour, Fault, Site
from harness.faults.patching import all_of, replaced
from services.history.transforms import starts_active_loop
from services.history.view import _Entry
from services.model.generator import ModelRequest
from services.model.tokens import estimate_tokens
from services.wire import js_json

__all__ = ["FAULTS"]

_context = partial(Fault, site=Site.SERVICE, behaviour=Behaviour.CONTEXT, held_out=True)

_TAG: Final = "<tool_output_masked"


def _never_joined(_: Any) -> Any:
    def broken(self: Any, shown: Any, raw_start: int) -> None:
        self._entries.append(_Entry(shown, raw_start))
        if starts_active_loop(shown):
            self._active = len(self._entries) - 1

    return broken


def _from_the_start(_: Any) -> Any:
    def broken(_self: Any, _without: int) -> int:
        return 0

    return broken


def _by_length(_: Any) -> Any:
    def broken(old: Sequence[Any], new: Sequence[Any]) -> int:
        return min(len(old), len(new))

    return broken


def _last_carried_alone(split: Any) -> Any:
    def broken(parts: Sequence[Any]) -> Any:
        cleaned, injected = split(parts)
        for part in parts:
            injected = split([part])[1] or injected
        return cleaned, injected

    return broken


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


def _compact(_: Any) -> Any:
    return js_json


def _counting_masked(measure: Any) -> Any:
    def broken(part: Any) -> Any:
        tokens = measure(part)
        if tokens is None and _TAG in js_json(part["functionResponse"].get("response")):
            return estimate_tokens([part])
        return tokens

    return broken


def _nobody(_: Any) -> Any:
    return frozenset()


def _asked_and_lost(summary: Any) -> Any:
    async def broken(self: Any, *args: Any) -> str:
        await summary(self, *args)
        return ""

    return broken


def _estimated(_: Any) -> Any:
    async def broken(parts: Any, *_seams: Any) -> int:
        return estimate_tokens(parts)

    return broken


def _made_once(make: Any) -> Any:
    def broken(self: Any) -> Any:
        if not hasattr(self, "made_once"):
            self.made_once = make(self)
        return self.made_once

    return broken


def _uninstructed(_: Any) -> Any:
    def broken(*, config: Any, **fields: Any) -> Any:
        kept = {key: value for key, value in config.items() if key != "systemInstruction"}
        return ModelRequest(config=kept, **fields)

    return broken


_COUNTED: Final = (
    "services.compression.service:request_token_count",
    "runtimes.legacy.client:request_token_count",
    "runtimes.adk.processors.overflow:request_token_count",
)

FAULTS: Final = (
    _context(
        name="neighbours-sent-apart",
        says="Neighbouring turns of the user go to the model as turns of their own.",
        origin="a framework's session, which keeps events apart",
        breaks=lambda: replaced("services.history.view:RequestView._push", _never_joined),
    ),
    _context(
        name="earlier-prompts-signed",
        says="Calls of all prompts get a stand-in signature, not those of the last one alone.",
        origin="a rule about the active loop applied to the history",
        breaks=lambda: replaced("services.history.view:RequestView._active_start", _from_the_start),
    ),
    _context(
        name="estimates-outlive-replacement",
        says="Contents that were replaced are still counted by what stood in their places.",
        origin="a cache that is keyed by position",
        breaks=lambda: replaced("services.history.prefix:shared_prefix", _by_length),
    ),
    _context(
        name="only-last-images-follow",
        says="Of images that several responses carried the last one's alone go to the model.",
        origin="an assignment for an extension of a list",
        breaks=lambda: all_of(
            replaced("runtimes.legacy.chat:split_binary_injections", _last_carried_alone),
            replaced("runtimes.adk.conversation:split_binary_injections", _last_carried_alone),
        ),
    ),
    _context(
        name="summary-unacknowledged",
        says="After a compression the model has not answered the summary.",
        origin="a summary that is put in the place of turns, one for all",
        breaks=lambda: replaced("services.compression.service:_turns", _first_turn_alone),
    ),
    _context(
        name="earlier-snapshot-unnoticed",
        says="A second summary is asked for as if there had been none before.",
        origin="a prompt built before the history is looked at",
        breaks=lambda: replaced("services.compression.service:_has_snapshot", _none_there),
    ),
    _context(
        name="forced-failure-counts",
        says="Where a compression that a user asked for fails, none is made unasked any more.",
        origin="a flag set wherever a compression fails",
        breaks=lambda: replaced(
            "services.compression.service:ChatCompressionService._judged", _as_if_unasked
        ),
    ),
    _context(
        name="failed-compression-outlives-chat",
        says="What failed in one chat keeps the next one from being summarised.",
        origin="a service that lives longer than the chats it serves",
        breaks=lambda: replaced(
            "services.compression.service:ChatCompressionService.chat_started", _kept
        ),
    ),
    _context(
        name="one-model-summarises-all",
        says="Conversations with any model are summarised by the same one.",
        origin="a table of configurations that was not carried over",
        breaks=lambda: replaced("services.compression.service:_CONFIG_KEYS", _one_for_all),
    ),
    _context(
        name="improved-summary-thrown-away",
        says="The model is asked what its summary left out, and what it says is not used.",
        origin="the older of two variables returned",
        breaks=lambda: replaced(
            "services.compression.service:ChatCompressionService._summarise", _unimproved
        ),
    ),
    _context(
        name="zero-threshold-taken-literally",
        says="A threshold of 0 has every request compress what is there, not half a window.",
        origin="`is None` for `or`",
        breaks=lambda: replaced(
            "services.compression.service:ChatCompressionService.__init__", _zero_as_it_is
        ),
    ),
    _context(
        name="split-counts-turns",
        says="What a compression keeps is a share of the turns, whatever their length.",
        origin="a compactor with a window of events",
        breaks=lambda: replaced("services.compression.budget:js_length", _all_alike),
    ),
    _context(
        name="summary-weighed-alone",
        says="Whether a summary is shorter is judged without the context that goes before it.",
        origin="a comparison of texts for one of requests",
        breaks=lambda: replaced(
            "services.compression.service:ChatCompressionService._judged", _without_environment
        ),
    ),
    _context(
        name="masked-outputs-compact",
        says="Masked outputs are shown and saved without line breaks.",
        origin="a serialiser's other default",
        breaks=lambda: replaced("services.output_masking:js_json_pretty", _compact),
    ),
    _context(
        name="masked-outputs-counted-again",
        says="Outputs that are masked count towards what there is to mask.",
        origin="a mark that is written and not looked for",
        breaks=lambda: replaced("services.output_masking:_maskable_tokens", _counting_masked),
    ),
    _context(
        name="commands-masked-like-others",
        says="Of a masked command's output characters are left, not its lines and its exit code.",
        origin="a tool known by an earlier name",
        breaks=lambda: replaced("services.output_masking:_SHELL", lambda _: "shell"),
    ),
    _context(
        name="read-files-distilled",
        says="Files that were read are distilled like any other output.",
        origin="a list of exceptions left behind in another module",
        breaks=lambda: replaced("services.tool_distillation:_EXEMPT", _nobody),
    ),
    _context(
        name="distillation-limits-in-characters",
        says="Limits of distillation are read as characters where they are tokens.",
        origin="one name for two units",
        breaks=lambda: replaced("services.tool_distillation:_CHARS_PER_TOKEN", lambda _: 1),
    ),
    _context(
        name="summary-of-output-lost",
        says="A model sums up what was cut from an output, and nobody is told.",
        origin="a result that is not handed on",
        breaks=lambda: replaced(
            "services.tool_distillation:ToolDistillation._summary", _asked_and_lost
        ),
    ),
    _context(
        name="media-never-counted",
        says="Requests with media in them are estimated, and the model is not asked to count.",
        origin="one estimate for everything",
        breaks=lambda: all_of(*(replaced(target, _estimated) for target in _COUNTED)),
    ),
    _context(
        name="system-instruction-made-once",
        says="The system instruction goes on telling of the mode that a session began in.",
        origin="a text made when the agent is built, as frameworks want it",
        breaks=lambda: replaced("services.prompts:Prompts.system_instruction", _made_once),
    ),
    _context(
        name="side-questions-uninstructed",
        says="Questions beside the conversation are asked without their system instruction.",
        origin="a config put together from the aliases alone",
        breaks=lambda: replaced("services.model.base_llm_client:ModelRequest", _uninstructed),
    ),
)
