"""The safety checker `allowed-path`: what a call names as a path must lie in the session's folders.

Source: core `safety/built-in.ts`, `utils/paths.ts` (`hasBlockedPathSegment`).
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from services.paths import InvalidPath, real_path
from services.policy.rules import Decision
from services.policy.safety import SafetyRequest, SafetyVerdict

__all__ = ["AllowedPaths"]

_WORDS: Final = ("path", "directory", "file")
_NAMES: Final = frozenset({"source", "destination"})
_BLOCKED: Final = frozenset({".git", ".env", "node_modules"})
_BLOCKED_SHORT: Final = re.compile(
    r"(?:git|gi[0-9a-f]{4}|env|en[0-9a-f]{4}|node_m|no[0-9a-f]{4})~[0-9]+"
    r"|gha-creds-.*\.json|(?:gha-cr|gh[0-9a-f]{4})~[0-9]+\.json?",
    re.DOTALL,
)
_EDITOR_SHORT: Final = re.compile(r"(?:vscode|vs[0-9a-f]{4})~[0-9]+")


class AllowedPaths:
    """Refuses paths outside, and secrets and dependencies inside; asks about editor settings.

    Its configuration: `included_args` are also checked as paths, `excluded_args` are not checked.
    """

    waits = False

    async def check(self, request: SafetyRequest) -> SafetyVerdict:
        """Judge a call.

        Raises:
            LookupError: the context has no environment.
            TypeError: the configuration holds something other than lists.
        """
        environment = request.context["environment"]
        cwd = environment["cwd"]
        folders = [_real(folder, cwd) for folder in (cwd, *environment["workspaces"])]
        config = request.config or {}
        included, excluded = config.get("included_args"), config.get("excluded_args")
        # All arguments are read before any is judged.
        for path, argument in list(_paths(request.args, included, excluded, "")):
            verdict = _verdict(path, argument, folders, cwd)
            if verdict.decision is not Decision.ALLOW:
                return verdict
        return SafetyVerdict(Decision.ALLOW)


def _listed(name: str, names: Any) -> bool:
    if names is None:
        return False
    if not isinstance(names, (str, list)):
        raise TypeError("included_args and excluded_args must be lists of argument names")
    return name in names


def _paths(args: Any, included: Any, excluded: Any, prefix: str) -> Iterator[tuple[str, str]]:
    entries: list[tuple[str, Any]] = []
    if isinstance(args, dict):
        entries = list(args.items())
    elif isinstance(args, list):
        entries = [(str(index), item) for index, item in enumerate(args)]
    for key, value in entries:
        full = f"{prefix}.{key}" if prefix else key
        if _listed(full, excluded):
            continue
        if not isinstance(value, str):
            yield from _paths(value, included, excluded, full)
        elif _listed(full, included) or key in _NAMES or any(word in key for word in _WORDS):
            yield value, full


def _verdict(path: str, argument: str, folders: list[str], cwd: str) -> SafetyVerdict:
    resolved = _real(path, cwd)
    ways = [_relative(resolved, folder) for folder in folders]
    inside = [way for way in ways if not way.startswith("..")]
    segments = [_plain(segment) for inner in inside for segment in re.split(r"[/\\]", inner)]
    if any(name in _BLOCKED or _BLOCKED_SHORT.fullmatch(name) for name in segments):
        return SafetyVerdict(
            Decision.DENY, f'Access to sensitive path "{path}" in argument "{argument}" is blocked.'
        )
    if any(name == ".vscode" or _EDITOR_SHORT.fullmatch(name) for name in segments):
        return SafetyVerdict(
            Decision.ASK_USER,
            "Modifying .vscode configuration files requires explicit user confirmation.",
        )
    if not inside:
        return SafetyVerdict(
            Decision.DENY,
            f'Path "{path}" in argument "{argument}" is outside of the allowed workspace '
            "directories.",
        )
    return SafetyVerdict(Decision.ALLOW)


def _plain(segment: str) -> str:
    """A path's segment as careless file systems take it: no stream, no dots after it, any case."""
    return segment.split(":")[0].rstrip(" .").lower()


def _relative(path: str, folder: str) -> str:
    """The way to a path from a folder, both absolute and plain; empty where they are one."""
    ours = [name for name in path.split("/") if name]
    theirs = [name for name in folder.split("/") if name]
    common = next(
        (index for index, pair in enumerate(zip(ours, theirs, strict=False)) if pair[0] != pair[1]),
        min(len(ours), len(theirs)),
    )
    return "/".join([*[".."] * (len(theirs) - common), *ours[common:]])


def _real(path: str, cwd: str) -> str:
    """`path` with links followed, as far up as that can be done."""
    resolved = os.path.normpath(os.path.join(cwd, path))  # noqa: PTH118 - text in, text out
    current = resolved
    while current != os.path.dirname(current):  # noqa: PTH120 - likewise
        try:
            real = str(real_path(current))
        except (InvalidPath, OSError):
            current = os.path.dirname(current)  # noqa: PTH120 - likewise
            continue
        return str(Path(real) / _relative(resolved, current))
    return resolved
