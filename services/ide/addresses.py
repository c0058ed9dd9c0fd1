"""Where the companion of an IDE listens: files that it has written, or variables.

Source: core `ide/ide-connection-utils.ts`.
"""

from __future__ import annotations

import json
import logging
import os
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from services.ide.detection import Ide
from services.regular_files import read_regular

__all__ = ["Address", "address_from_files", "address_from_variables", "host", "workspace_problem"]

logger = logging.getLogger(__name__)

_NAME: Final = re.compile(r"gemini-ide-server-(\d+)-\d+\.json")
_MOST_BYTES: Final = 1_000_000
_LOCAL: Final = "127.0.0.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """A companion: a port, or a command, or both; and what it requires."""

    port: int | None = None
    command: str | None = None
    args: tuple[str, ...] = ()
    token: str | None = None
    workspace: str | None = None
    """The folders that are open in the IDE, separated as in `PATH`."""
    ide: Ide | None = None


def address_from_variables(variables: Mapping[str, str]) -> Address:
    """The address in `GEMINI_CLI_IDE_*`; what they do not say is absent."""
    return Address(
        port=_port(variables.get("GEMINI_CLI_IDE_SERVER_PORT")),
        command=variables.get("GEMINI_CLI_IDE_SERVER_STDIO_COMMAND") or None,
        args=_arguments(variables.get("GEMINI_CLI_IDE_SERVER_STDIO_ARGS")),
        token=variables.get("GEMINI_CLI_IDE_AUTH_TOKEN"),
        workspace=variables.get("GEMINI_CLI_IDE_WORKSPACE_PATH"),
    )


def address_from_files(pid: int, here: Path, *, port: int | None) -> Address | None:
    """The address in the file of the IDE with this process id, or in the best of the others.

    A file of an IDE that has `here` open wins; among these one with `port`. Then come files of
    processes that are alive, and the newest process. Files of other users do not count.
    """
    folder = Path(tempfile.gettempdir()) / "gemini" / "ide"
    own = _read(folder / f"gemini-ide-server-{pid}.json")
    if own is not None:
        return own
    found = [each for each in map(_read, _files(folder, pid)) if each is not None]
    fitting = [each for each in found if workspace_problem(each.workspace, here) is None]
    with_port = [each for each in fitting or found if port is not None and each.port == port]
    return next(iter((*with_port, *fitting, *found)), None)


def workspace_problem(opened: str | None, here: Path) -> str | None:
    """Why the IDE that has `opened` cannot serve a session in `here`; `None`: it can."""
    if opened is None:
        return (
            "Failed to connect to IDE companion extension. Please ensure the extension is running. "
            "To install the extension, run /ide install."
        )
    if not opened:
        return "To use this feature, please open a workspace folder in your IDE and try again."
    folders = [os.path.realpath(folder) for folder in opened.split(os.pathsep) if folder]
    real = Path(os.path.realpath(here))
    if any(real.is_relative_to(folder) for folder in folders):
        return None
    return (
        "Directory mismatch. Gemini CLI is running in a different location than the open workspace "
        "in the IDE. Please run the CLI from one of the following directories: "
        f"{', '.join(folders)}"
    )


def host(variables: Mapping[str, str]) -> str:
    """The machine on which companions listen: this one, seen from a container by its name."""
    inside = any(Path(mark).exists() for mark in ("/.dockerenv", "/run/.containerenv"))
    remote = ("SSH_CONNECTION", "VSCODE_REMOTE_CONTAINERS_SESSION", "REMOTE_CONTAINERS")
    if inside and not any(variables.get(name) for name in remote):
        return "host.docker.internal"
    return _LOCAL


def _files(folder: Path, pid: int) -> Sequence[Path]:
    """The files of companions, the best first."""
    try:
        names = sorted(os.listdir(folder))  # noqa: PTH208 - names, not paths
    except OSError:
        return ()
    pids = {name: int(match[1]) for name in names if (match := _NAME.fullmatch(name))}
    order = sorted(pids, key=lambda name: (pids[name] != pid, not _alive(pids[name]), -pids[name]))
    return [folder / name for name in order]


def _read(file: Path) -> Address | None:
    """What a companion's file says; `None` where it is not one, or belongs to another user."""
    try:
        if file.stat().st_uid != os.getuid():
            return None
        document = json.loads(read_regular(file, _MOST_BYTES).decode())
    except (OSError, ValueError, RecursionError) as error:
        logger.debug("%s: no companion: %s", file, error)
        return None
    return _address(document) if isinstance(document, dict) else None


def _address(document: Mapping[str, Any]) -> Address:
    stdio, info = document.get("stdio"), document.get("ideInfo")
    address = Address(
        port=_port(document.get("port")),
        token=_text(document.get("authToken")),
        workspace=_text(document.get("workspacePath")),
    )
    if isinstance(stdio, dict) and (command := _text(stdio.get("command"))):
        address = replace(address, command=command, args=tuple(_texts(stdio.get("args"))))
    if isinstance(info, dict) and _text(info.get("name")) and _text(info.get("displayName")):
        address = replace(address, ide=Ide(str(info["name"]), str(info["displayName"])))
    return address


def _port(value: Any) -> int | None:
    text = str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""
    return int(text) if text.isdecimal() and 0 < int(text) <= 65535 else None


def _arguments(text: str | None) -> tuple[str, ...]:
    if not text:
        return ()
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        logger.warning("GEMINI_CLI_IDE_SERVER_STDIO_ARGS is no JSON: %s", error)
        return ()
    if not isinstance(found, list):
        logger.warning("GEMINI_CLI_IDE_SERVER_STDIO_ARGS is no JSON array of texts.")
    return tuple(_texts(found))


def _texts(value: Any) -> Iterator[str]:
    yield from (each for each in value if isinstance(each, str)) if isinstance(value, list) else ()


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError) as error:
        return isinstance(error, PermissionError)
    return pid > 0
