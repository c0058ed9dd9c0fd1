"""What requests lose in the format of Chat Completions; see `services.providers.losing`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from services.providers.carried import unpacked
from services.providers.exchange import Asked
from services.providers.openai.traits import ChatTraits
from services.providers.provider import Provider
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
from services.providers.shape import mapping
from services.wire import Content, Part

__all__ = ["AUDIO", "DOCUMENT", "REQUEST_LOSSES", "request_losses"]

AUDIO: Final = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/mp3": "mp3", "audio/mpeg": "mp3"}
"""The types of audio that the format has, and its names for them."""
DOCUMENT: Final = "application/pdf"
_SETTINGS: Final = (
    "systemInstruction",
    "tools",
    "toolConfig",
    "temperature",
    "topP",
    "maxOutputTokens",
    "stopSequences",
    "seed",
    "presencePenalty",
    "frequencyPenalty",
    "responseMimeType",
    "responseJsonSchema",
    "thinkingConfig",
    "providerOptions",
)
_EFFORTS: Final = ("MINIMAL", "LOW", "MEDIUM", "HIGH")
_SAMPLING: Final = ("temperature", "topP")


def loses_signatures(asked: Asked) -> Asked:
    """A thought signature is sent with a call only, and only if the same provider gave it."""

    def signed(part: Part, _: bool) -> list[Part]:
        signature = part.get("thoughtSignature")
        if "functionCall" in part and unpacked(Provider.OPENAI, signature) is not None:
            return [part]
        return [{key: value for key, value in part.items() if key != "thoughtSignature"}]

    return each_part(asked, signed)


def loses_media(asked: Asked) -> Asked:
    """The user sends images, audio as WAV or MP3, and PDF. Other media and files at an address
    become a text that names them; media in the model's turns are left out.
    """

    def sendable(part: Part, is_models: bool) -> list[Part]:
        if not ("inlineData" in part or "fileData" in part):
            return [part]
        return [] if is_models else [part if _is_sendable(part) else note_of_media(part)]

    return each_part(asked, sendable)


def _is_sendable(part: Part) -> bool:
    data = mapping(part.get("inlineData"))
    kind = data.get("mimeType")
    known = isinstance(kind, str) and (kind.startswith("image/") or kind in (*AUDIO, DOCUMENT))
    return known and isinstance(data.get("data"), str)


def loses_audio_types(asked: Asked) -> Asked:
    """Audio is `wav` or `mp3`; other names of these types are lost."""
    usual = {"wav": "audio/wav", "mp3": "audio/mp3"}

    def named(part: Part, _: bool) -> list[Part]:
        data = mapping(part.get("inlineData"))
        kind = AUDIO.get(data.get("mimeType") or "")
        return [part if kind is None else {"inlineData": {**data, "mimeType": usual[kind]}}]

    return each_part(asked, named)


def loses_media_of_results(asked: Asked) -> Asked:
    """The result of a function is text; its media follow in the user's turn."""

    def moved(content: Content) -> Content:
        parts: list[Part] = []
        media: list[Part] = []
        for part in content.get("parts") or ():
            result = mapping(part.get("functionResponse"))
            media += result.get("parts") or ()
            rest = {key: value for key, value in result.items() if key != "parts"}
            parts.append({"functionResponse": rest} if result else part)
        return {**content, "parts": [*parts, *media]}

    return replace(asked, contents=[moved(content) for content in asked.contents])


def loses_order(asked: Asked) -> Asked:
    """In the model's turn texts precede calls; in the user's, results precede the rest."""

    def ordered(content: Content) -> Content:
        parts = content.get("parts") or []
        if content.get("role") == "model":
            return {**content, "parts": sorted(parts, key=lambda part: "functionCall" in part)}
        return {**content, "parts": results_first(parts)}

    return replace(asked, contents=[ordered(content) for content in asked.contents])


def loses_empty_texts(asked: Asked) -> Asked:
    """Empty texts are left out."""
    return each_part(asked, lambda part, _: [] if part.get("text") == "" else [part])


def loses_settings(asked: Asked) -> Asked:
    """Settings without a counterpart are left out: `topK`, `safetySettings`, `candidateCount`, the
    budget of thinking and whether thoughts are shown, and others.
    """
    config = {name: asked.config.get(name) for name in _SETTINGS}
    level = mapping(config["thinkingConfig"]).get("thinkingLevel")
    config["thinkingConfig"] = {"thinkingLevel": level} if level in _EFFORTS else None
    return configured(asked, config)


def loses_schema_of_answers(asked: Asked) -> Asked:
    """The schema of an answer is JSON Schema, and the answer is JSON; other types of answers are
    lost.
    """
    config = dict(asked.config)
    schema = config.pop("responseSchema", None)
    if config.get("responseJsonSchema") is None and schema is not None:
        config["responseJsonSchema"] = json_schema(schema)
    wants_json = config.get("responseMimeType") == "application/json"
    if not isinstance(config.get("responseJsonSchema"), dict):
        config["responseJsonSchema"] = None
    elif not wants_json:
        wants_json = True
    config["responseMimeType"] = "application/json" if wants_json else None
    return configured(asked, config)


def loses_sampling(asked: Asked) -> Asked:
    """OpenAI's reasoning models take neither `temperature` nor `topP`."""
    config = {key: value for key, value in asked.config.items() if key not in _SAMPLING}
    return configured(asked, config)


def loses_effort(asked: Asked) -> Asked:
    """Other models take no level of thinking."""
    return configured(asked, {**asked.config, "thinkingConfig": None})


REQUEST_LOSSES: Final[tuple[Callable[[Asked], Asked], ...]] = (
    loses_roles,
    loses_media_of_results,
    loses_thoughts,
    loses_misplaced_calls,
    loses_part_fields,
    loses_signatures,
    loses_call_ids,
    loses_media,
    loses_audio_types,
    loses_google_schemas,
    loses_function_names,
    loses_empty_texts,
    loses_empty_contents,
    loses_turn_borders,
    loses_order,
    loses_names_of_results,
    loses_instruction_parts,
    loses_schema_of_answers,
    loses_settings,
    loses_allowed_names,
)
"""The rules for every server and model, in the order of application."""


def request_losses(traits: ChatTraits) -> tuple[Callable[[Asked], Asked], ...]:
    """Return the rules for a server and model, in the order of application."""
    return (*REQUEST_LOSSES, loses_sampling if traits.reasoning else loses_effort)
