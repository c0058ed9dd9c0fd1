import json
from dataclasses import replace

from harness.replay.request_log import RequestLog
from harness.replay.trace import to_trace, trace_json, whole_contents
from services.model.generator import LlmRole
from tests.harness.samples import CALL, ask, conversation, model, observation, paths, user


def test_the_text_and_the_value_say_the_same() -> None:
    seen = observation()

    assert json.loads(trace_json(seen)) == to_trace(seen)


def test_equal_runs_in_other_folders_give_the_same_bytes() -> None:
    assert trace_json(observation()) == trace_json(observation(base="/tmp/run-b"))


def test_it_has_the_keys_of_the_format() -> None:
    assert list(json.loads(trace_json(observation()))) == [
        "name",
        "runtime",
        "versions",
        "events",
        "transcript",
        "requests",
        "recording",
        "toolStates",
        "retries",
        "sideEvents",
        "workspaceChanges",
        "notes",
        "unusedSteps",
        "error",
    ]


def test_requests_hold_their_whole_contents() -> None:
    log, contents = RequestLog(paths()), conversation()
    asked = [contents[:1], [user("x")], contents[:3], [contents[0], model("short")]]
    for number, each in enumerate(asked):
        role = LlmRole.UTILITY_ROUTER if number == 1 else LlmRole.MAIN
        log.observe("generateContentStream", ask(each, role=role))

    assert list(whole_contents(replace(observation(), requests=log.requests))) == asked


def test_a_request_is_written_as_the_format_says() -> None:
    request = to_trace(observation())["requests"][1]

    assert request["method"] == "generateContentStream"
    assert request["role"] == "main"
    assert request["config"] == {"temperature": 1}
    assert request["tools"] == ["read_file", "glob"]
    assert len(request["systemInstruction"]) == 64
    assert request["contents"][0]["parts"][0]["text"] == "In <WS>"
    assert "thread" not in request


def test_only_the_formats_config_is_written() -> None:
    log = RequestLog(paths())
    log.observe("generateContent", ask([], config={"topK": 64, "responseJsonSchema": {}}))

    (request,) = to_trace(replace(observation(), requests=log.requests))["requests"]

    assert request["config"] == {"topK": 64}
    assert "systemInstruction" not in request


def test_states_retries_and_changes_are_written() -> None:
    trace = to_trace(observation())

    assert trace["toolStates"] == {CALL: ["validating", "scheduled", "executing", "success"]}
    assert trace["retries"] == [
        {"attempt": 1, "maxAttempts": 10, "delayMs": 5000, "error": "E", "model": "m"}
    ]
    assert trace["workspaceChanges"] == {"new.txt": "<WS>", "old.txt": None}
    assert trace["error"] is None


def test_the_value_shares_nothing_with_the_observation() -> None:
    seen = observation()
    to_trace(seen)["events"][0]["type"] = "changed"

    assert seen.events[0]["type"] == "agent_start"


def test_half_characters_survive() -> None:
    seen = replace(observation(), transcript=[user("\ud800")])

    assert json.loads(trace_json(seen))["transcript"] == [user("\ud800")]


def test_a_remark_has_the_row_of_its_request() -> None:
    log = RequestLog(paths())
    log.observe("generateContentStream", ask(conversation()[:2]))
    first, second = (
        to_trace(replace(observation(), requests=requests))["requests"][0]
        for requests in (log.requests, observation().requests)
    )

    assert [found["rule"] for found in first["provider"]] == ["call-unanswered"]
    assert first["provider"][0]["severity"] == "error"
    assert "provider" not in second
