"""`RequestLog`: turns model requests into `ObservedRequest`s during a run.

Contents are immutable, so a list comparison by identity finds the prefix that a request shares with
the one before. Only the new contents are serialised and hashed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from harness.canonical import canonical, sha256_hex
from harness.prefixes import shared_prefix
from harness.provider.check import ProviderCheck
from harness.provider.rules import ProviderFinding
from harness.replay.observation import ObservedRequest, RunPaths
from services.model.generator import ModelRequest
from services.wire import Content, JsonObject

__all__ = ["RequestLog"]

_APART = ("tools", "systemInstruction")


class _Lineage:
    """The latest request of one role on one thread, with the hash of each of its prefixes."""

    def __init__(self) -> None:
        self.contents: list[Content] = []
        self.chain: list[bytes] = [b""]

    def advance(self, contents: list[Content], paths: RunPaths) -> int:
        """Replace the contents; returns how many leading ones are the same."""
        same = shared_prefix(self.contents, contents)
        del self.chain[same + 1 :]
        for content in contents[same:]:
            text = paths.mask_json(canonical(content))
            self.chain.append(hashlib.sha256(self.chain[-1] + text.encode()).digest())
        self.contents = contents
        return same


class RequestLog:
    """All model requests of one run, in order, checked by the provider rules."""

    def __init__(self, paths: RunPaths) -> None:
        self.requests: list[ObservedRequest] = []
        self._paths = paths
        self._check = ProviderCheck()
        self._lineages: dict[tuple[str, str], _Lineage] = {}
        self._texts: dict[str, tuple[str, str]] = {}
        self._tools: list[tuple[Any, tuple[str, ...], str]] = []

    def observe(self, method: str, request: ModelRequest) -> ObservedRequest:
        """Add a request before it is answered; `method` is the API's name for it."""
        lineage = self._lineages.setdefault((str(request.role), request.thread), _Lineage())
        contents = list(request.contents)
        same = lineage.advance(contents, self._paths)
        tools, tools_digest = self._declared(request.config.get("tools"))
        system, system_digest = self._instruction(request.config.get("systemInstruction"))
        observed = ObservedRequest(
            method=method,
            role=str(request.role),
            model=request.model,
            thread=request.thread,
            config={key: value for key, value in request.config.items() if key not in _APART},
            tools=tools,
            tools_digest=tools_digest,
            system_instruction=system,
            system_digest=system_digest,
            same_as_previous=same,
            new_contents=tuple(contents[same:]),
            digest=lineage.chain[-1].hex(),
            provider=self._examined(method, request),
        )
        self.requests.append(observed)
        return observed

    def _examined(self, method: str, request: ModelRequest) -> tuple[ProviderFinding, ...]:
        # A request to count tokens need not be a valid conversation.
        if not method.startswith("generateContent"):
            return ()
        return tuple(self._check.examine(request))

    def _instruction(self, value: object) -> tuple[str | None, str | None]:
        if value is None:
            return None, None
        text = value if isinstance(value, str) else canonical(value)
        known = self._texts.get(text)
        if known is None:
            known = self._texts[text] = (text, sha256_hex(self._paths.mask_text(text)))
        return known

    def _declared(self, tools: Any) -> tuple[tuple[str, ...], str | None]:
        if not tools:
            return (), None
        for seen, names, digest in self._tools:
            if seen is tools or seen == tools:
                return names, digest
        names = tuple(_declared_names(tools))
        digest = sha256_hex(self._paths.mask_json(canonical(tools)))
        self._tools.append((tools, names, digest))
        return names, digest


def _declared_names(tools: Sequence[JsonObject]) -> list[str]:
    names: list[str] = []
    for tool in tools:
        declarations = tool.get("functionDeclarations")
        if declarations is None:
            names.extend(sorted(tool))  # a built-in of the API: {"googleSearch": {}}
        else:
            names.extend(str(declaration.get("name")) for declaration in declarations)
    return names
