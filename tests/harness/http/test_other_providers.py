"""Recordings of OpenAI's and Anthropic's APIs, as the replay answers from them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from harness.cli import parity
from harness.http.exchanges import HttpRecording, SkippedRecording
from harness.http.vcr_cassettes import load_recording
from services.model.replay.steps import StepMethod

CHAT = "https://api.openai.com/v1/chat/completions"
MESSAGES = "https://api.anthropic.com/v1/messages"
ASKED = {"model": "m", "messages": [{"role": "user", "content": "Tea?"}]}
DONE = "data: [DONE]\n\n"

Load = Callable[..., HttpRecording | SkippedRecording]


def events(*found: dict[str, Any]) -> str:
    return "".join(f"data: {json.dumps(each)}\n\n" for each in found)


def delta(finish: str | None = None, **found: Any) -> dict[str, Any]:
    return {"id": "a", "choices": [{"index": 0, "delta": found, "finish_reason": finish}]}


def interaction(
    uri: str, body: str | dict[str, Any], status: int = 200, asked: Any = ASKED, **headers: str
) -> dict[str, Any]:
    text = body if isinstance(body, str) else json.dumps(body)
    named = {name.replace("_", "-"): [value] for name, value in headers.items()}
    return {
        "request": {"method": "POST", "uri": uri, "body": json.dumps(asked), "headers": {}},
        "response": {
            "status": {"code": status, "message": ""},
            "headers": named,
            "body": {"string": text},
        },
    }


@pytest.fixture
def load(tmp_path: Path) -> Load:
    def write(*interactions: dict[str, Any]) -> HttpRecording | SkippedRecording:
        file = tmp_path / "r.yaml"
        file.write_text(yaml.safe_dump({"interactions": list(interactions)}))
        return load_recording(file)

    return write


def parts(recording: HttpRecording | SkippedRecording) -> list[Any]:
    assert isinstance(recording, HttpRecording), recording
    return [
        part
        for exchange in recording.exchanges
        for chunk in exchange.chunks
        for candidate in chunk.get("candidates") or ()
        for part in candidate["content"]["parts"]
    ]


def test_a_stream_of_openai(load: Load) -> None:
    function = {"name": "stock", "arguments": '{"item": "tea"}'}
    call = {"index": 0, "id": "c1", "function": function}
    body = events(delta(content="Let me see."), delta(tool_calls=[call]), delta("tool_calls"))

    found = load(interaction(CHAT, body + DONE, asked={**ASKED, "stream": True}))

    wanted = {"id": "c1", "name": "stock", "args": {"item": "tea"}}
    assert parts(found) == [{"text": "Let me see."}, {"functionCall": wanted}]
    assert isinstance(found, HttpRecording)
    assert (found.model, found.sends(), found.exchanges[0].calls_tools) == ("m", ("Tea?",), True)


def test_a_stream_of_anthropic_that_breaks(load: Load) -> None:
    start = {"type": "content_block_start", "index": 0, "content_block": {"type": "text"}}
    said = {"type": "content_block_delta", "index": 0, "delta": {"text": "Yes"}}
    broken = {"type": "error", "error": {"type": "overloaded_error", "message": "Too much."}}

    found = load(
        interaction(MESSAGES, events(start, said, broken), asked={**ASKED, "stream": True})
    )

    assert parts(found) == [{"text": "Yes"}]
    assert isinstance(found, HttpRecording)
    assert found.exchanges[0].chunks[-1]["error"]["message"] == "Too much."
    assert found.exchanges[0].is_retried


def test_a_whole_answer_of_anthropic_with_a_count_before_it(load: Load) -> None:
    block = {"type": "tool_use", "id": "c1", "name": "stock", "input": {"item": "tea"}}

    found = load(
        interaction(f"{MESSAGES}/count_tokens", {"input_tokens": 7}),
        interaction(MESSAGES, {"content": [block], "stop_reason": "tool_use"}),
    )

    wanted = {"id": "c1", "name": "stock", "args": {"item": "tea"}}
    assert parts(found) == [{"functionCall": wanted}]
    assert isinstance(found, HttpRecording)
    assert found.exchanges[0].method is StepMethod.COUNT_TOKENS
    assert json.loads(found.exchanges[0].body) == {"totalTokens": 7}


@pytest.mark.parametrize("wait", ["4", "Thu, 01 Jan 2026 00:00:00 GMT"])
def test_a_refusal_keeps_its_wait_where_it_is_a_number(load: Load, wait: str) -> None:
    refused = interaction(CHAT, {"error": {"message": "Slow."}}, 429, retry_after=wait)

    found = load(refused, interaction(CHAT, {"choices": [{"message": {"content": "Yes"}}]}))

    assert isinstance(found, HttpRecording)
    error = json.loads(found.exchanges[0].body)["error"]
    assert (found.exchanges[0].status, error["message"]) == (429, "Slow.")
    assert ("4s" in json.dumps(error)) == (wait == "4")
    assert found.sends() == ("Tea?",)


@pytest.mark.parametrize(
    ("uri", "body", "reason"),
    [
        ("https://api.openai.com/v1/responses", {"output": []}, "openai: OpenAI's Responses API"),
        ("https://api.openai.com/v1/embeddings", {"data": []}, "not a model call: embeddings"),
        (CHAT, "<html>", "the answer is not JSON"),
        (CHAT, {"choices": []}, "the answer holds neither text nor calls"),
        (MESSAGES, {"id": "3"}, "the answer holds neither text nor calls"),
    ],
)
def test_what_cannot_play_is_skipped_with_a_reason(
    load: Load, uri: str, body: Any, reason: str
) -> None:
    found = load(interaction(uri, body))

    assert isinstance(found, SkippedRecording)
    assert found.reason.startswith(reason)


def test_parity_import_refers_to_parity_run(tmp_path: Path, load: Load) -> None:
    load(interaction(CHAT, {"choices": [{"message": {"content": "Yes"}}]}))

    done = CliRunner().invoke(
        parity, ["import", str(tmp_path / "r.yaml"), "--out", str(tmp_path / "o")]
    )

    assert done.exit_code == 2
    assert f"plays as it is: parity run {tmp_path}/r.yaml" in done.output.replace("\n", "")
