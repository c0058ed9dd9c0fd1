"""Calls that are never allowed silently: for more folders, and edits of build files.

Source: core `policy/policy-engine.ts` (`check`).
"""

from __future__ import annotations

import os.path
from pathlib import Path
from typing import Any, Final

from services import build_files
from services.policy.rules import Decision, PolicyCall, PolicyRule
from services.wire import JsonObject

__all__ = ["asks_for_more_folders", "build_file_rule", "edits_build_file"]

_MAX_SAFE_INTEGER: Final = 2**53 - 1


def asks_for_more_folders(args: JsonObject | None, root: Path) -> bool:
    """Whether a call's `additional_permissions` go beyond the workspace at `root`."""
    permissions = (args or {}).get("additional_permissions")
    files = permissions.get("fileSystem") if isinstance(permissions, dict) else None
    if not isinstance(files, dict):
        return False
    wanted: list[Any] = []
    for key in ("read", "write"):
        paths = files.get(key)
        wanted += paths if isinstance(paths, list) else []
    targets = [Path(os.path.normpath(root / path)) for path in wanted if isinstance(path, str)]
    return any(target != root and root not in target.parents for target in targets)


def edits_build_file(call: PolicyCall, root: Path) -> bool:
    """Whether a call looks like an edit of a build file."""
    return build_files.is_edit_like(call.names) and build_files.targets_build_file(call.args, root)


def build_file_rule(tool_name: str, interactive: bool) -> PolicyRule:
    """The rule for such an edit: a confirmation, or a refusal."""
    return PolicyRule(
        tool_name=tool_name,
        decision=Decision.ASK_USER if interactive else Decision.DENY,
        priority=_MAX_SAFE_INTEGER,
        source="Build File Protection",
        deny_message="Modifying build configuration files requires explicit user confirmation",
    )
