"""Installing the companion into an IDE. Source: core `ide/ide-installer.ts`."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from services.clock import Clock
from services.environment import Environment
from services.hooks.process import Ending, run_hook_process
from services.ide.detection import Ide

__all__ = ["InstallError", "install_companion"]

_COMPANION: Final = "google.gemini-cli-vscode-ide-companion"
_NAME: Final = "Gemini CLI Companion"
_LIMIT_MS: Final = 300_000
_SAFE: Final = re.compile(r"[a-zA-Z0-9.\-_/\\]+")
_VS_CODE: Final = (
    "For help, see https://code.visualstudio.com/docs/configure/command-line"
    "#_code-is-not-recognized-as-an-internal-or-external-command. You can also install the "
    f"'{_NAME}' extension manually from the VS Code marketplace."
)
_POSITRON: Final = (
    "For help, see https://positron.posit.co/add-to-path.html. You can also install the "
    f"'{_NAME}' extension manually from the VS Code marketplace / Open VSX registry."
)


class InstallError(Exception):
    """The companion cannot be installed; the message is for the user."""


async def install_companion(ide: Ide, environment: Environment, home: Path, clock: Clock) -> str:
    """Let the IDE's own program install the companion; return the message for the user.

    Args:
        ide: the IDE.
        environment: finds the program, and is the program's environment.
        home: the user's folder.
        clock: stands still while the program runs.

    Raises:
        InstallError: there is no such program, or it fails.
    """
    program = _program(ide, environment, home)
    command = shlex.join((program, "--install-extension", _COMPANION, "--force"))
    try:
        with clock.real_work():
            done = await run_hook_process(
                command,
                given=b"",
                folder=home,
                environment=environment.child_variables,
                limit_ms=_LIMIT_MS,
                signal=None,
            )
        installed = done.ending is Ending.BY_ITSELF and done.exit_code == 0
    except (OSError, ValueError):
        installed = False
    if not installed:
        raise InstallError(
            f"Failed to install {ide.display_name} companion extension. Please try installing "
            f"'{_NAME}' manually from the {ide.display_name} extension marketplace."
        )
    return f"{ide.display_name} companion extension was installed successfully."


def _program(ide: Ide, environment: Environment, home: Path) -> str:
    """The IDE's program.

    Raises:
        InstallError: it is not found.
    """
    match ide.name:
        case "vscode" | "firebasestudio":
            return _found(ide, "code", _VS_CODE, environment, home)
        case "positron":
            return _found(ide, "positron", _POSITRON, environment, home)
        case "antigravity":
            alias = environment.variables.get("ANTIGRAVITY_CLI_ALIAS", "")
            names = [alias] if _SAFE.fullmatch(alias) else []
            program = _which((*names, "agy", "antigravity"), (), environment)
            if program is None:
                raise InstallError(
                    "Antigravity CLI not found. Please ensure one of these commands is in your "
                    "system's PATH: agy, antigravity."
                )
            return program
        case _:
            raise InstallError(
                f"No installer is available for {ide.display_name}. Please install the '{_NAME}' "
                "extension manually from the marketplace."
            )


def _found(ide: Ide, name: str, help_text: str, environment: Environment, home: Path) -> str:
    app = {"code": "Visual Studio Code", "positron": "Positron"}[name]
    support = {"code": "Code", "positron": "Positron"}[name]
    if environment.platform == "darwin":
        places = [
            Path(f"/Applications/{app}.app/Contents/Resources/app/bin/{name}"),
            home / "Library" / "Application Support" / support / "bin" / name,
        ]
    else:
        places = [
            Path(f"/usr/share/{name}/bin/{name}"),
            Path(f"/snap/bin/{name}"),
            home / ".local" / "share" / name / "bin" / name,
        ]
    program = _which([name], places, environment)
    if program is None:
        raise InstallError(
            f"{ide.display_name} CLI not found. Please ensure '{name}' is in your system's PATH. "
            f"{help_text}"
        )
    return program


def _which(names: Sequence[str], places: Sequence[Path], environment: Environment) -> str | None:
    path = environment.variables.get("PATH")
    on_path = (shutil.which(name, path=path) for name in names)
    in_places = (str(place) for place in places if place.exists())
    return next((each for each in (*on_path, *in_places) if each is not None), None)
