"""Runs of `parity agent` that are compared with the published CLI."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.surfaces.headless.conftest import calls, chunk, says

FORMATS = ("text", "json", "stream-json")


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """One run. `options` are those of `parity agent`, by their long names without dashes."""

    name: str
    answers: Sequence[Any] = ()
    served: Sequence[Mapping[str, Any]] | None = None
    """Steps of the stand-in for the API, in place of recorded answers."""
    recorded: Path | None = None
    """A file of recorded answers, in place of `answers`."""
    prompt: str = "hi"
    piped: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    before: Sequence[Any] = ()
    """Answers of a run before this one, which this one may go on with."""
    keyless: bool = False
    formats: Sequence[str] = FORMATS
    code: int | None = 0
    """What it ends with; `None` where that depends on the format."""


REFUSED = {"status": 400, "message": "No such thing.", "grpc": "INVALID_ARGUMENT"}
QUOTA = {
    "status": 429,
    "message": "You exceeded your current quota.",
    "grpc": "RESOURCE_EXHAUSTED",
    "details": [
        {
            "@type": "type.googleapis.com/google.rpc.QuotaFailure",
            "violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel"}],
        }
    ],
}
SIGNED_IN = {"security": {"auth": {"selectedType": "gemini-api-key"}}}
"""The CLI cannot use a gateway by itself: it calls that an invalid auth method."""
SAY = {"type": "command", "command": "cat > /dev/null; echo '%s'"}


def hook(event: str, **fields: Any) -> dict[str, Any]:
    command = {**SAY, "command": SAY["command"] % json.dumps(fields)}
    return {event: [{"hooks": [command]}]}


SCENARIOS = (
    Scenario(name="text", answers=[[chunk({"text": "Hello "}, finish=None), says("world")]]),
    Scenario(
        name="thought",
        answers=[[chunk({"text": "Hm", "thought": True}, finish=None), says("ok")]],
        formats=("json", "stream-json"),
    ),
    Scenario(
        name="tool_call",
        answers=[calls("read_file", file_path="a.txt"), says("One.")],
        files={"a.txt": "one\n"},
    ),
    Scenario(
        name="text_before_tool_call",
        answers=[
            chunk(
                {"text": "I look."},
                {"functionCall": {"name": "list_directory", "args": {"dir_path": "."}, "id": "x"}},
            ),
            says("Done."),
        ],
        files={"a.txt": "one\n"},
    ),
    Scenario(name="tool_error", answers=[calls("read_file", file_path="none.txt"), says("No.")]),
    Scenario(name="unknown_tool", answers=[calls("no_such_tool", a=1), says("No.")]),
    Scenario(
        name="invalid_arguments",
        answers=[calls("read_file"), says("No.")],
        formats=("stream-json",),
    ),
    Scenario(
        name="denied_tool",
        answers=[calls("write_file", file_path="a.txt", content="x"), says("Not allowed.")],
    ),
    Scenario(
        name="denied_command",
        answers=[calls("run_shell_command", command="echo hi"), says("Not allowed.")],
        formats=("stream-json",),
    ),
    Scenario(
        name="edit",
        answers=[
            calls("write_file", file_path="a.txt", content="x\ny\n"),
            calls("replace", file_path="a.txt", old_string="y", new_string="z", instruction="do"),
            says("Done."),
        ],
        options={"approval_mode": "yolo"},
    ),
    Scenario(
        name="command",
        answers=[calls("run_shell_command", command="echo hi; exit 3"), says("Done.")],
        options={"approval_mode": "yolo"},
        formats=("json", "stream-json"),
    ),
    Scenario(
        name="parallel_calls",
        answers=[
            chunk(
                {"functionCall": {"name": "read_file", "args": {"file_path": "a"}, "id": "1"}},
                {"functionCall": {"name": "read_file", "args": {"file_path": "b"}, "id": "2"}},
            ),
            says("Both."),
        ],
        files={"a": "1\n", "b": "2\n"},
        formats=("stream-json",),
    ),
    Scenario(
        name="max_turns",
        answers=[calls("list_directory", dir_path="."), says("never")],
        settings={"model": {"maxSessionTurns": 1}},
        code=53,
    ),
    Scenario(name="no_way_to_sign_in", keyless=True, formats=FORMATS, code=41),
    Scenario(name="recorded_answers_without_a_key", keyless=True, answers=[says("no")], code=41),
    Scenario(
        name="another_way_to_sign_in_is_enforced",
        answers=[says("no")],
        settings={"security": {"auth": {"enforcedType": "vertex-ai"}}},
        code=41,
    ),
    Scenario(
        name="hook_message",
        answers=[says("ok")],
        settings={"hooks": hook("BeforeAgent", systemMessage="Looking")},
    ),
    Scenario(name="no_input", prompt="", answers=[says("never")], code=42),
    Scenario(name="answers_run_out", answers=[calls("list_directory", dir_path=".")], code=1),
    Scenario(name="api_error", served=[{"error": REFUSED}], settings=SIGNED_IN, code=None),
    Scenario(name="quota", served=[{"error": QUOTA}] * 3, settings=SIGNED_IN, code=None),
    Scenario(name="stdin", answers=[says("ok")], piped="from a pipe\n", formats=("stream-json",)),
    Scenario(
        name="stdin_alone",
        answers=[says("ok")],
        prompt="",
        piped="from a pipe\n",
        formats=("stream-json",),
    ),
    Scenario(
        name="resume_latest",
        before=[says("I am one")],
        answers=[says("two")],
        options={"resume": "latest"},
        formats=("text", "stream-json"),
    ),
    Scenario(
        name="resume_nothing",
        answers=[says("ok")],
        options={"resume": "latest"},
        formats=("text", "json"),
    ),
    Scenario(
        name="resume_unknown",
        before=[says("I am one")],
        answers=[says("two")],
        options={"resume": "7"},
        formats=("text", "json"),
        code=42,
    ),
    Scenario(
        name="empty_answer",
        answers=[chunk({"text": ""})] * 4,
    ),
    Scenario(
        name="only_thoughts",
        answers=[chunk({"text": "Hm", "thought": True})] * 4,
        formats=("json", "stream-json"),
    ),
    Scenario(
        name="session_start_hook",
        answers=[says("ok")],
        settings={
            "hooks": hook(
                "SessionStart",
                systemMessage="Welcome",
                hookSpecificOutput={"additionalContext": "It <rains>"},
            )
        },
        formats=("text", "stream-json"),
    ),
    Scenario(
        name="session_start_hook_asks",
        answers=[says("ok")],
        prompt="",
        settings={
            "hooks": hook("SessionStart", hookSpecificOutput={"additionalContext": "It rains"})
        },
        formats=("stream-json",),
    ),
    Scenario(
        name="agent_stopped",
        answers=[says("never")],
        settings={
            "hooks": {"BeforeAgent": hook("X", **{"continue": False, "stopReason": "No."})["X"]}
        },
    ),
    Scenario(
        name="agent_blocked",
        answers=[says("never")],
        settings={"hooks": hook("BeforeAgent", decision="block", reason="Not now.")},
    ),
    Scenario(
        name="tool_stops_the_run",
        answers=[calls("list_directory", dir_path="."), says("never")],
        settings={
            "hooks": {"AfterTool": hook("X", **{"continue": False, "stopReason": "Enough."})["X"]}
        },
    ),
    Scenario(
        name="loop",
        answers=[calls("list_directory", dir_path=".")] * 12,
        formats=("json", "stream-json"),
    ),
)
