"""Held-out faults of services in what the model's stream becomes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from harness.faults.fault import Behaviour, Fault, Site
from harness.faults.patching import all_of, replaced
from services.model.parts import Thought, parse_thought
from services.model.stream import Thought as RecordedThought
from services.model.stream import call_name
from services.wire import js_trim

__all__ = ["FAULTS"]

_answers = partial(Fault, site=Site.SERVICE, behaviour=Behaviour.ANSWERS, held_out=True)

_BOLD: Final = "**"
_TEXT_ALONE: Final = frozenset({"text", "thoughtSignature"})


def _to_the_last_mark(parse: Any) -> Any:
    def broken(text: str) -> Any:
        before, _, rest = text.partition(_BOLD)
        subject, closed, after = rest.rpartition(_BOLD)
        return Thought(js_trim(subject), js_trim(before + after)) if closed else parse(text)

    return broken


def _each_thought(take: Any) -> Any:
    def broken(self: Any, parts: Sequence[Any]) -> None:
        take(self, parts)
        for part in parts[1:]:
            if part.get("thought") and part.get("text"):
                subject, description = parse_thought(part["text"])
                self._thoughts.append(RecordedThought(subject=subject, description=description))

    return broken


def _last_candidate(_: Any) -> Any:
    def broken(response: Any) -> Any:
        candidates = response.get("candidates")
        return candidates[-1] if candidates else {}

    return broken


def _signatures_moved_forward(consolidate: Any) -> Any:
    def broken(parts: Sequence[Any]) -> Any:
        moved = list(parts)
        for index in range(len(moved) - 1, 0, -1):
            signature = moved[index].get("thoughtSignature")
            if signature and moved[index].keys() | moved[index - 1].keys() <= _TEXT_ALONE:
                moved[index - 1] = {**moved[index - 1], "thoughtSignature": signature}
        return consolidate(moved)

    return broken


def _without_bare_usage(feed: Any) -> Any:
    def broken(self: Any, chunk: Any) -> None:
        if chunk.get("candidates"):
            feed(self, chunk)
        else:
            feed(self, {key: chunk[key] for key in chunk if key != "usageMetadata"})

    return broken


def _all_valid(_: Any) -> Any:
    return lambda _content: True


def _prefixed_again(assign: Any) -> Any:
    def broken(self: Any, call: Any) -> Any:
        if isinstance(call.get("id"), str):
            call["id"] = f"{call_name(call)}__{call['id']}"
        return assign(self, call)

    return broken


def _to_the_last_underscores(bare_id: Any) -> Any:
    def broken(name: Any, call_id: Any) -> Any:
        bare = bare_id(name, call_id)
        return bare and bare.rpartition("__")[2]

    return broken


FAULTS: Final = (
    _answers(
        name="thought-heading-to-last-mark",
        says="A thought's heading reaches from its first bold mark to its last.",
        origin="a greedy `.*` between the marks",
        closed_by="text/thought_marks",
        breaks=lambda: all_of(
            replaced("services.model.stream:parse_thought", _to_the_last_mark),
            replaced("runtimes.legacy.turn:parse_thought", _to_the_last_mark),
            replaced("runtimes.adk.translate:parse_thought", _to_the_last_mark),
        ),
    ),
    _answers(
        name="every-thought-part-recorded",
        says="All thoughts of a chunk are recorded, not the one that it begins with alone.",
        origin="the sensible thing to do, which is not what the published core does",
        breaks=lambda: replaced("services.model.stream:StreamAssembler._take", _each_thought),
    ),
    _answers(
        name="last-candidate-read",
        says="Of several candidates the calls and sources of the last are taken.",
        origin="a loop over candidates that keeps what it saw last",
        breaks=lambda: replaced("services.model.parts:_first_candidate", _last_candidate),
    ),
    _answers(
        name="merged-text-signed-by-last",
        says="A text that is put together has the signature of its last piece.",
        origin="pieces merged by an update of all their fields",
        breaks=lambda: replaced("services.model.stream:_consolidate", _signatures_moved_forward),
    ),
    _answers(
        name="usage-of-bare-chunk-unread",
        says="Token counts in a chunk that carries nothing else are not kept.",
        origin="an early return for chunks without candidates",
        breaks=lambda: replaced("services.model.stream:StreamAssembler.feed", _without_bare_usage),
    ),
    _answers(
        name="empty-parts-kept-in-answers",
        says="Empty parts of an answer stay in it, and make all of it unfit to be sent again.",
        origin="chunks taken as they come, validated later or never",
        breaks=lambda: replaced("services.model.stream:is_valid_content", _all_valid),
    ),
    _answers(
        name="call-ids-prefixed-twice",
        says="An id that has the tool's name before it gets it once more.",
        origin="two places that each make ids unique",
        breaks=lambda: replaced("services.model.stream:CallIds.assign", _prefixed_again),
    ),
    _answers(
        name="bare-ids-cut-at-last-underscores",
        says="Of an id with underscores of its own the model gets the end back only.",
        origin="a prefix found from the wrong end",
        closed_by="tools/id_underscores",
        breaks=lambda: replaced("services.history.transforms:_bare_id", _to_the_last_underscores),
    ),
)
