"""`/directory`, `/tasks`, `/bug`: the folders, the commands and the facts of a session."""

from __future__ import annotations

import json
from pathlib import Path

from surfaces.commands import Dialog, ItemKind, OpenDialog
from surfaces.commands.builtin.folders import FolderTrust
from tests.runtimes.kit import Kit
from tests.surfaces.commands.conftest import Desk, Desks

START_AND_END = {
    name: [{"hooks": [{"type": "command", "command": 'echo \'{"systemMessage": "hello"}\''}]}]
    for name in ("SessionStart",)
}


def folder(desk: Desk, name: str) -> None:
    (desk.root.parent / name).mkdir()


def test_new_folders_are_noted_in_the_conversation(desks: Desks) -> None:
    async def script(desk: Desk) -> None:
        folder(desk, "one")
        (desk.root.parent / "one/inside.txt").write_text("x")
        (desk.root.parent / "one/GEMINI.md").write_text("mind this")
        await desk.say("begin")
        failed = await desk.run("/dir add ../one, ../none,a.txt")
        await desk.say("go on")

        assert failed.kind is ItemKind.ERROR
        assert failed.text.splitlines() == [
            f"Error adding '../none': {desk.root.parent / 'none'} does not exist.",
            f"Error adding 'a.txt': {desk.root / 'a.txt'} is not a directory.",
        ]
        assert desk.shown.splitlines()[-2:] == ["Successfully added directories:", "- ../one"]
        assert "mind this" in desk.session.services.memory.of_project
        sent = json.dumps(desk.session.runtime.transcript())
        assert "inside.txt" in sent
        known = await desk.run("/dir add ../one")
        assert known is None
        assert "already in the workspace:\n- ../one" in desk.shown
        await desk.run("/dir show")
        assert f"- {desk.root.parent / 'one'}" in desk.shown
        (directories,) = [
            line["$set"]["directories"]
            for line in desk.played.lines
            if "directories" in line.get("$set", {})
        ]
        assert directories == [str(desk.root), str(desk.root.parent / "one")]

    desks.run(script, "first", "second", folder_trust=False)


def test_the_trust_of_new_folders_is_asked_where_it_matters(desk: Desks) -> None:
    async def script(desk: Desk) -> None:
        for name in ("one", "two"):
            folder(desk, name)
        opened = await desk.run("/dir add ../one,../two")
        assert isinstance(opened, OpenDialog)
        assert opened.dialog is Dialog.FOLDER_TRUST
        assert len(desk.session.services.workspace.folders) == 1
        await opened.details["folders"].answer(FolderTrust.REMEMBER)
        assert len(desk.session.services.workspace.folders) == 3

    desk.run(script, folder_trust=True)


def test_a_surface_that_cannot_ask_adds_no_untrusted_folder(desk: Desks) -> None:
    async def script(desk: Desk) -> None:
        folder(desk, "one")
        refused = await desk.run("/dir add ../one")
        assert "were not added because they were not trusted:\n- ../one" in refused.text
        assert len(desk.session.services.workspace.folders) == 1

    desk.run(script, dialogs=frozenset(), folder_trust=True)


def test_folders_are_completed(desk: Desks) -> None:
    async def script(desk: Desk) -> None:
        for name in ("one", "two", ".hidden"):
            folder(desk, name)

        async def offered(typed: str) -> list[str]:
            return [each.value for each in await desk.layer.suggestions(f"/dir add {typed}")]

        assert await offered("../o") == ["../one/"]
        assert await offered("../one,../t") == ["../one,../two/"]
        assert await offered("../.h") == ["../.hidden/"]
        assert "../ws/" not in await offered("../")
        assert await offered("") == []
        assert await offered("../none/x") == []

    desk.run(script)


def test_background_commands_are_lines_where_there_is_no_dialog(desk: Desks) -> None:
    async def script(desk: Desk) -> str:
        desk.session.services.background.started(7, "make serve\nmore")
        desk.session.services.background.started(8, "ended")
        desk.session.services.background.ended(8, exit_code=1, signal=None)
        await desk.run("/tasks")
        return desk.shown

    assert desk.run(script, dialogs=frozenset()) == "make serve (PID: 7)"


def test_a_report_has_the_facts_and_the_conversation(desks: Desks) -> None:
    async def script(desk: Desk) -> None:
        short = await desk.run("/bug it broke")
        assert "* **Session ID:** 5e551017" in short.text
        assert "Chat History Exported" not in short.text
        await desk.say("hello")
        exported = (await desk.run("/bug it broke")).text
        (line,) = [each for each in exported.splitlines() if "bug-report-history-" in each]
        assert json.loads(Path(line).read_text())[-1]["role"] == "model"
        url = "https://example.com/new?t={title}&i={info}&p={problem}"
        desk.session.settings = {"advanced": {"bugCommand": {"urlTemplate": url}}}
        await desk.run("/bug it & broke")
        (address,) = [each for each in desk.shown.splitlines() if each.startswith("https://")]
        assert address.startswith("https://example.com/new?t=it%20%26%20broke&i=%0A*%20**CLI")
        assert "&p=it%20%26%20broke%0A%0A%5BACTION%20REQUIRED%5D" in address

    desks.run(script, [Kit.text("first", "STOP")])


def test_what_a_hook_says_of_a_new_session_is_shown(desks: Desks) -> None:
    async def script(desk: Desk) -> None:
        result = await desk.run("/clear")
        assert [item.text for item in result.items] == ["hello"]

    desks.run(script, hooks=START_AND_END)
