"""The rules of a session: from files of all tiers, settings, and the built-in ones.

Source: core `policy/config.ts` (`createPolicyEngineConfig`), `utils/security.ts`
(`isDirectorySecure`).
"""

from __future__ import annotations

import logging
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from services.node_errors import node_error_message
from services.policy.defaults import default_checkers, default_rules
from services.policy.from_settings import policy_rules_from_settings
from services.policy.rules import CheckerRule, PolicyRule, Tier
from services.policy.settings_rules import rules_from_settings
from services.policy.toml_files import load_policies
from services.settings import Settings
from services.state import CoreEvents, UserFeedback
from services.workspace import Workspace

__all__ = [
    "PolicyRules",
    "insecure_folder",
    "load_policy_rules",
    "system_policies_folder",
    "user_policies_folder",
]

logger = logging.getLogger(__name__)

_SYSTEM_FOLDERS: Final = {
    "darwin": "/Library/Application Support/GeminiCli",
    "win32": "C:\\ProgramData\\gemini-cli",
}


@dataclass(frozen=True, slots=True)
class PolicyRules:
    """What an engine starts with."""

    rules: tuple[PolicyRule, ...]
    checkers: tuple[CheckerRule, ...]


def user_policies_folder(home: Path) -> Path:
    """Where a user's own policy files are."""
    return home / ".gemini" / "policies"


def system_policies_folder(platform: str) -> Path:
    """Where the machine's administrator has policy files; `platform` as Node names it."""
    return Path(_SYSTEM_FOLDERS.get(platform, "/etc/gemini-cli")) / "policies"


def load_policy_rules(
    settings: Settings,
    *,
    workspace: Workspace,
    events: CoreEvents | None = None,
    system_folder: Path | None = None,
) -> PolicyRules:
    """Everything that applies from the start of a session.

    Order decides between equal priorities: the files of the administrator, of the user, of the
    workspace, the built-in rules, then the settings'. Errors in files are emitted as
    `UserFeedback`; the rest of those files counts.

    Args:
        settings: lists of tools and servers, paths of policy files, `policy_rules`.
        workspace: relative paths are relative to its root; the user's files are in its home.
        events: receives the faults.
        system_folder: the administrator's files; none are looked for where it is absent.

    Raises:
        ValueError: an entry of `policy_rules` is malformed, or a name in the settings is empty.
    """

    def report(severity: str, message: str) -> None:
        if events is not None:
            events.emit(UserFeedback(severity=severity, message=message))

    def places(paths: tuple[str, ...]) -> list[Path]:
        return [_absolute(workspace.root / path) for path in paths]

    admin = places(settings.admin_policy_paths)
    if admin and system_folder is not None and _has_policies(system_folder):
        report(
            "warning",
            "Security Warning: Ignoring --admin-policy because system policies are already "
            f"defined in {system_folder}",
        )
        admin = []
    given, standard = places(settings.policy_paths), user_policies_folder(workspace.home)
    ours = places((settings.workspace_policies_dir,)) if settings.workspace_policies_dir else []

    def tier_of(path: Path) -> Tier:
        if path == system_folder or path in admin:
            return Tier.ADMIN
        if path == standard or path in given:
            return Tier.USER
        return Tier.WORKSPACE

    folders = [*admin, *(given or [standard]), *ours]
    if system_folder is not None:
        reason = insecure_folder(system_folder)
        if reason is None:
            folders.insert(0, system_folder)
        else:
            report(
                "warning",
                f"Security Warning: Skipping system policies from {system_folder}: {reason}",
            )
    loaded = load_policies(folders, tier_of)
    for error in loaded.errors:
        report(error.severity, str(error))
    return PolicyRules(
        rules=(
            *loaded.rules,
            *default_rules(),
            *rules_from_settings(settings),
            *policy_rules_from_settings(settings.policy_rules),
        ),
        checkers=(*loaded.checkers, *default_checkers()),
    )


def insecure_folder(folder: Path) -> str | None:
    """Why the administrator's folder cannot be trusted; `None` where it can, or is not there."""
    try:
        facts = folder.stat()
    except FileNotFoundError:
        return None
    except OSError as problem:
        return f"Failed to access directory: {node_error_message(problem, 'stat', folder)}"
    if not stat.S_ISDIR(facts.st_mode):
        return "Not a directory"
    link = folder.lstat()
    if stat.S_ISLNK(link.st_mode) and link.st_uid != 0:
        return (
            f"Symlink '{folder}' is not owned by root (uid 0). Current uid: {link.st_uid}. "
            f'To fix this, run: sudo chown -h root:root "{folder}"'
        )
    if facts.st_uid != 0:
        return (
            f"Directory '{folder}' is not owned by root (uid 0). Current uid: {facts.st_uid}. "
            f'To fix this, run: sudo chown root:root "{folder}"'
        )
    if facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return (
            f"Directory '{folder}' is writable by group or others (mode: {facts.st_mode:o}). "
            f'To fix this, run: sudo chmod g-w,o-w "{folder}"'
        )
    return None


def _has_policies(folder: Path) -> bool:
    try:
        return any(name.endswith(".toml") for name in os.listdir(folder))  # noqa: PTH208 - names
    except OSError as problem:
        if not isinstance(problem, FileNotFoundError):
            logger.warning("cannot look for system policies in %s: %s", folder, problem)
        return False


def _absolute(path: Path) -> Path:
    return Path(os.path.normpath(path))
