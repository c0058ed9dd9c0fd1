"""Each built-in command and each dialog of one, in the terminal.

`test_nothing_is_left_out` fails for a command or a dialog that stands in no table here.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from surfaces.commands import CommandSession, Dialog, SlashCommand
from surfaces.commands.builtin import builtin_commands
from surfaces.terminal.composer import PromptInput
from tests.surfaces.terminal.conftest import Open, Terminal, says

SERVER = Path(__file__).parents[3] / "cassettes" / "mcp_server.py"


@dataclass(frozen=True)
class Case:
    """A command as the user types it.

    Attributes:
        path: The command's own names.
        typed: What the user types.
        shows: Words that then are on the screen.
        keys: Keys that are pressed after that; they close what is open.
        after: Words that are on the screen at last.
        dialog: The dialog that it opens.
    """

    path: str
    typed: str
    shows: str
    keys: Sequence[str] = ()
    after: str = ""
    dialog: Dialog | None = None


def case(path: str, shows: str, args: str = "", **more: Any) -> Case:
    return Case(path, f"/{path} {args}".strip(), shows, **more)


def opens(path: str, shows: str, dialog: Dialog, args: str = "", **more: Any) -> Case:
    """A case whose dialog Esc closes."""
    return case(path, shows, args, dialog=dialog, keys=("escape",), **more)


OFF, ON = "disabled by", "enabled by"
FAMILIES: dict[str, tuple[Case, ...]] = {
    "agents": (
        case("agents", "Local Agents"),
        case("agents list", "helper"),
        case("agents disable", 'Agent "helper" disabled', "helper"),
        case("agents enable", 'Agent "helper" enabled', "helper"),
        case("agents reload", "Agents reloaded successfully:"),
        opens("agents config", "Configure: helper", Dialog.AGENT_CONFIG, "helper"),
    ),
    "skills": (
        case("skills", "Available Agent Skills:"),
        case("skills list", "tidy"),
        case("skills disable", f'Skill "tidy" {OFF}', "tidy"),
        case("skills enable", f'Skill "tidy" {ON}', "tidy"),
        case("skills reload", "Agent skills reloaded successfully."),
        case(
            "skills link",
            "Do you want to continue?",
            "../shared",
            keys=("enter",),
            after="Successfully linked skills",
        ),
    ),
    "hooks": (
        opens("hooks", "Security Warning:", Dialog.HOOKS),
        opens("hooks panel", "note [enabled]", Dialog.HOOKS),
        case("hooks disable", f'Hook "note" {OFF}', "note"),
        case("hooks enable", f'Hook "note" {ON}', "note"),
        case("hooks disable-all", "Disabled 1 hook(s) successfully."),
        case("hooks enable-all", "Enabled 1 hook(s) successfully."),
    ),
    "mcp": (
        case("mcp", "poet - Ready"),
        case("mcp list", "poet - Ready"),
        case("mcp desc", "poet - Ready"),
        case("mcp schema", "Parameters:"),
        case("mcp reload", "Reloading MCP servers..."),
        case("mcp auth", "No MCP servers configured with OAuth authentication."),
        case("mcp disable", "MCP server 'poet' disabled", "poet"),
        case("mcp enable", "MCP server 'poet' enabled", "poet"),
    ),
    "extensions": (
        case("extensions", "No extensions installed."),
        case("extensions explore", "View available extensions at"),
        case(
            "extensions install",
            "Do you want to continue?",
            "../extension",
            keys=("enter",),
            after="installed successfully.",
        ),
        case("extensions list", "demo (v1.0.0) - active"),
        opens(
            "extensions config",
            "Enter value for Key",
            Dialog.EXTENSION_CONFIG,
            "demo",
            after='Configuring settings for "demo"...',
        ),
        case("extensions disable", 'Extension "demo" disabled', "demo --scope=user"),
        case("extensions enable", 'Extension "demo" enabled', "demo --scope=user"),
        case("extensions update", "No extensions to update.", "--all"),
        case("extensions reload", "1 extension reloaded successfully", "--all"),
        case("extensions uninstall", "uninstalled successfully.", "demo"),
        case(
            "extensions link",
            "Do you want to continue?",
            "../extension",
            keys=("enter",),
            after="linked successfully.",
        ),
    ),
    "conversation": (
        case("chat save", "No conversation found to save.", "one"),
        Case("", "hello", "✦ an answer"),
        case("chat save", "Conversation checkpoint saved with tag: one.", "one"),
        case(
            "chat save",
            "Do you want to overwrite it?",
            "one",
            keys=("enter",),
            after="saved with tag: one.",
        ),
        case("chat list", "List of saved conversations:"),
        case("chat share", "Conversation shared to", "a.md"),
        case("chat resume", "✦ an answer", "one"),
        case("chat delete", "checkpoint 'one' has been deleted.", "one"),
        case("chat checkpoints list", "No saved conversation checkpoints found."),
        case("chat checkpoints", "requires a subcommand. Available:"),
        opens("chat", "Chat Sessions", Dialog.SESSIONS),
        case("export-session", "Successfully exported session to", "a.json"),
        case("copy", "Last output copied to the clipboard"),
        opens("rewind", "Stay at current position", Dialog.REWIND),
        case("stats", "Session Stats"),
        case("stats session", "Session Stats"),
        case("stats model", "Model Stats For Nerds"),
        case("stats tools", "No tool calls have been made in this session."),
        case("bug", "Chat History Exported", "it broke"),
        case("clear", "? for shortcuts"),
        case("compress", "Nothing to compress."),
    ),
    "resume": (
        Case("", "hello", "✦ an answer"),
        opens("resume", "Chat Sessions", Dialog.SESSIONS),
        case("resume list", "No saved conversation checkpoints found."),
        case("resume save", "saved with tag: one.", "one"),
        case("resume resume", "✦ an answer", "one"),
        case("resume share", "Conversation shared to", "a.json"),
        case("resume delete", "has been deleted.", "one"),
        case("resume checkpoints", "requires a subcommand. Available:"),
    ),
    "workspace": (
        case("commands", 'Use "/commands list" to view'),
        case("commands list", "No custom command files"),
        case("commands reload", "Custom commands reloaded successfully."),
        case("directory", "requires a subcommand. Available:"),
        case("directory show", "Current workspace directories:"),
        opens(
            "directory add",
            "Do you trust the following folders",
            Dialog.FOLDER_TRUST,
            "../extension/",
            after="Operation cancelled.",
        ),
        case("memory", "requires a subcommand. Available:"),
        case("memory show", "Memory is currently empty."),
        case("memory list", "No GEMINI.md files in use."),
        case("memory reload", "Memory reloaded successfully."),
        case("init", "✦ an answer"),
        case("permissions", "Please provide a subcommand for /permissions."),
        opens("permissions trust", "> Modify Trust Level", Dialog.PERMISSIONS),
        case("policies", "requires a subcommand. Available:"),
        case("policies list", "Default: plan.toml"),
        case("restore", "No restorable tool calls found."),
        case("tools", "Available tools:"),
        case("tools list", "ReadFile (read_file)"),
        case("tools desc", "Find files by name"),
    ),
    "session": (
        case("about", "About parity"),
        case("help", "Keyboard Shortcuts:"),
        case("docs", "The documentation is in"),
        case("shortcuts", "Send message", dialog=Dialog.SHORTCUTS),
        case("ide", "IDE integration is not supported"),
        case("ide status", "IDE integration is not supported"),
        case("ide enable", "IDE integration is not supported"),
        case("ide disable", "IDE integration is not supported"),
        case("ide install", "IDE integration is not supported"),
        opens("model", "Select Model", Dialog.MODEL),
        opens("model manage", "Select Model", Dialog.MODEL),
        case("model set", "Model set to gemini-2.5-pro", "gemini-2.5-pro"),
        case("tasks", "No background tasks are currently active."),
        case("terminal-setup", "Could not detect terminal type."),
        case("plan copy", "No approved plan found to copy."),
        case("plan", "Switched to Plan Mode."),
        opens("editor", "> Select Editor", Dialog.EDITOR),
        opens("theme", "> Select Theme", Dialog.THEME),
        opens("settings", "Search to filter", Dialog.SETTINGS),
        case("settings list", "folderTrust"),
        case("settings get", "is not set: its default is in force.", "ui.theme"),
        case("vim", "Entered Vim mode.", dialog=Dialog.VIM),
        case("vim", "Exited Vim mode."),
        opens("auth", "How would you like to authenticate", Dialog.AUTH),
        opens("auth signin", "How would you like to authenticate", Dialog.AUTH),
    ),
    "sign-out": (
        case("auth signout", "You are now signed out", dialog=Dialog.LOGOUT, keys=("escape",)),
    ),
}
ELSEWHERE = {Dialog.TASKS: "test_command_dialogs.py"}
"""Dialogs that need more than a command, and where they are tested."""
LEAVING = "quit"


@pytest.fixture
def settings(folders: Path) -> Path:
    """A session in which each command can do something."""
    for name, text in {
        "home/.gemini/agents/helper.md": "---\nname: helper\ndescription: Helps.\n---\nHelp.\n",
        "home/.gemini/skills/tidy/SKILL.md": "---\nname: tidy\ndescription: Tidies.\n---\nDo.",
        "shared/wash/SKILL.md": "---\nname: wash\ndescription: Washes.\n---\nDo.",
    }.items():
        (folders / name).parent.mkdir(parents=True, exist_ok=True)
        (folders / name).write_text(text)
    extension = {"name": "demo", "version": "1.0.0"}
    wanted = {"name": "Key", "description": "The key", "envVar": "DEMO_KEY"}
    (folders / "extension").mkdir()
    (folders / "extension/gemini-extension.json").write_text(
        json.dumps({**extension, "settings": [wanted]})
    )
    note = {"type": "command", "name": "note", "command": "true"}
    file = folders / "home/.gemini/settings.json"
    file.write_text(
        json.dumps(
            {
                "general": {"checkpointing": {"enabled": True}},
                "security": {"folderTrust": {"enabled": True}},
                "hooks": {"AfterTool": [{"hooks": [note]}]},
                "mcpServers": {"poet": {"command": sys.executable, "args": [str(SERVER)]}},
            }
        )
    )
    return file


async def play(screen: Terminal, each: Case) -> None:
    await screen.pilot.press("ctrl+l")
    await screen.hides("\u2139")
    screen.app.query_one(PromptInput).replace_all(each.typed)
    await screen.pilot.press("enter")
    await screen.shows(each.shows)
    if each.keys:
        await screen.pilot.press(*each.keys)
        await (screen.shows(each.after) if each.after else screen.hides(each.shows))
    for _ in range(400):
        if not screen.app.working:
            return
        await screen.pilot.pause(0.02)


@pytest.mark.parametrize("family", FAMILIES)
async def test_a_command_answers(terminal: Open, settings: Path, family: str) -> None:
    async with terminal(says("an answer")) as screen:
        await screen.opened()
        for each in FAMILIES[family]:
            await play(screen, each)


async def test_quit_leaves(terminal: Open) -> None:
    async with terminal() as screen:
        await screen.opened()
        await screen.say(f"/{LEAVING}")
        await screen.pilot.pause(0.2)

    assert screen.app.return_value == 0


def paths(commands: Iterable[SlashCommand], above: str = "") -> Iterable[str]:
    """The path of each command that does something."""
    for command in commands:
        path = f"{above} {command.name}".strip()
        yield path
        if command.name != "checkpoints":  # It has the same subcommands as the command above it.
            yield from paths(command.subcommands, path)


def test_nothing_is_left_out() -> None:
    services = SimpleNamespace(
        settings=SimpleNamespace(folder_trust=True, plan_enabled=True), checkpoints=object()
    )
    session = cast("CommandSession", SimpleNamespace(services=services))
    played = [each for cases in FAMILIES.values() for each in cases]

    tested = {each.path for each in played} - {"", "chat checkpoints list"} | {LEAVING}
    assert tested == set(paths(builtin_commands(session)))
    dialogs = {each.dialog for each in played if each.dialog is not None} | set(ELSEWHERE)
    assert dialogs == set(Dialog)
    for name in ELSEWHERE.values():
        assert Path(__file__).with_name(name).is_file()
