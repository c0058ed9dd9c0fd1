"""One sign after the other, on results that hold nothing but the sign."""

from __future__ import annotations

from typing import Any

import pytest

from harness.explain import Seam, explained
from harness.parity.divergence import ABSENT, ChannelName, Divergence, Kind
from harness.parity.verdict import CaseResult

MAIN = "generateContentStream(main)"


def found(channel: ChannelName, kind: Kind = Kind.CHANGED, **more: Any) -> Divergence:
    values = {"control": "a", "candidate": "b", "control_index": 1, "candidate_index": 1, **more}
    return Divergence(cassette="a/b", channel=channel, kind=kind, **values)


def seam(*each: Divergence, name: str = "text/plain", **more: Any) -> Seam:
    values: dict[str, Any] = {"runtimes": ("legacy", "adk"), **more}
    judged = CaseResult(cassette=name, divergences=each, **values)
    return explained(judged, "legacy", "adk").seam


def question(path: str, **more: Any) -> Divergence:
    return found(ChannelName.REQUESTS, label=MAIN, path=path, **more)


LONE = found(ChannelName.REQUESTS, Kind.EXTRA, label=MAIN, control=ABSENT)


@pytest.mark.parametrize(
    ("each", "expected"),
    [
        (question("model"), Seam.ROUTING),
        (question("config.temperature"), Seam.MODEL_CONFIG),
        (question("systemInstruction"), Seam.MODEL_CONFIG),
        (question("contents[2].parts[0].text"), Seam.REQUEST_ASSEMBLY),
        (question("contents[2]", candidate="<hook_context>x"), Seam.HOOKS),
        (question("contents[2]", control="System: Potential loop detected."), Seam.LOOPS),
        (question("contents[2]", control="[System: You previously …"), Seam.RETRY),
        (question("contents[2]", candidate="<tool_output_masked>"), Seam.REQUEST_ASSEMBLY),
        (LONE, Seam.UNKNOWN),
        (found(ChannelName.RETRIES, label="retry", path="retry.delayMs"), Seam.RETRY),
        (found(ChannelName.RETRIES, label="retry", path="retry.model"), Seam.FALLBACK),
        (found(ChannelName.RETRIES, Kind.EXTRA, label="confirmation"), Seam.POLICY),
        (found(ChannelName.RETRIES, Kind.EXTRA, label="fallback-handler"), Seam.FALLBACK),
        (found(ChannelName.RETRIES, Kind.EXTRA, label="send-rejected"), Seam.LIFECYCLE),
        (
            found(ChannelName.RETRIES, Kind.EXTRA, label="retry", candidate="NO_FINISH_REASON"),
            Seam.STREAM,
        ),
        (found(ChannelName.TOOL_STATES, path="states[1]", control="scheduled"), Seam.SCHEDULER),
        (found(ChannelName.TOOL_STATES, path="states[1]", control="error"), Seam.UNKNOWN),
        (
            found(ChannelName.TOOL_STATES, path="states[1]", control="awaiting_approval"),
            Seam.POLICY,
        ),
        (found(ChannelName.TRANSCRIPT, label="content(user)"), Seam.HISTORY),
        (found(ChannelName.RECORDING, label="metadata in file 0"), Seam.RECORDING),
        (found(ChannelName.WORKSPACE, control='{"hook_event_name": "Stop"}'), Seam.HOOKS),
        (found(ChannelName.WORKSPACE, label="a.txt"), Seam.UNKNOWN),
        (found(ChannelName.EVENTS, label="usage"), Seam.EVENTS),
        (found(ChannelName.EVENTS, label="agent_end", path="reason"), Seam.LIFECYCLE),
        (found(ChannelName.COST, label="cost"), Seam.UNKNOWN),
        (found(ChannelName.PROVIDER, label="text-empty"), Seam.REQUEST_ASSEMBLY),
        (found(ChannelName.EVENTS, Kind.NONDETERMINISTIC, label="usage"), Seam.UNKNOWN),
        (found(ChannelName.REQUESTS, Kind.REPLAY, label="replay", path="stalled"), Seam.LIFECYCLE),
        (found(ChannelName.REQUESTS, Kind.REPLAY, label="replay", path="error"), Seam.UNKNOWN),
    ],
)
def test_a_sign_by_itself(each: Divergence, expected: Seam) -> None:
    assert seam(each) is expected


@pytest.mark.parametrize(
    ("role", "expected"),
    [
        ("utility_router", Seam.ROUTING),
        ("utility_loop_detector", Seam.LOOPS),
        ("utility_next_speaker", Seam.LIFECYCLE),
        ("utility_compressor", Seam.REQUEST_ASSEMBLY),
    ],
)
def test_a_question_on_the_side_belongs_to_whoever_asks_it(role: str, expected: Seam) -> None:
    lone = found(ChannelName.REQUESTS, Kind.MISSING, label=f"generateContent({role})")

    assert seam(lone) is expected


@pytest.mark.parametrize(
    ("probe", "expected"),
    [
        ("hook:agent_blocked", Seam.HOOKS),
        ("loop:warned", Seam.LOOPS),
        ("limit:overflow", Seam.LIFECYCLE),
        ("policy:denied", Seam.POLICY),
        ("fallback:pro->flash", Seam.FALLBACK),
        ("text:anything", Seam.UNKNOWN),
    ],
)
def test_what_one_side_alone_reached_says_why_it_asked_on(probe: str, expected: Seam) -> None:
    assert seam(LONE, reached=((probe,), ())) is expected
    assert seam(LONE, reached=((probe,), (probe,))) is Seam.UNKNOWN


def test_two_reasons_that_contradict_each_other_say_nothing() -> None:
    assert seam(LONE, reached=(("loop:warned",), ("end:max_turns",))) is Seam.UNKNOWN


def test_what_is_remembered_otherwise_is_history_and_what_is_not_is_how_it_was_sent() -> None:
    sent = question("contents[0].parts[0].text", control="<session_context>", candidate="x")
    remembered = found(ChannelName.TRANSCRIPT, label="content(user)")

    assert seam(sent, remembered) is Seam.HISTORY
    assert seam(sent) is Seam.REQUEST_ASSEMBLY


def test_what_is_kept_at_the_end_says_nothing_where_the_run_went_another_way() -> None:
    ended = found(ChannelName.EVENTS, label="agent_end", path="reason")

    assert seam(found(ChannelName.TRANSCRIPT), ended) is Seam.UNKNOWN
    assert seam(found(ChannelName.RECORDING), ended) is Seam.UNKNOWN


def test_results_in_another_order_are_the_scheduler_s() -> None:
    places = [f"contents[2].parts[{n}].functionResponse.response.output" for n in (0, 1)]
    one, two = (question(path) for path in places)
    swapped = question(places[1], control="b", candidate="a")

    assert seam(one, swapped) is Seam.SCHEDULER
    assert seam(one, two) is Seam.REQUEST_ASSEMBLY


def test_between_engines_with_tools_of_their_own_a_tool_may_be_what_differs() -> None:
    told = found(ChannelName.EVENTS, label="tool_response", path="data.exitCode")
    upstream = ("upstream", "legacy")

    assert seam(told) is Seam.EVENTS
    assert seam(told, runtimes=upstream) is Seam.UNKNOWN


def test_what_a_cassette_is_about_decides_where_signs_do_not() -> None:
    call = found(ChannelName.TOOL_STATES, path="states[1]", control="scheduled")

    assert seam(call, name="policy/always") is Seam.POLICY
    assert seam(question("config.topK"), name="hooks/config") is Seam.HOOKS
    assert seam(question("config.topK"), name="routing/auto") is Seam.UNKNOWN
