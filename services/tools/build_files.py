"""Which files steer a build: editing them always needs a person's consent.

Source: core `utils/buildFileUtils.ts`.
"""

from __future__ import annotations

import os.path
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any, Final

from services.tools.paths import InvalidPath, extension, real_path

__all__ = ["is_build_file", "target_of"]

_NAMES: Final = frozenset(
    [
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
    ]
)
_PREFIXES: Final = ("Dockerfile.", "Containerfile.")
_EXTENSIONS: Final = frozenset({".bzl", ".bazel", ".bzlmod", ".mk", ".cmake"})


def is_build_file(path: str | PurePath) -> bool:
    """Whether `path` names a build file, links resolved.

    Names are case-sensitive, extensions are not.
    """
    cleaned = str(path).replace("\0", "").replace("\\", "/")
    if not str(path):
        return False
    try:
        resolved = str(real_path(cleaned))
    except (InvalidPath, OSError):
        resolved = os.path.abspath(cleaned)  # noqa: PTH100 - `Path` would follow links again
    name = os.path.basename(resolved)  # noqa: PTH119 - text in, text out
    return name in _NAMES or name.startswith(_PREFIXES) or extension(name).lower() in _EXTENSIONS


def target_of(arguments: Mapping[str, Any]) -> str | None:
    """The file that a call is about: the first of `file_path`, `path`, `filePath`, `file`."""
    for key in ("file_path", "path", "filePath", "file"):
        value = arguments.get(key)
        if value is not None:
            return value if isinstance(value, str) else None
    return None
