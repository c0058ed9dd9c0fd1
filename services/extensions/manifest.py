"""`gemini-extension.json`: what an extension is called, and what it brings.

Source: `packages/cli` `config/extension-manager.ts` (`loadExtensionConfig`, `validateName`,
`validateContextFilePath`), `config/extensions/variables.ts`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PureWindowsPath
from typing import Any, Final
from urllib.parse import unquote

from services.json_values import parse_json
from services.regular_files import MOST_TEXT, read_regular
from services.wire import Json, JsonObject

__all__ = [
    "DEFAULT_CONTEXT",
    "MANIFEST_FILE",
    "DeclaredSetting",
    "ExtensionError",
    "Manifest",
    "context_file",
    "hydrated",
    "read_manifest",
    "variables_of",
]

MANIFEST_FILE: Final = "gemini-extension.json"
DEFAULT_CONTEXT: Final = "GEMINI.md"
"""The context file of a manifest that names none."""
_NAME: Final = re.compile(r"[a-zA-Z0-9-]+")
_VARIABLE: Final = re.compile(r"\$\{(.*?)\}")
_VARIABLE_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class ExtensionError(Exception):
    """An extension cannot be used or changed; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredSetting:
    """A value that the extension wants from the user, as a variable of its servers and hooks."""

    name: str
    description: str
    variable: str
    sensitive: bool = False
    """Whether the value is kept with the credentials, and never shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The contents of `gemini-extension.json`, its variables filled in."""

    name: str
    version: str
    context_file_names: tuple[str, ...] = ()
    """Paths in the extension's folder; none: `GEMINI.md`, if there is one."""
    mcp_servers: Mapping[str, JsonObject] = field(default_factory=dict)
    exclude_tools: tuple[str, ...] = ()
    settings: tuple[DeclaredSetting, ...] = ()
    migrated_to: str | None = None
    """The repository that takes the place of the one that it was installed from."""
    plan_directory: str | None = None


def variables_of(folder: Path, workspace: Path) -> dict[str, str]:
    """The variables that the texts of an extension in `folder` may name."""
    return {
        "extensionPath": str(folder),
        "workspacePath": str(workspace),
        "/": "/",
        "pathSeparator": "/",
    }


def hydrated(value: Json, variables: Mapping[str, str]) -> Json:
    """`value` with `${NAME}` replaced in its texts; an unknown name stays as it is."""
    if isinstance(value, str):
        return _VARIABLE.sub(lambda found: variables.get(found[1], found[0]), value)
    if isinstance(value, list):
        return [hydrated(each, variables) for each in value]
    if isinstance(value, dict):
        return {key: hydrated(each, variables) for key, each in value.items()}
    return value


def read_manifest(folder: Path, workspace: Path) -> Manifest:
    """Read the manifest of the extension in `folder`.

    Args:
        folder: the extension's folder.
        workspace: the session's folder, for `${workspacePath}`.

    Raises:
        ExtensionError: there is none, or it cannot be used.
    """
    file = folder / MANIFEST_FILE
    if not file.exists():
        raise ExtensionError(f"Configuration file not found at {file}")
    try:
        raw = parse_json(read_regular(file, MOST_TEXT).decode("utf-8-sig"))
        return _manifest(raw, file, variables_of(folder, workspace))
    except (OSError, ValueError, RecursionError) as error:
        raise ExtensionError(f"Failed to load extension config from {file}: {error}") from error


def _manifest(raw: Any, file: Path, variables: Mapping[str, str]) -> Manifest:
    if not isinstance(raw, dict):
        raise ValueError("an object expected")
    for key in ("name", "version"):
        if not raw.get(key):
            raise ValueError(f'Invalid configuration in {file}: missing "{key}"')
    found: Any = hydrated(raw, variables)
    name, version = _text(found, "name"), _text(found, "version")
    if not _NAME.fullmatch(name):
        raise ValueError(
            f'Invalid extension name: "{name}". Only letters (a-z, A-Z), numbers (0-9), and dashes '
            "(-) are allowed."
        )
    contexts = found.get("contextFileName")
    return Manifest(
        name=name,
        version=version,
        context_file_names=_texts({"contextFileName": _as_list(contexts)}, "contextFileName"),
        mcp_servers=_servers(found.get("mcpServers")),
        exclude_tools=_texts(found, "excludeTools"),
        settings=tuple(_settings(found.get("settings"))),
        migrated_to=_text(found, "migratedTo") if found.get("migratedTo") else None,
        plan_directory=_plan_directory(found.get("plan")),
    )


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) and value else value


def _text(values: Mapping[str, Any], key: str) -> str:
    value = values.get(key)
    if not isinstance(value, str):
        raise ValueError(f'"{key}": a text expected, not {value!r}')
    return value


def _texts(values: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = values.get(key) or []
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise ValueError(f'"{key}": a list of texts expected, not {value!r}')
    return tuple(value)


def _servers(value: Any) -> Mapping[str, JsonObject]:
    """The servers without `trust`: an extension cannot have its calls allowed."""
    if not value:
        return {}
    if not isinstance(value, dict) or not all(isinstance(each, dict) for each in value.values()):
        raise ValueError('"mcpServers": an object of servers expected')
    return {
        name: {key: each for key, each in server.items() if key != "trust"}
        for name, server in value.items()
    }


def _settings(value: Any) -> Iterable[DeclaredSetting]:
    if not value:
        return
    if not isinstance(value, list):
        raise ValueError('"settings": a list expected')
    for number, each in enumerate(value):
        if not isinstance(each, dict):
            raise ValueError(f'"settings[{number}]": an object expected')
        variable = _text(each, "envVar")
        if not _VARIABLE_NAME.fullmatch(variable):
            raise ValueError(
                f'Invalid environment variable name: "{variable}". Must contain only alphanumeric '
                "characters and underscores."
            )
        yield DeclaredSetting(
            name=_text(each, "name"),
            description=str(each.get("description") or ""),
            variable=variable,
            sensitive=each.get("sensitive") is True,
        )


def _plan_directory(value: Any) -> str | None:
    """The folder for plans inside of the workspace; one that leads out of it does not count."""
    folder = value.get("directory") if isinstance(value, dict) else None
    if not isinstance(folder, str) or not folder or _is_absolute(folder) or ".." in folder:
        return None
    return folder


def context_file(name: str, folder: Path) -> Path:
    """The context file that a manifest names.

    Raises:
        ExtensionError: the name leads out of the extension's folder.
    """
    if not name.strip():
        raise ExtensionError("expected a non-empty string.")
    if "\0" in name:
        raise ExtensionError("null bytes are not allowed.")
    if _is_absolute(name):
        raise ExtensionError("Absolute paths are not allowed.")
    if ".." in name or ".." in unquote(name):
        raise ExtensionError('Relative parent directory references ("..") are not allowed.')
    return folder / name


def _is_absolute(name: str) -> bool:
    return name.startswith(("/", "\\")) or PureWindowsPath(name).is_absolute()
