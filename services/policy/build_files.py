"""Which files steer a build: changing one always takes a person's word.

Source: core `utils/buildFileUtils.ts`, `policy/policy-engine.ts` (build file protection).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import Final
from urllib.parse import unquote

from services.wire import JsonObject, js_trim

__all__ = ["is_build_file", "is_edit_like", "target_path", "targets_build_file"]

_EXACT: Final = frozenset(
    {
        "BUILD",
        "BUILD.bazel",
        "WORKSPACE",
        "WORKSPACE.bazel",
        "MODULE.bazel",
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


def is_build_file(path: str, base: Path) -> bool:
    """Whether `path` (relative to `base`; links followed) names a build file."""
    if not path:
        return False
    clean = unquote(path.replace("\0", "").replace("\\", "/"))
    try:
        name = (base / clean).resolve().name
    except (OSError, RuntimeError):
        name = PurePosixPath(clean).name
    if name in _EXACT or name.startswith(_PREFIXES):
        return True
    return PurePosixPath(name).suffix.lower() in _EXTENSIONS


def target_path(args: JsonObject | None) -> str | None:
    """The file that a call's arguments name, if the first key present holds text."""
    for key in _PATH_KEYS:
        value = (args or {}).get(key)
        if value is not None:
            return value if isinstance(value, str) else None
    return None


def is_edit_like(names: Iterable[str]) -> bool:
    """Whether one of a tool's names has a word such as `write` or `patch` in it."""
    return any(not _EDIT_WORDS.isdisjoint(re.split(r"[^a-z0-9]+", name.lower())) for name in names)


def targets_build_file(args: JsonObject | None, base: Path) -> bool:
    """Whether the file that `args` name is a build file."""
    path = target_path(args)
    return path is not None and is_build_file(js_trim(path), base)
