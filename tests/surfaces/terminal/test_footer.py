"""The footer: its fields, and what is left of them where there is little room."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("textual")

from textual.app import App, ComposeResult

from services.state import ApprovalMode
from surfaces.terminal.status import Footer, Status

FOLDER = "~/a/folder/with/a/long/name"


class OnlyFooter(App[None]):
    def __init__(self, settings: dict[str, Any]) -> None:
        super().__init__()
        self.settings = settings

    def compose(self) -> ComposeResult:
        yield Footer(self.settings)


async def line(columns: int, settings: dict[str, Any] | None = None, **values: Any) -> str:
    """The footer as text."""
    given = {"mode": ApprovalMode.DEFAULT, "model": "gemini-2.5-flash", **values}
    async with OnlyFooter(settings or {}).run_test(size=(columns, 1)) as pilot:
        footer = pilot.app.query_one(Footer)
        footer.styles.height = 1
        footer.show(FOLDER, "no sandbox", Status(**given))
        await pilot.pause()
        return pilot.app.screen._compositor.render_strips()[0].text.strip()


@pytest.mark.parametrize(
    ("columns", "shown"),
    [
        (100, [FOLDER, "no sandbox", "gemini-2.5-flash", "63% context left", "limit reached"]),
        (70, ["…with/a/long/name", "no sandbox", "gemini-2.5-flash", "63% left", "limit reached"]),
        (54, ["…ng/name", "gemini-2.5-flash", "63% left", "limit reached"]),
        (40, ["gemini-2.5-flash", "limit reached"]),
        (20, ["gemini-2.5-flash"]),
    ],
)
async def test_what_the_user_needs_least_is_left_out_first(columns: int, shown: list[str]) -> None:
    text = await line(columns, left_percent=63, limit_reached=True)
    fields = [field for field in text.split("  ") if field]
    if columns in (70, 54):
        assert fields[0].startswith("…")
        fields, shown = fields[1:], shown[1:]
    assert [field.strip() for field in fields] == shown


@pytest.mark.parametrize(
    ("setting", "hidden"),
    [
        ("hideCWD", FOLDER),
        ("hideSandboxStatus", "no sandbox"),
        ("hideModelInfo", "gemini-2.5-flash"),
        ("hideContextPercentage", "63%"),
    ],
)
async def test_the_settings_hide_fields(setting: str, hidden: str) -> None:
    assert hidden in await line(120, left_percent=63)
    assert hidden not in await line(120, {setting: True}, left_percent=63)
