"""The transcript by itself: what it draws, and what it does not draw."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import pytest

pytest.importorskip("textual")

from rich.text import Text
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from agent_protocol.events import DiffDisplay, TerminalDisplay, TextDisplay, ToolDisplay
from services.progress import AgentActivity, CallKey
from services.wire import Json
from surfaces.terminal.agents_box import AGENT_TOOL, AgentsBox
from surfaces.terminal.answer import Answer
from surfaces.terminal.blocks import Block, Pen, Row, UserMessage
from surfaces.terminal.call_box import CallBox
from surfaces.terminal.call_words import CallShown
from surfaces.terminal.transcript import Transcript

ROWS = 20


class Counted(Block):
    """Two lines; it counts how often they are made."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name, self.count = name, 0

    def rows(self, pen: Pen) -> list[Row]:
        self.count += 1
        return pen.rows(Text(f"{self.name} first\n{self.name} second"))

    @property
    def words(self) -> str:
        return self.name


class Shown:
    """A transcript of 20 rows in an application of its own."""

    def __init__(self, pilot: Pilot[None]) -> None:
        self.pilot = pilot
        self.transcript = pilot.app.query_one(Transcript)

    async def lines(self) -> list[str]:
        await self.pilot.pause()
        strips = self.pilot.app.screen._compositor.render_strips()
        return [strip.text.rstrip() for strip in strips]

    async def text(self) -> str:
        return "\n".join(await self.lines()).strip("\n")


class OnlyTranscript(App[None]):
    def compose(self) -> ComposeResult:
        yield Transcript()


Open = Callable[..., AbstractAsyncContextManager[Shown]]


@pytest.fixture
def shown() -> Open:
    @asynccontextmanager
    async def go(columns: int = 60) -> AsyncIterator[Shown]:
        async with OnlyTranscript().run_test(size=(columns, ROWS)) as pilot:
            yield Shown(pilot)

    return go


def call(name: str, status: str = "success", **rest: object) -> CallShown:
    display = ToolDisplay(name="Shell", description="does it")
    return CallShown(name=name, root="/", display=display, status=status, **rest)  # type: ignore[arg-type]  # fields by name


async def test_only_the_blocks_in_view_make_lines(shown: Open) -> None:
    blocks = [Counted(f"b{number}") for number in range(1000)]
    async with shown() as screen:
        for block in blocks:
            screen.transcript.add(block)
        assert (await screen.lines())[-1] == "b999 second"

    assert not any(block.count for block in blocks[:900])


async def test_the_end_is_followed_until_the_user_scrolls_up(shown: Open) -> None:
    async with shown() as screen:
        for number in range(30):
            screen.transcript.add(Counted(f"b{number}"))
        screen.transcript.scroll_pages(-1)
        before = await screen.lines()
        screen.transcript.add(Counted("new"))
        assert await screen.lines() == before
        assert before[-1].strip() == "Page Down for more"

        screen.transcript.scroll_pages(1)
        screen.transcript.scroll_pages(1)
        assert (await screen.lines())[-1] == "new second"
        screen.transcript.add(Counted("newest"))
        assert (await screen.lines())[-1] == "newest second"


async def test_page_up_ends_at_the_first_line(shown: Open) -> None:
    async with shown() as screen:
        for number in range(30):
            screen.transcript.add(Counted(f"b{number}"))
        for _ in range(20):
            screen.transcript.scroll_pages(-1)
        assert (await screen.lines())[:2] == ["", "b0 first"]


async def test_without_colours_everything_is_drawn(
    shown: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with shown() as screen:
        Answer(screen.transcript.add).append("text\n\n```py\nx = 1\n```\n")
        screen.transcript.add(CallBox(call("x", "executing", output=SCREEN)))
        for number in range(30):
            screen.transcript.add(Counted(f"b{number}"))
        screen.transcript.scroll_pages(-9)
        assert "1 x = 1" in await screen.text()


async def test_another_width_makes_other_lines(shown: Open) -> None:
    async with shown(60) as screen:
        screen.transcript.add(UserMessage("word " * 20))
        assert len((await screen.text()).split("\n")) == 2
        await screen.pilot.resize_terminal(30, ROWS)
        assert len((await screen.text()).split("\n")) == 4


async def test_a_change_of_a_block_is_shown(shown: Open) -> None:
    async with shown() as screen:
        box = CallBox(call("x", "executing"))
        screen.transcript.add(box)
        box.call.output = "one\ntwo\nthree"
        screen.transcript.changed(box)
        assert "three" in await screen.text()


async def test_a_long_output_is_cut_until_it_is_expanded(shown: Open) -> None:
    output = "\n".join(f"line {number}" for number in range(10_000))
    async with shown() as screen:
        screen.transcript.add(CallBox(call("x", "executing", output=output)))
        text = await screen.text()
        assert "... first 9985 lines hidden (Ctrl+O to show) ..." in text
        assert "line 9984" not in text
        assert "line 9985" in text

        screen.transcript.toggle_expanded()
        screen.transcript.scroll_pages(-1)
        assert "line 9966" in await screen.text()


async def test_a_line_without_an_end_is_cut(shown: Open) -> None:
    async with shown() as screen:
        screen.transcript.add(CallBox(call("x", "executing", output="a" * 1_000_000)))
        assert "aaa…" in await screen.text()


async def test_a_long_message_of_the_user_is_cut_until_it_is_expanded(shown: Open) -> None:
    async with shown() as screen:
        screen.transcript.add(UserMessage("\n".join(map(str, range(1000)))))
        assert "... last 980 lines hidden (Ctrl+O to show) ..." in await screen.text()
        screen.transcript.toggle_expanded()
        assert (await screen.lines())[-1].strip() == "999"


async def test_an_answer_grows(shown: Open) -> None:
    async with shown() as screen:
        answer = Answer(screen.transcript.add)
        for fragment in ("# Ti", "tle\n\nte", "xt\n\n- a\n- **b", "**\n\nend"):
            answer.append(fragment)
            screen.transcript.redraw()
        assert await screen.text() == "✦ Title\n\n  text\n\n   • a\n   • b\n\n  end"


SCREEN: Json = [
    [{"text": "red", "fg": "#ff0000", "bold": True}, {"text": " plain"}],
    [{"text": "evil\x1b]0;title\x07", "fg": "no colour"}],
    [],
]


@pytest.mark.parametrize("where", ["live", "result"])
async def test_the_screen_of_a_tool_is_drawn_in_its_colours(shown: Open, where: str) -> None:
    shown_call = call("x", "executing", output=SCREEN)
    if where == "result":
        result = TerminalDisplay(ansi=SCREEN)
        shown_call = call("x", "success")
        shown_call.display = ToolDisplay(name="Shell", result=result)
    async with shown() as screen:
        screen.transcript.add(CallBox(shown_call))
        text = await screen.text()
        segments = [
            segment
            for strip in screen.pilot.app.screen._compositor.render_strips()
            for segment in strip
        ]
    assert "red plain" in text
    assert "\x1b" not in text
    (red,) = (segment for segment in segments if segment.text == "red")
    assert red.style is not None
    assert red.style.bold
    assert red.style.color is not None
    assert red.style.color.triplet is not None
    assert red.style.color.triplet.hex == "#ff0000"


def activity(state: str, *items: dict[str, str], **rest: str) -> AgentActivity:
    return AgentActivity(
        call=CallKey(call_id="c"), agent="scout", state=state, activities=items, **rest
    )


THOUGHT = {"type": "thought", "content": "Looking around"}
READING = {
    "type": "tool_call",
    "content": "read_file",
    "displayName": "ReadFile",
    "args": '{"file_path": "a.txt"}',
    "status": "completed",
}


@pytest.mark.parametrize(
    ("state", "items", "heading", "line"),
    [
        ("running", [], "Running Agent...", "! scout · Starting..."),
        ("running", [THOUGHT], "Running Agent...", "! scout · 💭 Looking around"),
        ("running", [THOUGHT, READING], "Running Agent...", "! scout · ReadFile a.txt"),
        ("completed", [READING], "Agent Completed", "✓ scout · Completed successfully"),
        ("error", [READING], "Agent Error", "✗ scout · ReadFile a.txt"),
        ("cancelled", [THOUGHT], "Agent Cancelled", "ℹ scout · 💭 Looking around"),  # noqa: RUF001 - the mark
    ],
)
async def test_a_subagent_has_one_line(
    shown: Open, state: str, items: list[dict[str, str]], heading: str, line: str
) -> None:
    agent = call(AGENT_TOOL, "executing", activity=activity(state, *items))
    async with shown() as screen:
        screen.transcript.add(AgentsBox(agent))
        text = await screen.text()
    assert f"≡ {heading} (ctrl+o to expand)" in text
    assert line in text


async def test_subagents_side_by_side_are_counted(shown: Open) -> None:
    box = AgentsBox(call(AGENT_TOOL, "executing", activity=activity("running")))
    box.calls.append(call(AGENT_TOOL, "executing", activity=activity("running")))
    async with shown() as screen:
        screen.transcript.add(box)
        assert "≡ Running 2 Agents..." in await screen.text()
        box.calls[0].activity = activity("completed")
        screen.transcript.changed(box)
        assert "≡ 2 Agents (1 running, 1 completed)..." in await screen.text()


async def test_a_subagent_is_shown_whole(shown: Open) -> None:
    done = activity("completed", THOUGHT, READING, result="found it", terminate_reason="MAX_TURNS")
    async with shown() as screen:
        screen.transcript.add(AgentsBox(call(AGENT_TOOL, activity=done)))
        assert "scout · Finished Early (MAX_TURNS)" in await screen.text()
        screen.transcript.toggle_expanded()
        text = await screen.text()
    for words in (
        "(ctrl+o to collapse)",
        "Subagent scout completed.",
        "💭 Looking around",
        "✓ ReadFile a.txt",
        "Agent Finished Early (MAX_TURNS)",
        "found it",
    ):
        assert words in text


def test_blocks_have_words_for_a_screen_reader() -> None:
    change = DiffDisplay(path="/a.txt", before_text="one\ntwo\n", after_text="one\n2\n")
    edit = call("replace")
    edit.display = ToolDisplay(name="Edit", result=change)
    text = call("x")
    text.display = ToolDisplay(name="Shell", description="does it", result=TextDisplay(text="out"))

    assert CallBox(edit).words == (
        "Tool call, done: Edit a.txt → Accepted (+1, -1)\ncontext: one\ndel: two\nadd: 2"
    )
    assert CallBox(text).words == "Tool call, done: Shell does it\nout"
    assert UserMessage("hello").words == "User: hello"
