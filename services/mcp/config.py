"""How a server is configured: `mcpServers` of the settings, as values.

Source: core `config/config.ts` (`MCPServerConfig`), `tools/mcp-client-manager.ts`
(`mergeMcpConfigs`, `getClientKey`), `tools/mcp-client.ts` (`isEnabled`,
`populateMcpServerCommand`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from services.mcp.command_line import shell_words
from services.settings.declaring import READERS, Read, one_of
from services.wire import js_json

__all__ = [
    "DEFAULT_TIMEOUT_MS",
    "McpConfigError",
    "McpServerConfig",
    "OAuthConfig",
    "command_server",
    "extension_servers",
    "merge_configs",
    "server_configs",
]

DEFAULT_TIMEOUT_MS: Final = 600_000
"""Ten minutes, for connecting, listing and calling, where the server has no `timeout`."""


class McpConfigError(ValueError):
    """A server's configuration that has no meaning. `key` leads to the fault."""

    def __init__(self, key: str, problem: str) -> None:
        super().__init__(f"{key}: {problem}")
        self.key = key
        self.problem = problem


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuthConfig:
    """`oauth` of a server. What is absent is discovered at the sign-in."""

    enabled: bool = False
    """Whether a session may start a sign-in by itself; a command starts one in any case."""
    client_id: str | None = None
    client_secret: str | None = None
    scopes: tuple[str, ...] = ()
    audiences: tuple[str, ...] = ()
    authorization_url: str | None = None
    """With `token_url`, nothing is discovered."""
    token_url: str | None = None
    registration_url: str | None = None
    issuer: str | None = None
    redirect_uri: str | None = None
    """Where the browser returns to; its port is the listener's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class McpServerConfig:
    """One server. The wire's names are camelCase (`httpUrl`, `includeTools`)."""

    command: str | None = None
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    """Variables for the child, `$NAME` in their values expanded; not for HTTP."""
    cwd: Path | None = None
    """Relative to the workspace; `None`: the workspace itself."""
    url: str | None = None
    type: str | None = None
    """`http` or `sse`, for `url`; `None`: both, in this order."""
    http_url: str | None = None
    """The old spelling of `url` with type `http`; it wins over `url`."""
    headers: Mapping[str, str] = field(default_factory=dict)
    timeout_ms: float | None = None
    """Milliseconds for each request; `None`: `DEFAULT_TIMEOUT_MS`."""
    trust: bool | None = None
    description: str | None = None
    include_tools: tuple[str, ...] | None = None
    """Only these (`name`, or `name(...)`); `None`: every tool."""
    exclude_tools: tuple[str, ...] = ()
    """Never these, even if `include_tools` has them."""
    oauth: OAuthConfig = field(default_factory=OAuthConfig)
    auth_provider_type: str | None = None
    extension: str | None = None
    """The extension that defines it, `None` for the user's own."""
    extension_variables: Mapping[str, str] = field(default_factory=dict)
    """The values of that extension's settings, for the child and for `$NAME`."""
    raw: Mapping[str, Any] = field(default_factory=dict, compare=False)
    """As it was written."""

    @classmethod
    def parse(cls, name: str, raw: Any) -> McpServerConfig:
        """Read one entry of `mcpServers`; unknown keys have no effect.

        Raises:
            McpConfigError: a value has the wrong type.
        """
        where = f"mcpServers.{name}"
        if not isinstance(raw, Mapping):
            raise McpConfigError(where, f"a mapping expected, not {raw!r}")
        values: dict[str, Any] = {"raw": raw}
        for key, (own, read) in _READERS.items():
            if raw.get(key) is None:
                continue
            try:
                values[own] = read(raw[key])
            except ValueError as problem:
                raise McpConfigError(f"{where}.{key}", f"{problem}, not {raw[key]!r}") from None
        return cls(**values)

    @property
    def timeout_s(self) -> float:
        """Seconds for each request."""
        given = self.timeout_ms
        return (DEFAULT_TIMEOUT_MS if given is None else given) / 1000

    @property
    def endpoint(self) -> str | None:
        """The server's URL, `None` for a child process."""
        return self.http_url or self.url

    @property
    def reachable(self) -> bool:
        """False for an entry that only changes another one."""
        return bool(self.command or self.endpoint)

    def enables(self, tool: str) -> bool:
        """True unless the lists leave `tool` (the server's own name) out."""
        if tool in self.exclude_tools:
            return False
        included = self.include_tools
        return included is None or any(
            entry == tool or entry.startswith(f"{tool}(") for entry in included
        )

    def key(self, name: str) -> str:
        """Equal keys mean the same server with the same configuration."""
        config = asdict(replace(self, raw={}))
        return json.dumps([name, config], sort_keys=True, default=str)


def server_configs(raw: Any) -> dict[str, McpServerConfig]:
    """All of `mcpServers`, in the order in which they are written.

    Raises:
        McpConfigError: it is not a mapping, or a server's value has the wrong type.
    """
    if raw is None:
        return {}
    if not isinstance(raw, Mapping):
        raise McpConfigError("mcpServers", f"a mapping expected, not {raw!r}")
    return {str(name): McpServerConfig.parse(str(name), entry) for name, entry in raw.items()}


def extension_servers(
    raw: Mapping[str, Any], extension: str, variables: Mapping[str, str]
) -> dict[str, McpServerConfig]:
    """The servers of an extension.

    Args:
        raw: the extension's `mcpServers`.
        extension: its name.
        variables: the values of its settings.

    Raises:
        McpConfigError: as for `server_configs`.
    """
    return {
        name: replace(config, extension=extension, extension_variables=dict(variables))
        for name, config in server_configs(raw).items()
    }


def command_server(command: str | None) -> dict[str, McpServerConfig]:
    """The server called `mcp` that the setting `mcp.serverCommand` defines.

    Raises:
        McpConfigError: the command line is empty or has operators.
    """
    if not command:
        return {}
    words = shell_words(command)
    if not words:
        raise McpConfigError("mcpServerCommand", f"failed to parse mcpServerCommand: {command}")
    return {"mcp": McpServerConfig(command=words[0], args=tuple(words[1:]))}


def merge_configs(base: McpServerConfig, override: McpServerConfig) -> McpServerConfig:
    """`base` changed by `override`: the stricter lists, the union of variables, the rest replaced.

    Source: core `mergeMcpConfigs`: includes are intersected when both give some (an empty
    intersection means none), excludes are united.
    """
    if base.include_tools is not None and override.include_tools is not None:
        wanted = override.include_tools
        include: tuple[str, ...] | None = tuple(x for x in base.include_tools if x in wanted)
    else:
        include = (
            override.include_tools if override.include_tools is not None else (base.include_tools)
        )
    changed = {
        own: getattr(override, own)
        for key, (own, _) in _READERS.items()
        if key in override.raw and override.raw[key] is not None
    }
    merged = {
        **changed,
        "include_tools": include,
        "exclude_tools": tuple(dict.fromkeys([*base.exclude_tools, *override.exclude_tools])),
        "env": {**base.env, **override.env},
        "extension": override.extension or base.extension,
        "extension_variables": {**base.extension_variables, **override.extension_variables},
        "raw": {**base.raw, **override.raw},
    }
    return replace(base, **merged)


def _optional_text(value: Any) -> str | None:
    text: str = READERS[str](value)
    return text or None


def _variables(value: Any) -> dict[str, str]:
    if not isinstance(value, Mapping):
        raise ValueError("a mapping of texts expected")
    for item in value.values():
        if isinstance(item, (Mapping, list)):
            raise ValueError("a mapping of texts expected")
    return {
        str(key): item if isinstance(item, str) else js_json(item)
        for key, item in value.items()
        if item is not None
    }


def _oauth(value: Any) -> OAuthConfig:
    if not isinstance(value, Mapping):
        raise ValueError("a mapping expected")
    texts = {
        own: _optional_text(value[key]) if value.get(key) else None
        for key, own in _OAUTH_TEXTS.items()
    }
    return OAuthConfig(
        enabled=bool(value.get("enabled")),
        scopes=READERS[tuple[str, ...]](value.get("scopes") or ()),
        audiences=READERS[tuple[str, ...]](value.get("audiences") or ()),
        **texts,
    )


_OAUTH_TEXTS: Final = {
    "clientId": "client_id",
    "clientSecret": "client_secret",
    "authorizationUrl": "authorization_url",
    "tokenUrl": "token_url",
    "registrationUrl": "registration_url",
    "issuer": "issuer",
    "redirectUri": "redirect_uri",
}


_READERS: Final[Mapping[str, tuple[str, Read]]] = {
    "command": ("command", _optional_text),
    "args": ("args", READERS[tuple[str, ...]]),
    "env": ("env", _variables),
    "cwd": ("cwd", lambda value: Path(READERS[str](value))),
    "url": ("url", _optional_text),
    "type": ("type", one_of("http", "sse")),
    "httpUrl": ("http_url", _optional_text),
    "headers": ("headers", _variables),
    "timeout": ("timeout_ms", READERS[float]),
    "trust": ("trust", READERS[bool]),
    "description": ("description", READERS[str]),
    "includeTools": ("include_tools", READERS[tuple[str, ...]]),
    "excludeTools": ("exclude_tools", READERS[tuple[str, ...]]),
    "oauth": ("oauth", _oauth),
    "authProviderType": ("auth_provider_type", READERS[str]),
}
