"""The responses to calls, and the parts of them that the model receives.

Source: core `utils/generateContentResponseUtilities.ts`, `scheduler/scheduler.ts`
(`createErrorResponse`), `scheduler/state-manager.ts` (`toCancelled`).
"""

from __future__ import annotations

from typing import Final

from services.history.binary import BINARY_INJECTION_KEY
from services.scheduler.calls import ToolCallRequest, ToolCallResponse
from services.tools.contract import LlmContent, ToolErrorType
from services.wire import Json, JsonObject, Part, js_length

__all__ = [
    "convert_to_function_response",
    "error_response",
    "function_response",
    "reason_response",
]

_READERS: Final = frozenset({"read_file", "read_many_files"})
_UNSUPPORTED: Final = ("audio/", "video/")


def function_response(name: str, call_id: str, response: JsonObject) -> Part:
    """One `functionResponse` part."""
    return {"functionResponse": {"id": call_id, "name": name, "response": response}}


def convert_to_function_response(
    name: str, call_id: str, content: LlmContent, model: str
) -> list[Part]:
    """Turn a tool's content into the parts of a user turn; the first one is the response.

    `name` is the name that the model called; `model` decides whether images go into the response
    or beside it.
    """
    if isinstance(content, str):
        return [function_response(name, call_id, {"output": content})]
    parts: list[Part] = [
        {"text": part} if isinstance(part, str) else part
        for part in (content if isinstance(content, list) else [content])
    ]
    texts: list[str] = []
    inline: list[Part] = []
    files: list[Part] = []
    for part in parts:
        if part.get("text") is not None:
            texts.append(part["text"])
        elif part.get("inlineData"):
            inline.append(part)
        elif part.get("fileData"):
            files.append(part)
        elif part.get("functionResponse"):
            passed_through = part["functionResponse"].get("response")
            return [function_response(name, call_id, passed_through)]
    unsupported = [part for part in inline if _mime(part).startswith(_UNSUPPORTED)]
    images = [part for part in inline if part not in unsupported]
    if unsupported:
        texts.insert(0, _about_unsupported(name, unsupported))
    response: JsonObject = {"output": "\n".join(texts)} if texts else {}
    if unsupported and name in _READERS:
        response[BINARY_INJECTION_KEY] = unsupported
    if not texts and (images or files):
        response = {"output": f"Binary content provided ({len(images) + len(files)} item(s))."}
    answer = function_response(name, call_id, response)
    if images and model.startswith("gemini-3-"):
        answer["functionResponse"]["parts"] = images
        images = []
    return [answer, *files, *images]


def _mime(part: Part) -> str:
    return part["inlineData"].get("mimeType") or ""


def _about_unsupported(name: str, parts: list[Part]) -> str:
    kinds = ", ".join(dict.fromkeys(map(_mime, parts)))
    if name in _READERS:
        return (
            f"Binary content ({kinds}) read successfully. "
            "Content will be injected for analysis in the next sequence."
        )
    return f"[SYSTEM: Binary content ({kinds}) stripped from response due to protocol limitations.]"


def error_response(
    request: ToolCallRequest, message: str, error_type: ToolErrorType
) -> ToolCallResponse:
    """The response to a call that failed before its tool returned."""
    return ToolCallResponse(
        call_id=request.call_id,
        response_parts=(
            function_response(request.shown_name, request.call_id, {"error": message}),
        ),
        result_display=message,
        error=message,
        error_type=error_type,
        content_length=js_length(message),
    )


def reason_response(
    request: ToolCallRequest, reason: str, result_display: Json | None
) -> ToolCallResponse:
    """The response to a cancelled call, with the reason; it is not an error."""
    message = f"[Operation Cancelled] Reason: {reason}"
    return ToolCallResponse(
        call_id=request.call_id,
        response_parts=(
            function_response(request.shown_name, request.call_id, {"error": message}),
        ),
        result_display=result_display,
        content_length=js_length(message),
    )
