"""Converts the messages of a recording to the history for the model.

Source: core `utils/sessionUtils.ts`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from services.ids import stable_id
from services.recording.records import (
    HistoryTurn,
    content_text,
    is_ignored_user_content,
    tool_calls_of,
)
from services.wire import Content, Json, JsonObject, Part, js_text, js_trim

__all__ = ["convert_session_to_client_history", "ensure_stable_tool_ids", "lacks_tool_id"]

_CALL, _RESPONSE = "functionCall", "functionResponse"


def convert_session_to_client_history(messages: Iterable[JsonObject]) -> list[HistoryTurn]:
    """The model-facing turns of a recorded conversation, with their ids.

    Notices and commands are left out. An answer whose content has calls or thoughts is taken as it
    is; an older one is put together from its thoughts, its text and its tool calls. The results of
    a message's tool calls follow it as a user turn, `<message id>_response`.
    """
    history: list[HistoryTurn] = []
    for position, message in enumerate(messages):
        # Only documents of old versions can have messages without an id.
        turn_id = str(message.get("id") or stable_id("message", str(position)))
        if message.get("type") == "user":
            content = message.get("content")
            if not is_ignored_user_content(js_trim(content_text(content))):
                history.append((turn_id, {"role": "user", "parts": _as_parts(content)}))
        elif message.get("type") == "gemini":
            parts = _model_parts(message)
            if not parts:
                continue
            history.append((turn_id, {"role": "model", "parts": parts}))
            results = _results(message)
            if results:
                history.append((f"{turn_id}_response", {"role": "user", "parts": results}))
    return history


def _as_parts(content: Json) -> list[Part]:
    listed = content if isinstance(content, list) else [content]
    parts = ({"text": part} if isinstance(part, str) else part for part in listed)
    return [part for part in parts if isinstance(part, dict)]


def _model_parts(message: JsonObject) -> list[Part]:
    content = message.get("content")
    parts = _as_parts(content) if content or isinstance(content, (dict, list)) else []
    if any(part.get(_CALL) is not None or part.get("thought") for part in parts):
        return parts
    thoughts = message.get("thoughts")
    recorded = thoughts if isinstance(thoughts, list) else []
    return [
        *(_thought_part(thought) for thought in recorded if isinstance(thought, dict)),
        *parts,
        *(
            {_CALL: {key: call[key] for key in ("id", "name", "args") if key in call}}
            for call in tool_calls_of(message)
        ),
    ]


def _thought_part(thought: JsonObject) -> Part:
    subject = thought.get("subject")
    if not subject:
        return {"text": thought.get("description"), "thought": True}
    description = js_text(thought["description"]) if "description" in thought else "undefined"
    return {"text": f"**{subject}** {description}", "thought": True}


def _results(message: JsonObject) -> list[Part]:
    parts: list[Part] = []
    for call in tool_calls_of(message):
        result = call.get("result")
        if isinstance(result, list):
            parts += _as_parts(result)
        elif isinstance(result, dict):
            parts.append(result)
        elif isinstance(result, str) and result:
            named = {key: call[key] for key in ("id", "name") if key in call}
            parts.append({_RESPONSE: {**named, "response": {"output": result}}})
    return parts


def ensure_stable_tool_ids(history: Sequence[HistoryTurn], start: int = 0) -> list[HistoryTurn]:
    """Give every function call and response an id; those of neighbours that match get the same.

    The ids are functions of the turns' ids. Turns that need none are the same objects.

    Args:
        history: the turns, oldest first.
        start: how many of the first are known to need none.
    """
    turns = list(history[:start])
    turns += [
        (turn_id, _copied(content)) if lacks_tool_id(content) else (turn_id, content)
        for turn_id, content in history[start:]
    ]
    for index in range(start, len(turns)):
        turn_id, content = turns[index]
        for position, part in enumerate(content.get("parts") or ()):
            call, answer = part.get(_CALL), part.get(_RESPONSE)
            if call is not None and not call.get("id"):
                call["id"] = _synthetic(call.get("name"), turn_id, index, position)
                found = _nameless_partner(turns, index + 1, "user", _RESPONSE, call)
                if found is not None:
                    found["id"] = call["id"]
            if answer is not None and not answer.get("id"):
                # All calls before this response have ids by now, so it has no partner.
                answer["id"] = _synthetic(
                    f"orph_{_shown(answer.get('name'))}", turn_id, index, position
                )
    return turns


def _nameless_partner(
    turns: Sequence[HistoryTurn], index: int, role: str, key: str, of: JsonObject
) -> JsonObject | None:
    """The first call or response of the turn at `index` with the same name and no id."""
    content = turns[index][1] if index < len(turns) else {}
    if content.get("role") != role:
        return None
    for part in content.get("parts") or ():
        other: JsonObject | None = part.get(key)
        if other is not None and other.get("name") == of.get("name") and not other.get("id"):
            return other
    return None


def lacks_tool_id(content: Content) -> bool:
    """Whether a function call or response of the content has no id."""
    return any(
        found is not None and not found.get("id")
        for part in content.get("parts") or ()
        for found in (part.get(_CALL), part.get(_RESPONSE))
    )


def _copied(content: Content) -> Content:
    return {**content, "parts": [_part_copied(part) for part in content["parts"]]}


def _part_copied(part: Part) -> Part:
    named = {key: dict(part[key]) for key in (_CALL, _RESPONSE) if isinstance(part.get(key), dict)}
    return {**part, **named}


def _synthetic(name: Json, turn_id: str, index: int, position: int) -> str:
    return f"synth_{_shown(name)}_{stable_id(turn_id, str(index), str(position))}"


def _shown(name: Json) -> str:
    return "undefined" if name is None else str(name)
