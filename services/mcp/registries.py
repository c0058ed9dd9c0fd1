"""Prompts and resources of servers.

Source: core `prompts/prompt-registry.ts`, `resources/resource-registry.ts`.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from services.tools.collation import collation_key
from services.wire import JsonObject

__all__ = ["McpPrompt", "McpResource", "PromptRegistry", "ResourceRegistry"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class McpPrompt:
    """A prompt of a server. `wire` is its description; `invoke` returns its messages."""

    name: str
    server_name: str
    wire: Mapping[str, Any]
    invoke: Callable[[Mapping[str, Any]], Awaitable[JsonObject]]


@dataclass(frozen=True, slots=True, kw_only=True)
class McpResource:
    """A resource of a server."""

    server_name: str
    uri: str
    name: str
    description: str | None
    mime_type: str | None


class PromptRegistry:
    """Prompts by name; a later prompt of the same name becomes `<server>_<name>`."""

    def __init__(self) -> None:
        self._prompts: dict[str, McpPrompt] = {}

    def register(self, prompt: McpPrompt) -> None:
        """Add `prompt`."""
        name = prompt.name
        if name in self._prompts:
            name = f"{prompt.server_name}_{prompt.name}"
            logger.warning(
                'Prompt with name "%s" is already registered. Renaming to "%s".', prompt.name, name
            )
            prompt = replace(prompt, name=name)
        self._prompts[name] = prompt

    def get(self, name: str) -> McpPrompt | None:
        """The prompt called `name`."""
        return self._prompts.get(name)

    def all(self) -> list[McpPrompt]:
        """Every prompt, by name."""
        return _by_name(self._prompts.values())

    def of_server(self, server: str) -> list[McpPrompt]:
        """The prompts of `server`, by name."""
        return _by_name(item for item in self._prompts.values() if item.server_name == server)

    def remove_server(self, server: str) -> None:
        """Forget the prompts of `server`."""
        self._prompts = {
            name: item for name, item in self._prompts.items() if item.server_name != server
        }


class ResourceRegistry:
    """Resources by server and URI, in order of discovery."""

    def __init__(self) -> None:
        self._resources: dict[tuple[str, str], McpResource] = {}

    def set_server(self, server: str, resources: Iterable[McpResource]) -> None:
        """Replace the resources of `server`; one without a URI is left out."""
        self.remove_server(server)
        for resource in resources:
            if resource.uri:
                self._resources[server, resource.uri] = resource

    def remove_server(self, server: str) -> None:
        """Forget the resources of `server`."""
        for key in [key for key in self._resources if key[0] == server]:
            del self._resources[key]

    def all(self) -> list[McpResource]:
        """Every resource, in order of discovery."""
        return list(self._resources.values())

    def of_server(self, server: str) -> list[McpResource]:
        """The resources of `server`, by URI."""
        found = [item for item in self._resources.values() if item.server_name == server]
        return sorted(found, key=lambda item: collation_key(item.uri))

    def find(self, identifier: str) -> McpResource | None:
        """The resource that `<server>:<uri>` names, else the first one with that URI."""
        server, colon, uri = identifier.partition(":")
        qualified = self._resources.get((server, uri)) if server and colon else None
        if qualified is not None:
            return qualified
        return next((item for item in self._resources.values() if item.uri == identifier), None)


def _by_name(prompts: Iterable[McpPrompt]) -> list[McpPrompt]:
    return sorted(prompts, key=lambda item: collation_key(item.name))
