"""Tool results with NULs, terminal escapes, halves of characters; answers of a model likewise."""

from __future__ import annotations

import base64
import sys
from typing import Any

import pytest

from harness.replay.trace import trace_json
from services.wire import js_json
from tests.runtimes.faults.stage import HALF, SERVERS, Stage, answer, call, hook, reason, responses

PRINTED = r"a b \033[31mred\033[0m \377\355\240\200\r\nend"
# Without its first line the published core takes the file for a protocol buffer.
RAW = b"text\na b \x1b[31mred\x1b[0m \xff\xed\xa0\x80\r\nend" + b" and more" * 20


def has_halves(text: str) -> bool:
    """Whether a text holds halves of surrogate pairs, which are no characters."""
    return any("\ud800" <= character <= "\udfff" for character in text)


def test_a_commands_bytes_become_text_without_escapes(stage: Stage) -> None:
    seen = stage.play(
        answer(call("run_shell_command", command=f"printf '{PRINTED}'")), {"text": "done"}
    )

    [response] = responses(seen)
    assert "\x1b" not in response["output"]
    assert "red" in response["output"]
    assert not has_halves(response["output"])


def test_a_files_bytes_become_text(stage: Stage) -> None:
    text = {"base64": base64.b64encode(RAW).decode()}
    binary = {"base64": base64.b64encode(b"\0" + RAW).decode()}

    seen = stage.play(
        answer(
            call("read_file", file_path="text.txt"),
            call("read_file", file_path="binary.txt"),
            call("grep_search", pattern="red"),
        ),
        {"text": "done"},
        files={"text.txt": text, "binary.txt": binary},
    )

    for response in responses(seen):
        assert not has_halves(js_json(response))
    assert "a b \x1b[31mred\x1b[0m \ufffd\ufffd" in responses(seen)[0]["output"]
    assert reason(seen) == "completed"


def test_names_of_files_that_are_no_text_are_passed_over(stage: Stage) -> None:
    seen = stage.play(
        answer(call("run_shell_command", command=r"echo x | tee $'a\xff' $'b\x1b[31m' $'c\n'")),
        answer(
            call("list_directory", dir_path="."),
            call("glob", pattern="*"),
            call("grep_search", pattern="x"),
        ),
        {"text": "done"},
    )

    _, *listings = responses(seen)
    for listing in listings:
        assert "b\x1b[31m" in listing["output"]
        assert not has_halves(js_json(listing))


def test_a_servers_text_stays_text(stage: Stage) -> None:
    server = {"command": sys.executable, "args": [str(SERVERS / "rude.py"), "halves"]}

    seen = stage.play(
        answer(call("mcp_r_slow")),
        {"text": "done"},
        settings={"mcpServers": {"r": {**server, "trust": True}}},
    )

    assert not has_halves(js_json(responses(seen)))


@pytest.mark.parametrize("event", ["BeforeTool", "AfterTool", "BeforeModel", "BeforeAgent"])
def test_half_a_pair_in_a_hooks_json_reaches_file_and_trace_escaped(
    stage: Stage, event: str
) -> None:
    output = '{"decision": "block", "reason": "no \\\\ud800 \\\\u0000 \\\\u001b[31m"}'

    seen = stage.play(
        answer(call("read_file", file_path="a.txt")),
        {"text": "done"},
        files={"a.txt": "alpha\n"},
        settings={"hooks": {event: hook(f"printf '{output}'")}},
    )

    trace_json(seen).encode()


@pytest.mark.parametrize(
    "part",
    [
        {"text": f"a{HALF}b\0\x1b[31m"},
        {"text": f"thinking {HALF}", "thought": True},
        call("read_file", file_path=f"a{HALF}.txt"),
        call("write_file", file_path="b.txt", content=f"b{HALF}\0"),
        call("write_file", file_path=f"b{HALF}.txt", content="b"),
        call("run_shell_command", command=f"echo '{HALF}'"),
        call("run_shell_command", command="echo a\0b"),
        call("grep_search", pattern=HALF),
        call("glob", pattern=f"{HALF}*"),
        call("list_directory", dir_path=HALF),
        call("replace", file_path="a.txt", old_string="alpha", new_string=HALF),
        call(f"no_such_tool_{HALF}"),
        call("__proto__", constructor={"__proto__": 1}),
    ],
    ids=lambda part: js_json(part)[:60].encode("ascii", "replace").decode(),
)
def test_whatever_a_model_says_the_run_goes_on(stage: Stage, part: dict[str, Any]) -> None:
    seen = stage.play(
        answer({"text": "first"}, part), {"text": "done"}, files={"a.txt": "alpha\n"}, unused=[]
    )

    trace_json(seen).encode()
    assert reason(seen) == "completed"
