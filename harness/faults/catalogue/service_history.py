"""Faults of services in how the history becomes a request."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from harness.faults.fault import Behaviour, Fault, Site
from harness.faults.patching import replaced
from services.history.transforms import SYNTHETIC_THOUGHT_SIGNATURE

__all__ = ["FAULTS"]

_history = partial(Fault, site=Site.SERVICE, behaviour=Behaviour.CONTEXT)


def _all_valid(_: Any) -> Any:
    return lambda _content: True


def _as_it_is(_: Any) -> Any:
    return lambda content: content


def _no_bare_id(_: Any) -> Any:
    return lambda _name, _call_id: None


def _every_call(_: Any) -> Any:
    def broken(parts: Any) -> Any:
        return [
            {"thoughtSignature": SYNTHETIC_THOUGHT_SIGNATURE, **part}
            if part.get("functionCall") is not None
            else part
            for part in parts
        ]

    return broken


def _also_after_tools(_: Any) -> Any:
    return lambda content: content.get("role") == "user"


FAULTS: Final = (
    _history(
        name="invalid-turns-sent-again",
        says="Answers that were none are sent to the model as a part of the history.",
        origin="a framework's session, which keeps all events",
        breaks=lambda: replaced("services.history.view:is_valid_content", _all_valid),
    ),
    _history(
        name="thoughts-sent-again",
        says="Thoughts go back to the model.",
        origin="a framework's contents processor, which filters by other rules",
        breaks=lambda: replaced("services.history.view:without_thoughts", _as_it_is),
    ),
    _history(
        name="every-call-signed",
        says="All calls of a turn get the stand-in for a thought signature, not the first alone.",
        origin="a rule about turns read as one about calls",
        breaks=lambda: replaced("services.history.transforms:_signed", _every_call),
    ),
    _history(
        name="signed-since-last-result",
        says="Only calls after the last tool result are signed, not all since the user's words.",
        origin="a turn of the user's role taken for the user's words",
        breaks=lambda: replaced("services.history.view:starts_active_loop", _also_after_tools),
    ),
    _history(
        name="contents-sent-unscrubbed",
        says="Contents go to the model as they are kept: empty texts, and ids of our own making.",
        origin="a request made of the session's events without the last step",
        breaks=lambda: replaced("services.history.view:strip_content_prefixes", _as_it_is),
    ),
    _history(
        name="prefixed-ids-sent",
        says="The model is sent call ids with the tool's name before them.",
        origin="our own ids used for everything",
        breaks=lambda: replaced("services.history.transforms:_bare_id", _no_bare_id),
    ),
)
