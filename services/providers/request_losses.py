"""What requests lose in the formats of several providers; see `losing`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from services.providers.calls import results_named, wire_id, wire_name, with_ids
from services.providers.exchange import Asked
from services.providers.schemas import declarations
from services.providers.shape import mapping
from services.wire import Content, JsonObject, Part

__all__ = [
    "configured",
    "each_part",
    "instruction_text",
    "loses_allowed_names",
    "loses_call_ids",
    "loses_empty_contents",
    "loses_function_names",
    "loses_google_schemas",
    "loses_instruction_parts",
    "loses_misplaced_calls",
    "loses_names_of_results",
    "loses_part_fields",
    "loses_roles",
    "loses_thoughts",
    "loses_turn_borders",
    "note_of_media",
    "results_first",
]

PartChange = Callable[[Part, bool], Sequence[Part]]
"""Returns the parts in place of one; the second argument is whether it is the model's."""
_CALL_FIELDS: Final = ("id", "name", "args")
_RESULT_FIELDS: Final = ("id", "name", "response", "parts")
_PAYLOADS: Final = ("functionCall", "functionResponse", "inlineData", "fileData", "text")


def each_part(asked: Asked, change: PartChange) -> Asked:
    """Return `asked` with `change` applied to each part; unchanged contents stay the same."""

    def changed(content: Content) -> Content:
        parts = content.get("parts")
        if not isinstance(parts, list):
            return content
        is_models = content.get("role") == "model"
        found = [new for part in parts for new in change(part, is_models)]
        return content if found == parts else {**content, "parts": found}

    return replace(asked, contents=[changed(content) for content in asked.contents])


def configured(asked: Asked, config: Mapping[str, object]) -> Asked:
    """Return `asked` with the settings of `config` that have a value."""
    found = {name: value for name, value in config.items() if value is not None}
    return asked if found == asked.config else replace(asked, config=found)


def loses_roles(asked: Asked) -> Asked:
    """A content has the role of the user or of the model; any other role becomes the user's."""
    return replace(
        asked,
        contents=[
            content if content.get("role") in ("user", "model") else {**content, "role": "user"}
            for content in asked.contents
        ],
    )


def loses_misplaced_calls(asked: Asked) -> Asked:
    """Only the model's turn has calls, and only the user's has results; others are left out."""

    def in_place(part: Part, is_models: bool) -> list[Part]:
        other = "functionResponse" if is_models else "functionCall"
        return [] if part.get(other) else [part]

    return each_part(asked, in_place)


def loses_thoughts(asked: Asked) -> Asked:
    """Thoughts in the history are not sent back as text; what a signature carries is sent."""
    return each_part(asked, lambda part, _: [] if part.get("thought") else [part])


def loses_part_fields(asked: Asked) -> Asked:
    """A part has one payload (text, a call, a result, media) and its known fields; executable code
    and metadata of media are left out, and so are arguments and results that are no JSON objects.
    """
    return each_part(asked, lambda part, _: _canonical(part))


def _canonical(part: Part) -> list[Part]:
    payload = next((key for key in _PAYLOADS if part.get(key) is not None), None)
    if payload is None:
        return []
    found: Part = {payload: part[payload]}
    if payload == "functionCall":
        call = mapping(part[payload])
        args = mapping(call.get("args"))
        found = {payload: {**_kept(call, _CALL_FIELDS), "args": args}}
    elif payload == "functionResponse":
        result = mapping(part[payload])
        response = mapping(result.get("response"))
        found = {payload: {**_kept(result, _RESULT_FIELDS), "response": response}}
    elif payload != "text":
        found = {payload: _kept(mapping(part[payload]), ("mimeType", "data", "fileUri"))}
    if part.get("thoughtSignature"):
        found["thoughtSignature"] = part["thoughtSignature"]
    return [found]


def _kept(fields: JsonObject, names: Sequence[str]) -> JsonObject:
    return {name: fields[name] for name in names if fields.get(name) is not None}


def note_of_media(part: Part) -> Part:
    """Return a text in place of media that a provider does not take."""
    media = mapping(part.get("inlineData") or part.get("fileData"))
    where = f" at {media['fileUri']}" if media.get("fileUri") else ""
    kind = media.get("mimeType") or "unknown type"
    return {"text": f"[{kind}{where}: this model cannot read it]"}


def loses_call_ids(asked: Asked) -> Asked:
    """Every call and result has an id of at most 40 letters, digits, `-` and `_`; a missing one is
    made from the place of the call, a longer one is shortened.
    """

    def shortened(part: Part, _: bool) -> list[Part]:
        for kind in ("functionCall", "functionResponse"):
            call = mapping(part.get(kind))
            if call and wire_id(str(call.get("id"))) != call.get("id"):
                return [{**part, kind: {**call, "id": wire_id(str(call.get("id")))}}]
        return [part]

    return each_part(replace(asked, contents=with_ids(asked.contents)), shortened)


def loses_function_names(asked: Asked) -> Asked:
    """The name of a function has at most 64 letters, digits, `-` and `_`; another one is replaced,
    and replaced back in the answer.
    """

    def renamed(part: Part, _: bool) -> list[Part]:
        for kind in ("functionCall", "functionResponse"):
            call = mapping(part.get(kind))
            if call:
                return [{**part, kind: {**call, "name": wire_name(str(call.get("name") or ""))}}]
        return [part]

    declared = [
        {**each, "name": wire_name(each["name"])}
        for each in declarations(asked.config.get("tools"))
    ]
    config = {**asked.config, "tools": [{"functionDeclarations": declared}] if declared else None}
    choice = mapping(mapping(config.get("toolConfig")).get("functionCallingConfig"))
    names = choice.get("allowedFunctionNames")
    if isinstance(names, list):
        allowed = {**choice, "allowedFunctionNames": [wire_name(str(name)) for name in names]}
        config["toolConfig"] = {"functionCallingConfig": allowed}
    return each_part(configured(asked, config), renamed)


def loses_google_schemas(asked: Asked) -> Asked:
    """Parameters are JSON Schema; the Gemini API's own schemas are converted, without the order of
    properties. All declarations form one list.
    """
    declared = declarations(asked.config.get("tools"))
    tools = [{"functionDeclarations": declared}] if declared else None
    return configured(asked, {**asked.config, "tools": tools})


def loses_allowed_names(asked: Asked) -> Asked:
    """A choice of several functions is not sent: the others are not declared in that request. A
    choice without functions is lost, and so are names of functions that are not declared.
    """
    choice = mapping(mapping(asked.config.get("toolConfig")).get("functionCallingConfig"))
    mode, declared = choice.get("mode"), declarations(asked.config.get("tools"))
    if not declared or mode not in ("AUTO", "NONE", "ANY"):
        return configured(asked, {**asked.config, "toolConfig": None})
    found: JsonObject = {"mode": mode}
    config = {**asked.config, "toolConfig": {"functionCallingConfig": found}}
    names = choice.get("allowedFunctionNames")
    named = names if isinstance(names, list) else []
    allowed = [each for each in declared if each["name"] in named]
    if mode == "ANY" and len({each["name"] for each in allowed}) == 1:
        found["allowedFunctionNames"] = [allowed[0]["name"]]
    elif mode == "ANY" and allowed:
        config["tools"] = [{"functionDeclarations": allowed}]
    return configured(asked, config)


def instruction_text(value: object) -> str | None:
    """Return a system instruction as one text; `None` without any."""
    if isinstance(value, dict):
        parts = value.get("parts")
        texts = [part.get("text") for part in parts or () if isinstance(part, dict)]
        value = "\n".join(text for text in texts if isinstance(text, str))
    return value if isinstance(value, str) and value else None


def loses_instruction_parts(asked: Asked) -> Asked:
    """The system instruction is one text; several parts are joined by line ends."""
    instruction = instruction_text(asked.config.get("systemInstruction"))
    return configured(asked, {**asked.config, "systemInstruction": instruction})


def loses_names_of_results(asked: Asked) -> Asked:
    """A result names its call by the id alone; the name of a result without a call before it is
    lost.
    """
    return replace(asked, contents=results_named(asked.contents))


def loses_turn_borders(asked: Asked) -> Asked:
    """Adjacent contents of one role become one content."""
    found: list[Content] = []
    for content in asked.contents:
        parts = content.get("parts") or []
        if found and found[-1].get("role") == content.get("role"):
            found[-1] = {**found[-1], "parts": [*found[-1]["parts"], *parts]}
        else:
            found.append({"role": content.get("role"), "parts": list(parts)})
    return replace(asked, contents=found)


def loses_empty_contents(asked: Asked) -> Asked:
    """Contents without parts are left out."""
    contents = [content for content in asked.contents if content.get("parts")]
    return replace(asked, contents=contents)


def results_first(parts: Sequence[Part]) -> list[Part]:
    """Return the parts of the user's turn with the results of functions first."""
    return sorted(parts, key=lambda part: "functionResponse" not in part)
