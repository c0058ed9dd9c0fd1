import json
import logging
from collections.abc import Callable
from typing import Any

import pytest

from services.abort import AbortController
from services.clock import VIRTUAL_EPOCH_MS
from services.model.errors import ApiError, NetworkError
from services.model.generator import LlmRole, ModelRequest
from services.model.metering import CallEnd, ModelCall
from services.wire import Content, JsonObject

SECRET = "the launch code is 0000"
CONTENTS: list[Content] = [
    {"role": "user", "parts": [{"text": "before"}]},
    {"role": "model", "parts": [{"functionCall": {"id": "1", "name": "ls", "args": {}}}]},
    {
        "role": "user",
        "parts": [
            {"functionResponse": {"id": "1", "name": "ls", "response": {"output": "a\ud800b"}}},
            {"inlineData": {"mimeType": "image/png", "data": "AAAA"}},
            {"text": SECRET},
        ],
    },
]
USAGE = {
    "promptTokenCount": 100,
    "toolUsePromptTokenCount": 5,
    "candidatesTokenCount": 20,
    "thoughtsTokenCount": 7,
    "cachedContentTokenCount": 60,
}


def call_of(**more: Any) -> ModelCall:
    request = ModelRequest(
        model="gemini-2.5-pro",
        contents=CONTENTS,
        role=LlmRole.MAIN,
        prompt_id="s########0",
        signal=AbortController().signal,
        config={
            "temperature": 1,
            "topP": 0.5,
            "maxOutputTokens": 9,
            "seed": True,
            "systemInstruction": SECRET,
            "responseMimeType": "application/json",
        },
    )
    return ModelCall(request=request, streaming=True, began_ms=VIRTUAL_EPOCH_MS, **more)


def ended(telemetry: Any, call: ModelCall, *responses: JsonObject) -> None:
    for observer in telemetry.model_calls:
        observer.call_began(call)
        for response in responses:
            observer.call_received(call, response)
        observer.call_ended(call)


def answered() -> ModelCall:
    return call_of(
        first_ms=VIRTUAL_EPOCH_MS + 500,
        ended_ms=VIRTUAL_EPOCH_MS + 2_000,
        end=CallEnd.ANSWERED,
        model="gemini-2.5-pro-001",
        response_id="r1",
        finish_reason="STOP",
        usage=USAGE,
    )


def test_an_answered_call_has_the_conventions_attributes(rig: Any) -> None:
    with rig.opened() as telemetry:
        ended(telemetry, answered())
    (span,) = rig.spans()
    assert (span["name"], span["kind"]) == ("generate_content gemini-2.5-pro", 2)
    assert span["status"] == {"code": 0}
    assert span["parentSpanId"] is None
    assert span["began_ns"] == VIRTUAL_EPOCH_MS * 1_000_000
    assert span["ended_ns"] == (VIRTUAL_EPOCH_MS + 2_000) * 1_000_000
    assert span["attributes"] == {
        "gen_ai.operation.name": "generate_content",
        "gen_ai.provider.name": "gcp.gemini",
        "gen_ai.conversation.id": "the-session",
        "gen_ai.request.model": "gemini-2.5-pro",
        "gen_ai.request.stream": True,
        "gen_ai.request.temperature": 1.0,
        "gen_ai.request.top_p": 0.5,
        "gen_ai.request.max_tokens": 9,
        "gen_ai.output.type": "json",
        "gen_ai.response.model": "gemini-2.5-pro-001",
        "gen_ai.response.id": "r1",
        "gen_ai.response.finish_reasons": ["STOP"],
        "gen_ai.response.time_to_first_chunk": 0.5,
        "gen_ai.usage.input_tokens": 105,
        "gen_ai.usage.output_tokens": 27,
        "gen_ai.usage.cache_read.input_tokens": 60,
        "gen_ai.usage.reasoning.output_tokens": 7,
        "gemini_cli.role": "main",
        "gemini_cli.prompt_id": "s########0",
    }


def test_durations_and_tokens_are_measured(
    rig: Any, points: Callable[[Any], dict[str, Any]]
) -> None:
    with rig.opened() as telemetry:
        ended(telemetry, answered())
        ended(telemetry, answered())
    metrics = rig.metrics()
    duration = metrics["gen_ai.client.operation.duration"]
    assert duration["descriptor"]["unit"] == "s"
    (point,) = points(duration).values()
    assert (point["count"], point["sum"]) == (2, 4.0)
    (first,) = points(metrics["gen_ai.client.operation.time_to_first_chunk"]).values()
    assert first["sum"] == 1.0
    tokens = points(metrics["gen_ai.client.token.usage"])
    sums = {json.loads(key)["gen_ai.token.type"]: point["sum"] for key, point in tokens.items()}
    assert sums == {"input": 210, "output": 54}


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ApiError(429, f"quota for key {SECRET}"), "429"),
        (NetworkError(f"fetch failed: {SECRET}"), "Error"),
        (ValueError(SECRET), "ValueError"),
    ],
)
def test_a_failure_has_its_kind_and_never_its_words(rig: Any, error: Exception, kind: str) -> None:
    with rig.opened(log_prompts=False) as telemetry:
        ended(telemetry, call_of(ended_ms=VIRTUAL_EPOCH_MS, end=CallEnd.FAILED, error=error))
    (span,) = rig.spans()
    assert (span["attributes"]["error.type"], span["status"]) == (kind, {"code": 2})
    assert SECRET not in rig.file.read_text()


def test_an_abandoned_call_is_cancelled_without_an_error(rig: Any) -> None:
    with rig.opened() as telemetry:
        ended(telemetry, call_of(ended_ms=VIRTUAL_EPOCH_MS, end=CallEnd.ABANDONED))
    (span,) = rig.spans()
    assert (span["attributes"]["error.type"], span["status"]) == ("cancelled", {"code": 0})


SAID: list[JsonObject] = [
    {"candidates": [{"content": {"parts": [{"text": "hm", "thought": True}]}}]},
    {"candidates": [{"content": {"parts": [{"text": "no"}]}}]},
]


def test_content_is_not_recorded_by_default(rig: Any) -> None:
    with rig.opened(log_prompts=False, traces=True) as telemetry:
        ended(telemetry, answered(), *SAID)
    assert SECRET not in rig.file.read_text()
    assert {key for key in rig.spans()[0]["attributes"] if "messages" in key} == set()


def test_content_is_recorded_if_enabled(rig: Any) -> None:
    with rig.opened(traces=True) as telemetry:
        ended(telemetry, answered(), *SAID)
    attributes = rig.spans()[0]["attributes"]
    assert json.loads(attributes["gen_ai.input.messages"]) == [
        {
            "role": "user",
            "parts": [
                {"type": "tool_call_response", "id": "1", "response": {"output": "a\ud800b"}},
                {"type": "blob", "mime_type": "image/png"},
                {"type": "text", "content": SECRET},
            ],
        }
    ]
    assert json.loads(attributes["gen_ai.output.messages"]) == [
        {
            "role": "assistant",
            "parts": [
                {"type": "reasoning", "content": "hm"},
                {"type": "text", "content": "no"},
            ],
        }
    ]
    assert "systemInstruction" not in rig.file.read_text()


def test_secrets_are_masked_also_where_the_stream_or_the_limit_cut_them(rig: Any) -> None:
    key = "AIza" + "SyD3mO_k3Y-4bcdEfghIjklMnopQrstUvw12"
    said = [f"{'x ' * 4_900}{key[:9]}", f"{key[9:]}{' y' * 5_000}"]
    chunks = [{"candidates": [{"content": {"parts": [{"text": text}]}}]} for text in said]
    with rig.opened(traces=True) as telemetry:
        ended(telemetry, answered(), *chunks)
        ended(telemetry, call_of(model=f"m {key}"), SAID[0])
    written = rig.file.read_text()
    assert key[9:15] not in written
    assert key[:9] not in written
    assert "REDACTEDx" in rig.spans()[0]["attributes"]["gen_ai.output.messages"]


def test_long_words_are_cut(rig: Any) -> None:
    long = {"candidates": [{"content": {"parts": [{"text": "x" * 20_000}]}}]}
    with rig.opened(traces=True) as telemetry:
        ended(telemetry, answered(), long)
    text = rig.spans()[0]["attributes"]["gen_ai.output.messages"]
    assert len(text) < 10_100
    assert "...[TRUNCATED: original length 200" in text


def test_a_failure_of_telemetry_does_not_stop_the_session(
    rig: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with rig.opened() as telemetry, caplog.at_level(logging.WARNING):
        telemetry.model_calls[0].call_ended(answered())
    assert "telemetry could not take something down" in caplog.text
