"""The layer: what it finds, lists, refuses and says."""

from __future__ import annotations

from typing import Any

import pytest

from services.state import ApprovalMode
from surfaces.commands import (
    CallTool,
    Dialog,
    ItemKind,
    NotACommand,
    OpenDialog,
    Quit,
    SubmitPrompt,
)
from surfaces.commands.builtin.preferences import setting_lines
from surfaces.commands.durations import readable_duration
from tests.surfaces.commands.conftest import Desk, Desks


def run(desk: Desks, text: str, **options: Any) -> tuple[Any, str]:
    async def script(desk: Desk) -> tuple[Any, str]:
        return await desk.run(text), desk.shown

    return desk.run(script, **options)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("/nope and more", "Unknown command: /nope. /help lists the commands."),
        ("/gemma", "/gemma is not built: it belongs to the vendor's service."),
        ("/mcp enable x", "Server 'x' not found. Use /mcp list to see available servers."),
        ("/model set", "Usage: /model set <model-name> [--persist]"),
        ("/permissions trust no-such", None),
        ("/directory add", "Please provide at least one path to add."),
        ("/memory inbox", None),
        ("/extensions enable nope", None),
    ],
)
def test_what_cannot_be_done_is_one_sentence(desk: Desks, text: str, said: str | None) -> None:
    item, shown = run(desk, text, folder_trust=True)

    assert item.kind is ItemKind.ERROR
    assert shown == ""
    assert said is None or item.text == said
    assert "\n" not in item.text


@pytest.mark.parametrize(
    "text",
    [
        "/chat save " + "x" * 300,
        "/chat resume \ud800",
        "/chat share a\0.md",
        "/export-session a\0b",
        "/directory add a\0b",
        "/permissions trust a\0b",
        "/export-session " + "x/" * 3000,
    ],
)
def test_names_that_no_file_can_have_are_errors(desk: Desks, text: str) -> None:
    async def script(desk: Desk) -> Any:
        await desk.say("one")
        assert await desk.layer.suggestions(text) == []
        return await desk.run(text)

    assert desk.run(script, "first", folder_trust=True).kind is ItemKind.ERROR


def test_paths_and_comments_are_prompts(desk: Desks) -> None:
    assert run(desk, "/usr/bin/env says no")[0] == NotACommand()


def test_a_command_without_an_action_lists_its_subcommands(desk: Desks) -> None:
    item, _ = run(desk, "/memory")

    assert item.text.splitlines()[:2] == [
        "Command '/memory' requires a subcommand. Available:",
        "  - show: Show the current memory contents",
    ]


def test_a_dialog_that_the_surface_lacks_is_not_offered(desk: Desks) -> None:
    async def script(desk: Desk) -> tuple[Any, list[str]]:
        return await desk.run("/theme"), [each.value for each in await desk.layer.suggestions("/t")]

    assert desk.run(script) == (
        OpenDialog(dialog=Dialog.THEME),
        ["theme", "tools", "tasks", "terminal-setup"],
    )
    item, offered = desk.run(script, dialogs=frozenset())
    assert item.text == "/theme opens a dialog: it needs an interactive terminal."
    assert offered == ["tools", "tasks", "terminal-setup"]


def test_a_command_that_completes_what_follows_names_it_for_lists_of_commands(desk: Desks) -> None:
    async def script(desk: Desk) -> list[str]:
        found = []
        waiting = [(each.name, each) for each in desk.layer.commands]
        while waiting:
            name, command = waiting.pop()
            if command.complete is not None and not command.arguments:
                found.append(name)
            waiting += [(f"{name} {each.name}", each) for each in command.subcommands]
        return found

    assert desk.run(script) == []


@pytest.mark.parametrize(
    ("text", "concurrent"),
    [("/about", True), ("/usage model", True), ("/vim", True), ("/clear", False), ("/no", False)],
)
def test_some_commands_run_while_the_agent_works(
    desk: Desks, text: str, *, concurrent: bool
) -> None:
    async def script(desk: Desk) -> bool:
        return desk.layer.runs_while_busy(text)

    assert desk.run(script) is concurrent


def test_the_menu_completes_names_and_aliases(desk: Desks) -> None:
    async def script(desk: Desk) -> list[list[str]]:
        typed = ("/summ", "/chat re", "/chat nope x", "/help x", "/nope x")
        return [[each.value for each in await desk.layer.suggestions(text)] for text in typed]

    assert desk.run(script) == [["compress"], ["resume"], [], [], []]


def test_help_lists_every_command_that_is_offered(desk: Desks) -> None:
    async def script(desk: Desk) -> str:
        desk.session.shortcuts = (("Ctrl+C", "Quit application"),)
        await desk.run("/help")
        return desk.shown

    lines = desk.run(script, dialogs=frozenset()).splitlines()

    assert "/about - Show version info" in lines
    assert "  show - Show the current memory contents" in lines
    assert "Ctrl+C - Quit application" in lines
    assert not [line for line in lines if line.startswith(("/theme", "/gemma", "  checkpoints"))]


def test_quit_ends_the_session(desk: Desks) -> None:
    result, _ = run(desk, "/exit --delete")

    assert isinstance(result, Quit)
    assert result.delete
    assert "Agent powering down. Goodbye!" in result.items[1].text


def test_stats_show_what_was_used(desk: Desks) -> None:
    async def script(desk: Desk) -> str:
        desk.session.auth_type = "gemini-api-key"
        for text in ("/stats", "/stats model", "/stats tools"):
            await desk.run(text)
        return desk.shown

    shown = desk.run(script)

    assert "Auth Method:                gemini-api-key" in shown
    assert "Tool Calls:                 0 ( \u2713 0 x 0 )" in shown
    assert "No API calls have been made in this session." in shown
    assert "No tool calls have been made in this session." in shown


def test_stats_of_models_and_tools_have_a_row_each(desk: Desks) -> None:
    tokens = {"prompt": 1000, "cached": 250, "candidates": 20, "total": 1020, "input": 750}
    counts = {"accept": 1, "reject": 0, "modify": 0}
    usage = {
        "models": {
            "m": {
                "api": {"totalRequests": 2, "totalErrors": 1, "totalLatencyMs": 3000},
                "tokens": {**tokens, "thoughts": 0, "tool": 0},
                "roles": {"main": {"totalRequests": 2, "tokens": tokens}},
            }
        },
        "tools": {
            "totalCalls": 4,
            "totalSuccess": 3,
            "totalFail": 1,
            "totalDurationMs": 1000,
            "totalDecisions": counts,
            "byName": {"t": {"count": 4, "success": 3, "durationMs": 1000, "decisions": counts}},
        },
        "files": {"totalLinesAdded": 5, "totalLinesRemoved": 2},
    }

    async def script(desk: Desk) -> list[str]:
        desk.session.metrics = lambda: usage
        for text in ("/stats", "/stats model", "/stats tools"):
            await desk.run(text)
        return [" ".join(line.split()) for line in desk.shown.splitlines()]

    lines = desk.run(script)

    assert "\u00bb API Time: 3.0s (75.0%)" in lines
    assert "User Agreement: 100.0% (1 reviewed)" in lines
    assert "Code Changes: +5 -2" in lines
    assert "m 2 1,000 250 20" in lines
    assert "Errors 1 (50.0%)" in lines
    assert "t 4 75.0% 250ms" in lines


def test_the_model_is_set_for_the_session(desk: Desks) -> None:
    async def script(desk: Desk) -> tuple[str, str, ItemKind]:
        said = await desk.run("/model set gemini-2.5-pro")
        refused = await desk.run("/model set x --persist")
        return said.text, desk.session.services.state.model, refused.kind

    assert desk.run(script) == ("Model set to gemini-2.5-pro", "gemini-2.5-pro", ItemKind.ERROR)


def test_plan_changes_the_mode_and_sends_its_arguments(desk: Desks) -> None:
    async def script(desk: Desk) -> None:
        result = await desk.run("/plan copy that file")

        assert result == SubmitPrompt(content=({"text": "copy that file"},))
        assert desk.shown == "Switched to Plan Mode."
        assert desk.session.services.state.approval_mode is ApprovalMode.PLAN
        assert (await desk.run("/plan copy")).text == "No approved plan found to copy."
        plan = desk.root / "p.md"
        plan.write_text("# Plan")
        desk.session.services.state.approved_plan = plan
        assert (await desk.run("/plan")).text == "# Plan"

    desk.run(script)


def test_memory_is_shown_listed_and_read_again(desk: Desks) -> None:
    async def script(desk: Desk) -> None:
        file = desk.root / "GEMINI.md"
        assert (await desk.run("/memory show")).text == "Memory is currently empty."
        file.write_text("be kind\n")
        reloaded = await desk.run("/memory refresh")
        assert "characters from 1 file(s)" in reloaded.text
        assert (await desk.run("/memory list")).text == (
            f"There are 1 GEMINI.md file(s) in use:\n\n{file}"
        )
        assert "--- Project ---\n--- Context from:" in (await desk.run("/memory show")).text
        assert "be kind" in str(desk.session.services.prompts.session_context())

    desk.run(script)


def test_init_never_overwrites(desk: Desks) -> None:
    async def script(desk: Desk) -> None:
        first, second = await desk.run("/init"), await desk.run("/init")

        assert isinstance(first, SubmitPrompt)
        assert (desk.root / "GEMINI.md").read_text() == ""
        assert second.text.startswith("A GEMINI.md file already exists in this directory.")

    desk.run(script)


def test_a_skill_is_a_command(desk: Desks) -> None:
    async def script(desk: Desk) -> tuple[Any, Any]:
        folder = desk.root / ".gemini" / "skills" / "tidy"
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text("---\nname: tidy up\ndescription: Tidies\n---\nDo.")
        reloaded = await desk.run("/skills reload")
        await desk.run("/skills")
        assert "  - tidy up\n      Tidies" in desk.shown
        return reloaded.text, await desk.run("/tidy-up the desk")

    assert desk.run(script) == (
        "Agent skills reloaded successfully. 1 newly available skill.",
        CallTool(tool="activate_skill", args={"name": "tidy up"}, then=({"text": "the desk"},)),
    )


def test_secrets_of_settings_are_hidden(desk: Desks) -> None:
    document = {
        "mcpServers": {"db": {"command": "x", "env": {"KEY": "s3"}, "headers": {"A": "s3"}}},
        "apiKey": "s3",
        "ui": {"theme": "dark"},
    }

    async def script(desk: Desk) -> list[str]:
        desk.session.settings = document
        names = ("ui", "ui.theme", "mcpServers.db.env.KEY", "none")
        return [(await desk.run(f"/settings get {name}")).text for name in names]

    assert list(setting_lines(document)) == [
        'mcpServers.db.command: "x"',
        "mcpServers.db.env: [hidden]",
        "mcpServers.db.headers: [hidden]",
        "apiKey: [hidden]",
        'ui.theme: "dark"',
    ]
    said = desk.run(script)
    assert said[:2] == ['ui.theme: "dark"', 'ui.theme: "dark"']
    assert "s3" not in said[2]
    assert said[3] == "none is not set: its default is in force."


@pytest.mark.parametrize("text", ["/tools", "/tools desc", "/agents", "/policies list"])
def test_every_listing_says_something(desk: Desks, text: str) -> None:
    result, shown = run(desk, text)

    assert (result.text if result is not None else shown).strip()


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [
        (0, "0s"),
        (-5, "0s"),
        (12.5, "13ms"),
        (1700, "1.7s"),
        (125_000, "2m 5s"),
        (3_780_000, "1h 3m"),
    ],
)
def test_durations_are_short(milliseconds: float, text: str) -> None:
    assert readable_duration(milliseconds) == text
