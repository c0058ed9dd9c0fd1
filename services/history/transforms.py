"""The steps from a history to a request, as pure functions over contents.

They never change their arguments. `RequestView` does the same incrementally and is tested
against these. Source: core `core/geminiChat.ts` and `utils/historyHardening.ts`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from services.wire import Content, Part

__all__ = [
    "EMPTY_ANSWER_NUDGE",
    "INTERRUPTED_RESPONSE_PLACEHOLDER",
    "NO_RESPONSE_TEXT_NUDGE",
    "SYNTHETIC_THOUGHT_SIGNATURE",
    "THINKING_ONLY_NUDGE",
    "apply_retry_nudge",
    "coalesce",
    "curated_history",
    "ensure_signatures",
    "has_function_response",
    "is_valid_content",
    "sign_first_call",
    "starts_active_loop",
    "strip_call_id_prefixes",
    "strip_content_prefixes",
    "strip_thoughts",
    "without_thoughts",
]

SYNTHETIC_THOUGHT_SIGNATURE: Final = "skip_thought_signature_validator"
INTERRUPTED_RESPONSE_PLACEHOLDER: Final = (
    "[The previous response was interrupted before it completed.]"
)
THINKING_ONLY_NUDGE: Final = (
    "[System: You previously generated thoughts but failed to provide a final user-facing "
    "response. Please ensure you provide your final answer or call a tool now.]"
)
NO_RESPONSE_TEXT_NUDGE: Final = (
    "[System: You previously returned an empty response with no text or thoughts. Please ensure "
    "you provide your final answer or call a tool now.]"
)
EMPTY_ANSWER_NUDGE: Final = (
    "[System: You successfully executed a tool but returned an empty response. Please analyze "
    "the tool output and explain your progress or final answer.]"
)
_TOOLS_DONE: Final = "[Tool execution completed.]"
_NOT_PAYLOAD: Final = frozenset({"text", "thought", "callIndex"})


def has_function_response(content: Content) -> bool:
    """Whether any part answers a function call."""
    return any(part.get("functionResponse") is not None for part in content.get("parts") or ())


def _has_payload(part: Part) -> bool:
    return any(key not in _NOT_PAYLOAD for key in part)


def is_valid_content(content: Content) -> bool:
    """Whether a model turn may be sent again.

    A turn without parts may. Otherwise no part may be an empty object, and no part but a thought
    may be empty text alone.
    """
    parts = content.get("parts")
    if not parts:
        return content.get("role") == "model"
    for part in parts:
        if not part:
            return False
        if not part.get("thought") and part.get("text") == "" and not _has_payload(part):
            return False
    return True


def curated_history(contents: Iterable[Content]) -> list[Content]:
    """Keep user turns; keep each run of model turns whole, or drop it whole if one is invalid."""
    kept: list[Content] = []
    run: list[Content] = []
    for content in contents:
        if content.get("role") == "user":
            kept.extend(_valid_run(run))
            run = []
            kept.append(content)
        else:
            run.append(content)
    kept.extend(_valid_run(run))
    return kept


def _valid_run(run: list[Content]) -> list[Content]:
    return run if all(is_valid_content(content) for content in run) else []


def without_thoughts(content: Content) -> Content | None:
    """The content without its thought parts; `None` when no part remains.

    A model turn that had thoughts gets the synthetic signature on its first function call.
    """
    parts = content.get("parts")
    if parts is None:
        return content
    kept = [part for part in parts if not part.get("thought")]
    if not kept:
        return None
    if len(kept) == len(parts):
        return content
    if content.get("role") == "model":
        kept = _signed(kept)
    return {**content, "parts": kept}


def strip_thoughts(contents: Iterable[Content]) -> list[Content]:
    """Remove thought parts, and turns that are left without parts."""
    stripped = (without_thoughts(content) for content in contents)
    return [content for content in stripped if content is not None]


def coalesce(contents: Iterable[Content]) -> list[Content]:
    """Merge neighbours of one role, keeping the first one's other fields."""
    merged: list[Content] = []
    for content in contents:
        if merged and content.get("role") and merged[-1].get("role") == content.get("role"):
            last = merged[-1]
            merged[-1] = {
                **last,
                "parts": [*(last.get("parts") or ()), *(content.get("parts") or ())],
            }
        else:
            merged.append(content)
    return merged


def starts_active_loop(content: Content) -> bool:
    """Whether the content is a text of the user, without a function response."""
    return (
        content.get("role") == "user"
        and any(part.get("text") for part in content.get("parts") or ())
        and not has_function_response(content)
    )


def _signed(parts: Sequence[Part]) -> list[Part]:
    signed = list(parts)
    for index, part in enumerate(signed):
        if part.get("functionCall") is not None:
            if not part.get("thoughtSignature"):
                signed[index] = {**part, "thoughtSignature": SYNTHETIC_THOUGHT_SIGNATURE}
            break
    return signed


def sign_first_call(content: Content) -> Content:
    """A model turn whose first function call is signed; the same object where nothing changes."""
    if content.get("role") != "model":
        return content
    for part in content.get("parts") or ():
        if part.get("functionCall") is not None:
            if part.get("thoughtSignature"):
                return content
            return {**content, "parts": _signed(content["parts"])}
    return content


def ensure_signatures(contents: Sequence[Content]) -> list[Content]:
    """Sign the first function call of every model turn since the user's last own words."""
    start = next(
        (i for i in range(len(contents) - 1, -1, -1) if starts_active_loop(contents[i])), None
    )
    if start is None:
        return list(contents)
    return [*contents[:start], *(sign_first_call(content) for content in contents[start:])]


def _bare_id(name: object, call_id: object) -> str | None:
    prefix = f"{(name.strip() if isinstance(name, str) else '') or 'generic_tool'}__"
    if isinstance(call_id, str) and call_id.startswith(prefix):
        return call_id[len(prefix) :]
    return None


def _sendable(part: Part) -> Part | None:
    changed = part
    for key, kept in (
        ("functionCall", ("name", "args")),
        ("functionResponse", ("name", "response")),
    ):
        value = part.get(key)
        if value is None:
            continue
        bare = _bare_id(value.get("name"), value.get("id"))
        if bare is not None:
            rebuilt = {field: value[field] for field in kept if field in value}
            changed = {**changed, key: {**rebuilt, "id": bare}}
    if changed.get("text") == "":
        if not _has_payload(changed):
            return None
        changed = {key: item for key, item in changed.items() if key != "text"}
    return changed


def strip_content_prefixes(content: Content) -> Content:
    """One content as the API gets it: call ids without `<name>__`, no empty texts.

    A call or response whose id had the prefix keeps only name, args or response, and id: nested
    multimodal parts are lost, as upstream loses them.
    """
    parts = content.get("parts") or []
    sent = [_sendable(part) for part in parts]
    if all(new is old for new, old in zip(sent, parts, strict=True)):
        return content if "parts" in content else {**content, "parts": []}
    return {**content, "parts": [part for part in sent if part is not None]}


def strip_call_id_prefixes(contents: Iterable[Content]) -> list[Content]:
    """`strip_content_prefixes` over a list."""
    return [strip_content_prefixes(content) for content in contents]


def apply_retry_nudge(contents: Sequence[Content], nudge: str) -> list[Content]:
    """Add the nudge of a mid-stream retry at the end of the conversation; once.

    After a function response it becomes a user turn of its own behind a neutral model turn, so
    that roles go on alternating.
    """
    last = contents[-1] if contents else None
    parts = (last or {}).get("parts") or []
    if any(nudge in (part.get("text") or "") for part in parts):
        return list(contents)
    if last is None or last.get("role") != "user":
        return [*contents, {"role": "user", "parts": [{"text": nudge}]}]
    if has_function_response(last):
        return [
            *contents,
            {"role": "model", "parts": [{"text": _TOOLS_DONE}]},
            {"role": "user", "parts": [{"text": nudge}]},
        ]
    return [*contents[:-1], {**last, "parts": [*parts, {"text": f"\n{nudge}"}]}]
