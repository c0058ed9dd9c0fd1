"""Files that control a build; the user has to confirm each change of one.

Source: core `utils/buildFileUtils.ts`, `policy/policy-engine.ts` (build file protection).
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePath
from typing import Any, Final

from services.paths import InvalidPath, extension, real_path
from services.wire import js_trim

__all__ = ["is_build_file", "is_edit_like", "target_path", "targets_build_file"]

_EXACT: Final = frozenset(
    {
        "BUILD",
        "WORKSPACE",
        ".bazelrc",
        ".blazerc",
        "Makefile",
        "makefile",
        "GNUmakefile",
        "CMakeLists.txt",
        "package.json",
        "package-lock.json",
        "pnpm-lock.yaml",
        "yarn.lock",
        "bun.lockb",
        "setup.py",
        "setup.cfg",
        "pyproject.toml",
        "go.mod",
        "go.sum",
        "Cargo.toml",
        "Cargo.lock",
        "pom.xml",
        "build.gradle",
        "build.gradle.kts",
        "settings.gradle",
        "settings.gradle.kts",
        "Dockerfile",
        "Containerfile",
    }
)
_PREFIXES: Final = ("Dockerfile.", "Containerfile.")
_EXTENSIONS: Final = frozenset({".bzl", ".bazel", ".bzlmod", ".mk", ".cmake"})
_EDIT_WORDS: Final = frozenset(
    {"write", "edit", "replace", "patch", "update", "create", "append", "save"}
)
_PATH_KEYS: Final = ("file_path", "path", "filePath", "file")


def is_build_file(path: str | PurePath, base: Path | None = None) -> bool:
    """Whether `path` names a build file, links followed.

    Names are case-sensitive, extensions are not.

    Args:
        path: absolute, or relative to `base`.
        base: the process's own folder unless given.
    """
    clean = str(path).replace("\0", "").replace("\\", "/")
    if not str(path):
        return False
    try:
        resolved = str(real_path(clean, base))
    except (InvalidPath, OSError):
        resolved = os.path.abspath(clean)  # noqa: PTH100 - `Path` would follow links again
    name = os.path.basename(resolved)  # noqa: PTH119 - text in, text out
    return name in _EXACT or name.startswith(_PREFIXES) or extension(name).lower() in _EXTENSIONS


def target_path(args: Mapping[str, Any] | None) -> str | None:
    """The file that a call's arguments name, if the first key present holds text."""
    for key in _PATH_KEYS:
        value = (args or {}).get(key)
        if value is not None:
            return value if isinstance(value, str) else None
    return None


def is_edit_like(names: Iterable[str]) -> bool:
    """Whether one of a tool's names has a word such as `write` or `patch` in it."""
    return any(not _EDIT_WORDS.isdisjoint(re.split(r"[^a-z0-9]+", name.lower())) for name in names)


def targets_build_file(args: Mapping[str, Any] | None, base: Path) -> bool:
    """Whether the file that `args` name, relative to `base`, is a build file."""
    path = target_path(args)
    return path is not None and is_build_file(js_trim(path), base)
