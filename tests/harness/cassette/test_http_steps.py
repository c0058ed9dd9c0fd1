"""The section `http` of a cassette: what it becomes, and how its mistakes are named."""

from pathlib import Path

import pytest

from harness.cassette.format import AtHttpRequest, AtOutput, HttpAnswer
from tests.harness.cassette.loading import SMALL, load, refused


def section(*lines: str) -> str:
    return SMALL + "\n".join(["http:", *lines, ""])


def test_a_step_has_an_address_conditions_and_an_answer(tmp_path: Path) -> None:
    text = section(
        "- {get: /card?v=1, json: {$schema: x, a: [1]}, repeat: 2}",
        "- post: /rpc",
        "  rpc: message/stream",
        "  sent: {Authorization: Bearer b}",
        "  status: 201",
        "  headers: {X-A: b}",
        "  stream: [{a: {$repeat: {text: x, times: 3}}}, {$hang: true}]",
        "  optional: true",
        "- {get: /x, text: hello}",
    )
    first, second, third, fourth = load(tmp_path, text).http
    assert first is second
    assert (first.method, first.target, first.answer) == ("GET", "/card?v=1", HttpAnswer.JSON)
    assert (first.value, first.status, first.optional) == ({"$schema": "x", "a": [1]}, 200, False)
    assert (third.method, third.target, third.rpc) == ("POST", "/rpc", "message/stream")
    assert (third.sent, third.headers) == ({"authorization": "Bearer b"}, {"X-A": "b"})
    assert (third.status, third.optional, third.place) == (201, True, "http[1]")
    assert third.value == [{"a": "xxx"}, {"$hang": True}]
    assert (fourth.answer, fourth.value, fourth.sent) == (HttpAnswer.TEXT, "hello", {})


@pytest.mark.parametrize(
    ("step", "key", "words", "mend"),
    [
        ("x", "http[0]", "must be a mapping", "write keys"),
        ("{json: 1}", "http[0]", "has no address", "post: /path"),
        ("{get: /, post: /, json: 1}", "http[0]", "has get and post", "post: /path"),
        ("{get: /}", "http[0]", "found none", "one answer"),
        ("{get: /, json: 1, text: x}", "http[0]", "found json and text", "one answer"),
        ("{get: card, json: 1}", "http[0].get", "'card' is not the path", "first slash"),
        ("{get: 'http://a/b', json: 1}", "http[0].get", "is not the path", "without the host"),
        ('{get: "/a b", json: 1}', "http[0].get", "is not the path", "first slash"),
        ("{get: /, jsonn: 1}", "http[0].jsonn", "unknown key", "did you mean json?"),
        ("{get: /, json: 1, status: 99}", "http[0].status", "from 200", "such a number"),
        ("{get: /, json: 1, status: 600}", "http[0].status", "600 is no status", "200 to 599"),
        ("{get: /, json: 1, repeat: 0}", "http[0].repeat", "from 1", "such a number"),
        ("{get: /, json: 1, repeat: 10001}", "http", "more than 10,000", "lower"),
        ("{get: /, json: 1, optional: 1}", "http[0].optional", "true or false", "write true"),
        ("{get: /, json: 1, sent: {a: 1}}", "http[0].sent.a", "must be text", "in quotes"),
        ("{get: /, json: 1, headers: {'a b': c}}", "http[0].headers.a b", "no", "name: value"),
        ('{get: /, json: 1, headers: {a: "b\\nc"}}', "http[0].headers.a", "no", "plain ASCII"),
        ("{get: /, text: 1}", "http[0].text", "must be text", "in quotes"),
        ("{post: /, result: {}}", "http[0].result", "names no method", "add `rpc:"),
        ("{post: /, error: {}}", "http[0].error", "names no method", "write `json`"),
        ("{post: /, rpc: a, error: no}", "http[0].error", "must be a mapping", "key: value"),
        ("{post: /, hang: false}", "http[0].hang", "must be true", "another answer"),
        ("{post: /, cut: x}", "http[0].cut", "true or false", "write true"),
        ("{post: /, stream: {}}", "http[0].stream", "must be a list", "with `- `"),
        ("{post: /, stream: [x]}", "http[0].stream[0]", "must be a mapping", "$raw"),
        ("{post: /, stream: [{$rew: x}]}", "http[0].stream[0].$rew", "unknown macro", "$raw"),
        ("{post: /, stream: [{$sleep: 1}]}", "http[0].stream[0].$sleep", "unknown macro", "$cut"),
        ("{post: /, stream: [{$raw: x, a: 1}]}", "http[0].stream[0].a", "unknown key", "$raw"),
        ("{post: /, stream: [{$raw: 1}]}", "http[0].stream[0].$raw", "must be text", "quotes"),
        ("{post: /, stream: [{$cut: 1}]}", "http[0].stream[0].$cut", "must be true", "write true"),
        ("{post: /, stream: [{$error: {}}]}", "http[0].stream[0].$error", "`rpc`", "code"),
        ("{post: /, rpc: a, stream: [{$error: x}]}", "http[0].stream[0].$error", "is a", "code"),
    ],
)
def test_a_mistake_is_named_with_its_place_and_a_mend(
    tmp_path: Path, step: str, key: str, words: str, mend: str
) -> None:
    error = refused(tmp_path, section(f"- {step}"))
    assert error.key == key
    assert words in error.problem
    assert mend in error.mend


def test_the_section_is_a_list(tmp_path: Path) -> None:
    assert refused(tmp_path, SMALL + "http: {}\n").key == "http"


def test_the_markers_of_the_section_mean_nothing_elsewhere(tmp_path: Path) -> None:
    error = refused(tmp_path, SMALL.replace("{text: hi}", "{stream: [{$raw: x}]}"))
    assert error.key == "model[0].stream[0].$raw"


def test_an_action_can_wait_for_a_later_output(tmp_path: Path) -> None:
    when = "during: [{when: {output: {of: invoke_agent, nth: 3}}, do: abort}]\n"
    (moment,) = load(tmp_path, SMALL + when).during
    assert moment.when == AtOutput("invoke_agent", 3)


@pytest.mark.parametrize(
    ("output", "key"),
    [("7", "output"), ("{nth: 1}", "output.of"), ("{of: x, nth: 0}", "output.nth")],
)
def test_a_wrong_output_is_named(tmp_path: Path, output: str, key: str) -> None:
    error = refused(tmp_path, f"{SMALL}during: [{{when: {{output: {output}}}, do: abort}}]\n")
    assert error.key == f"during[0].when.{key}"


def test_an_action_can_wait_for_a_request_to_an_address(tmp_path: Path) -> None:
    (moment,) = load(tmp_path, SMALL + "during: [{when: {http: 2}, do: abort}]\n").during
    assert moment.when == AtHttpRequest(2)
    error = refused(tmp_path, SMALL + "during: [{when: {http: -1}, do: abort}]\n")
    assert error.key == "during[0].when.http"
