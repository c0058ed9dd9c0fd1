"""The folders that the user trusts, and the question about one that no rule covers.

The rules are in upstream's file, `~/.gemini/trustedFolders.json`, which both products share: path →
`TRUST_FOLDER`, `TRUST_PARENT` or `DO_NOT_TRUST`. The longest rule that covers a folder decides.

Source: core `utils/trust.ts`; `packages/cli` `ui/hooks/useFolderTrust.ts`, `config/config.ts`.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from services.exhaustion import notice
from services.interaction.interaction import Interaction
from services.interaction.questions import TrustChoice, TrustQuestion
from services.json_comments import without_comments
from services.private_files import make_private_folder, write_private
from services.regular_files import read_regular
from services.settings import Settings
from services.wire import js_json_pretty
from services.workspace import Workspace

__all__ = ["TrustedFolders", "settled_trust"]

logger = logging.getLogger(__name__)

_MAX_BYTES: Final = 10_000_000


class TrustedFolders:
    """The rules of one user. Call `load` before the others."""

    def __init__(self, home: Path) -> None:
        self.file: Path = home / ".gemini" / "trustedFolders.json"
        self.rules: dict[str, TrustChoice] = {}

    def load(self) -> None:
        """Read the rules.

        Raises:
            ValueError: the file is not as it should be. The message names it, and what to mend.
        """
        try:
            text = read_regular(self.file, _MAX_BYTES).decode("utf-8-sig")
            document = json.loads(without_comments(text))
        except FileNotFoundError:
            return
        except (OSError, ValueError, RecursionError) as error:
            notice(error, self.file)
            raise ValueError(f"{self.file}: {error}; mend the file, or remove it") from error
        if not isinstance(document, dict):
            raise ValueError(f"{self.file}: not an object of paths; mend the file, or remove it")
        for path, level in document.items():
            if not isinstance(level, str) or level not in TrustChoice.__members__:
                levels = ", ".join(TrustChoice)
                raise ValueError(
                    f'{self.file}: "{level}" for "{path}" is no trust level; write one of {levels}'
                )
            self.rules[_plain(path)] = TrustChoice(level)

    def trusts(self, folder: Path) -> bool | None:
        """Whether the longest rule that covers `folder` trusts it; `None`: no rule covers it."""
        real = Path(os.path.realpath(folder))
        covering = [path for path, level in self.rules.items() if _covers(path, level, real)]
        if not covering:
            return None
        return self.rules[max(covering, key=len)] is not TrustChoice.DO_NOT_TRUST

    def remember(self, folder: Path, choice: TrustChoice) -> None:
        """Add a rule, in this session and, if the file can be written, for later ones.

        Rules that other sessions have added since `load` stay.
        """
        path = _plain(str(folder))
        self.rules[path] = choice
        draft = self.file.with_name(f"{self.file.name}.{os.getpid()}.tmp")
        try:
            now = TrustedFolders(self.file.parent.parent)
            now.load()
            now.rules[path] = choice
            text = js_json_pretty({rule: level.value for rule, level in now.rules.items()})
            make_private_folder(self.file.parent)
            # Never half a file: another session may be reading it.
            write_private(draft, text.encode(), draft=True)
            draft.replace(self.file)
        except (OSError, ValueError) as error:
            notice(error, self.file)
            logger.warning("the trust of %s cannot be kept: %s", folder, error)


async def settled_trust(
    settings: Settings,
    workspace: Workspace,
    interaction: Interaction,
    variables: Mapping[str, str],
) -> Settings:
    """Return `settings` with the user's decision about the workspace.

    Without a surface that answers they stay as they are, and so where they switch the trust of
    folders off.

    Args:
        settings: The session's.
        workspace: Has the folder, and the home of the user's rules.
        interaction: Asks the user.
        variables: The environment, which may decide for the user.

    Raises:
        ValueError: the file of the trusted folders cannot be read.
    """
    if not settings.folder_trust or not interaction.answers(TrustQuestion):
        return settings
    trusted = _by_environment(variables)
    if trusted is None:
        folders = TrustedFolders(workspace.home)
        folders.load()
        trusted = folders.trusts(workspace.root)
        if trusted is None:
            trusted = await _asked(folders, workspace.root, interaction)
    if trusted is None:
        return settings
    parameters: Mapping[str, object] = {**settings.parameters, "trustedFolder": trusted}
    return replace(settings, folder_trusted=trusted, parameters=parameters)


async def _asked(folders: TrustedFolders, root: Path, interaction: Interaction) -> bool | None:
    try:
        choice = await interaction.ask(TrustQuestion(folder=str(root)))
    except Exception:  # a surface's handler may raise anything: then nothing is decided
        logger.warning("the question about the folder's trust failed", exc_info=True)
        return None
    if choice not in tuple(TrustChoice):
        return None
    choice = TrustChoice(choice)  # a surface may answer with the wire's text
    folders.remember(root, choice)
    return choice is not TrustChoice.DO_NOT_TRUST


def _by_environment(variables: Mapping[str, str]) -> bool | None:
    trust = variables.get("GEMINI_CLI_TRUST_WORKSPACE")
    if variables.get("GEMINI_RESTRICTED_MODE") == "true" or trust == "false":
        return False
    return True if trust == "true" else None


def _plain(path: str) -> str:
    """An absolute path without `..`, so that the lengths of two rules can be compared."""
    return os.path.abspath(path)  # noqa: PTH100 - `Path` keeps `..`


def _covers(rule: str, level: TrustChoice, real_folder: Path) -> bool:
    effective = Path(rule).parent if level is TrustChoice.TRUST_PARENT else Path(rule)
    return real_folder.is_relative_to(os.path.realpath(effective))
