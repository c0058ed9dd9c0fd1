"""Which failures of a stream are followed by another attempt, and how edits become a config."""

from __future__ import annotations

from dataclasses import replace

import pytest

from services.abort import AbortError
from services.chat import RequestEdits, retry_kind
from services.hooks.model_call import AgentExecutionStopped
from services.model.errors import ApiError, InvalidStreamError
from services.settings import Settings

SERVER = ApiError.from_parts(500, "down", "INTERNAL")


@pytest.mark.parametrize("error", [AbortError("Aborted"), AgentExecutionStopped("enough")])
def test_an_abort_and_a_verdict_of_hooks_are_final(error: Exception) -> None:
    assert retry_kind(error, Settings(), aborted=False) is None


def test_a_server_error_is_retried_unless_the_prompt_is_aborted() -> None:
    assert retry_kind(SERVER, Settings(), aborted=False) is not None
    assert retry_kind(SERVER, Settings(), aborted=True) is None


def test_an_invalid_answer_is_retried_after_an_abort_too() -> None:
    invalid = InvalidStreamError("nothing", "NO_RESPONSE_TEXT")
    assert retry_kind(invalid, Settings(), aborted=True) == "NO_RESPONSE_TEXT"


def test_a_refusal_is_final() -> None:
    refused = ApiError.from_parts(400, "bad", "INVALID_ARGUMENT")
    assert retry_kind(refused, Settings(), aborted=False) is None


def test_a_request_without_edits_has_the_products_fields_in_their_order() -> None:
    config = RequestEdits().applied({"topK": 64}, "be brief", [{"functionDeclarations": []}])
    assert list(config) == ["topK", "systemInstruction", "tools"]
    assert config["topK"] == 64


def test_an_edit_changes_adds_and_removes_fields_and_leaves_nulls_of_the_product() -> None:
    edits = RequestEdits(
        config={"topK": None, "temperature": 0.5},
        instruction=lambda said: f"{said}!",
        tools=lambda _: None,
    )
    config = edits.applied({"topK": 64, "seed": None}, "hi", [])
    assert config == {"seed": None, "systemInstruction": "hi!", "temperature": 0.5}
    assert replace(edits, config={}).applied({"topK": 64}, "hi", [])["topK"] == 64
