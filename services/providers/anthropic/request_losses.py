"""What requests lose in the format of Messages; see `services.providers.losing`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from services.providers.anthropic.thinking import blocks_of
from services.providers.anthropic.traits import DEFAULT_LIMIT, MessagesTraits
from services.providers.exchange import Asked
from services.providers.request_losses import (
    configured,
    each_part,
    loses_allowed_names,
    loses_call_ids,
    loses_empty_contents,
    loses_function_names,
    loses_google_schemas,
    loses_instruction_parts,
    loses_misplaced_calls,
    loses_names_of_results,
    loses_part_fields,
    loses_roles,
    loses_thoughts,
    loses_turn_borders,
    note_of_media,
    results_first,
)
from services.providers.schemas import json_schema
from services.providers.shape import mapping, number
from services.wire import Content, JsonObject, Part

__all__ = ["DOCUMENT", "IMAGES", "NO_PARAMETERS", "is_error", "request_losses"]

IMAGES: Final = frozenset({"image/jpeg", "image/png", "image/gif", "image/webp"})
DOCUMENT: Final = "application/pdf"
NO_PARAMETERS: Final[JsonObject] = {"type": "object", "properties": {}}
LEAST_BUDGET: Final = 1024
"""Tokens; the API refuses a smaller budget for thinking."""
_SETTINGS: Final = (
    "systemInstruction",
    "tools",
    "toolConfig",
    "maxOutputTokens",
    "stopSequences",
    "responseMimeType",
    "responseJsonSchema",
    "thinkingConfig",
    "providerOptions",
)
_LEVELS: Final = ("LOW", "MEDIUM", "HIGH")


def loses_signatures(asked: Asked) -> Asked:
    """A thought signature is sent only if Anthropic gave it, and only in the model's turns."""

    def signed(part: Part, is_models: bool) -> list[Part]:
        if is_models and blocks_of(part.get("thoughtSignature")):
            return [part]
        return [{key: value for key, value in part.items() if key != "thoughtSignature"}]

    return each_part(asked, signed)


def loses_media(asked: Asked) -> Asked:
    """The user sends images as JPEG, PNG, GIF and WebP, and PDF. Other media and files at an
    address become a text that names them; media in the model's turns are left out.
    """

    def sendable(part: Part, is_models: bool) -> list[Part]:
        if not ("inlineData" in part or "fileData" in part):
            return [part]
        return [] if is_models else [part if _is_sendable(part) else note_of_media(part)]

    return each_part(asked, sendable)


def _is_sendable(part: Part) -> bool:
    data = mapping(part.get("inlineData"))
    known = data.get("mimeType") in IMAGES or data.get("mimeType") == DOCUMENT
    return known and isinstance(data.get("data"), str)


def loses_media_of_results(asked: Asked) -> Asked:
    """A result may contain images and PDF; of other media it names the type."""

    def with_sendable(part: Part, _: bool) -> list[Part]:
        result = mapping(part.get("functionResponse"))
        if "parts" not in result:
            return [part]
        nested = [each for each in result["parts"] if isinstance(each, dict)]
        kept = [_nested(each) for each in nested]
        rest = {key: value for key, value in result.items() if key != "parts"}
        return [{"functionResponse": {**rest, "parts": kept} if kept else rest}]

    return each_part(asked, with_sendable)


def _nested(part: Part) -> Part:
    said = part.get("text")
    if isinstance(said, str) and said.strip():
        return {"text": said}
    if not _is_sendable(part):
        return note_of_media(part)
    data = part["inlineData"]
    return {"inlineData": {"mimeType": data["mimeType"], "data": data["data"]}}


def is_error(response: JsonObject) -> bool:
    """Whether the result of a function is an error with a text, and nothing else.

    An error without a text is sent as JSON, because the API refuses it.
    """
    said = response.get("error")
    return response.keys() == {"error"} and isinstance(said, str) and said.strip() != ""


def loses_order(asked: Asked) -> Asked:
    """In the user's turn results precede the rest."""

    def ordered(content: Content) -> Content:
        if content.get("role") == "model":
            return content
        return {**content, "parts": results_first(content.get("parts") or [])}

    return replace(asked, contents=[ordered(content) for content in asked.contents])


def loses_blank_texts(asked: Asked) -> Asked:
    """Texts of white space alone are left out, as the API refuses them."""

    def said(part: Part, _: bool) -> list[Part]:
        return [] if isinstance(part.get("text"), str) and not part["text"].strip() else [part]

    return each_part(asked, said)


def loses_missing_parameters(asked: Asked) -> Asked:
    """A function has parameters; one without gets an object without properties."""
    tools = asked.config.get("tools")
    if not tools:
        return asked
    declared = [
        {**each, "parametersJsonSchema": each.get("parametersJsonSchema") or NO_PARAMETERS}
        for each in tools[0]["functionDeclarations"]
    ]
    tools = [{"functionDeclarations": declared}]
    return configured(asked, {**asked.config, "tools": tools})


def loses_settings(asked: Asked) -> Asked:
    """Settings without a counterpart are left out: `temperature`, `topP`, `topK` (which the API
    refuses since its version of October 2026), `seed`, `safetySettings`, and others.
    """
    return configured(asked, {name: asked.config.get(name) for name in _SETTINGS})


def loses_schema_of_answers(asked: Asked) -> Asked:
    """An answer as JSON has a schema, in JSON Schema. JSON without a schema cannot be asked for,
    and other types of answers are lost.
    """
    config = dict(asked.config)
    schema = config.pop("responseSchema", None)
    if config.get("responseJsonSchema") is None and schema is not None:
        config["responseJsonSchema"] = json_schema(schema)
    known = isinstance(config.get("responseJsonSchema"), dict)
    config["responseMimeType"] = "application/json" if known else None
    config["responseJsonSchema"] = config["responseJsonSchema"] if known else None
    return configured(asked, config)


def loses_missing_limit(asked: Asked) -> Asked:
    """An answer has a limit of tokens; the default is 32,000."""
    limit = asked.config.get("maxOutputTokens")
    return configured(asked, {**asked.config, "maxOutputTokens": limit or DEFAULT_LIMIT})


def loses_budget(asked: Asked) -> Asked:
    """Recent models (4.6 and later) decide how much they think. A budget of thinking is left out,
    but for 0, which switches thinking off; a level is the effort.
    """
    thinking = mapping(asked.config.get("thinkingConfig"))
    found: JsonObject = {}
    if thinking.get("thinkingBudget") == 0:
        found["thinkingBudget"] = 0
    elif thinking.get("includeThoughts"):
        found["includeThoughts"] = True
    if thinking.get("thinkingLevel") in _LEVELS:
        found["thinkingLevel"] = thinking["thinkingLevel"]
    return configured(asked, {**asked.config, "thinkingConfig": found or None})


def loses_no_thinking(asked: Asked) -> Asked:
    """Some models (Fable, Mythos) always think."""
    thinking = mapping(asked.config.get("thinkingConfig"))
    found = {key: value for key, value in thinking.items() if key != "thinkingBudget"}
    return configured(asked, {**asked.config, "thinkingConfig": found or None})


def loses_level(asked: Asked) -> Asked:
    """Earlier models take a budget of at least 1,024 tokens, below the limit of the answer, and no
    level; they do not think if they must call a function. A smaller budget switches thinking off.
    """
    budget = number(mapping(asked.config.get("thinkingConfig")).get("thinkingBudget"))
    choice = mapping(mapping(asked.config.get("toolConfig")).get("functionCallingConfig"))
    found: JsonObject | None = None
    if budget is not None and budget >= 0:
        fits = LEAST_BUDGET <= budget < asked.config["maxOutputTokens"]
        found = {"thinkingBudget": budget if fits and choice.get("mode") != "ANY" else 0}
    return configured(asked, {**asked.config, "thinkingConfig": found})


REQUEST_LOSSES: Final[tuple[Callable[[Asked], Asked], ...]] = (
    loses_roles,
    loses_thoughts,
    loses_misplaced_calls,
    loses_part_fields,
    loses_signatures,
    loses_call_ids,
    loses_media,
    loses_media_of_results,
    loses_google_schemas,
    loses_function_names,
    loses_blank_texts,
    loses_empty_contents,
    loses_turn_borders,
    loses_order,
    loses_names_of_results,
    loses_instruction_parts,
    loses_schema_of_answers,
    loses_settings,
    loses_missing_parameters,
    loses_allowed_names,
    loses_missing_limit,
)
"""The rules for every model, in the order of application."""


def request_losses(traits: MessagesTraits) -> Sequence[Callable[[Asked], Asked]]:
    """Return the rules for a model, in the order of application."""
    if not traits.adaptive:
        return (*REQUEST_LOSSES, loses_level)
    always = (loses_no_thinking,) if traits.always_thinks else ()
    return (*REQUEST_LOSSES, loses_budget, *always)
