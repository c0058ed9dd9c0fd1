"""Validates an agent's front matter, with upstream's messages.

Source: core `agents/agentLoader.ts`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from services.mcp.json_text import parse_json
from services.policy.tool_names import is_valid_tool_name
from services.tools.web_urls import InvalidUrl, parse_url
from services.wire import Json
from services.zod import ZOD3, Issue, Path, Shape, issues_of

__all__ = ["InvalidAgent", "check_agent", "check_remote_agents"]

_SLUG: Final = re.compile(r"[a-z0-9-_]+")
_LOCAL_KEYS: Final = (
    "tools",
    "mcp_servers",
    "model",
    "temperature",
    "max_turns",
    "timeout_mins",
)
_REMOTE_KEYS: Final = ("agent_card_url", "auth", "agent_card_json")
_LOCAL: Final = "Local Agent"
_REMOTE: Final = "Remote Agent"
_LABELS: Final = (_LOCAL, _REMOTE, _REMOTE)


class InvalidAgent(ValueError):
    """Front matter is invalid; the message has a line for each fault."""


def check_agent(value: Json) -> str:
    """Check the front matter of one agent and return its kind, `local` or `remote`.

    Raises:
        InvalidAgent: the front matter is invalid.
    """
    issues = issues_of(_ONE, value)
    if issues:
        raise InvalidAgent(_message(issues, "Agent Definition", _intended(value)))
    return "remote" if issues_of(_AS_LOCAL, value) else "local"


def check_remote_agents(value: list[Json]) -> None:
    """Check front matter that is a list of remote agents.

    Raises:
        InvalidAgent: an entry is invalid.
    """
    issues = issues_of(_LIST, value)
    if issues:
        raise InvalidAgent(_message(issues, "Remote Agents List", None))


def _is_url(value: Json) -> bool:
    try:
        parse_url(value)
    except InvalidUrl:
        return False
    return True


def _is_json(value: Json) -> bool:
    try:
        parse_json(value)
    except ValueError:
        return False
    return True


def _filled() -> Shape:
    return ZOD3.text((bool, "String must contain at least 1 character(s)"))


def _url() -> Shape:
    return ZOD3.text((_is_url, "Invalid url"))


def _texts() -> Shape:
    return ZOD3.optional(ZOD3.array(ZOD3.text()))


def _positive() -> Shape:
    return ZOD3.optional(
        ZOD3.number(
            (lambda value: float(value).is_integer(), "Expected integer, received float"),
            (lambda value: value > 0, "Number must be greater than 0"),
        )
    )


_NAME: Final = ZOD3.text((lambda value: bool(_SLUG.fullmatch(value)), "Name must be a valid slug"))
_GOOGLE: Final = ZOD3.mapping({"type": ZOD3.literal("google-credentials"), "scopes": _texts()})
_OAUTH: Final = ZOD3.mapping(
    {
        "type": ZOD3.literal("oauth"),
        "client_id": ZOD3.optional(ZOD3.text()),
        "client_secret": ZOD3.optional(ZOD3.text()),
        "scopes": _texts(),
        "authorization_url": ZOD3.optional(_url()),
        "token_url": ZOD3.optional(_url()),
        "issuer": ZOD3.optional(_url()),
        "audiences": _texts(),
        "redirect_uri": ZOD3.optional(_url()),
        "token_param_name": ZOD3.optional(ZOD3.text()),
        "registration_url": ZOD3.optional(_url()),
    }
)
_SERVER: Final = ZOD3.mapping(
    {
        "command": ZOD3.optional(ZOD3.text()),
        "args": _texts(),
        "env": ZOD3.optional(ZOD3.record(ZOD3.text())),
        "cwd": ZOD3.optional(ZOD3.text()),
        "url": ZOD3.optional(ZOD3.text()),
        "http_url": ZOD3.optional(ZOD3.text()),
        "headers": ZOD3.optional(ZOD3.record(ZOD3.text())),
        "tcp": ZOD3.optional(ZOD3.text()),
        "type": ZOD3.optional(ZOD3.one_of("sse", "http")),
        "timeout": ZOD3.optional(ZOD3.number()),
        "trust": ZOD3.optional(ZOD3.boolean()),
        "description": ZOD3.optional(ZOD3.text()),
        "include_tools": _texts(),
        "exclude_tools": _texts(),
        "auth": ZOD3.optional(ZOD3.union(_GOOGLE, _OAUTH)),
    }
)
_AS_LOCAL: Final = ZOD3.mapping(
    {
        "kind": ZOD3.optional(ZOD3.literal("local")),
        "name": _NAME,
        "description": _filled(),
        "display_name": ZOD3.optional(ZOD3.text()),
        "tools": ZOD3.optional(ZOD3.array(ZOD3.text((is_valid_tool_name, "Invalid tool name")))),
        "mcp_servers": ZOD3.optional(ZOD3.record(_SERVER)),
        "model": ZOD3.optional(ZOD3.text()),
        "temperature": ZOD3.optional(ZOD3.number()),
        "max_turns": _positive(),
        "timeout_mins": _positive(),
    },
    strict=True,
)
_HTTP: Final = ZOD3.mapping(
    {
        "type": ZOD3.literal("http"),
        "scheme": _filled(),
        "token": ZOD3.optional(_filled()),
        "username": ZOD3.optional(_filled()),
        "password": ZOD3.optional(_filled()),
        "value": ZOD3.optional(_filled()),
    }
)
_AUTH_KINDS: Final = ZOD3.discriminated(
    "type",
    {
        "apiKey": ZOD3.mapping(
            {
                "type": ZOD3.literal("apiKey"),
                "key": ZOD3.text((bool, "API key is required")),
                "name": ZOD3.optional(ZOD3.text()),
            }
        ),
        "http": _HTTP,
        "google-credentials": _GOOGLE,
        "oauth": _OAUTH,
    },
)


def _auth(value: Json, path: Path, issues: list[Issue]) -> Json:
    own: list[Issue] = []
    passed = _AUTH_KINDS(value, path, own)
    issues += own
    if not all(issue.dirty for issue in own) or value["type"] != "http" or value.get("value"):
        return passed
    scheme = value["scheme"]
    wanted = {"Bearer": ("token",), "Basic": ("username", "password")}.get(scheme, ("value",))
    label = {"Bearer": "Bearer scheme", "Basic": "Basic authentication"}.get(
        scheme, f'HTTP scheme "{scheme}"'
    )
    issues += [
        Issue((*path, name), f'{label} requires "{name}"', dirty=True)
        for name in wanted
        if not value.get(name)
    ]
    return passed


_REMOTE_FIELDS: Final[dict[str, Shape]] = {
    "kind": ZOD3.optional(ZOD3.literal("remote")),
    "name": _NAME,
    "description": ZOD3.optional(ZOD3.text()),
    "display_name": ZOD3.optional(ZOD3.text()),
    "auth": ZOD3.optional(_auth),
}
_BY_URL: Final = ZOD3.mapping(
    {**_REMOTE_FIELDS, "agent_card_url": _url(), "agent_card_json": ZOD3.absent()}, strict=True
)
_BY_JSON: Final = ZOD3.mapping(
    {
        **_REMOTE_FIELDS,
        "agent_card_url": ZOD3.absent(),
        "agent_card_json": ZOD3.text((_is_json, "agent_card_json must be valid JSON")),
    },
    strict=True,
)
_ONE: Final = ZOD3.union(_AS_LOCAL, _BY_URL, _BY_JSON)
_LIST: Final = ZOD3.array(ZOD3.union(_BY_URL, _BY_JSON))


def _intended(value: Json) -> str | None:
    """Guess the intended kind."""
    if not isinstance(value, dict):
        return None
    if value.get("kind") in ("local", "remote"):
        return _LOCAL if value["kind"] == "local" else _REMOTE
    local = any(key in value for key in _LOCAL_KEYS)
    remote = any(key in value for key in _REMOTE_KEYS)
    if local is remote:
        return None
    return _LOCAL if local else _REMOTE


def _message(issues: Iterable[Issue], about: str, intended: str | None) -> str:
    lines = dict.fromkeys(_lines(issues, "", intended))
    return "\n".join((f"{about}:", *lines))


def _lines(issues: Iterable[Issue], label: str, intended: str | None) -> Iterable[str]:
    for issue in issues:
        if not issue.branches:
            place = ".".join(str(step) for step in issue.path)
            yield (
                f"{f'({label}) ' if label else ''}{f'{place}: ' if issue.path else ''}"
                f"{issue.message}"
            )
        # Of a list's entries the first branch is a remote one too; upstream calls it local.
        for branch, own in zip(issue.branches, _LABELS, strict=False):
            name = label or own
            if intended is None or name == intended:
                yield from _lines(branch, name, intended)
