"""The count of a request's tokens by OpenAI's API, which Chat Completions do not have.

OpenAI counts requests in the form of its Responses API. Source: OpenAI's API reference, "Get input
token counts".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from services.providers.calls import results_named
from services.providers.exchange import Asked
from services.providers.losing import reduced
from services.providers.openai.request_losses import AUDIO, DOCUMENT, REQUEST_LOSSES
from services.providers.request_losses import note_of_media
from services.providers.results import read_result, result_text
from services.providers.shape import compact, items, parsed_object, required_mapping, text
from services.wire import Content, Json, JsonObject, Part

__all__ = ["count_body", "read_count_body"]

_TEXTS: Final = ("input_text", "output_text")


def count_body(asked: Asked) -> JsonObject:
    """Return the body of a request for a count: the contents, the instruction and the tools."""
    asked = reduced(asked, REQUEST_LOSSES)
    body: JsonObject = {"model": asked.model}
    body["input"] = [item for content in asked.contents for item in _items(content)]
    if asked.config.get("systemInstruction"):
        body["instructions"] = asked.config["systemInstruction"]
    tools = asked.config.get("tools")
    if tools:
        body["tools"] = [_tool(each) for each in tools[0]["functionDeclarations"]]
    return body


def _tool(declaration: JsonObject) -> JsonObject:
    found: JsonObject = {"type": "function", "name": declaration["name"], "strict": False}
    if "description" in declaration:
        found["description"] = declaration["description"]
    return {**found, "parameters": declaration.get("parametersJsonSchema")}


def _items(content: Content) -> Iterator[JsonObject]:
    is_models = content["role"] == "model"
    apart = [part for part in content["parts"] if _is_apart(part)]
    rest = [part for part in content["parts"] if not _is_apart(part)]
    if not is_models:
        yield from map(_apart, apart)
    if rest:
        blocks = [_block(part, "output_text" if is_models else "input_text") for part in rest]
        role = "assistant" if is_models else "user"
        yield {"type": "message", "role": role, "content": blocks}
    if is_models:
        yield from map(_apart, apart)


def _is_apart(part: Part) -> bool:
    return "functionCall" in part or "functionResponse" in part


def _apart(part: Part) -> JsonObject:
    call = part.get("functionCall")
    if call is not None:
        found = {"call_id": call["id"], "name": call["name"], "arguments": compact(call["args"])}
        return {"type": "function_call", **found}
    result = part["functionResponse"]
    output = result_text(result["response"])
    return {"type": "function_call_output", "call_id": result["id"], "output": output}


def _block(part: Part, kind: str) -> JsonObject:
    if "text" in part:
        return {"type": kind, "text": part["text"]}
    media = part["inlineData"]["mimeType"]
    if media in AUDIO:
        return {"type": kind, "text": note_of_media(part)["text"]}
    url = f"data:{media};base64,{part['inlineData']['data']}"
    if media == DOCUMENT:
        return {"type": "input_file", "filename": "document.pdf", "file_data": url}
    return {"type": "input_image", "image_url": url, "detail": "auto"}


def read_count_body(body: Json) -> Asked:
    """Read the body of a request for a count.

    Raises:
        UnreadableMessage: it is no JSON object.
    """
    body = required_mapping(body, "the request")
    config: JsonObject = {}
    if text(body.get("instructions")):
        config["systemInstruction"] = body["instructions"]
    declared = [_declaration(tool) for tool in items(body.get("tools"))]
    if declared:
        config["tools"] = [{"functionDeclarations": declared}]
    given = body.get("input")
    found = [{"type": "message", "content": given}] if isinstance(given, str) else items(given)
    contents = _contents([(_role(item), part) for item in found for part in _parts(item)])
    return Asked(model=text(body.get("model")) or "", contents=contents, config=config)


def _declaration(tool: JsonObject) -> JsonObject:
    found: JsonObject = {"name": text(tool.get("name")) or ""}
    if text(tool.get("description")):
        found["description"] = tool["description"]
    if isinstance(tool.get("parameters"), dict):
        found["parametersJsonSchema"] = tool["parameters"]
    return found


def _role(item: JsonObject) -> str:
    is_models = item.get("role") == "assistant" or item.get("type") == "function_call"
    return "model" if is_models else "user"


def _contents(parts: Sequence[tuple[str, Part]]) -> list[Content]:
    found: list[Content] = []
    for role, part in parts:
        if found and found[-1]["role"] == role:
            found[-1]["parts"].append(part)
        else:
            found.append({"role": role, "parts": [part]})
    return results_named(found)


def _parts(item: JsonObject) -> Iterator[Part]:
    kind, call_id = item.get("type"), text(item.get("call_id")) or ""
    if kind == "function_call":
        args = parsed_object(text(item.get("arguments")) or "") or {}
        yield {"functionCall": {"id": call_id, "name": text(item.get("name")) or "", "args": args}}
    elif kind == "function_call_output":
        response = read_result(text(item.get("output")) or "")
        yield {"functionResponse": {"id": call_id, "name": "", "response": response}}
    elif isinstance(item.get("content"), str):
        yield {"text": item["content"]}
    else:
        for block in items(item.get("content")):
            yield from _read_block(block)


def _read_block(block: JsonObject) -> Iterator[Part]:
    if block.get("type") in _TEXTS:
        yield {"text": text(block.get("text")) or ""}
        return
    url = text(block.get("image_url")) or text(block.get("file_data")) or ""
    kind, found, data = url.removeprefix("data:").partition(";base64,")
    if found:
        yield {"inlineData": {"mimeType": kind, "data": data}}
