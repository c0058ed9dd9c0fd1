"""Probes over requests to models: roles, models and their changes, settings, and the contents.

Only new contents are read, and only both ends of long texts: what the product inserts into a
conversation (a masked output, a nudge, a hook's context) stands at one of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from harness.coverage.words import ends_of, objects_in, texts_in, tier_of, word_of
from harness.replay.observation import Observation, ObservedRequest
from services.wire import JsonObject

__all__ = ["request_probes"]


_STEERING: Final = "User steering update:"
_SIGNS: Final = (
    ("<hook_context>", "hook:context"),
    ("Tool input parameters were modified by a hook", "hook:input_replaced"),
    ("System: Potential loop detected.", "loop:warned"),
    ("<tool_output_masked>", "masking:masked"),
    ("Output too large. Showing first", "truncation:cut"),
    ("Full output saved to: ", "truncation:distilled"),
    ("Please continue.", "next_speaker:model"),
    ("[System: You previously generated thoughts but failed", "nudge:thoughts_only"),
    ("[System: You previously returned an empty response", "nudge:no_text"),
    ("[System: You successfully executed a tool but returned", "nudge:empty_answer"),
    ("[The previous response was interrupted", "history:placeholder"),
    ("<activated_skill", "skill:activated"),
    (_STEERING, "steering:hint"),
)
_SNAPSHOT: Final = "<state_snapshot>"
_VERIFY: Final = "Critically evaluate the <state_snapshot>"
_COMPRESSOR: Final = "utility_compressor"
_STREAM: Final = "generateContentStream"


def request_probes(seen: Observation) -> Iterator[str]:
    """Yield all requests of the run, in every role."""
    before: dict[tuple[str, str], ObservedRequest] = {}
    summed_up = asked_to = False
    for request in seen.requests:
        role = word_of(request.role)
        if request.method == "countTokens":
            yield "asked:count_tokens"
        else:
            yield f"asked:{role}"
        if request.thread != "main":
            yield "subagent:asked"
        yield f"model:{tier_of(request.model)}"
        yield from _settings(request)
        if request.method == _STREAM and role == "main":
            yield from _main(request, before.get(request.lineage))
            summed_up = summed_up or _shows(request, _SNAPSHOT)
            before[request.lineage] = request
        elif role == _COMPRESSOR and _shows(request, _SNAPSHOT):  # it also sums up long outputs
            asked_to = True
            yield "compression:verified" if _shows(request, _VERIFY) else "compression:asked"
        yield from (f"provider:{finding.rule}" for finding in request.provider)
    if summed_up:
        yield "compression:summary_in_history"
    elif asked_to:
        yield "compression:no_summary_taken"


def _settings(request: ObservedRequest) -> Iterator[str]:
    thinking = request.config.get("thinkingConfig")
    if isinstance(thinking, dict):
        for key in ("thinkingBudget", "thinkingLevel"):
            if key in thinking:
                yield f"config:{key}"
    for key in ("responseMimeType", "toolConfig", "maxOutputTokens"):
        if key in request.config:
            yield f"config:{key}"
    if request.tools:
        yield "request:tools_declared"
    if any(name.startswith("mcp_") for name in request.tools):
        yield "mcp:declared"


def _main(request: ObservedRequest, before: ObservedRequest | None) -> Iterator[str]:
    """Yield the main conversation's next request, after the one `before`."""
    count = request.contents_count
    if before is None:
        if count > 1:
            yield "resume:history"
    else:
        here, there = tier_of(before.model), tier_of(request.model)
        if before.model != request.model:
            again = before.digest == request.digest
            yield f"{'fallback' if again else 'switched'}:{here}->{there}"
        elif before.digest == request.digest:
            yield "request:same_again"
        if count < before.contents_count:
            yield "history:shorter"
        if not request.same_as_previous:
            yield "history:anew"
    texts: set[str] = set()
    for content in request.new_contents:
        yield from _content(content, texts)
    for text in texts:
        yield from (probe for sign, probe in _SIGNS if sign in text)


def _content(content: JsonObject, texts: set[str]) -> Iterator[str]:
    results, steered = 0, False
    for part in objects_in(content.get("parts")):
        if "inlineData" in part or "fileData" in part:
            yield "sent:media"
        if part.get("thoughtSignature"):
            yield "sent:signature"
        answer = part.get("functionResponse")
        if isinstance(answer, dict):
            results += 1
            response = answer.get("response")
            if isinstance(response, dict) and "error" in response:
                yield "sent:error_result"
            if answer.get("parts"):
                yield "sent:media"
            texts.update(map(ends_of, texts_in(response)))
        elif isinstance(text := part.get("text"), str):
            texts.add(ends_of(text))
            steered = steered or text.startswith(_STEERING)
    if results:
        yield "sent:results" if results > 1 else "sent:result"
    elif steered:
        yield "steering:own_prompt"


def _shows(request: ObservedRequest, sign: str) -> bool:
    return any(
        sign in ends_of(text)
        for content in request.new_contents
        for part in objects_in(content.get("parts"))
        for text in texts_in(part.get("text"))
    )
