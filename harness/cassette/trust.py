"""Which cassettes are trusted, and an early message for those that need it.

A cassette is code: the shell tool, hooks and MCP servers in it run commands. `starts_processes`
reads a loaded cassette, macros expanded, and finds the plain cases before anything runs. It keeps
nothing out: `harness.replay.confining` does, at the places where a run would start something.

Source: the cassette format, "Trust".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from harness.cassette.format import Cassette
from harness.cassette.needs import function_calls
from services.wire import Json, JsonObject

__all__ = ["is_trusted", "starts_processes"]

_SHELL: Final = "run_shell_command"
_COMMAND_SETTINGS: Final = ("toolDiscoveryCommand", "toolCallCommand", "mcpServerCommand")
_AGENT_COMMANDS: Final = ("mcp_servers", "mcpservers", "hooks:")


def is_trusted(file: Path, roots: Iterable[Path]) -> bool:
    """Whether `file`, links resolved, lies in one of the trusted corpora."""
    place = file.resolve()
    return any(place.is_relative_to(root.resolve()) for root in roots)


def starts_processes(cassette: Cassette) -> str | None:
    """Why running `cassette` could start a process of its choosing, in words; None when not."""
    reasons = (
        _of_settings(cassette.session.settings),
        _of_files(cassette),
        _of_calls(cassette.document.get("model") or []),
    )
    return next((reason for group in reasons for reason in group), None)


def _of_settings(settings: JsonObject) -> Iterator[str]:
    for name in ("hooks", "projectHooks"):
        for event, definitions in settings.get(name, {}).items():
            if any(hook for definition in definitions for hook in definition["hooks"]):
                yield f"session.settings.{name}.{event} runs a hook"
    for server, spec in settings.get("mcpServers", {}).items():
        if "command" in spec:
            yield f"session.settings.mcpServers.{server} starts a server"
    for name in _COMMAND_SETTINGS:
        if settings.get(name):
            yield f"session.settings.{name} is a command"


def _of_files(cassette: Cassette) -> Iterator[str]:
    written = [
        *((f"files.{path}", path, text) for path, text in cassette.files.items()),
        *((f"home_files.{path}", path, text) for path, text in cassette.home_files.items()),
        *_written_by_script(cassette.document.get("script") or []),
    ]
    for key, path, content in written:
        reason = _of_file(path, content)
        if reason is not None:
            yield f"{key} {reason}"


def _written_by_script(script: list[Json]) -> Iterator[tuple[str, str, str]]:
    for position, action in enumerate(script):
        if "write_file" in action:
            target = action["write_file"]
            yield f"script[{position}].write_file", target["path"], target["text"]


def _of_file(path: str, content: str | bytes) -> str | None:
    """Files that make the product, or a program it runs, start something."""
    place = f"/{path.lower()}"
    if "/.git/" in place or place.endswith(("/.git", "/.gitconfig", "/git/config")):
        return "configures git, which can run commands"
    if "/.gemini/" not in place:
        return None
    if place.endswith("/settings.json") or "/.gemini/extensions/" in place:
        return "configures hooks or servers"
    text = content if isinstance(content, str) else content.decode("utf-8", "replace")
    if "/.gemini/agents/" in place and any(word in text.lower() for word in _AGENT_COMMANDS):
        return "defines an agent with servers or hooks"
    return None


def _of_calls(steps: list[JsonObject]) -> Iterator[str]:
    for call in function_calls(steps):
        name = call.get("name")
        if name == _SHELL:
            yield f"the model calls {_SHELL}: {_shown((call.get('args') or {}).get('command'))}"
        target = (call.get("args") or {}).get("file_path")
        if isinstance(target, str) and name in ("write_file", "replace"):
            reason = _of_file(target, "")
            if reason is not None:
                yield f"the model writes {_shown(target)}, which {reason}"


def _shown(text: Json) -> str:
    shown = str(text).replace("\n", " ")
    return shown if len(shown) <= 60 else f"{shown[:59]}…"
