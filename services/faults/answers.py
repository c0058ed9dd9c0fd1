"""Faults of the services in what the model's stream becomes."""

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
    says="Neighbouring texts of one answer stay parts of their own in the history.",
    origin="a framework that stores the chunks it got instead of the answer they make",
)
made_call_ids_repeat = fault.wrap(
    "services.model.stream:CallIds.assign",
    first(put("_count", 0)),
    says="Calls of one answer that came without ids all get the same one.",
    origin="a counter that starts again with every chunk",
)
recorded_thoughts_lose_subject = fault.wrap(
    "services.model.stream:parse_thought",
    passing(text=lambda text: text.replace("**", "")),
    says="A thought's heading is recorded as part of its text.",
    origin="Markdown taken off before the heading is looked for",
)
comments_are_visible_text = fault.wrap(
    "services.model.stream:_without_comments",
    instead(lambda _, text: text),
    says="HTML comments in an answer count as text, and are recorded.",
    origin="a simplification: the text is trimmed, and no more",
)
budget_end_is_failure = fault.wrap(
    "services.presentation.finish:_REASONS",
    lambda reasons: {reason: end for reason, end in reasons.items() if reason != "MAX_TOKENS"},
    says="A stream that ended for the model's output limit ends as `failed`.",
    origin="a table of finish reasons that was copied without the rarer ones",
)
thought_heading_to_last_mark = held_out.wrap_all(
    ("services.model.stream:parse_thought", _to_the_last_mark),
    ("runtimes.legacy.turn:parse_thought", _to_the_last_mark),
    ("runtimes.adk.translate:parse_thought", _to_the_last_mark),
    says="A thought's heading reaches from its first bold mark to its last.",
    origin="a greedy `.*` between the marks",
    closed_by="text/thought_marks",
)
empty_parts_kept_in_answers = held_out.wrap(
    "services.model.stream:is_valid_content",
    returns(True),
    says="Empty parts of an answer stay in it, and make all of it unfit to be sent again.",
    origin="chunks taken as they come, validated later or never",
)
bare_ids_cut_at_last_underscores = held_out.wrap(
    "services.history.transforms:_bare_id",
    result(lambda bare: bare and bare.rpartition("__")[2]),
    says="Of an id with underscores of its own the model gets the end back only.",
    origin="a prefix found from the wrong end",
    closed_by="tools/id_underscores",
)


@fault(
    "services.model.stream:StreamAssembler.feed",
    origin="an aggregator that fills in what it lacks, where the API counts on from chunk to chunk",
)
def usage_of_first_chunk(feed: Any, self: Any, chunk: Any) -> None:
    """An answer's token counts are those of its first chunk that had any, not of its last."""
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
    origin="typed parts that do not know the field, or re-encode it to nothing",
)


@held_out(
    "services.model.stream:StreamAssembler._take",
    origin="the sensible thing to do, which is not what the published core does",
)
def every_thought_part_recorded(take: Any, self: Any, parts: Sequence[Any]) -> None:
    """All thoughts of a chunk are recorded, not the one that it begins with alone."""
    take(self, parts)
    for part in parts[1:]:
        if part.get("thought") and part.get("text"):
            subject, description = parse_thought(part["text"])
            self._thoughts.append(Thought(subject, description))


last_candidate_read = held_out.wrap(
    "services.model.parts:_first_candidate",
    instead(lambda _, response: (response.get("candidates") or [{}])[-1]),
    says="Of several candidates the calls and sources of the last are taken.",
    origin="a loop over candidates that keeps what it saw last",
)


@held_out(
    "services.model.stream:_consolidate", origin="pieces merged by an update of all their fields"
)
def merged_text_signed_by_last(consolidate: Any, parts: Sequence[Any]) -> Any:
    """A text that is put together has the signature of its last piece."""
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
    says="Token counts in a chunk that carries nothing else are not kept.",
    origin="an early return for chunks without candidates",
)


@held_out("services.model.stream:CallIds.assign", origin="two places that each make ids unique")
def call_ids_prefixed_twice(assign: Any, self: Any, call: Any) -> Any:
    """An id that has the tool's name before it gets it once more."""
    if isinstance(call.get("id"), str):
        call["id"] = f"{call_name(call)}__{call['id']}"
    return assign(self, call)
