"""Where an extension comes from: the record beside its manifest, and how a source is recognised.

Source: `packages/cli` `config/extension.ts`, `config/extension-manager.ts`
(`inferInstallMetadata`, `getExtensionId`), `config/extensions/github.ts` (`tryParseGithubUrl`).
"""

from __future__ import annotations

import hashlib
import os.path
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from services.extensions.manifest import ExtensionError
from services.json_values import parse_json
from services.regular_files import MOST_TEXT, read_regular
from services.wire import JsonObject, js_json_pretty

__all__ = ["ORIGIN_FILE", "InstallType", "Origin", "extension_id", "origin_of", "read_origin"]

ORIGIN_FILE: Final = ".gemini-extension-install.json"
_REMOTE: Final = (
    *("http://", "https://", "git@", "sso://", "github:", "gitlab:", "ssh://", "file://"),
)
_GITHUB: Final = "github.com"


class InstallType(StrEnum):
    """How an extension was installed; the values are the record's."""

    GIT = "git"
    LOCAL = "local"
    """Copied from a folder."""
    LINK = "link"
    """Used where it is."""
    GITHUB_RELEASE = "github-release"
    """Downloaded by the published command line; updated from the repository here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """The record of an installation."""

    source: str
    type: InstallType
    ref: str | None = None
    """A branch, tag or commit of the repository."""
    auto_update: bool = False
    allow_pre_release: bool = False
    release_tag: str | None = None

    @property
    def is_remote(self) -> bool:
        """Whether it comes from a repository."""
        return self.type in (InstallType.GIT, InstallType.GITHUB_RELEASE)

    def written(self) -> str:
        """The record as text."""
        values: JsonObject = {
            "source": self.source,
            "type": self.type.value,
            "ref": self.ref,
            "autoUpdate": self.auto_update or None,
            "allowPreRelease": self.allow_pre_release or None,
            "releaseTag": self.release_tag,
        }
        return js_json_pretty({key: each for key, each in values.items() if each is not None})


def read_origin(folder: Path) -> Origin | None:
    """The record of the extension in `folder`; `None`: there is none that can be used."""
    try:
        found: Any = parse_json(read_regular(folder / ORIGIN_FILE, MOST_TEXT))
        return Origin(
            source=str(found["source"]),
            type=InstallType(found["type"]),
            ref=str(found["ref"]) if found.get("ref") else None,
            auto_update=found.get("autoUpdate") is True,
            allow_pre_release=found.get("allowPreRelease") is True,
            release_tag=str(found["releaseTag"]) if found.get("releaseTag") else None,
        )
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def origin_of(
    source: str,
    folder: Path,
    *,
    ref: str | None = None,
    auto_update: bool = False,
    allow_pre_release: bool = False,
) -> Origin:
    """The origin that a user names: the address of a repository, or a folder.

    Args:
        source: what the user wrote.
        folder: where relative paths begin.
        ref: a branch, tag or commit of the repository.
        auto_update: whether it is updated when a session begins.
        allow_pre_release: whether versions before a release count.

    Raises:
        ExtensionError: there is no such folder, or an option is for repositories only.
    """
    if source.startswith(_REMOTE):
        return Origin(
            source=source,
            type=InstallType.GIT,
            ref=ref,
            auto_update=auto_update,
            allow_pre_release=allow_pre_release,
        )
    if ref or auto_update:
        raise ExtensionError("--ref and --auto-update are not applicable for local extensions.")
    place = Path(os.path.normpath(folder / source))
    if not place.exists():
        raise ExtensionError("Install source not found.")
    return Origin(source=str(place), type=InstallType.LOCAL)


def extension_id(name: str, origin: Origin | None) -> str:
    """The id of an extension: a digest of where it comes from."""
    value = name if origin is None else origin.source
    if origin is not None and origin.is_remote:
        repository = _github_repository(origin.source)
        value = f"https://{_GITHUB}/{repository}" if repository else value
    return hashlib.sha256(value.encode("utf-8", "replace")).hexdigest()


def _github_repository(source: str) -> str | None:
    """`owner/name` of a repository at GitHub; `None` for any other."""
    path = source.removeprefix(f"git@{_GITHUB}:")
    if path == source:
        split = urlsplit(source)
        if split.hostname != _GITHUB:
            return None
        path = split.path
    parts = [part for part in path.split("/") if part]
    if len(parts) != 2:
        return None
    return f"{parts[0]}/{parts[1].replace('.git', '', 1)}"
