"""What each tool call shows while it works: questions, output, processes, reports, activities.

The other notices of the `ProgressFeed` have channels of their own: the states of a call are
`tool_states`, retries are `retries`, thoughts are `events`. An item is one call.
"""

from __future__ import annotations

import json
from typing import Any, Final

from harness.parity.channel import Channel, When, of_thread, on_thread
from harness.parity.divergence import ChannelName
from harness.parity.evidence import Evidence
from harness.parity.guess import Guess, Seam, probably
from harness.parity.items import Item, list_of, rule
from harness.parity.rules import EVERYWHERE, UUID, call_ids
from harness.replay.observation import Observation
from harness.replay.progress import OUTPUT
from harness.timeline.model import MomentKind
from harness.timeline.words import one_line, quoted, short_json
from services.wire import JsonObject

__all__ = ["CHANNEL"]


@rule(marker='"agent"')
def activity_ids(item: Item) -> None:
    """The thoughts of a subagent have random ids; its calls have other ids.

    By this id clients find the thought that a later thought replaces. A thought that replaces
    another one is a difference: ids map one to one.
    """
    for number, one in enumerate(list_of(item.value.get("shown"))):
        agent = one.get("agent") if isinstance(one, dict) else None
        changed = list_of(agent.get("changed")) if isinstance(agent, dict) else []
        for place, activity in enumerate(changed):
            id_ = activity.get("id") if isinstance(activity, dict) else None
            if isinstance(id_, str) and UUID.fullmatch(id_):
                path = f"shown[{number}].agent.changed[{place}].id"
                item.rename("activity_ids", activity, "id", path, "activity")


class _Progress(Channel):
    name = ChannelName.PROGRESS
    about = "what tool calls show while they work"
    did = "showed"
    item = "tool call's progress"
    cannot = "The call is the same on both sides, so only one can have shown it right."

    rules = (call_ids, activity_ids, *EVERYWHERE)
    when = When.AFTERWARDS
    kind = MomentKind.TOOL

    def items(self, seen: Observation) -> list[JsonObject]:
        threads = seen.threads.get("tool_states", {})
        progress = seen.progress or {}
        return [
            {"call": call, "shown": list(progress[call]), **on_thread(threads, number)}
            for number, call in enumerate(seen.tool_states)
            if call in progress
        ]

    def label(self, item: JsonObject) -> str:
        return of_thread("progress", item)

    def text(self, item: Any) -> str:
        return one_line(f"showed {', '.join(_words(one) for one in item['shown'])}")

    def seam(self, evidence: Evidence) -> Guess:
        value = json.dumps([evidence.first.control, evidence.first.candidate])
        if "question" in evidence.first.path or '"question"' in value:
            return probably("progress-question", Seam.POLICY, "the tool words the question")
        if "agent" in evidence.first.path or '"agent"' in value:
            return probably("progress-agent", Seam.SUBAGENTS, "the scheduler publishes it")
        return probably("progress-shown", Seam.SCHEDULER, "the tool makes what is shown")


def _words(one: Any) -> str:
    if not isinstance(one, dict):
        return short_json(one)
    if isinstance(one.get(OUTPUT), str):
        return f"output {quoted(one[OUTPUT])}"
    return ", ".join(f"{key} {short_json(value)}" for key, value in one.items())


CHANNEL: Final = _Progress()
