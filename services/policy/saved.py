"""Saving "always allow" answers in the policy file that is kept for them.

A saved rule with the same tool, server, command prefixes and pattern is updated. A file that is no
TOML is put aside. A file is written whole or not at all.

Source: core `policy/config.ts` (`createPolicyUpdater`).
"""

from __future__ import annotations

import errno
import logging
import os
import shutil
import tomllib
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any, TextIO

from services.exhaustion import notice
from services.node_errors import node_error_message
from services.policy.rules import ALWAYS_ALLOW_FRACTION, MCP_PREFIX
from services.policy.sources import user_policies_folder
from services.policy.toml_files import mixed_array
from services.policy.toml_text import toml_text
from services.policy.updates import UpdatePolicy
from services.regular_files import MOST_TEXT, read_regular
from services.state import CoreEvents, UserFeedback
from services.wire import JsonObject
from services.workspace import Workspace

__all__ = ["AUTO_SAVED_FILE", "SavedAnswers"]

logger = logging.getLogger(__name__)

AUTO_SAVED_FILE = "auto-saved.toml"


class SavedAnswers:
    """Writes a session's answers. Unlike upstream, `save` returns when the answer is saved."""

    def __init__(self, *, workspace: Workspace, events: CoreEvents) -> None:
        self._user = user_policies_folder(workspace.home) / AUTO_SAVED_FILE
        self._workspace = workspace.root / ".gemini" / "policies" / AUTO_SAVED_FILE
        self._events = events

    def save(self, update: UpdatePolicy) -> None:
        """Save an answer in the user's file or the workspace's. Emits a failure, never raises."""
        file = self._workspace if update.persist_scope == "workspace" else self._user
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            document = self._read(file)
            rules = document.setdefault("rule", [])
            if not all(isinstance(rule, dict) for rule in rules):
                self._failed(update, "Array values can't have mixed types")
                return
            _put(rules, update)
            _replace(file, toml_text(document))
        except OSError as problem:
            where = problem.filename or file
            self._failed(update, node_error_message(problem, _syscall(problem, file), where))

    def _read(self, file: Path) -> JsonObject:
        try:
            document = tomllib.loads(read_regular(file, MOST_TEXT).decode(errors="replace"))
            if mixed := mixed_array(document):
                raise ValueError(mixed)
        except FileNotFoundError:
            return {}
        except (ValueError, RecursionError):
            self._report(
                "warning",
                "Syntax error found in policy file. Backing up corrupted file to "
                f"{file}.bak and starting fresh.",
            )
            if not file.is_symlink():
                try:
                    shutil.copyfile(file, f"{file}.bak")
                except OSError as error:
                    notice(error, file)
            return {}
        return document if isinstance(document.get("rule", []), list) else {}

    def _failed(self, update: UpdatePolicy, reason: str) -> None:
        logger.warning("policy for %s not saved: %s", update.tool_name, reason)
        self._report("error", f"Failed to persist policy for {update.tool_name}: {reason}")

    def _report(self, severity: str, message: str) -> None:
        self._events.emit(UserFeedback(severity=severity, message=message))


def _put(rules: list[JsonObject], update: UpdatePolicy) -> None:
    """Update the equal rule, or add one."""
    tool = update.tool_name
    if update.mcp_name:
        tool = tool.removeprefix(f"{MCP_PREFIX}{update.mcp_name}_")
    prefix = update.command_prefix
    if prefix is not None and not isinstance(prefix, str):
        prefix = list(prefix)
    wanted = (tool, update.mcp_name, prefix, update.args_pattern)
    known = next((rule for rule in rules if _identity(rule) == wanted), None)
    if known is None:
        known = {"decision": "allow", "priority": ALWAYS_ALLOW_FRACTION, "toolName": tool}
        if update.mcp_name:
            known["mcpName"] = update.mcp_name
        if prefix is not None:
            known["commandPrefix"] = prefix
        elif update.args_pattern:
            known["argsPattern"] = update.args_pattern
        rules.append(known)
    if update.allow_redirection:
        known["allowRedirection"] = True
    if update.modes:
        known["modes"] = [str(mode) for mode in update.modes]


def _identity(rule: JsonObject) -> tuple[Any, ...]:
    keys = ("toolName", "mcpName", "commandPrefix", "argsPattern")
    return tuple(rule.get(key) for key in keys)


def _replace(file: Path, text: str) -> None:
    """Replace the file by `text` atomically, through a temporary file.

    Raises:
        OSError: it cannot be written; the temporary file is removed.
    """
    temporary, stream = _new_beside(file)
    try:
        with stream:
            stream.write(text)
        try:
            temporary.replace(file)
        except OSError as problem:
            if problem.errno not in {errno.EXDEV, errno.EBUSY} or file.is_symlink():
                raise
            shutil.copyfile(temporary, file)
    finally:
        temporary.unlink(missing_ok=True)


def _new_beside(file: Path) -> tuple[Path, TextIO]:
    """A new temporary file beside `file`."""
    for number in count():
        temporary = Path(f"{file}.{os.getpid()}-{number}.tmp")
        with suppress(FileExistsError):
            return temporary, temporary.open("x", encoding="utf-8", newline="")
    raise AssertionError("unreachable")


def _syscall(problem: OSError, file: Path) -> str:
    if problem.filename is None:
        return "open"
    return "mkdir" if Path(problem.filename) == file.parent else "open"
