"""Requests to Chat Completions, from and to those of the Gemini API.

Source: OpenAI's API reference, "Create chat completion".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from services.model.errors import ApiError
from services.providers.calls import results_named
from services.providers.carried import packed, unpacked
from services.providers.exchange import Asked
from services.providers.losing import reduced
from services.providers.openai.request_losses import AUDIO, DOCUMENT, request_losses
from services.providers.openai.traits import ChatTraits
from services.providers.provider import Provider
from services.providers.results import read_result, result_text
from services.providers.shape import compact, items, mapping, parsed_object, required_mapping, text
from services.wire import Content, Json, JsonObject, Part

__all__ = ["ChatRequest", "chat_body", "read_chat_body"]

_NUMBERS: Final = {
    "temperature": "temperature",
    "topP": "top_p",
    "seed": "seed",
    "presencePenalty": "presence_penalty",
    "frequencyPenalty": "frequency_penalty",
    "stopSequences": "stop",
}
_LIMITS: Final = ("max_completion_tokens", "max_tokens")
_CHOICES: Final = {"AUTO": "auto", "NONE": "none", "ANY": "required"}
_READ: Final = frozenset(
    {
        *_NUMBERS.values(),
        *_LIMITS,
        "messages",
        "model",
        "reasoning_effort",
        "response_format",
        "stream",
        "stream_options",
        "tool_choice",
        "tools",
    }
)
_SYSTEM: Final = ("system", "developer")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """A body as its reader understands it."""

    asked: Asked
    streams: bool
    counts_usage: bool
    """Whether a stream ends with the number of tokens."""


def chat_body(asked: Asked, traits: ChatTraits) -> JsonObject:
    """Return the body of a request, without `stream`.

    Raises:
        ApiError: 400, for tools of the Gemini API that Chat Completions do not have.
    """
    _refuse_own_tools(asked)
    asked = reduced(asked, request_losses(traits))
    config = asked.config
    body: JsonObject = {"model": asked.model, "messages": list(_messages(asked))}
    for ours, theirs in _NUMBERS.items():
        if config.get(ours) is not None:
            body[theirs] = config[ours]
    if config.get("maxOutputTokens") is not None:
        body[_LIMITS[0] if traits.new_limit else _LIMITS[1]] = config["maxOutputTokens"]
    level = mapping(config.get("thinkingConfig")).get("thinkingLevel")
    if level is not None:
        body["reasoning_effort"] = level.lower()
    body.update(_tools(config.get("tools"), mapping(config.get("toolConfig"))))
    if config.get("responseMimeType") is not None:
        body["response_format"] = _format_of(config.get("responseJsonSchema"))
    return {**body, **mapping(config.get("providerOptions"))}


def _refuse_own_tools(asked: Asked) -> None:
    own = [key for tool in items(asked.config.get("tools")) for key in tool]
    names = sorted({key for key in own if key != "functionDeclarations"})
    if names:
        message = f"OpenAI's Chat Completions have no tool {', '.join(names)}"
        raise ApiError.from_parts(400, message, "INVALID_ARGUMENT")


def _messages(asked: Asked) -> Iterator[JsonObject]:
    if asked.config.get("systemInstruction"):
        yield {"role": "system", "content": asked.config["systemInstruction"]}
    for content in asked.contents:
        if content["role"] == "model":
            yield _of_model(content["parts"])
            continue
        results = [part for part in content["parts"] if "functionResponse" in part]
        yield from map(_of_result, results)
        rest = [part for part in content["parts"] if "functionResponse" not in part]
        if rest:
            yield {"role": "user", "content": _content(rest)}


def _of_model(parts: Sequence[Part]) -> JsonObject:
    texts = [part for part in parts if "text" in part]
    calls = [part for part in parts if "functionCall" in part]
    message: JsonObject = {"role": "assistant", "content": _content(texts) if texts else None}
    if calls:
        message["tool_calls"] = [_call(part) for part in calls]
    return message


def _call(part: Part) -> JsonObject:
    call = part["functionCall"]
    function = {"name": call["name"], "arguments": compact(call["args"])}
    found: JsonObject = {"id": call["id"], "type": "function", "function": function}
    extra = unpacked(Provider.OPENAI, part.get("thoughtSignature"))
    return found if extra is None else {**found, "extra_content": extra}


def _of_result(part: Part) -> JsonObject:
    result = part["functionResponse"]
    return {
        "role": "tool",
        "tool_call_id": result["id"],
        "content": result_text(result["response"]),
    }


def _content(parts: Sequence[Part]) -> Json:
    if len(parts) == 1 and "text" in parts[0]:
        return parts[0]["text"]
    return [_block(part) for part in parts]


def _block(part: Part) -> JsonObject:
    if "text" in part:
        return {"type": "text", "text": part["text"]}
    kind, data = part["inlineData"]["mimeType"], part["inlineData"]["data"]
    if kind in AUDIO:
        return {"type": "input_audio", "input_audio": {"data": data, "format": AUDIO[kind]}}
    url = f"data:{kind};base64,{data}"
    if kind == DOCUMENT:
        return {"type": "file", "file": {"filename": "document.pdf", "file_data": url}}
    return {"type": "image_url", "image_url": {"url": url}}


def _tools(tools: Json, tool_config: JsonObject) -> JsonObject:
    declared = [each for tool in items(tools) for each in items(tool.get("functionDeclarations"))]
    if not declared:
        return {}
    tools = [{"type": "function", "function": _function(each)} for each in declared]
    found: JsonObject = {"tools": tools}
    choice = mapping(tool_config.get("functionCallingConfig"))
    if choice:
        names = choice.get("allowedFunctionNames")
        found["tool_choice"] = (
            {"type": "function", "function": {"name": names[0]}}
            if names
            else _CHOICES[choice["mode"]]
        )
    return found


def _function(declaration: JsonObject) -> JsonObject:
    function: JsonObject = {"name": declaration["name"]}
    if "description" in declaration:
        function["description"] = declaration["description"]
    if "parametersJsonSchema" in declaration:
        function["parameters"] = declaration["parametersJsonSchema"]
    return function


def _format_of(schema: Json) -> JsonObject:
    if schema is None:
        return {"type": "json_object"}
    return {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}


def read_chat_body(body: Json) -> ChatRequest:
    """Read the body of a request, which any program may have written.

    Settings that the Gemini API does not have are in `config.providerOptions`.

    Raises:
        UnreadableMessage: it is no JSON object.
    """
    body = required_mapping(body, "the request")
    messages = list(items(body.get("messages")))
    config: JsonObject = {}
    instruction = "\n\n".join(
        said for each in messages if each.get("role") in _SYSTEM and (said := _said(each))
    )
    if instruction:
        config["systemInstruction"] = instruction
    config.update(_read_tools(body))
    for ours, theirs in _NUMBERS.items():
        if body.get(theirs) is not None:
            value = body[theirs]
            is_word = theirs == "stop" and isinstance(value, str)
            config[ours] = [value] if is_word else value
    limit = next((body[name] for name in _LIMITS if body.get(name) is not None), None)
    if limit is not None:
        config["maxOutputTokens"] = limit
    effort = text(body.get("reasoning_effort"))
    if effort is not None:
        config["thinkingConfig"] = {"thinkingLevel": effort.upper()}
    config.update(_read_format(mapping(body.get("response_format"))))
    more = {key: value for key, value in body.items() if key not in _READ}
    if more:
        config["providerOptions"] = more
    asked = Asked(
        model=text(body.get("model")) or "",
        contents=_contents(each for each in messages if each.get("role") not in _SYSTEM),
        config=config,
    )
    options = mapping(body.get("stream_options"))
    return ChatRequest(
        asked=asked,
        streams=body.get("stream") is True,
        counts_usage=options.get("include_usage") is True,
    )


def _said(message: JsonObject) -> str:
    """The text of a message."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    return "\n".join(text(block.get("text")) or "" for block in items(content))


def _contents(messages: Iterable[JsonObject]) -> list[Content]:
    found: list[Content] = []
    for message in messages:
        role = "model" if message.get("role") == "assistant" else "user"
        parts = list(_parts(message))
        if found and found[-1]["role"] == role:
            found[-1]["parts"] += parts
        elif parts:
            found.append({"role": role, "parts": parts})
    return results_named(found)


def _parts(message: JsonObject) -> Iterator[Part]:
    if message.get("role") == "tool":
        result = {"id": text(message.get("tool_call_id")) or "", "name": ""}
        yield {"functionResponse": {**result, "response": read_result(_said(message))}}
        return
    content = message.get("content")
    if isinstance(content, str):
        if content:
            yield {"text": content}
    else:
        for block in items(content):
            yield from _read_block(block)
    for call in items(message.get("tool_calls")):
        function = mapping(call.get("function"))
        args = parsed_object(text(function.get("arguments")) or "") or {}
        name, call_id = text(function.get("name")) or "", text(call.get("id")) or ""
        part: Part = {"functionCall": {"id": call_id, "name": name, "args": args}}
        if isinstance(call.get("extra_content"), dict):
            part["thoughtSignature"] = packed(Provider.OPENAI, call["extra_content"])
        yield part


def _read_block(block: JsonObject) -> Iterator[Part]:
    said = text(block.get("text"))
    if said:
        yield {"text": said}
    audio = mapping(block.get("input_audio"))
    if audio:
        kind = f"audio/{audio.get('format') or 'wav'}"
        yield {"inlineData": {"mimeType": kind, "data": text(audio.get("data")) or ""}}
    url = text(mapping(block.get("image_url")).get("url"))
    url = url or text(mapping(block.get("file")).get("file_data"))
    if url is not None:
        kind, found, data = url.removeprefix("data:").partition(";base64,")
        if found:
            yield {"inlineData": {"mimeType": kind, "data": data}}
        else:
            yield {"fileData": {"fileUri": url}}


def _read_tools(body: JsonObject) -> JsonObject:
    functions = [mapping(tool.get("function")) for tool in items(body.get("tools"))]
    declared = [_read_function(function) for function in functions if function]
    config: JsonObject = {"tools": [{"functionDeclarations": declared}]} if declared else {}
    choice = body.get("tool_choice")
    name = mapping(mapping(choice).get("function")).get("name")
    if isinstance(name, str):
        found: JsonObject = {"mode": "ANY", "allowedFunctionNames": [name]}
    else:
        modes = {theirs: ours for ours, theirs in _CHOICES.items()}
        found = {"mode": modes[choice]} if isinstance(choice, str) and choice in modes else {}
    if found:
        config["toolConfig"] = {"functionCallingConfig": found}
    return config


def _read_function(function: JsonObject) -> JsonObject:
    found: JsonObject = {"name": text(function.get("name")) or ""}
    if text(function.get("description")):
        found["description"] = function["description"]
    if isinstance(function.get("parameters"), dict):
        found["parametersJsonSchema"] = function["parameters"]
    return found


def _read_format(wanted: JsonObject) -> JsonObject:
    kind = wanted.get("type")
    if kind not in ("json_object", "json_schema"):
        return {}
    found: JsonObject = {"responseMimeType": "application/json"}
    schema = mapping(wanted.get("json_schema")).get("schema")
    return {**found, "responseJsonSchema": schema} if isinstance(schema, dict) else found
