"""The records of the log, and what is counted of them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from services.clock import VIRTUAL_EPOCH_MS
from services.message_bus import MessageBus
from services.policy.engine import PolicyEngine
from services.state import (
    ApprovalMode,
    ApprovalModeChanged,
    CoreEvents,
    Logged,
    RetryAttempt,
    SessionState,
)


def watched(telemetry: Any) -> CoreEvents:
    events = CoreEvents()
    state = SessionState(
        session_id="s",
        model="m",
        approval_mode=ApprovalMode.DEFAULT,
        interactive=False,
        events=events,
    )
    policy = PolicyEngine([], state=state, interactive=False, workspace_root=Path("ws"))
    telemetry.watch(events, MessageBus(policy), ApprovalMode.DEFAULT)
    return events


RECORD = Logged(
    name="gemini_cli.file_operation",
    body="File operation: read.",
    attributes={"operation": "read", "lines": None, "extension": ".py"},
    spoken={"words": {"text": "hello"}, "list": [1]},
)


def test_a_record_has_the_published_clis_shape(rig: Any) -> None:
    with rig.opened() as telemetry:
        watched(telemetry).emit(RECORD)

    text = rig.text()
    head, _ = json.JSONDecoder().raw_decode(text)
    assert text.startswith('{\n  "hrTime": [\n')
    assert list(head) == [
        *("hrTime", "hrTimeObserved", "resource", "instrumentationScope", "attributes"),
        *("_body", "_attributesCount", "_droppedAttributesCount"),
    ]
    assert head["hrTime"] == [VIRTUAL_EPOCH_MS // 1000, VIRTUAL_EPOCH_MS % 1000 * 1_000_000]
    assert head["instrumentationScope"] == {"name": "gemini-cli"}
    assert head["attributes"] == {
        "session.id": "the-session",
        "interactive": False,
        "auth_type": "gemini-api-key",
        "event.name": "gemini_cli.file_operation",
        "event.timestamp": "2026-01-01T00:00:00.000Z",
        "operation": "read",
        "extension": ".py",
        "words": '{\n  "text": "hello"\n}',
        "list": "[1]",
    }


def test_without_prompts_the_log_has_no_content(rig: Any) -> None:
    with rig.opened(log_prompts=False) as telemetry:
        watched(telemetry).emit(RECORD)

    (record,) = rig.records("file_operation")
    assert {"words", "list"} & set(record) == set()


def test_secrets_are_masked_in_records(rig: Any) -> None:
    key = "AIza" + "SyD3mO_k3Y-4bcdEfghIjklMnopQrstUvw12"
    with rig.opened() as telemetry:
        watched(telemetry).emit(
            Logged(name="gemini_cli.x", body=key, attributes={"a": key}, spoken={"b": {"c": key}})
        )
    assert key not in rig.text()


def test_records_are_counted(rig: Any, points: Callable[[Any], dict[str, Any]]) -> None:
    with rig.opened() as telemetry:
        events = watched(telemetry)
        events.emit(RECORD)
        events.emit(RECORD)

    (point,) = points(rig.metrics()["gemini_cli.file.operation.count"]).items()
    assert (json.loads(point[0])["extension"], point[1]) == (".py", 2)
    (session,) = points(rig.metrics()["gemini_cli.session.count"]).values()
    assert session == 1


def test_approved_plans_are_counted_by_their_mode(rig: Any, points: Any) -> None:
    with rig.opened() as telemetry:
        attributes = {"approval_mode": "autoEdit"}
        plan = Logged(name="gemini_cli.plan.execution", body="", attributes=attributes)
        watched(telemetry).emit(plan)

    (point,) = points(rig.metrics()["gemini_cli.plan.execution.count"]).items()
    assert (json.loads(point[0])["approval_mode"], point[1]) == ("autoEdit", 1)


def test_an_approval_modes_time_is_logged_when_it_ends(rig: Any) -> None:
    with rig.opened() as telemetry:
        events = watched(telemetry)
        rig.clock.advance(5)
        events.emit(ApprovalModeChanged(mode=ApprovalMode.PLAN))
        rig.clock.advance(7)

    (switch,) = rig.records("plan.approval_mode_switch")
    assert (switch["from_mode"], switch["to_mode"]) == ("default", "plan")
    durations = rig.records("plan.approval_mode_duration")
    assert [(one["mode"], one["duration_ms"]) for one in durations] == [("default", 5), ("plan", 7)]


@pytest.mark.parametrize(
    ("error", "name"),
    [("NO_RESPONSE_TEXT", "chat.content_retry"), ("ECONNRESET", "network_retry_attempt")],
)
def test_a_retry_is_logged_by_what_failed(rig: Any, error: str, name: str) -> None:
    with rig.opened() as telemetry:
        watched(telemetry).emit(
            RetryAttempt(attempt=1, max_attempts=3, delay_ms=1, error=error, model="m")
        )
    (record,) = rig.records(name)
    assert (record["error_type"], record["model"]) == (error, "m")
    other = {"chat.content_retry", "network_retry_attempt"} - {name}
    assert rig.records(other.pop()) == []
