"""The installed extensions as data, for the clients of ACP and A2A.

Source: core `commands/extensions.ts` (`listExtensions`), `config/config.ts`
(`GeminiCLIExtension`). What may hold secrets is left out: the environment and the headers of
servers, and the values of settings.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from services.extensions.extension import Extension
from services.json_values import parse_json
from services.wire import Json, JsonObject

__all__ = ["NO_EXTENSIONS", "extension_data"]

NO_EXTENSIONS: Final = "No extensions installed."
_OPEN: Final = ("command", "args", "cwd", "url", "httpUrl", "type", "timeout", "description")


def extension_data(extensions: Sequence[Extension]) -> Json:
    """The extensions, or a sentence where there are none."""
    return [_data(each) for each in extensions] if extensions else NO_EXTENSIONS


def _data(extension: Extension) -> JsonObject:
    servers = extension.mcp_servers.items()
    origin = None if extension.origin is None else parse_json(extension.origin.written())
    return {
        "name": extension.name,
        "version": extension.version,
        "path": str(extension.folder),
        "contextFiles": [str(file) for file in extension.context_files],
        **({} if origin is None else {"installMetadata": origin}),
        "mcpServers": {
            name: {key: server[key] for key in _OPEN if key in server} for name, server in servers
        },
        "excludeTools": list(extension.manifest.exclude_tools),
        "isActive": extension.active,
        "id": extension.id,
        "skills": [each.name for each in extension.skills],
        "agents": [each.name for each in extension.agents.agents],
    }
