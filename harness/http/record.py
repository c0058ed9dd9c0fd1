"""Records the project's own HTTP cassettes: the real client against the stand-in, under vcrpy.

Nothing in them comes from the API, as a comment in each file says. Every run of
`record_http_cassettes(folder)` writes the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from harness.http.standin import open_standin
from harness.whole_file import write_whole
from services.abort import AbortController
from services.clock import SystemClock
from services.model.auth import AuthConfig, AuthType
from services.model.errors import ModelError
from services.model.gemini import GeminiContentGenerator
from services.model.generator import LlmRole, ModelRequest
from services.redaction import redacted
from services.wire import Content, Json, JsonObject

__all__ = ["SCENARIOS", "HttpScenario", "record_http_cassettes"]

_MODEL: Final = "gemini-2.5-flash"
_KEPT_HEADERS: Final = frozenset({"content-type"})
_TOP: Final = (
    "# Recorded from the project's own stand-in for the Gemini API (harness/http/standin.py):\n"
    "# authored answers, not the service's. vcrpy's format; see README.md in this folder.\n"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpScenario:
    """One cassette: the stand-in's steps and the client's requests."""

    name: str
    note: str
    steps: Sequence[Mapping[str, Json]]
    conversations: Sequence[Sequence[Content]]
    """The contents of each request, in order, one for each step."""
    contract: tuple[str, ...]
    """Ids of the behaviours that it shows; vcrpy ignores the key."""


def _user(*parts: JsonObject) -> Content:
    return {"role": "user", "parts": list(parts)}


def _model(*parts: JsonObject) -> Content:
    return {"role": "model", "parts": list(parts)}


def _chunk(*parts: JsonObject, finish: str | None = None, tokens: int = 0) -> JsonObject:
    candidate: JsonObject = {"content": _model(*parts), "index": 0}
    chunk: JsonObject = {"candidates": [candidate], "modelVersion": _MODEL, "responseId": "r-1"}
    if finish is not None:
        candidate["finishReason"] = finish
        chunk["usageMetadata"] = {
            "promptTokenCount": 12,
            "candidatesTokenCount": tokens,
            "totalTokenCount": 12 + tokens,
        }
    return chunk


_HELLO = _user({"text": "Say hello in three languages."})
_MORE = _user({"text": "And in three more."})
_AGAIN = _user({"text": "And once more."})
_LIST = _user({"text": "What is in this folder?"})
_CALL: JsonObject = {
    "functionCall": {"id": "call-1", "name": "list_directory", "args": {"dir_path": "."}},
    "thoughtSignature": "c2lnbmF0dXJlLTE=",
}
_CALLED = _user(
    {
        "functionResponse": {
            "id": "call-1",
            "name": "list_directory",
            "response": {"output": "Directory listing for .:\nREADME.md"},
        }
    }
)
_GREETING = ({"text": "Hello, "}, {"text": "bonjour, "}, {"text": "こんにちは 👋"})
_ANSWER = (
    _chunk(_GREETING[0]),
    _chunk(_GREETING[1]),
    _chunk(_GREETING[2], finish="STOP", tokens=9),
)
_SLOW_DOWN: JsonObject = {
    "status": 429,
    "message": "Resource has been exhausted (e.g. check quota).",
    "grpc": "RESOURCE_EXHAUSTED",
    "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "2s"}],
}
_OVERLOADED: JsonObject = {
    "status": 503,
    "message": "The model is overloaded. Please try again later.",
    "grpc": "UNAVAILABLE",
}
_BAD_REQUEST: JsonObject = {
    "status": 400,
    "message": "Request contains an invalid argument.",
    "grpc": "INVALID_ARGUMENT",
}

SCENARIOS: Final = (
    HttpScenario(
        name="stream_text",
        note="an answer in three chunks, with usage at the end",
        steps=[{"stream": list(_ANSWER)}],
        conversations=[[_HELLO]],
        contract=("P-009", "P-012"),
    ),
    HttpScenario(
        name="tool_call_and_answer",
        note="a thought, a signed tool call, its result, and the final answer",
        steps=[
            {
                "stream": [
                    _chunk({"text": "**Looking** at the folder", "thought": True}),
                    _chunk(_CALL, finish="STOP", tokens=6),
                ]
            },
            {"stream": [_chunk({"text": "Only README.md."}, finish="STOP", tokens=5)]},
        ],
        conversations=[[_LIST], [_LIST, _model(_CALL), _CALLED]],
        contract=("P-011", "P-016", "P-033"),
    ),
    HttpScenario(
        name="quota_then_answer",
        note="429 with a RetryInfo of two seconds, then an answer",
        steps=[{"error": _SLOW_DOWN}, {"stream": list(_ANSWER)}],
        conversations=[[_HELLO], [_HELLO]],
        contract=("P-068",),
    ),
    HttpScenario(
        name="error_in_the_middle",
        note="an error event after a chunk, and at the start; asked again, an answer; then 400",
        steps=[
            {"stream": [_chunk(_GREETING[0])], "then_error": _OVERLOADED},
            {"stream": list(_ANSWER)},
            {"stream": [_chunk(_GREETING[0])], "then_error": _BAD_REQUEST},
            {"stream": [], "then_error": _OVERLOADED},
            {"stream": list(_ANSWER)},
        ],
        conversations=[[_HELLO], [_HELLO], [_MORE], [_AGAIN], [_AGAIN]],
        contract=("P-073",),
    ),
    HttpScenario(
        name="bad_request",
        note="400, which is not retried",
        steps=[{"error": _BAD_REQUEST}],
        conversations=[[_HELLO]],
        contract=("P-065", "P-066"),
    ),
)


async def record_http_cassettes(out_dir: Path) -> list[Path]:
    """Record every scenario into `out_dir`, replacing existing files; return the files.

    Needs loopback sockets and no network. Raises `OSError` when the folder cannot be written.
    """
    out_dir.mkdir(parents=True, exist_ok=True)
    return [await _record(scenario, out_dir) for scenario in SCENARIOS]


async def _record(scenario: HttpScenario, out_dir: Path) -> Path:
    from vcr import VCR

    file = out_dir / f"{scenario.name}.yaml"
    file.unlink(missing_ok=True)
    recorder = VCR(before_record_request=_clean_request, before_record_response=_clean_response)
    async with open_standin(scenario.steps) as standin:
        with recorder.use_cassette(str(file), record_mode="all"):
            auth = AuthConfig(
                type=AuthType.USE_GEMINI, api_key="stand-in", base_url=standin.base_url
            )
            generator = GeminiContentGenerator(auth, SystemClock())
            for contents in scenario.conversations:
                await _ask(generator, contents)
            await generator.aclose()
    text, ids = file.read_text("utf-8"), ", ".join(scenario.contract)
    write_whole(file, redacted(f"{_TOP}# {scenario.note}\ncontract: [{ids}]\n{text}"))
    return file


async def _ask(generator: GeminiContentGenerator, contents: Sequence[Content]) -> None:
    request = ModelRequest(
        model=_MODEL,
        contents=contents,
        role=LlmRole.MAIN,
        prompt_id="stand-in########0",
        signal=AbortController().signal,
    )
    try:
        async with aclosing(await generator.generate_content_stream(request)) as stream:
            async for _ in stream:
                pass
    except ModelError:
        # Some scenarios are about errors, which the cassette records.
        return


def _clean_request(request: Any) -> Any:
    """Remove API key, versions and port, which differ from run to run."""
    request.uri = re.sub(
        r"^http://127\.0\.0\.1:\d+", "https://generativelanguage.googleapis.com", request.uri
    )
    request.headers = {
        name: value for name, value in request.headers.items() if name.lower() in _KEPT_HEADERS
    }
    return request


def _clean_response(response: dict[str, Any]) -> dict[str, Any]:
    kept = {
        name: value for name, value in response["headers"].items() if name.lower() in _KEPT_HEADERS
    }
    return {**response, "headers": kept}
