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

__all__ = ["FAULTS"]

_context = partial(Fault, site=Site.SERVICE, behaviour=Behaviour.CONTEXT, held_out=True)

_COUNTED: Final = (
    "services.compression.service:request_token_count",
    "services.chat.limits:request_token_count",
)


def _never(_: Any) -> Any:
    return lambda _model: False


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


def _estimated(_: Any) -> Any:
    async def broken(parts: Any, *_seams: Any, **_more: Any) -> int:
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
        closed_by="masking/twice_then_room",
        breaks=lambda: replaced("services.history.prefix:shared_prefix", _by_length),
    ),
    _context(
        name="only-last-sounds-follow",
        says="Of sounds that several tools brought the last one's alone go to the model.",
        origin="an assignment for an extension of a list",
        closed_by="tools/read_two_sounds",
        breaks=lambda: replaced("services.chat.chat:split_binary_injections", _last_carried_alone),
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
        unobservable="system instructions are each product's own words, so what they say is not "
        "compared: tests/harness/faults/test_unobservable_c.py",
        breaks=lambda: replaced("services.prompts:Prompts.system_instruction", _made_once),
    ),
    _context(
        name="side-questions-uninstructed",
        closed_by="routing/scores",
        says="Questions beside the conversation are asked without their system instruction.",
        origin="a config put together from the aliases alone",
        breaks=lambda: replaced("services.model.base_llm_client:ModelRequest", _uninstructed),
    ),
    _context(
        name="custom-models-unsigned",
        says="A model that is not called Gemini is treated as one that knows no signatures.",
        origin="a rule of families that knows the known ones",
        breaks=lambda: replaced("services.model.names:is_custom_model", _never),
    ),
)
