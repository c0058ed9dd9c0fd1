"""Faults of the services in the handling of the model's stream."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from seeded_faults import Behaviour, Faults, Site
from seeded_faults.wrappers import first, instead, passing, put, result, returns
from services.model.parts import Thought, parse_thought
from services.model.stream import call_name
from services.wire import js_trim

fault = Faults(Site.SERVICE, Behaviour.ANSWERS)
held_out = Faults(Site.SERVICE, Behaviour.ANSWERS, held_out=True)
_BOLD: Final = "**"
_TEXT_ALONE: Final = frozenset({"text", "thoughtSignature"})


@instead
def _to_the_last_mark(parse: Any, text: str) -> Any:
    before, _, rest = text.partition(_BOLD)
    subject, closed, after = rest.rpartition(_BOLD)
    return Thought(js_trim(subject), js_trim(before + after)) if closed else parse(text)


texts_left_in_chunks = fault.wrap(
    "services.model.stream:_consolidate",
    lambda _: list,
    says="Adjacent texts of one answer stay separate parts in the history.",
    origin="a framework that stores chunks instead of the answer",
)
made_call_ids_repeat = fault.wrap(
    "services.model.stream:CallIds.assign",
    first(put("_count", 0)),
    says="All calls of one answer that lack ids get the same id.",
    origin="a counter that restarts with every chunk",
)
recorded_thoughts_lose_subject = fault.wrap(
    "services.model.stream:parse_thought",
    passing(text=lambda text: text.replace("**", "")),
    says="A thought's heading is recorded as part of its text.",
    origin="Markdown removed before the heading is searched",
)
comments_are_visible_text = fault.wrap(
    "services.model.stream:_without_comments",
    instead(lambda _, text: text),
    says="HTML comments in an answer count as text, and are recorded.",
    origin="a simplification that only trims the text",
)
budget_end_is_failure = fault.wrap(
    "services.presentation.finish:_REASONS",
    lambda reasons: {reason: end for reason, end in reasons.items() if reason != "MAX_TOKENS"},
    says="A stream that reached the model's output limit ends as `failed`.",
    origin="a copied table of finish reasons without the rarer ones",
)
thought_heading_to_last_mark = held_out.wrap_all(
    ("services.model.stream:parse_thought", _to_the_last_mark),
    ("runtimes.legacy.turn:parse_thought", _to_the_last_mark),
    ("runtimes.adk.translate:parse_thought", _to_the_last_mark),
    says="A thought's heading extends from its first bold mark to its last.",
    origin="a greedy `.*` between the marks",
    closed_by="text/thought_marks",
)
empty_parts_kept_in_answers = held_out.wrap(
    "services.model.stream:is_valid_content",
    returns(True),
    says="Empty parts stay in an answer and make the whole answer unfit to be sent again.",
    origin="chunks taken unchanged, and validated late or never",
)
bare_ids_cut_at_last_underscores = held_out.wrap(
    "services.history.transforms:_bare_id",
    result(lambda bare: bare and bare.rpartition("__")[2]),
    says="The model gets back only the end of an id that contains underscores.",
    origin="a prefix split at the wrong end",
    closed_by="tools/id_underscores",
)


@fault(
    "services.model.stream:StreamAssembler.feed",
    origin="an aggregator that only fills gaps, though the API counts up with each chunk",
)
def usage_of_first_chunk(feed: Any, self: Any, chunk: Any) -> None:
    """An answer's token counts come from the first chunk that has any, not the last."""
    known = self._usage
    feed(self, chunk)
    self._usage = known or self._usage


call_signatures_dropped = fault.wrap(
    "services.model.stream:_consolidate",
    result(
        lambda parts: [
            {key: part[key] for key in part if key != "thoughtSignature"}
            if "functionCall" in part
            else part
            for part in parts
        ]
    ),
    says="The thought signature of a function call is not kept in the history.",
    origin="typed parts that lack the field, or encode it as empty",
)


@held_out(
    "services.model.stream:StreamAssembler._take",
    origin="the sensible behaviour, which the published core does not have",
)
def every_thought_part_recorded(take: Any, self: Any, parts: Sequence[Any]) -> None:
    """All thoughts of a chunk are recorded, not only the one at its start."""
    take(self, parts)
    for part in parts[1:]:
        if part.get("thought") and part.get("text"):
            subject, description = parse_thought(part["text"])
            self._thoughts.append(Thought(subject, description))


last_candidate_read = held_out.wrap(
    "services.model.parts:_first_candidate",
    instead(lambda _, response: (response.get("candidates") or [{}])[-1]),
    says="With several candidates, the calls and sources of the last are used.",
    origin="a loop over candidates that keeps the last value",
)


@held_out("services.model.stream:_consolidate", origin="a merge of pieces that updates all fields")
def merged_text_signed_by_last(consolidate: Any, parts: Sequence[Any]) -> Any:
    """A merged text gets the signature of its last piece."""
    moved = list(parts)
    for index in range(len(moved) - 1, 0, -1):
        signature = moved[index].get("thoughtSignature")
        if signature and moved[index].keys() | moved[index - 1].keys() <= _TEXT_ALONE:
            moved[index - 1] = {**moved[index - 1], "thoughtSignature": signature}
    return consolidate(moved)


usage_of_bare_chunk_unread = held_out.wrap(
    "services.model.stream:StreamAssembler.feed",
    passing(
        chunk=lambda chunk: {
            key: chunk[key] for key in chunk if key != "usageMetadata" or chunk.get("candidates")
        }
    ),
    says="Token counts of a chunk without other content are lost.",
    origin="an early return for chunks without candidates",
)


@held_out("services.model.stream:CallIds.assign", origin="two places that make ids unique")
def call_ids_prefixed_twice(assign: Any, self: Any, call: Any) -> Any:
    """An id that already has the tool's name as prefix gets it again."""
    if isinstance(call.get("id"), str):
        call["id"] = f"{call_name(call)}__{call['id']}"
    return assign(self, call)
