"""The requests to the model, each as its difference from the request before."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from harness.parity.channel import Channel, SideView, When
from harness.parity.channels.requests.differ import RequestDiffer
from harness.parity.channels.requests.seam import request_seam
from harness.parity.divergence import ChannelName, Divergence
from harness.parity.evidence import Evidence
from harness.parity.guess import Guess
from harness.parity.items import Item, rule
from harness.parity.rules import EVERYWHERE, call_ids, own_environment, own_tasks
from harness.replay.observation import Observation, ObservedRequest
from harness.timeline.fields import request_fields
from harness.timeline.model import MomentKind
from harness.timeline.words import content_line, one_line
from services.wire import Content, Json, JsonObject

__all__ = ["CHANNEL"]

_CONTENT: Final = re.compile(r"contents\[(\d{1,9})\]")


@rule(across=True)
def own_instructions(item: Item) -> None:
    """Each product words its system instructions and tool descriptions itself.

    Whether a request has an instruction, and the names of its tools, are compared. A tool that
    describes a parameter wrongly is hidden across products. Within one product the texts are
    compared.
    """
    for key in ("systemInstruction", "toolsDigest"):
        if isinstance(item.value.get(key), str):
            item.hide("own_instructions", item.value, key, key, "<own words>")


class _Requests(Channel):
    name = ChannelName.REQUESTS
    about = "the requests to the model"
    did = "sent"
    item = "request"
    cannot = "Both runs are equal up to this request, so only one of the two can be right."

    rules = (call_ids, *EVERYWHERE, own_instructions, own_environment, own_tasks)
    when = When.AS_IT_HAPPENS
    kind = MomentKind.REQUEST

    def items(self, seen: Observation) -> list[JsonObject]:
        return [
            {
                **_head(request),
                "sameAsPrevious": request.same_as_previous,
                "newContents": request.new_contents,
            }
            for request in seen.requests
        ]

    def brief(self, seen: Observation) -> list[JsonObject]:
        return [{**_head(request), "contents": request.digest} for request in seen.requests]

    def label(self, item: JsonObject) -> str:
        thread = "" if item["thread"] == "main" else f", thread {item['thread']}"
        return f"{item['method']}({item['role']}{thread})"

    def differ(self, control: Observation, candidate: Observation) -> RequestDiffer:
        return RequestDiffer(control, candidate)

    def line(self, side: SideView, index: int) -> str:
        """The model, the number of contents, and the last content."""
        request = side.raw(self.name, index)
        count, last = side.once(_last_contents)[index]
        counts = request["method"] == "countTokens"
        sent = "sent a request to count tokens to" if counts else "sent a request to"
        role, thread = request["role"], request["thread"]
        aside = [] if role == "main" else [str(role)]
        aside += [] if thread == "main" else [f"thread {thread}"]
        who = f"{request['model']} ({', '.join(aside)})" if aside else str(request["model"])
        contents = f"{count} content{'' if count == 1 else 's'}"
        tail = "" if last is None else f", last: {content_line(side.masked(last))}"
        return one_line(f"{sent} {who}: {contents}{tail}")

    def fields(self, side: SideView, index: int, paths: Sequence[str]) -> Json:
        contents = None
        if any(path.startswith("contents[") for path in paths):
            contents = self._contents(side, index)
        count, _ = side.once(_last_contents)[index]
        return request_fields(side.compared(self.name, index), contents, count, paths)

    def _contents(self, side: SideView, index: int) -> list[Content]:
        """All compared contents of a request."""
        lineages = side.once(_lineages)
        whole: list[Content] = []
        for number in range(index + 1):
            if lineages[number] == lineages[index]:
                request = side.compared(self.name, number)
                whole[request["sameAsPrevious"] :] = request["newContents"]
        return whole

    def item_of(self, found: Divergence) -> str:
        role = found.label.partition("(")[2].rstrip(")")
        aside = "" if role.startswith("main") else f" (for {role})"
        counted = " to count tokens" if found.label.startswith("countTokens") else ""
        return f"{self.item}{counted}{aside}"

    def meaning(self, path: str) -> str:
        match = _CONTENT.match(path)
        return f" (turn {int(match[1]) + 1} of the history in the request)" if match else ""

    def seam(self, evidence: Evidence) -> Guess:
        return request_seam(evidence)


def _head(request: ObservedRequest) -> JsonObject:
    return {
        "method": request.method,
        "role": request.role,
        "thread": request.thread,
        "model": request.model,
        "config": request.config,
        # By name: an extra tool must not shift the others. The digest covers order and
        # descriptions.
        "tools": dict.fromkeys(request.tools, "declared"),
        "toolsDigest": request.tools_digest,
        "systemInstruction": request.system_digest,
    }


def _lineages(seen: Observation) -> list[tuple[str, str]]:
    return [request.lineage for request in seen.requests]


def _last_contents(seen: Observation) -> list[tuple[int, Any]]:
    """The number of contents of each request, and the last of them."""
    whole: dict[tuple[str, str], list[Content]] = {}
    found: list[tuple[int, Any]] = []
    for request in seen.requests:
        contents = whole.setdefault(request.lineage, [])
        contents[request.same_as_previous :] = request.new_contents
        found.append((len(contents), contents[-1] if contents else None))
    return found


CHANNEL: Final = _Requests()
