"""Edits of a request, each alone, and some with a retry or a fallback in between."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from google.adk.models.llm_request import LlmRequest
from google.genai import types

from parity_tests.adk_probes.probe import Again, Noting, Probe, calls, text
from services.model.errors import ApiError

__all__ = ["GROUP", "PARAMETERS", "PROBES", "UNPROBED"]

GROUP: Final = "Edits of a request in `before_model`"

PARAMETERS: Final[Mapping[str, Any]] = {
    "temperature": 0.25,
    "top_p": 0.5,
    "top_k": 7,
    "candidate_count": 1,
    "max_output_tokens": 100,
    "stop_sequences": ["END"],
    "response_logprobs": True,
    "logprobs": 3,
    "presence_penalty": 0.5,
    "frequency_penalty": 0.75,
    "seed": 7,
    "response_mime_type": "application/json",
    "response_schema": {"type": "OBJECT"},
    "response_json_schema": {"type": "object"},
    "routing_config": {"manualMode": {"modelName": "x"}},
    "model_selection_config": {"featureSelectionPreference": "BALANCED"},
    "safety_settings": [
        {"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"},
    ],
    "tool_config": {"functionCallingConfig": {"mode": "ANY"}},
    "labels": {"team": "green"},
    "cached_content": "cachedContents/1",
    "response_modalities": ["TEXT"],
    "media_resolution": "MEDIA_RESOLUTION_LOW",
    "speech_config": {"languageCode": "de-DE"},
    "audio_timestamp": True,
    "thinking_config": {"includeThoughts": False, "thinkingBudget": 5},
    "image_config": {"aspectRatio": "1:1"},
    "store": False,
    "audio_transcription_config": {"languageCodes": ["de-DE"]},
    "enable_enhanced_civic_answers": True,
    "generation_output_config": {},
    "service_tier": "flex",
    "model_armor_config": {"promptTemplateName": "x"},
}
"""A value for each field of `types.GenerateContentConfig` that is part of a request."""

UNPROBED: Final[Mapping[str, str]] = {
    "system_instruction": "edited by probes of its own",
    "tools": "edited by probes of its own",
    "http_options": "says how google-genai's client sends a request",
    "should_return_http_response": "says what google-genai's client returns",
    "automatic_function_calling": "a loop of google-genai's client; ADK has its own",
    "automatic_continuation": "says what google-genai's client does with an unfinished answer",
    "continuation_token": "belongs to that",
}
"""The other fields, and why they have no value here."""

_CALL: Final = calls(("read_file", {"file_path": "a.txt"}))
_BUSY: Final = Again(ApiError(503, "busy"))
_USED_UP: Final = Again(
    ApiError.from_parts(
        429,
        "You used up today's share",
        details=[
            {
                "@type": "type.googleapis.com/google.rpc.QuotaFailure",
                "violations": [
                    {"subject": "s", "description": "d", "quotaId": "RequestsPerDayPerProject"}
                ],
            }
        ],
    )
)

Edit = Callable[[LlmRequest], None]


class Editing(Noting):
    """Does one edit to each request."""

    def __init__(self, edit: Edit) -> None:
        super().__init__("editing")
        self._edit = edit

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        self._edit(llm_request)


def _parameter(name: str, value: Any) -> Edit:
    def edit(request: LlmRequest) -> None:
        request.config = types.GenerateContentConfig.model_validate(
            {**request.config.model_dump(exclude_none=True), name: value}
        )

    return edit


def _field(name: str, value: Any) -> Edit:
    def edit(request: LlmRequest) -> None:
        setattr(request.config, name, value)

    return edit


def _model(request: LlmRequest) -> None:
    request.model = "gemini-2.5-flash-lite"


def _no_tools(request: LlmRequest) -> None:
    request.config.tools = None


def _one_more_tool(request: LlmRequest) -> None:
    tools = request.config.tools or []
    declaration = types.FunctionDeclaration(name="look", description="Look around.")
    request.config.tools = [*tools, types.Tool(function_declarations=[declaration])]


def _search(request: LlmRequest) -> None:
    request.config.tools = [types.Tool(google_search=types.GoogleSearch())]


def _described_anew(request: LlmRequest) -> None:
    for tool in request.config.tools or []:
        assert isinstance(tool, types.Tool)
        for declaration in tool.function_declarations or []:
            declaration.description = "Reads."


def _instruction(request: LlmRequest) -> None:
    request.config.system_instruction = "Be brief."


def _more_instruction(request: LlmRequest) -> None:
    request.append_instructions(["Be brief."])


def _content(words: str) -> types.Content:
    return types.Content(role="user", parts=[types.Part(text=words)])


def _one_more_content(request: LlmRequest) -> None:
    request.contents = [*request.contents, _content("and quickly")]


def _inserted_content(request: LlmRequest) -> None:
    model = types.Content(role="model", parts=[types.Part(text="go on")])
    request.contents[-1:-1] = [_content("before that"), model]


def _text_in_place(request: LlmRequest) -> None:
    part = (request.contents[-1].parts or [])[-1]
    if part.text:
        part.text = part.text.upper()


def _response_in_place(request: LlmRequest) -> None:
    for content in request.contents:
        for part in content.parts or []:
            if part.function_response:
                part.function_response.response = {"output": "masked"}


def _other_contents(request: LlmRequest) -> None:
    request.contents = [_content("only this")]


def _last_alone(request: LlmRequest) -> None:
    request.contents = request.contents[-1:]


def _everything(request: LlmRequest) -> None:
    for edit in (_model, _more_instruction, _inserted_content, _one_more_tool):
        edit(request)
    request.config.temperature = 0.25
    request.config.max_output_tokens = 100


def _but_the_model(request: LlmRequest) -> None:
    for edit in (_more_instruction, _inserted_content, _one_more_tool):
        edit(request)
    request.config.temperature = 0.25
    request.config.max_output_tokens = 100


def _probe(name: str, row: str, edit: Edit, script: Any = None, **more: Any) -> Probe:
    return Probe(
        name=f"edit-{name}",
        row=row,
        plugins=lambda: [Editing(edit)],
        script=(_CALL, text("it is alpha")) if script is None else script,
        **more,
    )


PROBES: Final = (
    _probe("model", "`model`", _model),
    *(
        _probe(name.replace("_", "-"), f"`config.{name}`", _parameter(name, value), [text("hm")])
        for name, value in PARAMETERS.items()
    ),
    _probe("in-place", "`config.temperature`, set in place", _field("temperature", 0.25)),
    _probe("unset", "`config.temperature`, set to `None`", _field("temperature", None)),
    _probe("no-tools", "`config.tools`, none", _no_tools, [text("hm")]),
    _probe("one-more-tool", "`config.tools`, a declaration added", _one_more_tool),
    _probe("search", "`config.tools`, replaced by Google Search", _search, [text("hm")]),
    _probe("described-anew", "`config.tools`, a description changed in place", _described_anew),
    _probe("instruction", "`config.system_instruction`, replaced", _instruction),
    _probe("more-instruction", "`append_instructions`", _more_instruction),
    _probe("one-more-content", "`contents`, one appended", _one_more_content),
    _probe("inserted-content", "`contents`, some inserted", _inserted_content, [text("hm")]),
    _probe("text-in-place", "`contents`, a text changed in place", _text_in_place),
    _probe(
        "response-in-place",
        "`contents`, a tool's response changed in place",
        _response_in_place,
        in_place=True,
    ),
    _probe("other-contents", "`contents`, others", _other_contents, [text("hm")]),
    _probe(
        "last-alone",
        "`contents`, only the last",
        _last_alone,
        [text("one"), text("two")],
        messages=("hello", "again"),
    ),
    _probe("retry", "all of these, with a retry", _everything, [_BUSY, text("hm")]),
    _probe(
        "retried-stream",
        "all of these, with an answer that breaks off",
        _everything,
        [Again(ApiError(503, "broken"), connected=True), text("hm")],
    ),
    _probe(
        "fallback",
        "all of these but the model, with a fallback",
        _but_the_model,
        [_USED_UP, text("hm")],
        # Another model stands in for this one; `gemini-2.5-pro`, asked for by name, has none.
        model="gemini-3-flash-preview",
        falls_back=True,
    ),
)
