"""Faults of services in what is kept of the history: masking, estimates, compression."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from harness.faults.fault import Behaviour, Fault, Site
from harness.faults.patching import replaced
from services.compression.service import CompressionStatus
from services.output_masking import MaskingResult

__all__ = ["FAULTS"]

_context = partial(Fault, site=Site.SERVICE, behaviour=Behaviour.CONTEXT)


def _one_turn_later(latest_start: Any) -> Any:
    return lambda history: latest_start(history) + 1


def _one_token_less_protected(prepare: Any) -> Any:
    def broken(self: Any, *, settings: Any, **seams: Any) -> None:
        protected = settings.masking_protection_tokens - 1
        prepare(self, settings=replace(settings, masking_protection_tokens=protected), **seams)

    return broken


def _more_than_enough(prepare: Any) -> Any:
    def broken(self: Any, *, settings: Any, **seams: Any) -> None:
        least = settings.masking_min_prunable_tokens + 1
        prepare(self, settings=replace(settings, masking_min_prunable_tokens=least), **seams)

    return broken


def _by_index(_: Any) -> Any:
    def broken(candidates: Sequence[Any], history: Sequence[Any]) -> list[Any]:
        return [found for found in candidates if _response_at(history, found)]

    return broken


def _response_at(history: Sequence[Any], found: Any) -> bool:
    if found.content_index >= len(history):
        return False
    parts = history[found.content_index].get("parts") or ()
    return found.part_index < len(parts) and "functionResponse" in parts[found.part_index]


def _not_kept(mask: Any) -> Any:
    def broken(self: Any, history: Any, **more: Any) -> Any:
        result = mask(self, history, **more)
        return MaskingResult(history=history, prunable_tokens=result.prunable_tokens)

    return broken


def _nothing_exempt(_: Any) -> Any:
    return frozenset()


def _one_less(count: int) -> int:
    return count - 1


def _as_ascii(_: float) -> float:
    return 0.25


def _twice(response_tokens: Any) -> Any:
    return lambda response, depth: 2 * response_tokens(response, depth)


def _one_token_more(limit: Any) -> Any:
    return lambda model: limit(model) + 1


def _the_other_share(preserved: float) -> float:
    return 1 - preserved


def _no_response(_: Any) -> Any:
    return lambda _content: False


def _not_latched(judged: Any) -> Any:
    async def broken(self: Any, *args: Any) -> Any:
        result = await judged(self, *args)
        self.has_failed_attempt = False
        return result

    return broken


class _NotVerifying:
    """A model that is not asked a second time."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self._said: Any = None

    async def generate_content(self, request: Any) -> Any:
        if self._said is None:
            self._said = await self._model.generate_content(request)
        return self._said


def _unverified(summarise: Any) -> Any:
    async def broken(self: Any, *args: Any) -> Any:
        asked = self._model
        self._model = _NotVerifying(asked)
        try:
            return await summarise(self, *args)
        finally:
            self._model = asked

    return broken


def _equal_is_inflated(judged: Any) -> Any:
    async def broken(self: Any, *args: Any) -> Any:
        result = await judged(self, *args)
        info = result.info
        if info.new_token_count == info.original_token_count:
            failed = CompressionStatus.FAILED_INFLATED_TOKEN_COUNT
            return replace(result, info=replace(info, status=failed), new_history=None)
        return result

    return broken


def _oldest_first(truncate: Any) -> Any:
    def broken(self: Any, history: Any) -> Any:
        return truncate(self, history[::-1])[::-1]

    return broken


FAULTS: Final = (
    _context(
        name="latest-turn-masked",
        says="The turn that masking is to protect begins one content late.",
        origin="the request being made counted as a part of the history",
        breaks=lambda: replaced("services.output_masking:_latest_start", _one_turn_later),
    ),
    _context(
        name="masking-protects-one-token-less",
        says="Outputs that just fit into the protected window are masked.",
        origin="`>=` for `>`",
        breaks=lambda: replaced(
            "services.output_masking:ToolOutputMaskingService.__init__", _one_token_less_protected
        ),
    ),
    _context(
        name="masking-wants-one-token-more",
        says="Outputs that together are just worth masking are left.",
        origin="`>` for `>=`",
        breaks=lambda: replaced(
            "services.output_masking:ToolOutputMaskingService.__init__", _more_than_enough
        ),
    ),
    _context(
        name="masking-by-index",
        says="What is to be masked is found by its place in the live history, not by itself.",
        origin="indices carried from one list of turns to another",
        breaks=lambda: replaced("services.output_masking:_located", _by_index),
    ),
    _context(
        name="masking-not-kept",
        says="Masked outputs go to files, and the history stays as it was.",
        origin="a processor that changes a copy of the request",
        breaks=lambda: replaced("services.output_masking:ToolOutputMaskingService.mask", _not_kept),
    ),
    _context(
        name="skills-masked",
        says="Instructions of a skill are masked like any other output.",
        origin="a masking rule that knows no tools",
        breaks=lambda: replaced("services.output_masking:_EXEMPT", _nothing_exempt),
    ),
    _context(
        name="masked-preview-one-short",
        says="Of a masked command's output nine lines are left at each end, not ten.",
        origin="a slice whose end is excluded twice",
        breaks=lambda: replaced("services.masking_previews:_EDGE_LINES", _one_less),
    ),
    _context(
        name="wide-text-estimated-as-ascii",
        says="Text in other scripts is estimated at a quarter of a token per character.",
        origin="an estimate by length alone",
        breaks=lambda: replaced("services.model.tokens:_NON_ASCII_TOKENS", _as_ascii),
    ),
    _context(
        name="responses-estimated-twice",
        says="A tool's response counts twice in estimates of tokens.",
        origin="a response counted as a part and as a field of it",
        breaks=lambda: replaced("services.model.tokens:_response_tokens", _twice),
    ),
    _context(
        name="compressed-one-token-late",
        says="A history of exactly the threshold is not compressed.",
        origin="`>` for `>=`",
        breaks=lambda: replaced("services.compression.service:token_limit", _one_token_more),
    ),
    _context(
        name="compression-keeps-most",
        says="A compression keeps seventy per cent of the history as it is, not thirty.",
        origin="the share to keep taken for the share to compress",
        breaks=lambda: replaced("services.compression.service:_PRESERVED", _the_other_share),
    ),
    _context(
        name="split-before-response",
        says="A compression may leave a tool's response without its call.",
        origin="a split before any turn of the user's role",
        breaks=lambda: replaced("services.compression.budget:has_function_response", _no_response),
    ),
    _context(
        name="failed-compression-forgotten",
        says="After a summary that was longer than what it summed up, the next one is tried.",
        origin="a compressor made anew for every request",
        breaks=lambda: replaced(
            "services.compression.service:ChatCompressionService._judged", _not_latched
        ),
    ),
    _context(
        name="summary-not-verified",
        says="The model is not asked what its summary left out.",
        origin="a framework's compactor, which asks once",
        breaks=lambda: replaced(
            "services.compression.service:ChatCompressionService._summarise", _unverified
        ),
    ),
    _context(
        name="equal-summary-refused",
        says="A summary that is exactly as long as what it sums up is thrown away.",
        origin="`>=` for `>`",
        breaks=lambda: replaced(
            "services.compression.service:ChatCompressionService._judged", _equal_is_inflated
        ),
    ),
    _context(
        name="budget-spent-on-oldest",
        says="When outputs are cut to a budget the oldest are kept whole, not the newest.",
        origin="a history walked from its beginning",
        breaks=lambda: replaced(
            "services.compression.budget:OutputTruncation.truncate", _oldest_first
        ),
    ),
)
