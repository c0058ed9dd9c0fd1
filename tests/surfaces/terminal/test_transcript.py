"""The widgets of the transcript by themselves."""

from __future__ import annotations

import pytest

pytest.importorskip("textual")

from textual.app import App, ComposeResult

from agent_protocol.events import ToolDisplay
from surfaces.terminal.call_words import CallShown
from surfaces.terminal.transcript import CallBox, Transcript


class OneCall(App[None]):
    """A transcript with one running call."""

    def __init__(self) -> None:
        super().__init__()
        display = ToolDisplay(name="Shell")
        self.call = CallShown(name="x", root="/", display=display, status="executing")

    def compose(self) -> ComposeResult:
        yield Transcript()

    async def on_mount(self) -> None:
        self.box = CallBox(self.call)
        await self.query_one(Transcript).add(self.box)


async def test_a_layout_between_two_changes_of_a_call_does_not_hide_the_second() -> None:
    app = OneCall()
    async with app.run_test(size=(80, 20)) as pilot:
        await pilot.pause()
        app.call.status = "validating"
        app.box.refresh_call()
        # What Textual's timer does once another widget has come.
        app.query_one(Transcript)._clear_arrangement_cache()
        app.screen._refresh_layout()
        app.call.output = "one\ntwo\nthree"
        app.box.refresh_call()
        await pilot.pause(0.1)

        assert app.box.size.height == 5
