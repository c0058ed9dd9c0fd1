"""What is wrong with a user's agent, in words, with the place in its code."""

from __future__ import annotations

from typing import Any

from runtimes.contract import RuntimeBroken
from runtimes.error_places import place_of, short_place
from services.exhaustion import notice
from services.presentation.errors import ErrorFields, status_name

__all__ = ["AgentBroke", "agent_error", "yielded_at"]


class AgentBroke(RuntimeBroken):
    """The agent did what no agent may do; its case decides nothing."""


def yielded_at(generator: Any) -> str:
    """Return the line at which a generator stands: `shop/agent.py, line 12`; empty if unknown."""
    frame = getattr(generator, "ag_frame", None)
    return "" if frame is None else short_place(frame.f_code.co_filename, frame.f_lineno)


def agent_error(error: Exception) -> ErrorFields:
    """Return the fields of the event of an error that ended an agent's answer.

    The errors of providers' clients have an HTTP status (`code` or `status_code`). `_meta.stack`
    names the line of the agent's code; a comparison hides that line, as of every stack.
    """
    notice(error)
    found = [getattr(error, name, None) for name in ("status_code", "code")]
    http = next((each for each in found if isinstance(each, int)), None)
    message = getattr(error, "message", None)
    text = message if isinstance(message, str) and message else str(error)
    name = type(error).__name__
    place = place_of(error)
    stack = f"{name}: {text}\n    at {place}" if place else f"{name}: {text}"
    return ErrorFields(
        status=status_name(http), message=text, meta={"errorName": name, "stack": stack}
    )
