"""Which IDE runs this terminal, as its variables and the processes above this one show.

Source: core `ide/detect-ide.ts`, `ide/process-utils.ts`.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final

from services.child_start import program_output

__all__ = ["Ide", "IdeProcess", "detected_ide", "ide_process"]


@dataclass(frozen=True, slots=True)
class Ide:
    """An IDE: its key, and its name for the user."""

    name: str
    display_name: str


@dataclass(frozen=True, slots=True)
class IdeProcess:
    """The process that is taken for the IDE's: its id and its command line."""

    pid: int
    command: str


_VS_CODE: Final = Ide("vscode", "VS Code")
_FORK: Final = Ide("vscodefork", "IDE")
_JETBRAINS: Final = Ide("jetbrains", "JetBrains IDE")
_BY_VARIABLE: Final = (
    ("ANTIGRAVITY_CLI_ALIAS", None, Ide("antigravity", "Antigravity")),
    ("__COG_BASHRC_SOURCED", None, Ide("devin", "Devin")),
    ("REPLIT_USER", None, Ide("replit", "Replit")),
    ("CURSOR_TRACE_ID", None, Ide("cursor", "Cursor")),
    ("CODESPACES", None, Ide("codespaces", "GitHub Codespaces")),
    ("EDITOR_IN_CLOUD_SHELL", None, Ide("cloudshell", "Cloud Shell")),
    ("CLOUD_SHELL", None, Ide("cloudshell", "Cloud Shell")),
    ("TERM_PRODUCT", "Trae", Ide("trae", "Trae")),
    ("MONOSPACE_ENV", None, Ide("firebasestudio", "Firebase Studio")),
    ("POSITRON", "1", Ide("positron", "Positron")),
    ("TERM_PROGRAM", "sublime", Ide("sublimetext", "Sublime Text")),
    ("ZED_SESSION_ID", None, Ide("zed", "Zed")),
    ("TERM_PROGRAM", "Zed", Ide("zed", "Zed")),
    ("XCODE_VERSION_ACTUAL", None, Ide("xcode", "XCode")),
)
"""A variable and its value, in order; `None`: any value but an empty one."""
_JETBRAINS_BY_COMMAND: Final = (
    ("idea", Ide("intellijidea", "IntelliJ IDEA")),
    ("webstorm", Ide("webstorm", "WebStorm")),
    ("pycharm", Ide("pycharm", "PyCharm")),
    ("goland", Ide("goland", "GoLand")),
    ("studio", Ide("androidstudio", "Android Studio")),
    ("clion", Ide("clion", "CLion")),
    ("rustrover", Ide("rustrover", "RustRover")),
    ("datagrip", Ide("datagrip", "DataGrip")),
    ("phpstorm", Ide("phpstorm", "PhpStorm")),
)
_TERMINALS: Final = frozenset({"vscode", "sublime", "Zed"})
_SHELLS: Final = frozenset({"zsh", "bash", "sh", "tcsh", "csh", "ksh", "fish", "dash"})
_MOST_ANCESTORS: Final = 32
_PS_TIMEOUT_S: Final = 3.0


def detected_ide(variables: Mapping[str, str], command: str) -> Ide | None:
    """The IDE whose terminal has these variables; `None`: none that is supported.

    Args:
        variables: the environment.
        command: the command line of the IDE's process; it may be empty.
    """
    jetbrains = "jetbrains" in variables.get("TERMINAL_EMULATOR", "").lower()
    supported = (
        variables.get("TERM_PROGRAM") in _TERMINALS
        or bool(variables.get("ZED_SESSION_ID"))
        or bool(variables.get("XCODE_VERSION_ACTUAL"))
    )
    if not supported and not jetbrains:
        return None
    low = command.lower()
    for name, value, ide in _BY_VARIABLE:
        found = variables.get(name)
        if found and value in (None, found):
            return ide
    if jetbrains:
        return next((ide for word, ide in _JETBRAINS_BY_COMMAND if word in low), _JETBRAINS)
    return _VS_CODE if not low or "code" in low else _FORK


async def ide_process(variables: Mapping[str, str]) -> IdeProcess:
    """The IDE's process: the grandparent of the nearest shell above this process.

    `GEMINI_CLI_IDE_PID` names it instead. Without a shell it is the topmost process.
    """
    named = variables.get("GEMINI_CLI_IDE_PID", "")
    if named.isdecimal() and int(named) > 0:
        return IdeProcess(int(named), (await _process(int(named)))[1])
    pid = os.getpid()
    for _ in range(_MOST_ANCESTORS):
        parent, command = await _process(pid)
        if PurePath(command.split(" ")[0]).name in _SHELLS:
            grandparent, _ = await _process(parent)
            found = grandparent if grandparent > 1 else parent
            return IdeProcess(found, (await _process(found))[1])
        if parent <= 1:
            break
        pid = parent
    return IdeProcess(pid, (await _process(pid))[1])


async def _process(pid: int) -> tuple[int, str]:
    """The parent of a process, and its command line; `(0, "")` where there is no such process."""
    words = ("ps", "-o", "ppid=,command=", "-p", str(pid))
    try:
        out = await asyncio.to_thread(program_output, *words, timeout_s=_PS_TIMEOUT_S)
    except OSError:
        return 0, ""
    parent, _, command = out.strip().partition(" ")
    return (int(parent), command.strip()) if parent.isdecimal() else (0, "")
