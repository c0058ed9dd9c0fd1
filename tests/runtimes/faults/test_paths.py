"""Paths that a model gives: out of the workspace by every road, malformed, or no plain files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from services.wire import JsonObject
from services.workspace import Workspace
from tests.runtimes.faults.stage import Stage, answer, call, hook, reason, responses

SECRET = "top secret"
TOOLS: dict[str, Callable[[str], JsonObject]] = {
    "read_file": lambda path: call("read_file", file_path=path),
    "read_at": lambda path: call("read_file", file_path=f"@{path}"),
    "write_file": lambda path: call("write_file", file_path=path, content="overwritten"),
    "replace": lambda path: call(
        "replace", file_path=path, old_string="secret", new_string="known", instruction="i"
    ),
    "create": lambda path: call(
        "replace", file_path=f"{path}.new", old_string="", new_string="made", instruction="i"
    ),
    "list_directory": lambda path: call("list_directory", dir_path=path),
    "glob": lambda path: call("glob", pattern="*", dir_path=path),
    "glob_pattern": lambda path: call("glob", pattern=f"{path}*"),
    "grep_search": lambda path: call("grep_search", pattern="secret", dir_path=path),
    "grep_include": lambda path: call("grep_search", pattern="secret", include_pattern=f"{path}*"),
    "shell_folder": lambda path: call("run_shell_command", command="cat *.txt", dir_path=path),
}
FILES = {"read_file", "read_at", "write_file", "replace", "create", "glob_pattern", "grep_include"}
ROADS = ("../outside", "<WS>/../outside", "sub/../../outside", "link", "sub/deep-link", "<HOME>")


def lay_out(workspace: Workspace) -> None:
    """A secret beside the workspace and one in the home, and links that lead there."""
    outside = workspace.root.parent / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text(SECRET)
    (workspace.home / "secret.txt").write_text(SECRET)
    (workspace.root / "sub").mkdir()
    (workspace.root / "link").symlink_to(outside)
    (workspace.root / "sub" / "deep-link").symlink_to("../../outside")
    (workspace.root / "secret-link").symlink_to(outside / "secret.txt")


def assert_untouched(workspace: Workspace) -> None:
    outside = workspace.root.parent / "outside"
    assert [path.name for path in outside.iterdir()] == ["secret.txt"]
    assert (outside / "secret.txt").read_text() == SECRET
    assert (workspace.home / "secret.txt").read_text() == SECRET
    assert not (workspace.home / "secret.txt.new").exists()


@pytest.mark.parametrize("tool", TOOLS)
def test_no_tool_leaves_the_workspace(stage: Stage, tool: str) -> None:
    places: list[Workspace] = []

    def prepare(workspace: Workspace) -> None:
        places.append(workspace)
        lay_out(workspace)

    async def look() -> None:
        assert_untouched(places[0])

    stage.prepare = prepare
    stage.before_request[1] = look
    roads = [f"{road}/secret.txt" if tool in FILES else road for road in ROADS]
    seen = stage.play(
        answer(*(TOOLS[tool](road) for road in [*roads, "secret-link"])), {"text": "done"}
    )

    assert len(responses(seen)) == len(ROADS) + 1
    for response in responses(seen):
        text = str(response.get("output", ""))
        assert SECRET not in text
        assert "secret.txt\n" not in text
        assert "Found" not in text.replace("Found 0", "")
    assert reason(seen) == "completed"


MALFORMED = [
    "a\0.txt",
    "n" * 300,
    "d/" * 5000 + "x",
    "../" * 500 + "etc/passwd",
    "line\nbreak",
    "",
    " ",
    "~/secret.txt",
    "file:///etc/passwd",
    "%2e%2e/outside/secret.txt",
    "loop",
    "broken",
]


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.sampled(5)
def test_a_malformed_path_is_an_answer_and_nothing_else(stage: Stage, tool: str) -> None:
    def prepare(workspace: Workspace) -> None:
        lay_out(workspace)
        (workspace.root / "loop").symlink_to("loop")
        (workspace.root / "broken").symlink_to("../nowhere")

    stage.prepare = prepare
    seen = stage.play(answer(*(TOOLS[tool](path) for path in MALFORMED)), {"text": "done"})

    assert len(responses(seen)) == len(MALFORMED)
    assert all(SECRET not in str(response) for response in responses(seen))
    assert reason(seen) == "completed"


DEVICES = ["/dev/zero", "/dev/stdin", "/proc/self/environ", "/dev/full", "pipe", "sub/pipe"]


@pytest.mark.parametrize("tool", TOOLS)
def test_nothing_waits_for_a_device_or_a_pipe(stage: Stage, tool: str) -> None:
    stage.prepare = lay_out
    seen = stage.play(
        answer(call("run_shell_command", command="mkfifo pipe sub/pipe; ln -s /dev/zero zero")),
        answer(*(TOOLS[tool](path) for path in [*DEVICES, "zero"])),
        {"text": "done"},
    )

    assert len(responses(seen)) == len(DEVICES) + 2
    assert reason(seen) == "completed"


def test_a_hook_cannot_lead_a_call_out_either(stage: Stage) -> None:
    output = (
        '{"hookSpecificOutput":{"hookEventName":"BeforeTool",'
        '"tool_input":{"file_path":"../outside/secret.txt"}}}'
    )

    stage.prepare = lay_out
    seen = stage.play(
        answer(call("read_file", file_path="a.txt")),
        {"text": "done"},
        files={"a.txt": "alpha\n"},
        settings={"hooks": {"BeforeTool": hook(f"echo '{output}'")}},
    )

    assert "not in workspace" in responses(seen)[0]["error"]


@pytest.mark.parametrize("value", [None, 3, True, ["a.txt"], {"a": 1}])
def test_a_path_that_is_no_text_is_refused(stage: Stage, value: Any) -> None:
    calls = [make(value) for name, make in TOOLS.items() if name not in FILES - {"read_file"}]

    seen = stage.play(answer(*calls), {"text": "done"})

    assert len(responses(seen)) == len(calls)
    assert reason(seen) == "completed"
