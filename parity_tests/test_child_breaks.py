"""The same for child agents: break one in one runtime, and see the child found and named."""

from __future__ import annotations

from typing import Any

import pytest

from harness.explain import explain, first_cause
from harness.parity.compare import compare
from harness.parity.divergence import ChannelName, Divergence, Kind
from harness.parity.verdict import CaseVerdict
from harness.replay.runner import run_cassette
from parity_tests.corpus import WAIVERS, cassette
from services.children.child_services import ChildServices
from services.children.session import ChildStream
from services.subagents.activity import ActivityType


def broken(monkeypatch: pytest.MonkeyPatch, name: str, *patch: Any) -> Divergence:
    """Judge the cassette, what both runtimes share being broken for the candidate alone.

    It must diverge, and the explanation must name the channel. Where the agent's call shows other
    progress first, the divergence of the agent's reports is returned.
    """
    one = cassette(name)
    control = run_cassette(one, "legacy")
    with monkeypatch.context() as patched:
        patched.setattr(*patch)
        candidate = run_cassette(one, "adk")
    result = compare(control, candidate, one, WAIVERS)
    assert result.verdict is CaseVerdict.DIVERGENT
    cause = first_cause(result)
    assert cause is not None
    words = "\n".join(explain(result, "legacy", "adk"))
    assert f"channel {cause.channel}" in words
    assert cause.cassette == name
    if cause.channel is ChannelName.PROGRESS:
        cause = next(each for each in result.divergences if each.channel is ChannelName.CHILDREN)
    assert "thread 0/0" in cause.label
    return cause


@pytest.mark.contract("P-202")
def test_a_lost_activity_is_found_in_the_children(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = ChildServices.report

    def lossy(self: ChildServices, type: ActivityType, data: Any) -> None:
        if type is not ActivityType.THOUGHT_CHUNK:
            whole(self, type, data)

    cause = broken(monkeypatch, "subagent/thoughts", ChildServices, "report", lossy)

    assert (cause.channel, cause.kind) == (ChannelName.CHILDREN, Kind.MISSING)
    assert cause.label.startswith("THOUGHT_CHUNK")


@pytest.mark.contract("P-202")
def test_a_childs_event_out_of_order_is_found_in_the_children(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = ChildStream.emit_activity
    held: list[Any] = []

    def late(self: Any, activity: Any) -> None:
        """Emit the first call only after its successors."""
        held.append(activity)
        if len(held) > 1:
            whole(self, activity)
        if len(held) == 2:
            whole(self, held[0])

    cause = broken(monkeypatch, "subagent/reads_and_completes", ChildStream, "emit_activity", late)

    assert (cause.channel, cause.kind) == (ChannelName.CHILDREN, Kind.ORDER)
    assert cause.label.startswith("tool_")


@pytest.mark.contract("P-182")
def test_another_reason_of_a_childs_end_is_found_in_the_children(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = ChildStream.end

    def failed(self: Any, reason: str) -> None:
        whole(self, "failed")

    cause = broken(monkeypatch, "subagent/reads_and_completes", ChildStream, "end", failed)

    assert (cause.channel, cause.kind) == (ChannelName.CHILDREN, Kind.CHANGED)
    assert (cause.path, cause.control, cause.candidate) == ("event.reason", "completed", "failed")


@pytest.mark.contract("P-182")
def test_an_altered_question_of_a_child_is_found_in_its_requests(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from services.subagents.prompt import ChildPrompt

    whole = ChildPrompt.query

    def louder(self: ChildPrompt) -> str:
        return whole(self).upper() + "!"

    cause = broken(monkeypatch, "subagent/reads_and_completes", ChildPrompt, "query", louder)

    assert (cause.channel, cause.kind) == (ChannelName.REQUESTS, Kind.CHANGED)
    assert cause.label == "generateContentStream(subagent, thread 0/0)"
    assert cause.path.startswith("contents[0].parts")
