"""Requests to Messages, from and to those of the Gemini API.

Source: Anthropic's API reference, "Create a message"; its version of October 2026.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from services.model.errors import ApiError
from services.providers.anthropic.request_losses import DOCUMENT, is_error, request_losses
from services.providers.anthropic.thinking import blocks_of, read_block, signature_of
from services.providers.anthropic.traits import MessagesTraits
from services.providers.calls import results_named
from services.providers.exchange import Asked
from services.providers.losing import reduced
from services.providers.results import read_result, result_text
from services.providers.shape import items, mapping, required_mapping, text
from services.wire import Content, Json, JsonObject, Part

__all__ = ["MessagesRequest", "messages_body", "read_messages_body"]

_CHOICES: Final = {"AUTO": "auto", "NONE": "none", "ANY": "any"}
_READ: Final = frozenset(
    {
        "max_tokens",
        "messages",
        "model",
        "output_config",
        "stop_sequences",
        "stream",
        "system",
        "thinking",
        "tool_choice",
        "tools",
    }
)
_NUMBERS: Final = {"temperature": "temperature", "topP": "top_p", "topK": "top_k"}
"""Settings that earlier versions of the API take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagesRequest:
    """A body as its reader understands it."""

    asked: Asked
    streams: bool


def messages_body(asked: Asked, traits: MessagesTraits) -> JsonObject:
    """Return the body of a request, without `stream`.

    Raises:
        ApiError: 400, for tools of the Gemini API that Messages do not have.
    """
    _refuse_own_tools(asked)
    asked = reduced(asked, request_losses(traits))
    config = asked.config
    body: JsonObject = {
        "model": asked.model,
        "max_tokens": config["maxOutputTokens"],
        "messages": [_message(content) for content in asked.contents],
    }
    if config.get("systemInstruction"):
        body["system"] = config["systemInstruction"]
    if config.get("stopSequences"):
        body["stop_sequences"] = config["stopSequences"]
    body.update(_tools(config.get("tools"), mapping(config.get("toolConfig"))))
    body.update(_thinking(mapping(config.get("thinkingConfig"))))
    output = _output(config.get("responseJsonSchema"), mapping(config.get("thinkingConfig")))
    if output:
        body["output_config"] = output
    return {**body, **mapping(config.get("providerOptions"))}


def _refuse_own_tools(asked: Asked) -> None:
    own = [key for tool in items(asked.config.get("tools")) for key in tool]
    names = sorted({key for key in own if key != "functionDeclarations"})
    if names:
        message = f"Anthropic's Messages have no tool {', '.join(names)}"
        raise ApiError.from_parts(400, message, "INVALID_ARGUMENT")


def _message(content: Content) -> JsonObject:
    blocks = [block for part in content["parts"] for block in _blocks(part)]
    return {"role": "assistant" if content["role"] == "model" else "user", "content": blocks}


def _blocks(part: Part) -> Iterator[JsonObject]:
    yield from blocks_of(part.get("thoughtSignature")) or ()
    if "text" in part:
        yield {"type": "text", "text": part["text"]}
    elif "functionCall" in part:
        call = part["functionCall"]
        yield {"type": "tool_use", "id": call["id"], "name": call["name"], "input": call["args"]}
    elif "functionResponse" in part:
        yield _result(part["functionResponse"])
    else:
        yield _media(part)


def _media(part: Part) -> JsonObject:
    kind, data = part["inlineData"]["mimeType"], part["inlineData"]["data"]
    source = {"type": "base64", "media_type": kind, "data": data}
    return {"type": "document" if kind == DOCUMENT else "image", "source": source}


def _result(result: JsonObject) -> JsonObject:
    response = result["response"]
    failed = is_error(response)
    said = response["error"] if failed else result_text(response)
    block: JsonObject = {"type": "tool_result", "tool_use_id": result["id"], "content": said}
    if result.get("parts"):
        nested = [block for part in result["parts"] for block in _blocks(part)]
        block["content"] = [{"type": "text", "text": said}, *nested]
    return {**block, "is_error": True} if failed else block


def _tools(tools: Json, tool_config: JsonObject) -> JsonObject:
    declared = [each for tool in items(tools) for each in items(tool.get("functionDeclarations"))]
    if not declared:
        return {}
    found: JsonObject = {"tools": [_tool(each) for each in declared]}
    choice = mapping(tool_config.get("functionCallingConfig"))
    if choice:
        names = choice.get("allowedFunctionNames")
        named = {"type": "tool", "name": names[0]} if names else {"type": _CHOICES[choice["mode"]]}
        found["tool_choice"] = named
    return found


def _tool(declaration: JsonObject) -> JsonObject:
    found: JsonObject = {"name": declaration["name"]}
    if "description" in declaration:
        found["description"] = declaration["description"]
    return {**found, "input_schema": declaration["parametersJsonSchema"]}


def _thinking(config: JsonObject) -> JsonObject:
    budget = config.get("thinkingBudget")
    if budget == 0:
        return {"thinking": {"type": "disabled"}}
    if budget is not None:
        return {"thinking": {"type": "enabled", "budget_tokens": budget}}
    if config.get("includeThoughts"):
        return {"thinking": {"type": "adaptive", "display": "summarized"}}
    return {}


def _output(schema: Json, thinking: JsonObject) -> JsonObject:
    found: JsonObject = {}
    if schema is not None:
        found["format"] = {"type": "json_schema", "schema": schema}
    if thinking.get("thinkingLevel"):
        found["effort"] = thinking["thinkingLevel"].lower()
    return found


def read_messages_body(body: Json) -> MessagesRequest:
    """Read the body of a request, which any program may have written.

    Settings that the Gemini API does not have are in `config.providerOptions`.

    Raises:
        UnreadableMessage: it is no JSON object.
    """
    body = required_mapping(body, "the request")
    config: JsonObject = {}
    system = _said(body.get("system"))
    if system:
        config["systemInstruction"] = system
    config.update(_read_tools(body))
    if body.get("max_tokens") is not None:
        config["maxOutputTokens"] = body["max_tokens"]
    if body.get("stop_sequences"):
        config["stopSequences"] = body["stop_sequences"]
    for ours, theirs in _NUMBERS.items():
        if body.get(theirs) is not None:
            config[ours] = body[theirs]
    config.update(_read_thinking(mapping(body.get("thinking")), mapping(body.get("output_config"))))
    known = {*_READ, *_NUMBERS.values()}
    more = {key: value for key, value in body.items() if key not in known}
    if more:
        config["providerOptions"] = more
    asked = Asked(
        model=text(body.get("model")) or "", contents=_contents(body.get("messages")), config=config
    )
    return MessagesRequest(asked=asked, streams=body.get("stream") is True)


def _said(value: Json) -> str:
    """The text of a value that is text, or a list of blocks."""
    if isinstance(value, str):
        return value
    return "\n".join(text(block.get("text")) or "" for block in items(value))


def _contents(messages: Json) -> list[Content]:
    found: list[Content] = []
    for message in items(messages):
        role = "model" if message.get("role") == "assistant" else "user"
        said = message.get("content")
        blocks = [{"type": "text", "text": said}] if isinstance(said, str) else items(said)
        parts = list(_parts(blocks))
        if found and found[-1]["role"] == role:
            found[-1]["parts"] += parts
        elif parts:
            found.append({"role": role, "parts": parts})
    return results_named(found)


def _parts(blocks: Sequence[JsonObject] | Iterator[JsonObject]) -> Iterator[Part]:
    thinking: list[JsonObject] = []
    for block in blocks:
        thought = read_block(block)
        if thought is not None:
            thinking.append(thought)
            continue
        part = _part(block)
        if part is None:
            continue
        signature = signature_of(thinking)
        thinking = []
        yield part if signature is None else {**part, "thoughtSignature": signature}


def _part(block: JsonObject) -> Part | None:
    kind = block.get("type")
    if kind == "text":
        said = text(block.get("text"))
        return {"text": said} if said else None
    if kind == "tool_use":
        name, call_id = text(block.get("name")) or "", text(block.get("id")) or ""
        args = mapping(block.get("input"))
        return {"functionCall": {"id": call_id, "name": name, "args": args}}
    if kind == "tool_result":
        return {"functionResponse": _read_result(block)}
    source = mapping(block.get("source"))
    if kind in ("image", "document") and source.get("type") == "base64":
        data = {"mimeType": text(source.get("media_type")) or "", "data": source.get("data")}
        return {"inlineData": data}
    if kind in ("image", "document") and text(source.get("url")):
        return {"fileData": {"fileUri": source["url"]}}
    return None


def _read_result(block: JsonObject) -> JsonObject:
    content = block.get("content")
    blocks = [] if isinstance(content, str) else list(items(content))
    # Nested media follow the one text of a result, and have notes among them.
    first = text(blocks[0].get("text")) if blocks else None
    said = content if isinstance(content, str) else first or ""
    response = {"error": said} if block.get("is_error") is True else read_result(said)
    found: JsonObject = {"id": text(block.get("tool_use_id")) or "", "name": ""}
    found["response"] = response
    nested = list(_parts(blocks if first is None else blocks[1:]))
    return {**found, "parts": nested} if nested else found


def _read_tools(body: JsonObject) -> JsonObject:
    declared = [_declaration(tool) for tool in items(body.get("tools"))]
    config: JsonObject = {"tools": [{"functionDeclarations": declared}]} if declared else {}
    choice = mapping(body.get("tool_choice"))
    modes = {theirs: ours for ours, theirs in _CHOICES.items()}
    found: JsonObject = {}
    if choice.get("type") == "tool" and text(choice.get("name")):
        found = {"mode": "ANY", "allowedFunctionNames": [choice["name"]]}
    elif choice.get("type") in modes:
        found = {"mode": modes[choice["type"]]}
    if found:
        config["toolConfig"] = {"functionCallingConfig": found}
    return config


def _declaration(tool: JsonObject) -> JsonObject:
    found: JsonObject = {"name": text(tool.get("name")) or ""}
    if text(tool.get("description")):
        found["description"] = tool["description"]
    if isinstance(tool.get("input_schema"), dict):
        found["parametersJsonSchema"] = tool["input_schema"]
    return found


def _read_thinking(thinking: JsonObject, output: JsonObject) -> JsonObject:
    found: JsonObject = {}
    kind = thinking.get("type")
    if kind == "disabled":
        found["thinkingBudget"] = 0
    elif kind == "enabled":
        found["thinkingBudget"] = thinking.get("budget_tokens")
    elif kind == "adaptive":
        found["includeThoughts"] = thinking.get("display") != "omitted"
    effort = text(output.get("effort"))
    if effort is not None:
        found["thinkingLevel"] = effort.upper()
    config: JsonObject = {"thinkingConfig": found} if found else {}
    schema = mapping(output.get("format")).get("schema")
    if isinstance(schema, dict):
        config |= {"responseMimeType": "application/json", "responseJsonSchema": schema}
    return config
