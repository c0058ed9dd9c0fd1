"""What may stand in an agent's front matter, and the messages about what else stands there.

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
from services.zod import (
    Check,
    Issue,
    Status,
    absent,
    array,
    boolean,
    discriminated,
    literal,
    mapping,
    number,
    one_of,
    optional,
    record,
    text,
    union,
)

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
    """Front matter that is no agent's; the message has a line for each fault."""


def check_agent(value: Json) -> str:
    """Check the front matter of one agent and return its kind, `local` or `remote`.

    Raises:
        InvalidAgent: it is neither.
    """
    issues: list[Issue] = []
    if _ONE(value, (), issues) is not Status.VALID:
        raise InvalidAgent(_told(issues, "Agent Definition", _intended(value)))
    return "local" if _AS_LOCAL(value, (), []) is Status.VALID else "remote"


def check_remote_agents(value: list[Json]) -> None:
    """Check front matter that is a list, of remote agents.

    Raises:
        InvalidAgent: not all of them are.
    """
    issues: list[Issue] = []
    if _LIST(value, (), issues) is not Status.VALID:
        raise InvalidAgent(_told(issues, "Remote Agents List", None))


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


def _filled() -> Check:
    return text((bool, "String must contain at least 1 character(s)"))


def _url() -> Check:
    return text((_is_url, "Invalid url"))


def _texts() -> Check:
    return optional(array(text()))


def _positive() -> Check:
    return optional(
        number(
            (lambda value: float(value).is_integer(), "Expected integer, received float"),
            (lambda value: value > 0, "Number must be greater than 0"),
        )
    )


_NAME: Final = text((lambda value: bool(_SLUG.fullmatch(value)), "Name must be a valid slug"))
_GOOGLE: Final = mapping({"type": literal("google-credentials"), "scopes": _texts()})
_OAUTH: Final = mapping(
    {
        "type": literal("oauth"),
        "client_id": optional(text()),
        "client_secret": optional(text()),
        "scopes": _texts(),
        "authorization_url": optional(_url()),
        "token_url": optional(_url()),
        "issuer": optional(_url()),
        "audiences": _texts(),
        "redirect_uri": optional(_url()),
        "token_param_name": optional(text()),
        "registration_url": optional(_url()),
    }
)
_SERVER: Final = mapping(
    {
        "command": optional(text()),
        "args": _texts(),
        "env": optional(record(text())),
        "cwd": optional(text()),
        "url": optional(text()),
        "http_url": optional(text()),
        "headers": optional(record(text())),
        "tcp": optional(text()),
        "type": optional(one_of("sse", "http")),
        "timeout": optional(number()),
        "trust": optional(boolean()),
        "description": optional(text()),
        "include_tools": _texts(),
        "exclude_tools": _texts(),
        "auth": optional(union(_GOOGLE, _OAUTH)),
    }
)
_AS_LOCAL: Final = mapping(
    {
        "kind": optional(literal("local")),
        "name": _NAME,
        "description": _filled(),
        "display_name": optional(text()),
        "tools": optional(array(text((is_valid_tool_name, "Invalid tool name")))),
        "mcp_servers": optional(record(_SERVER)),
        "model": optional(text()),
        "temperature": optional(number()),
        "max_turns": _positive(),
        "timeout_mins": _positive(),
    },
    strict=True,
)
_HTTP: Final = mapping(
    {
        "type": literal("http"),
        "scheme": _filled(),
        "token": optional(_filled()),
        "username": optional(_filled()),
        "password": optional(_filled()),
        "value": optional(_filled()),
    }
)
_AUTH_KINDS: Final = discriminated(
    "type",
    {
        "apiKey": mapping(
            {
                "type": literal("apiKey"),
                "key": text((bool, "API key is required")),
                "name": optional(text()),
            }
        ),
        "http": _HTTP,
        "google-credentials": _GOOGLE,
        "oauth": _OAUTH,
    },
)


def _auth(value: Json, place: tuple[str | int, ...], issues: list[Issue]) -> Status:
    status = _AUTH_KINDS(value, place, issues)
    if status is Status.INVALID or value["type"] != "http" or value.get("value"):
        return status
    scheme = value["scheme"]
    wanted = {"Bearer": ("token",), "Basic": ("username", "password")}.get(scheme, ("value",))
    missing = [name for name in wanted if not value.get(name)]
    said = {"Bearer": "Bearer scheme", "Basic": "Basic authentication"}.get(
        scheme, f'HTTP scheme "{scheme}"'
    )
    issues += [Issue((*place, name), f'{said} requires "{name}"') for name in missing]
    return Status.DIRTY if missing else status


_REMOTE_FIELDS: Final[dict[str, Check]] = {
    "kind": optional(literal("remote")),
    "name": _NAME,
    "description": optional(text()),
    "display_name": optional(text()),
    "auth": optional(_auth),
}
_BY_URL: Final = mapping(
    {**_REMOTE_FIELDS, "agent_card_url": _url(), "agent_card_json": absent()}, strict=True
)
_BY_JSON: Final = mapping(
    {
        **_REMOTE_FIELDS,
        "agent_card_url": absent(),
        "agent_card_json": text((_is_json, "agent_card_json must be valid JSON")),
    },
    strict=True,
)
_ONE: Final = union(_AS_LOCAL, _BY_URL, _BY_JSON)
_LIST: Final = array(union(_BY_URL, _BY_JSON))


def _intended(value: Json) -> str | None:
    """Which kind its author seems to have had in mind."""
    if not isinstance(value, dict):
        return None
    if value.get("kind") in ("local", "remote"):
        return _LOCAL if value["kind"] == "local" else _REMOTE
    local = any(key in value for key in _LOCAL_KEYS)
    remote = any(key in value for key in _REMOTE_KEYS)
    if local is remote:
        return None
    return _LOCAL if local else _REMOTE


def _told(issues: Iterable[Issue], about: str, intended: str | None) -> str:
    lines = dict.fromkeys(_lines(issues, "", intended))
    return "\n".join((f"{about}:", *lines))


def _lines(issues: Iterable[Issue], label: str, intended: str | None) -> Iterable[str]:
    for issue in issues:
        if not issue.branches:
            place = ".".join(str(step) for step in issue.place)
            yield (
                f"{f'({label}) ' if label else ''}{f'{place}: ' if issue.place else ''}"
                f"{issue.message}"
            )
        # Of a list's entries the first branch is a remote one too; upstream calls it local.
        for branch, own in zip(issue.branches, _LABELS, strict=False):
            name = label or own
            if intended is None or name == intended:
                yield from _lines(branch, name, intended)
