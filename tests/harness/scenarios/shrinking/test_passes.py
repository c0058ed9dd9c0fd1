from collections.abc import Callable
from typing import Any

import pytest

from harness.cassette.macros import expand
from harness.scenarios.shrinking.passes import PASSES
from tests.harness.scenarios.shrinking.descending import (
    FAILURE,
    HOOK,
    HOOKS,
    Document,
    always,
    call,
    cassette,
    chunk,
    down,
    stream,
)

BY_NAME = {each.name: each for each in PASSES}


def settings(**values: Any) -> Document:
    return cassette(session={"model": "gemini-2.5-flash", "settings": values})


def has(text: str) -> Callable[[Document], bool]:
    return lambda document: text in repr(document)


EXAMPLES: dict[str, tuple[Document, Callable[[Document], bool], Document]] = {
    "unused steps": (
        cassette(
            model=[{"text": "a", "repeat": 4}, {"text": "b"}, {"text": "c"}], unused=[2, 3, 5]
        ),
        always,
        cassette(model=[{"text": "a", "repeat": 2}, {"text": "b"}], unused=[2, 3, 5]),
    ),
    "answers with their agents": (
        cassette(
            model=[
                {"stream": [chunk(call("invoke_agent"))]},
                {"text": "a", "role": "subagent", "thread": "0/0"},
                {"stream": [chunk(call("invoke_agent"))]},
                {"text": "b", "role": "subagent", "thread": "1/0"},
            ],
        ),
        has("'b'"),
        cassette(
            model=[
                {"stream": [chunk(call("invoke_agent"))]},
                {"text": "b", "role": "subagent", "thread": "0/0"},
            ],
        ),
    ),
    "overrides of agents": (
        cassette(session={"settings": {"agents": {"overrides": {"one": {}, "two": {}}}}}),
        has("two"),
        cassette(session={"settings": {"agents": {"overrides": {"two": {}}}}}),
    ),
    "prompts with their answers": (
        cassette(
            script=[{"send": "1"}, {"compress": True}, {"send": "2"}, {"send": "3"}],
            model=[
                {"stream": [chunk(call())]},
                {"text": "to 1"},
                {"role": "utility_router", "json": {}},
                {"error": {"status": 500, "message": "at 2"}},
                {"stream": [chunk(call())]},
                {"text": "to 2"},
                {"text": "to 3"},
            ],
        ),
        has("to 2"),
        cassette(
            script=[{"compress": True}, {"send": "2"}],
            model=[
                {"role": "utility_router", "json": {}},
                {"error": {"status": 500, "message": "at 2"}},
                {"stream": [chunk(call())]},
                {"text": "to 2"},
            ],
        ),
    ),
    "actions": (
        cassette(script=[{"send": "a"}, {"compress": True}, {"send": "b"}]),
        has("compress"),
        cassette(script=[{"compress": True}]),
    ),
    "answers": (
        cassette(model=[{"text": "a"}, {"text": "b"}, {"text": "c"}]),
        has("'b'"),
        cassette(model=[{"text": "b"}]),
    ),
    "whole keys": (
        cassette(files={}, during=[], note="stays", match="by_role"),
        has("match"),
        cassette(note="stays", match="by_role"),
    ),
    "set-up": (
        cassette(session={"model": "m", "approval_mode": "yolo", "interactive": True}),
        has("yolo"),
        cassette(session={"model": "m", "approval_mode": "yolo"}),
    ),
    "settings": (
        settings(maxAttempts=2, maxSessionTurns=3),
        has("Turns"),
        settings(maxSessionTurns=3),
    ),
    "parts of settings": (
        settings(contextManagement={"enabled": True, "tools": {}}),
        has("tools"),
        settings(contextManagement={"tools": {}}),
    ),
    "parts of parts of settings": (
        settings(contextManagement={"tools": {"distillation": {}, "outputMasking": {}}}),
        has("Masking"),
        settings(contextManagement={"tools": {"outputMasking": {}}}),
    ),
    "hook definitions": (
        settings(hooks=HOOKS),
        has("matcher"),
        settings(hooks={"BeforeTool": HOOKS["BeforeTool"][:1]}),
    ),
    "hooks": (
        settings(hooks={"A": [{"hooks": [HOOK, HOOK]}]}),
        has("command"),
        settings(hooks={"A": [{"hooks": [HOOK]}]}),
    ),
    "when hooks run": (
        settings(hooks={"A": [{"matcher": "x", "sequential": True, "hooks": []}]}),
        has("matcher"),
        settings(hooks={"A": [{"matcher": "x", "hooks": []}]}),
    ),
    "hook commands": (
        settings(hooks={"A": [{"hooks": [HOOK]}]}),
        always,
        settings(hooks={"A": [{"hooks": [{"type": "command", "command": "true"}]}]}),
    ),
    "rules": (
        settings(policyRules=[{"toolName": "*", "decision": "deny", "priority": 1.5}]),
        has("toolName"),
        settings(policyRules=[{"toolName": "*", "decision": "deny"}]),
    ),
    "interruptions": (
        cassette(during=[{"when": {"events": 1}, "do": "abort"}] * 3),
        has("abort"),
        cassette(during=[{"when": {"events": 1}, "do": "abort"}]),
    ),
    "delays of interruptions": (
        cassette(during=[{"when": {"events": 1}, "do": "abort", "delay_ms": 40}]),
        always,
        cassette(during=[{"when": {"events": 1}, "do": "abort"}]),
    ),
    "shorter delays": (
        cassette(during=[{"when": {"events": 1}, "do": "abort", "delay_ms": 6000}]),
        lambda document: document["during"][0]["delay_ms"] >= 123,
        cassette(during=[{"when": {"events": 1}, "do": "abort", "delay_ms": 123}]),
    ),
    "earlier interruptions": (
        cassette(during=[{"when": {"events": 14}, "do": "abort"}]),
        lambda document: document["during"][0]["when"]["events"] >= 3,
        cassette(during=[{"when": {"events": 3}, "do": "abort"}]),
    ),
    "interruptions at an earlier request": (
        cassette(during=[{"when": {"request": 6}, "do": "abort"}]),
        always,
        cassette(during=[{"when": {"request": 0}, "do": "abort"}]),
    ),
    "who answers": (
        cassette(answers={"confirmations": ["cancel"], "fallback": ["stop"]}),
        has("stop"),
        cassette(answers={"fallback": ["stop"]}),
    ),
    "what the user answers": (
        cassette(answers={"confirmations": ["proceed_once", "cancel"]}),
        has("cancel"),
        cassette(answers={"confirmations": ["cancel"]}),
    ),
    "delays of answers": (
        cassette(answers={"confirmations": ["cancel", {"outcome": "cancel", "delay_ms": 9}]}),
        always,
        cassette(answers={"confirmations": ["cancel", {"outcome": "cancel"}]}),
    ),
    "earlier answers": (
        cassette(answers={"confirmations": ["cancel", {"outcome": "cancel", "delay_ms": 6000}]}),
        lambda document: document["answers"]["confirmations"][1]["delay_ms"] >= 123,
        cassette(answers={"confirmations": ["cancel", {"outcome": "cancel", "delay_ms": 123}]}),
    ),
    "files": (cassette(files={"a": "1", "b": "2"}), has("'b'"), cassette(files={"b": "2"})),
    "files of the home": (
        cassette(home_files={"a": "1", "b": "2"}),
        has("'b'"),
        cassette(home_files={"b": "2"}),
    ),
    "the recording": (
        cassette(resume={"records": [{"a": 1}, {"b": 2}, {"c": 3}]}),
        has("'b'"),
        cassette(resume={"records": [{"b": 2}]}),
    ),
    "repetitions": (
        cassette(model=[{"text": "a", "repeat": 12}]),
        lambda document: document["model"][0]["repeat"] >= 5,
        cassette(model=[{"text": "a", "repeat": 5}]),
    ),
    "plain answers": (
        stream(chunk({"text": "said"}, finishReason="STOP"), role="main"),
        has("said"),
        cassette(model=[{"text": "said", "role": "main"}]),
    ),
    "plain failures": (
        cassette(model=[{"error": FAILURE}]),
        always,
        cassette(model=[{"error": {"status": 500, "message": "ok"}}]),
    ),
    "plain failures midway": (
        stream(chunk({"text": "a"}), then_error={"message": "read ETIMEDOUT", "code": "ETIMEDOUT"}),
        always,
        stream(
            chunk({"text": "a"}),
            then_error={"name": "Error", "message": "read ECONNRESET", "code": "ECONNRESET"},
        ),
    ),
    "what failures say": (
        cassette(model=[{"error": FAILURE}]),
        has("details"),
        cassette(
            model=[{"error": {"status": 502, "message": "long words", "details": [{"a": 1}]}}]
        ),
    ),
    "details of failures": (
        cassette(
            model=[{"error": {"status": 429, "message": "", "details": [{"a": 1}, {"b": 2}]}}]
        ),
        has("'b'"),
        cassette(model=[{"error": {"status": 429, "message": "", "details": [{"b": 2}]}}]),
    ),
    "what steps have besides": (
        cassette(model=[{"text": "a", "delay_ms": 5, "repeat": 2, "role": "main"}]),
        has("repeat"),
        cassette(model=[{"text": "a", "repeat": 2, "role": "main"}]),
    ),
    "chunks as one": (
        stream(
            chunk({"text": "one "}),
            chunk({"text": "two "}),
            chunk({"text": "hm", "thought": True}),
            {"usageMetadata": {"totalTokenCount": 5}},
            chunk({"text": "three"}, finishReason="STOP"),
        ),
        always,
        stream(
            {
                **chunk(
                    {"text": "one two "},
                    {"text": "hm", "thought": True},
                    {"text": "three"},
                    finishReason="STOP",
                ),
                "usageMetadata": {"totalTokenCount": 5},
            }
        ),
    ),
    "chunks": (
        stream(chunk({"text": "a"}), chunk({"text": "b"}), chunk({"text": "c"})),
        has("'b'"),
        stream(chunk({"text": "b"})),
    ),
    "what chunks have besides": (
        stream({**chunk({"text": "a"}), "usageMetadata": {}, "modelVersion": "m"}),
        has("usage"),
        stream({**chunk({"text": "a"}), "usageMetadata": {}}),
    ),
    "parts": (
        stream(chunk({"text": "a"}, {"text": "b"}, call())),
        always,
        stream(chunk({"text": "a"})),
    ),
    "plain parts": (
        stream(chunk(call(), {"functionCall": {"name": "glob", "args": {}}})),
        has("glob"),
        stream(chunk({"text": "ok"}, {"functionCall": {"name": "glob", "args": {}}})),
    ),
    "what candidates have besides": (
        stream(chunk({"text": "a"}, finishReason="STOP", index=0, citationMetadata={})),
        has("citation"),
        stream(chunk({"text": "a"}, finishReason="STOP", citationMetadata={})),
    ),
    "what parts have besides": (
        stream(chunk({"text": "a", "thought": True, "thoughtSignature": "c2ln"})),
        has("Signature"),
        stream(chunk({"text": "a", "thoughtSignature": "c2ln"})),
    ),
    "ids of calls": (
        stream(chunk({"functionCall": {"name": "glob", "args": {}, "id": "c"}})),
        always,
        stream(chunk({"functionCall": {"name": "glob", "args": {}}})),
    ),
    "plain calls": (
        stream(chunk(call("run_shell_command", command="cd a; rm -rf b"))),
        has("run_shell"),
        stream(chunk(call("run_shell_command", command="true"))),
    ),
    "arguments": (
        stream(chunk(call(file_path="a.txt", start_line=3, end_line=9))),
        has("start"),
        stream(chunk(call(file_path="a.txt", start_line=3))),
    ),
    "finish reasons": (
        stream(chunk({"text": "a"}, finishReason="SAFETY")),
        always,
        stream(chunk({"text": "a"}, finishReason="STOP")),
    ),
    "short prompts": (
        cassette(script=[{"send": "x" * 64}]),
        has("xxxxxxxx"),
        cassette(script=[{"send": "x" * 8}]),
    ),
    "plain prompts": (
        cassette(script=[{"send": {"content": [{"type": "text", "text": "a"}]}}]),
        always,
        cassette(script=[{"send": "ok"}]),
    ),
    "what is shown instead": (
        cassette(script=[{"send": {"content": [], "display_content": "a"}}]),
        always,
        cassette(script=[{"send": {"content": []}}]),
    ),
    "parts of prompts": (
        cassette(script=[{"send": {"content": [{"text": "a"}, {"text": "b"}]}}]),
        has("'b'"),
        cassette(script=[{"send": {"content": [{"text": "b"}]}}]),
    ),
    "texts of prompts": (
        cassette(script=[{"send": {"content": [{"type": "text", "text": "long words"}]}}]),
        always,
        cassette(script=[{"send": {"content": [{"type": "text", "text": "ok"}]}}]),
    ),
    "texts of answers": (
        stream(chunk({"text": {"$repeat": {"text": "ab", "times": 60}}})),
        lambda document: expand(document)["model"][0]["stream"][0]["candidates"][0]["content"][
            "parts"
        ][0]["text"].startswith("ababab"),
        stream(chunk({"text": {"$repeat": {"text": "ab", "times": 3}}})),
    ),
    "texts of short answers": (
        cassette(model=[{"text": "x" * 64}]),
        lambda document: document["model"][0]["text"].count("x") >= 8,
        cassette(model=[{"text": "x" * 8}]),
    ),
    "texts of whole answers": (
        cassette(model=[{"generate": chunk({"text": "a whole summary"})}]),
        always,
        cassette(model=[{"generate": chunk({"text": "ok"})}]),
    ),
    "messages of failures": (
        cassette(model=[{"error": {"status": 429, "message": "Please retry in 2.5s"}}]),
        has("2.5s"),
        cassette(model=[{"error": {"status": 429, "message": " 2.5s"}}]),
    ),
    "texts of the recording": (
        cassette(resume={"records": [{"content": [{"text": "long words"}]}]}),
        always,
        cassette(resume={"records": [{"content": [{"text": "ok"}]}]}),
    ),
    "lines of files": (
        cassette(files={"a": {"$lines": {"count": 700, "prefix": "l"}}}),
        lambda document: document["files"]["a"]["$lines"]["count"] >= 421,
        cassette(files={"a": {"$lines": {"count": 421, "prefix": "l"}}}),
    ),
    "repetitions in files": (
        cassette(files={"a": {"$repeat": {"text": "l", "times": 9}}}),
        always,
        cassette(files={"a": {"$repeat": {"text": "l", "times": 0}}}),
    ),
    "texts of files": (
        cassette(
            files={"a": "long words"},
            model=[{"stream": [chunk(call("write_file", file_path="long.txt", content="y" * 9))]}],
        ),
        always,
        cassette(
            files={"a": "ok"},
            model=[{"stream": [chunk(call("write_file", file_path="long.txt", content="ok"))]}],
        ),
    ),
    "the model": (cassette(session={"model": "auto"}), always, cassette()),
    "the order": (cassette(match="by_role"), always, cassette(match="in_order")),
    "whose steps they are": (
        cassette(model=[{"text": "a", "role": "main", "thread": "main"}]),
        has("thread"),
        cassette(model=[{"text": "a", "thread": "main"}]),
    ),
}


def test_every_pass_has_an_example() -> None:
    assert set(EXAMPLES) == set(BY_NAME)


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_pass_ends_with_the_expected_document(name: str) -> None:
    document, wanted, expected = EXAMPLES[name]
    before = repr(document)

    assert down(BY_NAME[name], document, wanted) == expected
    assert repr(document) == before


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_pass_without_kept_candidates_changes_nothing(name: str) -> None:
    document, _, _ = EXAMPLES[name]

    assert down(BY_NAME[name], document, lambda candidate: False) == document


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_pass_does_not_enlarge_the_plainest_cassette(name: str) -> None:
    tried: list[Document] = []

    down(BY_NAME[name], cassette(), lambda candidate: bool(tried.append(candidate)))

    # The passes try to drop its only prompt or answer, and never propose a longer document.
    assert all(len(repr(candidate)) < len(repr(cassette())) for candidate in tried)
