"""Probes of the calls that start agents, and of those that agents make."""

from typing import Any

import pytest

from harness.replay.observation import ObservedRequest
from tests.harness.coverage.test_child_probes import child, found, seen

CALL = {"type": "tool_request", "name": "invoke_agent", "requestId": "c"}


def answered(error: str | None, text: str, *states: str) -> set[str]:
    data = {"errorType": error} if error else {}
    response = {**CALL, "type": "tool_response", "data": data, "content": [{"text": text}]}
    return found(seen(events=[CALL, response], tool_states={"c": list(states)}))


def inside(*states: str, **changes: Any) -> set[str]:
    values = {"tool_states": {"i": list(states)}, "threads": {"tool_states": {0: "0/0"}}}
    return found(seen(child(**changes), **values))


def test_a_call_that_starts_no_agent_shows_why() -> None:
    assert "child:start.invalid_tool_params" in answered("invalid_tool_params", "no", "error")
    late = answered("execution_failed", "no", "validating", "executing", "error")
    assert "child:result.execution_failed" in late
    assert not any(probe.startswith("child:start") for probe in late)
    blocked = answered("policy_violation", "Tool execution blocked: no", "validating", "error")
    assert "child:start.hook_blocked" in blocked
    assert "child:start.policy_violation" not in blocked


def test_a_call_that_a_person_was_asked_about_shows() -> None:
    assert "child:start.asked" in answered(None, "", "validating", "awaiting_approval", "executing")
    assert "child:start.asked" not in answered(None, "", "validating", "executing")


def test_an_unreachable_remote_agent_has_a_probe() -> None:
    text = '{"result":"Error calling remote agent: fetch failed"}'

    assert "child:remote.unreachable" in answered(None, text, "executing", "success")


@pytest.mark.parametrize(("request_line", "asked"), [("POST /rpc", True), ("GET /card", False)])
def test_a_remote_agent_that_is_asked_has_a_probe(request_line: str, asked: bool) -> None:
    probes = found(seen(custom={"http": [{"request": request_line}]}))
    assert ("child:remote.asked" in probes) is asked


def test_states_of_an_agents_calls_show_and_those_of_its_parents_do_not() -> None:
    states = ["validating", "awaiting_approval", "executing", "validating", "executing", "success"]

    probes = {"child:call.success", "child:call.asked", "child:hook.tail_call"}
    assert probes <= inside(*states)
    assert not probes & found(seen(child(), tool_states={"i": states}))


def test_a_confirmation_shows_as_an_agents_where_it_is_one() -> None:
    asked = [{"event": "confirmation", "type": "edit", "outcome": "cancel"}]

    its = seen(child(), side_events=asked, threads={"side_events": {0: "0/0"}})
    assert "child:confirmed.edit.cancel" in found(its)
    for threads in ({}, {"side_events": {0: "main"}}):
        mains = seen(child(), side_events=asked, threads=threads)
        assert "child:confirmed.edit.cancel" not in found(mains)


def start(name: str = "write_file", **data: Any) -> dict[str, Any]:
    return {"type": "TOOL_CALL_START", "data": {"name": name, "callId": "i", **data}}


def test_a_call_without_approval_differs_from_one_with_approval() -> None:
    assert "child:unasked.write_file" in inside("executing", "success", activities=[start()])
    asked = inside("awaiting_approval", "executing", "success", activities=[start()])
    assert "child:unasked.write_file" not in asked
    assert "child:unasked.write_file" not in inside("error", activities=[start()])


def test_the_same_call_five_times_shows_within_one_agent_alone() -> None:
    assert "child:same_call_again" in found(seen(child(activities=[start(args={})] * 5)))
    assert "child:same_call_again" not in found(
        seen(child(activities=[start(args={"n": n}) for n in range(5)]))
    )
    assert "child:same_call_again" not in found(
        seen(child(activities=[start()] * 4), child("1/0", activities=[start()]))
    )


def test_a_tool_denied_to_one_agent_that_another_used_shows() -> None:
    denied = {"name": "read_file", "error": "Tool execution denied by policy. No."}
    one = child(activities=[{"type": "ERROR", "data": denied}])
    done = [{"type": "TOOL_CALL_END", "data": {"name": "read_file"}}]

    assert "child:denied_to_one" in found(seen(one, child("1/0", activities=done)))
    assert "child:denied_to_one" not in found(seen(one, child("1/0")))
    later = child(activities=[*one.activities, *done])
    assert "child:denied_to_one" not in found(seen(later))


@pytest.mark.parametrize(
    ("event", "times", "probe"),
    [
        ("BeforeTool", 2, "child:hook.received.BeforeTool"),
        ("BeforeTool", 1, None),
        ("BeforeAgent", 0, None),
        ("AfterModel", 2, "child:hook.received.AfterModel"),
        ("AfterModel", 1, None),
    ],
)
def test_a_hook_that_received_more_than_the_parent_sends_received_an_agents_event(
    event: str, times: int, probe: str | None
) -> None:
    log = f'{{"hook_event_name":"{event}"}}\n' * times
    asked = [ObservedRequest(method="generateContentStream", role="main", model="m")]
    probes = found(seen(child(), events=[CALL], requests=asked, workspace_changes={"x.log": log}))

    assert {each for each in probes if each.startswith("child:hook")} == ({probe} - {None})


def test_a_hook_that_fired_once_for_each_prompt_received_no_agents_event() -> None:
    def fired(times: int) -> set[str]:
        log = '{"hook_event_name":"BeforeAgent"}\n' * times
        events = [{"type": "agent_start"}]
        return found(seen(child(), events=events, workspace_changes={"x.log": log}))

    assert "child:hook.not_received.BeforeAgent" in fired(1)
    assert "child:hook.not_received.BeforeAgent" not in fired(2)
