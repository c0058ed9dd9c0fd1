from typing import Any

import pytest

from agent_protocol.events import (
    AgentDisplay,
    DiffDisplay,
    DisplayContent,
    TerminalDisplay,
    TextDisplay,
    ToolDisplay,
)
from services.presentation.display import (
    display_content,
    display_to_text,
    populate_tool_display,
    render_diff,
)


class Call:
    def __init__(self, description: str = "does it") -> None:
        self._description = description

    def description(self) -> str:
        return self._description


def test_a_display_is_always_made() -> None:
    assert populate_tool_display(name="read_file") == ToolDisplay(name="read_file")


def test_defaults_come_from_the_tool_and_its_invocation() -> None:
    assert populate_tool_display(
        name="read_file", display_name="ReadFile", invocation=Call("a.txt")
    ) == ToolDisplay(name="ReadFile", description="a.txt")
    assert populate_tool_display(
        name="read_file", display_name="", invocation=Call("")
    ) == ToolDisplay(name="read_file", description="")


def test_what_an_earlier_display_has_wins() -> None:
    earlier = ToolDisplay(
        name="Topic",
        description="",
        result_summary="1 line",
        result=TextDisplay(text="kept"),
        format="notice",
    )
    assert (
        populate_tool_display(
            name="n", display_name="N", invocation=Call(), result_display="new", display=earlier
        )
        == earlier
    )


def test_what_an_earlier_display_leaves_open_is_filled_in() -> None:
    earlier = ToolDisplay(result_summary="1 line")
    assert populate_tool_display(
        name="n", invocation=Call(), result_display="r", display=earlier
    ) == ToolDisplay(
        name="n", description="does it", result_summary="1 line", result=TextDisplay(text="r")
    )


def test_an_empty_result_is_a_result_and_none_is_not() -> None:
    assert populate_tool_display(name="n", result_display="").result == TextDisplay(text="")
    assert populate_tool_display(name="n", result_display=None).result is None


@pytest.mark.parametrize(
    ("result", "content"),
    [
        ("", TextDisplay(text="")),
        ("x", TextDisplay(text="x")),
        (
            {"fileDiff": "d", "fileName": "f", "filePath": "/w/f", "newContent": "b"},
            DiffDisplay(path="/w/f", before_text="", after_text="b"),
        ),
        (
            {
                "fileDiff": "",
                "fileName": "f",
                "filePath": "",
                "originalContent": "a",
                "newContent": "",
            },
            DiffDisplay(path="f", before_text="a", after_text=""),
        ),
        (
            {"fileDiff": "d", "originalContent": None, "newContent": "b"},
            DiffDisplay(before_text="", after_text="b"),
        ),
        ({"fileDiff": "d"}, TextDisplay(text='{"fileDiff":"d"}')),
        (
            {"summary": "Found 1 item(s).", "files": ["é"]},
            TextDisplay(text='{"summary":"Found 1 item(s).","files":["é"]}'),
        ),
        ([[{"text": "ansi", "bold": True}]], TextDisplay(text='[[{"text":"ansi","bold":true}]]')),
    ],
)
def test_a_tools_result_becomes_display_content(result: Any, content: DisplayContent) -> None:
    assert display_content(result) == content


@pytest.mark.parametrize(
    ("display", "text"),
    [
        (None, None),
        (TextDisplay(text=""), ""),
        (AgentDisplay(thread_id="t"), '{"type":"agent","threadId":"t"}'),
        (
            TerminalDisplay(pid="1", exit_code=0, ansi=[]),
            '{"type":"terminal","pid":"1","exitCode":0,"ansi":[]}',
        ),
    ],
)
def test_a_display_becomes_text(display: DisplayContent | None, text: str | None) -> None:
    assert display_to_text(display) == text


def test_a_diff_becomes_a_patch() -> None:
    diff = DiffDisplay(path="p", before_text="a", after_text="a\n")
    assert display_to_text(diff) == render_diff(diff)
    assert render_diff(diff) == (
        "Index: p\n" + "=" * 67 + "\n--- p\tOriginal\n+++ p\tModified\n"
        "@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+a\n"
    )


@pytest.mark.parametrize("path", [None, ""])
def test_a_diff_without_a_path_is_of_a_file(path: str | None) -> None:
    diff = DiffDisplay(path=path, before_text="a", after_text="a")
    assert render_diff(diff) == (
        "Index: file\n" + "=" * 67 + "\n--- file\tOriginal\n+++ file\tModified\n"
    )
