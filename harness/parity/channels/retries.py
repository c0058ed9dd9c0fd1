"""Retries, and side events: changes of model or mode, confirmations, fallback handlers."""

from __future__ import annotations

import re
from typing import Any, Final

from harness.parity.channel import Channel, When, of_thread, on_thread
from harness.parity.divergence import ChannelName, Divergence, Kind
from harness.parity.evidence import Evidence
from harness.parity.guess import Guess, Seam, plainly, probably
from harness.parity.items import Item, rule
from harness.parity.rules import EVERYWHERE
from harness.replay.observation import Observation
from harness.replay.trace import retry_record
from harness.timeline.model import MomentKind
from harness.timeline.words import quoted, short_json
from services.wire import JsonObject

__all__ = ["CHANNEL"]

_REPORTS: Final = {
    "fallback-handler": Seam.FALLBACK,
    "approval-mode-changed": Seam.POLICY,
    "approval-mode-rejected": Seam.POLICY,
    "confirmation": Seam.POLICY,
    "send-rejected": Seam.LIFECYCLE,
    "hints-kept": Seam.LIFECYCLE,
}
_LINE: Final = re.compile(r"\n  Line: \d+\Z")


@rule(marker="Policy file (?:error|warning) in", across=True)
def own_lines(item: Item) -> None:
    """We name the line of a problem in a policy file; the published core does not.

    A message with a wrong line is hidden across products; its other lines stay compared. Within one
    product the whole message is compared.
    """
    side = item.value.get("side")
    message = side.get("message") if isinstance(side, dict) else None
    if isinstance(message, str) and _LINE.search(message):
        item.hide("own_lines", side, "message", "side.message", _LINE.sub("", message))


class _Retries(Channel):
    name = ChannelName.RETRIES
    about = "the retries and the changes of model or mode"
    did = "reported"
    item = "side event"
    cannot = "Both sides got the same responses and errors, so only one reaction can be right."

    when = When.AS_IT_HAPPENS
    kind = MomentKind.RETRY
    rules = (*EVERYWHERE, own_lines)

    def items(self, seen: Observation) -> list[JsonObject]:
        retries, sides = (seen.threads.get(name, {}) for name in ("retries", "side_events"))
        return [
            *(
                {"retry": retry_record(retry), **on_thread(retries, number)}
                for number, retry in enumerate(seen.retries)
            ),
            *(
                {"side": event, **on_thread(sides, number)}
                for number, event in enumerate(seen.side_events)
            ),
        ]

    def label(self, item: JsonObject) -> str:
        return of_thread("retry" if "retry" in item else str(item["side"].get("event")), item)

    def kind_of(self, item: JsonObject) -> MomentKind:
        return MomentKind.RETRY if "retry" in item else MomentKind.SIDE

    def text(self, item: Any) -> str:
        if "retry" in item:
            retry = item["retry"]
            return (
                f"announced retry {retry['attempt']} of {retry['maxAttempts']} of "
                f"{retry['model']} in {retry['delayMs']} ms: {quoted(retry['error'])}"
            )
        side = item["side"]
        rest = {key: value for key, value in side.items() if key != "event"}
        return f"{side.get('event')}: {short_json(rest)}"

    def item_of(self, found: Divergence) -> str:
        return "retry" if found.sort == "retry" else f"side event ({found.label})"

    def meaning(self, path: str) -> str:
        return " (virtual milliseconds since the run began)" if path == "atMs" else ""

    def seam(self, evidence: Evidence) -> Guess:
        return _retry_seam(evidence)


def _retry_seam(evidence: Evidence) -> Guess:
    first = evidence.first
    if first.sort != "retry":
        return _report_seam(evidence)
    if "retry.model" in {found.path for found in evidence.beside}:
        return probably("retry-of-model", Seam.FALLBACK, "routing may have chosen the model")
    if first.kind is Kind.CHANGED:
        if evidence.reached("fallback:", "handler:"):
            return probably("retry-paced-at-fallback", Seam.RETRY, "a fallback paces retries too")
        return plainly("retry-paced", Seam.RETRY)
    if evidence.channels == {ChannelName.RETRIES}:
        # The same requests follow: the retry happened, only its announcement is missing.
        return probably("retry-not-announced", Seam.RETRY, "the announcement may be lost elsewhere")
    if evidence.read_otherwise:
        return probably("answer-read-otherwise", Seam.STREAM, "or such a response is not retried")
    if _asks_another_model(evidence):
        return probably("retry-or-model", Seam.RETRY, "the model of a request differs, too")
    return probably("retry-alone", Seam.RETRY, "an end of the wait ends the retries, too")


def _report_seam(evidence: Evidence) -> Guess:
    label = evidence.first.sort
    if label in _REPORTS:
        return probably("report", _REPORTS[label])
    if evidence.earlier(MomentKind.RETRY) or evidence.reached("handler:", "fallback:"):
        return probably("model-changed-after-failure", Seam.FALLBACK)
    return probably("model-changed", Seam.ROUTING)


def _asks_another_model(evidence: Evidence) -> bool:
    return any(found.path == "model" for found in evidence.of(ChannelName.REQUESTS))


CHANNEL: Final = _Retries()
