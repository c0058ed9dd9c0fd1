from dataclasses import replace
from typing import Any, cast

import pytest

from harness.baseline.projected import projected
from harness.coverage.probes import PREFIXES, reached, shared_probes
from harness.replay.observation import Observation, ObservedRequest
from services.state import RetryAttempt
from tests.harness.samples import observation


def events(*found: dict[str, Any]) -> Observation:
    return replace(observation(), events=list(found))


def request(**changes: Any) -> ObservedRequest:
    values: dict[str, Any] = {
        "method": "generateContentStream",
        "role": "main",
        "model": "gemini-2.5-flash",
    }
    return ObservedRequest(**{**values, **changes})


def asked(*requests: ObservedRequest) -> Observation:
    return replace(observation(), requests=requests)


def said(text: str, **changes: Any) -> ObservedRequest:
    return request(new_contents=({"role": "user", "parts": [{"text": text}]},), **changes)


def retry(error: str, attempt: int = 1) -> Observation:
    found = RetryAttempt(attempt=attempt, max_attempts=4, delay_ms=1.0, error=error, model="m")
    return replace(observation(), retries=[found])


def test_a_whole_run_shows_each_thing_once_sorted_and_of_a_known_kind() -> None:
    found = reached(observation())

    assert list(found) == sorted(set(found))
    assert {probe.partition(":")[0] for probe in found} <= set(PREFIXES)
    assert {
        "end:completed",
        "error:INTERNAL",
        "error:not_fatal",
        "error_code:E1",
        "event:usage",
        "message:agent.text",
        "policy:allowed",
        "recorded:user",
        "retry:first",
        "sent:result",
        "side:model_changed",
        "tool:read_file",
        "tool_end:success",
        "tool_step:executing>success",
        "workspace:deleted",
        "workspace:written",
    } <= set(found)


def test_a_baseline_shows_what_its_run_showed() -> None:
    assert reached(projected(observation())) == reached(observation())


@pytest.mark.parametrize(
    ("seen", "probe"),
    [
        (events({"type": "agent_end", "reason": "max_turns"}), "end:max_turns"),
        (
            events({"type": "agent_end", "reason": "completed", "data": {"message": "m"}}),
            "hook:agent_stopped",
        ),
        (
            events({"type": "usage"}, {"type": "agent_end", "reason": "aborted"}),
            "abort:after_usage",
        ),
        (
            events({"type": "error", "status": "S", "_meta": {"status": 429}}),
            "http:429",
        ),
        (
            events({"type": "error", "message": "Context window will overflow (estimated: 3)"}),
            "limit:overflow",
        ),
        (events({"type": "error", "_meta": {"code": "LOOP_DETECTED"}}), "loop:ended"),
        (
            events(
                {
                    "type": "tool_response",
                    "name": "run_shell_command",
                    "isError": True,
                    "data": {"errorType": "policy_violation"},
                }
            ),
            "policy:denied",
        ),
        (
            events(
                {
                    "type": "tool_response",
                    "data": {"errorType": "policy_violation"},
                    "content": [{"type": "text", "text": "Tool execution blocked: no"}],
                }
            ),
            "hook:tool_blocked",
        ),
        (retry('{"error":{"code":503,"message":"busy"}}'), "retry:503"),
        (retry("NO_FINISH_REASON"), "retry:NO_FINISH_REASON"),
        (retry("read ECONNRESET"), "retry:other"),
        (retry("E", attempt=3), "retry:last"),
        (retry(cast("Any", None)), "retry:other"),
        (asked(said("hm"), said("hm", model="gemini-2.5-pro")), "fallback:flash->pro"),
        (
            asked(said("hm", digest="a"), said("hm", digest="b", model="gemini-2.5-pro")),
            "switched:flash->pro",
        ),
        (asked(said("hm", digest="a"), said("hm", digest="a")), "request:same_again"),
        (asked(said("System: Potential loop detected. Details: x")), "loop:warned"),
        (asked(said("x" * 5000 + "<hook_context>c</hook_context>")), "hook:context"),
        (asked(said("Please continue.")), "next_speaker:model"),
        (asked(said("User steering update:\nx")), "steering:hint"),
        (asked(said("User steering update:\nx")), "steering:own_prompt"),
        (asked(said("a", same_as_previous=3)), "resume:history"),
        (asked(request(role="utility_router", method="generateContent")), "asked:utility_router"),
        (asked(said("x", thread="0/1")), "subagent:asked"),
        (
            asked(
                said("Generate a new <state_snapshot>", role="utility_compressor", method="g"),
                said("<state_snapshot>it</state_snapshot>"),
            ),
            "compression:summary_in_history",
        ),
        (
            asked(said("Generate a new <state_snapshot>", role="utility_compressor", method="g")),
            "compression:no_summary_taken",
        ),
        (replace(observation(), tool_states={"c": ["executing", "validating"]}), "hook:tail_call"),
        (
            replace(observation(), tool_states={"c": ["validating", "awaiting_approval"]}),
            "policy:asked",
        ),
        (
            replace(
                observation(),
                side_events=[
                    {
                        "event": "fallback-handler",
                        "failed": "gemini-2.5-pro",
                        "fallback": "gemini-3.5-flash-lite",
                        "intent": "stop",
                        "error": "E",
                    }
                ],
            ),
            "handler:pro->flash-lite",
        ),
        (
            replace(observation(), side_events=[{"event": "session-updated", "model": "m"}]),
            "side:session_updated",
        ),
        (
            replace(observation(), recording={"a": [{"$rewindTo": "x"}], "b": []}),
            "recorded:rewind",
        ),
        (replace(observation(), recording={"a": [], "b": []}), "recorded:several_files"),
        (
            replace(observation(), workspace_changes={"l": '{"hook_event_name": "BeforeTool"}\n'}),
            "hook:received.BeforeTool",
        ),
        (replace(observation(), stalled=True), "replay:stalled"),
    ],
)
def test_what_happened_is_seen(seen: Observation, probe: str) -> None:
    assert probe in reached(seen)
    assert probe not in reached(observation())


def test_a_denial_by_a_hook_is_none_of_the_policy() -> None:
    seen = events(
        {
            "type": "tool_response",
            "data": {"errorType": "policy_violation"},
            "content": [{"type": "text", "text": "Tool execution blocked: no"}],
        }
    )

    assert "policy:denied" not in reached(seen)


def test_what_models_tools_and_servers_say_names_no_probe() -> None:
    secret = "sk-a b/c"
    seen = replace(
        events(
            {"type": secret, "status": secret},
            {"type": "error", "status": secret, "_meta": {"code": secret, "errorType": secret}},
            {"type": "agent_end", "reason": secret},
            {"type": "message", "role": secret, "content": [{"type": secret}]},
            {"type": "tool_request", "name": secret},
            {"type": "tool_response", "name": secret, "data": {"errorType": secret}},
        ),
        tool_states={"c": [secret, secret]},
        progress={"c": [{"question": {"type": secret}}, {"agent": {"state": secret}}]},
        side_events=[{"event": secret}, {"event": "confirmation", "type": secret, "outcome": {}}],
        retries=[],
        recording={"f": [{"type": secret}, secret]},
        requests=[request(role=secret, model=secret)],
        transcript=[{"role": secret, "parts": [{secret: 1}]}],
    )

    assert not [probe for probe in reached(seen) if "sk-a" in probe]


def test_what_calls_show_is_named_by_its_kind_and_by_the_end_of_the_call() -> None:
    seen = replace(
        events(),
        tool_states={"c": ["executing", "cancelled"], "d": ["executing", "success"]},
        progress={
            "c": [{"question": {"type": "exec"}}, {"process": 1}, {"output": "secret"}],
            "d": [{"reported": {}}, {"agent": {"state": "running"}}],
        },
        threads={"tool_states": {1: "0/0"}},
    )

    kinds = {"question.exec", "process", "output"}
    expected = kinds | {f"{kind}.then_cancelled" for kind in kinds}
    for kind in ("reported", "agent.running"):
        expected |= {kind, f"{kind}.then_success", f"child.{kind}"}
    found = {probe for probe in reached(seen) if probe.startswith("progress:")}
    assert found == {f"progress:{kind}" for kind in expected}


def test_a_question_without_an_answer_differs_from_one_with_an_answer() -> None:
    asked = {"event": "confirmation", "type": "edit", "outcome": None}

    assert "confirmed:edit.unanswered" in reached(replace(events(), side_events=[asked]))


def test_values_of_a_wrong_kind_are_passed_over() -> None:
    odd: tuple[Any, ...] = (None, 1, "x", [], {}, [None], [1])
    for value in odd:
        seen = replace(
            events(
                {"type": value},
                {"type": "message", "content": value, "_meta": value, "role": value},
                {"type": "error", "_meta": value, "message": value},
                {"type": "agent_end", "data": value, "reason": value},
                {"type": "tool_response", "content": value, "data": value, "display": value},
                {"type": "tool_request", "name": value},
            ),
            requests=[
                request(
                    config={"thinkingConfig": value},
                    new_contents=({"parts": value}, {"parts": [{"functionResponse": value}]}),
                )
            ],
            transcript=[{"parts": value, "role": value}],
            side_events=[{"event": value}, {"event": "fallback-handler", "failed": value}],
            recording={"f": [value, {"$set": value}, {"type": value}]},
            tool_states={"c": ["executing"]},
            progress={"c": [value, {"agent": value}, {"question": value}]},
        )
        assert reached(seen)


def test_what_every_run_showed_is_shared() -> None:
    aborted = replace(observation(), events=[{"type": "agent_end", "reason": "aborted"}])

    shared = shared_probes([observation(), aborted])

    assert "sent:result" in shared
    assert "end:aborted" not in shared
    assert shared_probes([]) == frozenset()
