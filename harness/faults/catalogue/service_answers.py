"""Faults of services in what the model's stream becomes."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from harness.faults.fault import Behaviour, Fault, Site
from harness.faults.patching import replaced

__all__ = ["FAULTS"]

_answers = partial(Fault, site=Site.SERVICE, behaviour=Behaviour.ANSWERS)


def _keeping_first_usage(feed: Any) -> Any:
    def broken(self: Any, chunk: Any) -> None:
        known = self._usage
        feed(self, chunk)
        self._usage = known or self._usage

    return broken


def _unmerged(_: Any) -> Any:
    return list


def _losing_signatures(consolidate: Any) -> Any:
    def broken(parts: Any) -> Any:
        return [
            {key: value for key, value in part.items() if key != "thoughtSignature"}
            if "functionCall" in part
            else part
            for part in consolidate(parts)
        ]

    return broken


def _losing_call_count(assign: Any) -> Any:
    def broken(self: Any, call: Any) -> Any:
        self._count = 0
        return assign(self, call)

    return broken


def _without_subjects(parse: Any) -> Any:
    def broken(text: str) -> Any:
        return parse(text.replace("**", ""))

    return broken


def _leaving_comments(_: Any) -> Any:
    return lambda text: text


def _without_max_tokens(reasons: Any) -> Any:
    return {reason: end for reason, end in reasons.items() if reason != "MAX_TOKENS"}


FAULTS: Final = (
    _answers(
        name="usage-of-first-chunk",
        says="An answer's token counts are those of its first chunk that had any, not of its last.",
        origin="an aggregator that fills in what it lacks, where the API counts on from chunk to "
        "chunk",
        breaks=lambda: replaced("services.model.stream:StreamAssembler.feed", _keeping_first_usage),
    ),
    _answers(
        name="texts-left-in-chunks",
        says="Neighbouring texts of one answer stay parts of their own in the history.",
        origin="a framework that stores the chunks it got instead of the answer they make",
        breaks=lambda: replaced("services.model.stream:_consolidate", _unmerged),
    ),
    _answers(
        name="call-signatures-dropped",
        says="The thought signature of a function call is not kept in the history.",
        origin="typed parts that do not know the field, or re-encode it to nothing",
        breaks=lambda: replaced("services.model.stream:_consolidate", _losing_signatures),
    ),
    _answers(
        name="made-call-ids-repeat",
        says="Calls of one answer that came without ids all get the same one.",
        origin="a counter that starts again with every chunk",
        breaks=lambda: replaced("services.model.stream:CallIds.assign", _losing_call_count),
    ),
    _answers(
        name="recorded-thoughts-lose-subject",
        says="A thought's heading is recorded as part of its text.",
        origin="Markdown taken off before the heading is looked for",
        breaks=lambda: replaced("services.model.stream:parse_thought", _without_subjects),
    ),
    _answers(
        name="comments-are-visible-text",
        says="HTML comments in an answer count as text, and are recorded.",
        origin="a simplification: the text is trimmed, and no more",
        breaks=lambda: replaced("services.model.stream:_without_comments", _leaving_comments),
    ),
    _answers(
        name="budget-end-is-failure",
        says="A stream that ended for the model's output limit ends as `failed`.",
        origin="a table of finish reasons that was copied without the rarer ones",
        breaks=lambda: replaced("services.presentation.finish:_REASONS", _without_max_tokens),
    ),
)
