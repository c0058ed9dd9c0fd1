"""What is said of errors that agents answer with."""

from __future__ import annotations

from typing import Any

import pytest

from services.subagents.remote.refusals import (
    refused_over_rest,
    refused_over_rpc,
    stream_error_text,
)

NO = {"code": -32050, "message": "no", "data": {"why": 1}}
NAMED = {"code": -32001, "message": "no"}


@pytest.mark.parametrize(
    ("error", "streaming", "said"),
    [
        (NO, True, 'SSE event contained an error: no (Code: -32050) Data: {"why":1}'),
        (NO, False, 'JSON-RPC error: no (Code: -32050) Data: {"why":1}'),
        (NAMED, True, "SSE event contained an error: no (Code: -32001) Data: {}"),
        (NAMED, False, "Task not found"),
        ("no", False, "JSON-RPC error: undefined (Code: undefined) Data: {}"),
        ({**NO, "data": []}, False, "JSON-RPC error: no (Code: -32050) Data: []"),
        ({**NO, "data": 0}, False, "JSON-RPC error: no (Code: -32050) Data: {}"),
    ],
)
def test_a_named_json_rpc_code_has_its_own_message(error: Any, streaming: bool, said: str) -> None:
    assert refused_over_rpc(error, streaming=streaming) == said


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (NO, 'REST error: no (Code: -32050) Data: {"why":1}'),
        ({"code": 5, "message": "no"}, "REST error: no (Code: 5)"),
        ({"code": 5, "message": "no", "data": {}}, "REST error: no (Code: 5) Data: {}"),
        ({"code": 5, "message": "no", "data": ""}, "REST error: no (Code: 5)"),
        (NAMED, "no"),
        ({"code": -32001}, "Task not found"),
        ({"code": "5"}, None),
        ({"detail": "no"}, None),
    ],
)
def test_over_http_the_agents_own_message_is_preferred(body: Any, said: str | None) -> None:
    assert refused_over_rest(body) == said


@pytest.mark.parametrize(
    ("text", "rest", "said"),
    [
        ('{"code": 5, "message": "no"}', True, "REST error: no (Code: 5)"),
        (
            '{"error": {"code": 5, "message": "no"}}',
            False,
            "SSE event contained an error: no (Code: 5) Data: {}",
        ),
        ("no JSON", False, None),
    ],
)
def test_an_event_of_the_kind_error_is_an_error_like_others(
    text: str, rest: bool, said: str | None
) -> None:
    error = RuntimeError(f"SSE stream error event received: {text}")
    assert stream_error_text(error, rest=rest) == said
    assert stream_error_text(RuntimeError(text), rest=rest) is None
