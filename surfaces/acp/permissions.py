"""Permission requests: the options of a question, and what the client's answer means.

Source: `packages/cli` `acp/acpUtils.ts` (`toPermissionOptions`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from acp.exceptions import RequestError
from acp.schema import AllowedOutcome
from pydantic import ValidationError

from services.tools.contract import ConfirmationOutcome
from services.wire import JsonObject
from surfaces.acp.client import Client
from surfaces.allowed import Allowed

__all__ = ["PermissionFailed", "ask", "options_for"]

_Option = tuple[ConfirmationOutcome, str]
_ONCE: Final = ConfirmationOutcome.PROCEED_ONCE
_SAVE: Final = ConfirmationOutcome.PROCEED_ALWAYS_AND_SAVE
_SESSION: Final = (ConfirmationOutcome.PROCEED_ALWAYS, "Allow for this session")
_FOR_SESSION: Final[dict[str, tuple[_Option, ...]]] = {
    "edit": (_SESSION,),
    "exec": (_SESSION,),
    "info": (_SESSION,),
    "mcp": (
        (ConfirmationOutcome.PROCEED_ALWAYS_SERVER, "Allow all server tools for this session"),
        (ConfirmationOutcome.PROCEED_ALWAYS_TOOL, "Allow tool for this session"),
    ),
}
_FOR_EVER: Final = {
    "edit": "Allow for this file in all future sessions",
    "exec": "Allow this command for all future sessions",
    "info": "Allow for all future sessions",
    "mcp": "Allow tool for all future sessions",
}


class PermissionFailed(Exception):
    """The client's answer is no decision; the message says why."""


def options_for(
    kind: str, always: Allowed, *, once: str = "Allow", never: str = "Reject"
) -> list[JsonObject]:
    """The options of a question of the kind `kind` of `ConfirmationDetails`."""
    found: list[JsonObject] = [
        {"optionId": outcome.value, "name": name, "kind": "allow_always"}
        for outcome, name in _always(kind, always)
    ]
    found.append({"optionId": _ONCE.value, "name": once, "kind": "allow_once"})
    found.append(
        {"optionId": ConfirmationOutcome.CANCEL.value, "name": never, "kind": "reject_once"}
    )
    return found


def _always(kind: str, always: Allowed) -> Iterator[_Option]:
    if not always.session:
        return
    yield from _FOR_SESSION.get(kind, ())
    if always.for_ever and kind in _FOR_EVER:
        yield _SAVE, _FOR_EVER[kind]


async def ask(client: Client, request: JsonObject) -> ConfirmationOutcome:
    """Send the permission request; return the user's decision.

    Raises:
        PermissionFailed: the client reports an error, answers in another shape, or chooses an
            option that it was not offered. The call must not run.
    """
    try:
        response = await client.ask_permission(request)
    except RequestError as error:
        raise PermissionFailed(f"The client could not ask for the permission: {error}") from error
    except ValidationError as error:
        raise PermissionFailed(
            "The client's answer to the permission request has no outcome that ACP knows."
        ) from error
    except ConnectionError as error:
        raise PermissionFailed("The client has gone.") from error
    if not isinstance(response.outcome, AllowedOutcome):
        return ConfirmationOutcome.CANCEL
    chosen = response.outcome.option_id
    if not any(option["optionId"] == chosen for option in request["options"]):
        raise PermissionFailed(
            f"The client chose {chosen!r}, which is none of the options of the permission request."
        )
    return ConfirmationOutcome(chosen)
