"""The seam of each sign, on results with only that sign."""

from __future__ import annotations

from typing import Any

import pytest

from harness.explain import Explanation, Seam, explained
from harness.parity.divergence import ABSENT, ChannelName, Divergence, Kind
from harness.parity.verdict import CaseResult
from harness.timeline.model import Moment, MomentKind, Row, Timelines, pack

MAIN = "generateContentStream(main)"


def found(channel: ChannelName, kind: Kind = Kind.CHANGED, **more: Any) -> Divergence:
    values = {"control": "a", "candidate": "b", "control_index": 1, "candidate_index": 1, **more}
    return Divergence(cassette="a/b", channel=channel, kind=kind, **values)


def explanation_of(*each: Divergence, name: str = "text/plain", **more: Any) -> Explanation:
    values: dict[str, Any] = {"runtimes": ("legacy", "adk"), **more}
    judged = CaseResult(cassette=name, divergences=each, **values)
    return explained(judged, "legacy", "adk")


def seam(*each: Divergence, name: str = "text/plain", **more: Any) -> Seam:
    return explanation_of(*each, name=name, **more).seam


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
        (LONE, Seam.LIFECYCLE),
        (found(ChannelName.RETRIES, label="retry", path="retry.delayMs"), Seam.RETRY),
        (found(ChannelName.RETRIES, label="retry", path="retry.model"), Seam.FALLBACK),
        (found(ChannelName.RETRIES, Kind.EXTRA, label="confirmation"), Seam.POLICY),
        (found(ChannelName.RETRIES, Kind.EXTRA, label="fallback-handler"), Seam.FALLBACK),
        (found(ChannelName.RETRIES, Kind.EXTRA, label="send-rejected"), Seam.LIFECYCLE),
        (
            found(ChannelName.RETRIES, Kind.EXTRA, label="retry", candidate="NO_FINISH_REASON"),
            Seam.RETRY,
        ),
        (
            found(ChannelName.REQUESTS, label="generateContent(subagent, thread 0/0)"),
            Seam.SUBAGENTS,
        ),
        (found(ChannelName.RECORDING, label="$set in thread 0/0"), Seam.SUBAGENTS),
        (found(ChannelName.TOOL_STATES, label="call, thread 0/0"), Seam.SUBAGENTS),
        (
            found(ChannelName.RECORDING, path="line.resultDisplay.recentActivity[0].id"),
            Seam.SUBAGENTS,
        ),
        (found(ChannelName.TOOL_STATES, path="states[1]", control="scheduled"), Seam.SCHEDULER),
        (found(ChannelName.TOOL_STATES, path="states[1]", control="error"), Seam.SCHEDULER),
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
def test_a_request_of_the_product_has_the_seam_of_its_role(role: str, expected: Seam) -> None:
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
    ],
)
def test_probes_of_one_side_explain_its_lone_request(probe: str, expected: Seam) -> None:
    assert seam(LONE, reached=((probe,), ())) is expected


@pytest.mark.parametrize("probe", ["loop:warned", "policy:denied", "text:anything"])
def test_probes_of_both_sides_do_not_explain_a_lone_request(probe: str) -> None:
    assert seam(LONE, reached=((probe,), (probe,))) is seam(LONE)


def test_a_differing_transcript_has_the_seam_history_else_request_assembly() -> None:
    sent = question("contents[0].parts[0].text", control="<session_context>", candidate="x")
    remembered = found(ChannelName.TRANSCRIPT, label="content(user)")

    assert seam(sent, remembered) is Seam.HISTORY
    assert seam(sent) is Seam.REQUEST_ASSEMBLY


def test_what_is_kept_at_the_end_follows_from_how_the_stream_ended() -> None:
    ended = found(ChannelName.EVENTS, label="agent_end", path="reason")
    for kept in (found(ChannelName.TRANSCRIPT), found(ChannelName.RECORDING)):
        made = explanation_of(kept, ended)

        assert made.seam is Seam.LIFECYCLE
        assert not made.sure
        assert "depends on the course of the stream" in made.lines()[-1]


def test_an_answer_without_its_signatures_has_the_seam_stream() -> None:
    lost = question("contents[1].parts[0].thoughtSignature", control="s", candidate=ABSENT)
    said = question("contents[1].parts[0].text")
    remembered = found(ChannelName.TRANSCRIPT, label="content(model)")
    contents = [{"role": "user"}, {"role": "model", "parts": []}]
    moment = Moment(index=1, line="asked x: 3 contents", fields={"contents": contents})
    rows = (Row(kind=MomentKind.REQUEST, control=moment, candidate=moment, divergences=(0,)),)
    kept = {"timelines": pack(Timelines(rows=rows))}

    assert seam(lost, remembered, **kept) is Seam.STREAM
    assert seam(said, remembered, **kept) is Seam.HISTORY
    assert seam(lost, **kept) is Seam.REQUEST_ASSEMBLY


def test_a_retry_that_is_only_not_announced_is_no_answer_read_otherwise() -> None:
    lone = found(ChannelName.RETRIES, Kind.MISSING, label="retry", control="NO_FINISH_REASON")

    assert seam(lone) is Seam.RETRY
    assert seam(lone, found(ChannelName.EVENTS, label="agent_end")) is Seam.STREAM


def test_the_result_of_a_child_that_its_parent_sends_is_the_child_s() -> None:
    differs = question("contents[2].parts[0].functionResponse.response.output")
    line = "asked x: 3 contents, last: function response invoke_agent: 'done'"
    moment = Moment(index=1, line=line)
    row = Row(kind=MomentKind.REQUEST, control=moment, candidate=moment, divergences=(0,))

    assert seam(differs, timelines=pack(Timelines(rows=(row,)))) is Seam.SUBAGENTS


def test_results_in_another_order_are_the_scheduler_s() -> None:
    places = [f"contents[2].parts[{n}].functionResponse.response.output" for n in (0, 1)]
    one, two = (question(path) for path in places)
    swapped = question(places[1], control="b", candidate="a")

    assert seam(one, swapped) is Seam.SCHEDULER
    assert seam(one, two) is Seam.REQUEST_ASSEMBLY


def test_between_engines_with_tools_of_their_own_a_tool_may_be_what_differs() -> None:
    response = found(ChannelName.EVENTS, label="tool_response", path="data.exitCode")

    ours = explanation_of(response)
    others = explanation_of(response, runtimes=("upstream", "legacy"))

    assert (ours.seam, ours.sure) == (Seam.EVENTS, True)
    assert (others.seam, others.sure) == (Seam.TOOL, False)
    assert others.lines()[-1] == (
        "seam: probably tool (the tool result or its emission may differ)"
    )


def test_what_a_cassette_is_about_decides_where_signs_do_not() -> None:
    call = found(ChannelName.TOOL_STATES, path="states[1]", control="scheduled")

    assert seam(call, name="policy/always") is Seam.POLICY
    assert seam(question("config.topK"), name="hooks/config") is Seam.HOOKS


PLAIN = [
    (found(ChannelName.EVENTS, label="usage", path="inputTokens"), {}),
    (found(ChannelName.RECORDING, label="metadata in file 0", path="line.kind"), {}),
    (found(ChannelName.RETRIES, label="retry", path="retry.delayMs"), {}),
    (found(ChannelName.WORKSPACE, control='{"hook_event_name": "Stop"}'), {}),
    (question("contents[2]"), {"reached": (("hook:context",), ())}),
]


@pytest.mark.parametrize(("each", "more"), PLAIN)
def test_a_unique_sign_gives_a_sure_seam(each: Divergence, more: dict[str, Any]) -> None:
    made = explanation_of(each, **more)

    assert made.sure
    assert made.lines()[-1] == f"seam: {made.seam.value}"


@pytest.mark.parametrize(
    "each",
    [
        LONE,
        question("model"),
        question("config.temperature"),
        found(ChannelName.EVENTS, label="agent_end", path="reason"),
        found(ChannelName.RETRIES, Kind.EXTRA, label="retry"),
        found(ChannelName.TRANSCRIPT, label="content(user)"),
        found(ChannelName.TOOL_STATES, path="states[1]", control="scheduled"),
    ],
)
def test_a_sign_with_several_causes_gives_a_guess(each: Divergence) -> None:
    made = explanation_of(each)

    assert not made.sure
    assert made.lines()[-1].startswith(f"seam: probably {made.seam.value}")


@pytest.mark.parametrize(("each", "more"), PLAIN)
def test_the_seam_of_a_broken_off_run_is_never_sure(each: Divergence, more: dict[str, Any]) -> None:
    broke = found(ChannelName.REQUESTS, Kind.REPLAY, label="replay", path="error")

    made = explanation_of(each, broke, **more)

    assert (made.seam, made.sure) == (explanation_of(each, **more).seam, False)


FAMILIES = ("policy", "hooks", "resume", "loops", "masking", "mcp", "truncation", "anything")


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    "each",
    [
        *(each for each, _ in PLAIN),
        LONE,
        question("config.topK"),
        question("contents[2].parts[0].functionResponse.response.output"),
        found(ChannelName.TOOL_STATES, path="states[1]", control="scheduled"),
        found(ChannelName.WORKSPACE, label="a.txt"),
    ],
)
def test_the_name_of_a_cassette_makes_no_seam_sure(each: Divergence, family: str) -> None:
    without, made = explanation_of(each, name="x/y"), explanation_of(each, name=f"{family}/y")

    assert not made.sure or (without.sure and without.seam is made.seam)


def test_what_cannot_be_guessed_is_unknown_and_never_sure() -> None:
    made = explanation_of(found(ChannelName.COST, label="cost"))

    assert (made.seam, made.sure) == (Seam.UNKNOWN, False)
    assert made.lines()[-1] == "seam: unknown"


def test_fields_of_a_journal_that_are_of_another_type_say_nothing() -> None:
    differs = question(f"contents[{'9' * 5000}].parts[0].text")
    moment = Moment(index=0, line="asked x: 3 contents", fields={"contents": 7})
    row = Row(kind=MomentKind.REQUEST, control=moment, candidate=moment, divergences=(0,))

    made = explanation_of(differs, timelines=pack(Timelines(rows=(row,))))

    assert made.seam is Seam.REQUEST_ASSEMBLY
