"""Findings of the provider rules: the requests that the real API would refuse."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from harness.parity.channel import Channel, When
from harness.parity.divergence import ABSENT, ChannelName, Divergence
from harness.parity.evidence import Evidence
from harness.parity.guess import Guess, Seam, probably
from harness.provider.rules import RULES, Severity
from harness.replay.observation import Observation
from harness.timeline.model import MomentKind
from harness.timeline.words import cut
from services.wire import JsonObject

__all__ = ["CHANNEL"]


class _Provider(Channel):
    name = ChannelName.PROVIDER
    about = "the requests to which the model's API objects"
    did = "sent"
    item = "request"
    cannot = "The API would object to the requests of one side only."

    when = When.AS_IT_HAPPENS
    remarks_on = ChannelName.REQUESTS
    kind = MomentKind.PROVIDER

    def items(self, seen: Observation) -> list[JsonObject]:
        return [
            {"request": index, "rule": finding.rule, "path": finding.path}
            for index, request in enumerate(seen.requests)
            for finding in request.provider
        ]

    def label(self, item: JsonObject) -> str:
        return str(item["rule"])

    def sentences(self, found: Divergence) -> Iterator[str]:
        """Why the API refuses the request, and the evidence for that."""
        rule = RULES.get(found.label)
        if rule is None:
            return
        api = "refuses" if rule.severity is Severity.ERROR else "accepts, although unintended,"
        value = found.candidate if found.control == ABSENT else found.control
        yield f"The API {api} a request that breaks this rule: {rule.says}"
        yield f"It occurs at {found.path}: {cut(str(value))}."
        yield f"Evidence: {rule.evidence}"

    def seam(self, evidence: Evidence) -> Guess:
        return probably("objection", Seam.REQUEST_ASSEMBLY)


CHANNEL: Final = _Provider()
