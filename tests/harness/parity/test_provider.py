"""Findings of the provider rules are inherited, divergent, or unsettled."""

import json
from dataclasses import replace
from datetime import date

import pytest

from harness.explain import explain
from harness.parity.compare import compare, compare_observations, compare_repeated
from harness.parity.divergence import ChannelName, Kind
from harness.parity.provider import CoreFindings, FindingKey
from harness.parity.verdict import CaseResult, CaseVerdict
from harness.parity.waivers import Waivers
from harness.provider.rules import RULES, ProviderFinding
from harness.replay.observation import Observation
from tests.harness.samples import Facts, observation

ERROR = ProviderFinding(rule="call-unanswered", path="contents[1]", message="calls glob")
WARNING = ProviderFinding(rule="text-empty", path="contents[0].parts[1]", message="has no text")
AT = (1, ERROR.rule, ERROR.path)
MEND = "observe that with `parity baseline x.yaml`"
UNKNOWN = CoreFindings(mend=MEND)


def core(*keys: FindingKey) -> CoreFindings:
    return CoreFindings(keys=frozenset(keys))


def run(runtime: str, *found: ProviderFinding) -> Observation:
    """A run whose second request has `found`."""
    seen = observation(runtime)
    requests = list(seen.requests)
    requests[1] = replace(requests[1], provider=found)
    return replace(seen, requests=requests)


def judged(control: Observation, candidate: Observation, known: CoreFindings) -> CaseResult:
    return compare_repeated([control], [candidate], Facts(), core=known)


def test_a_finding_of_the_core_at_the_same_request_is_inherited() -> None:
    result = judged(run("legacy", ERROR), run("adk", ERROR), core(AT))

    assert result.verdict is CaseVerdict.PARITY
    assert [(each.request, each.finding, each.by) for each in result.inherited] == [
        (1, ERROR, "both")
    ]
    assert (result.unsettled, result.remarks) == ((), ())


@pytest.mark.parametrize(
    "elsewhere",
    [
        (0, ERROR.rule, ERROR.path),
        (1, "response-uncalled", ERROR.path),
        (1, ERROR.rule, "contents[2]"),
    ],
)
def test_a_finding_of_the_core_at_another_request_is_not_inherited(elsewhere: FindingKey) -> None:
    result = judged(run("legacy", ERROR), run("adk", ERROR), core(elsewhere))

    assert result.verdict is CaseVerdict.DIVERGENT
    assert result.inherited == ()


def test_a_finding_of_both_sides_that_the_core_lacks_is_divergent() -> None:
    result = judged(run("legacy", ERROR), run("adk", ERROR), core())

    (found,) = result.divergences
    assert (found.channel, found.kind, found.label) == (
        ChannelName.PROVIDER,
        Kind.UNINHERITED,
        ERROR.rule,
    )
    lines = explain(result, "legacy", "adk")
    assert lines[0] == "provider[1] call-unanswered: contents[1] (uninherited)"
    assert "both sent the second request, the published core did not" in lines[1]
    assert f"The API refuses a request that breaks this rule: {RULES[ERROR.rule].says}" in lines[2]
    assert lines[3].endswith("It occurs at contents[1]: calls glob.")
    assert RULES[ERROR.rule].evidence in lines[4]


@pytest.mark.parametrize("known", [core(), UNKNOWN, CoreFindings()])
def test_a_finding_of_one_side_is_divergent(known: CoreFindings) -> None:
    here = judged(run("legacy", ERROR), run("adk"), known)
    there = judged(run("legacy"), run("adk", WARNING), known)

    assert [(each.channel, each.kind) for each in here.divergences] == [
        (ChannelName.PROVIDER, Kind.MISSING)
    ]
    assert [(each.channel, each.kind) for each in there.divergences] == [
        (ChannelName.PROVIDER, Kind.EXTRA)
    ]
    lines = explain(there, "legacy", "adk")
    assert "adk sent the second request, legacy did not" in lines[1]
    assert "The API accepts, although unintended, a request that breaks this rule" in lines[2]


def test_where_a_side_is_the_core_its_own_findings_count() -> None:
    both = judged(run("upstream@0.61.0", ERROR), run("legacy", ERROR), core())
    alone = judged(run("upstream", ERROR), run("legacy"), core())
    added = judged(run("upstream"), run("legacy", ERROR), core(AT))

    assert both.verdict is alone.verdict is CaseVerdict.PARITY
    assert [each.by for each in (*both.inherited, *alone.inherited)] == ["both", "control"]
    assert added.verdict is CaseVerdict.DIVERGENT


def test_of_two_versions_of_the_core_the_control_decides() -> None:
    result = judged(run("upstream"), run("upstream@0.60.0", ERROR), core())

    assert result.verdict is CaseVerdict.DIVERGENT


def test_an_undecided_run_of_the_core_gives_no_findings() -> None:
    broken = replace(run("upstream"), broken=True, error="gone")

    assert judged(broken, run("legacy", ERROR), core(AT)).inherited != ()


def test_a_hung_run_of_the_core_gives_findings() -> None:
    hung = replace(run("upstream", ERROR), stalled=True)

    assert judged(hung, run("legacy", ERROR), core()).inherited != ()


def test_an_unsettled_error_of_both_sides_gives_a_remark_with_a_command() -> None:
    result = judged(run("legacy", ERROR), run("adk", ERROR), UNKNOWN)

    assert result.verdict is CaseVerdict.PARITY
    (remark,) = result.remarks
    assert remark.startswith(
        "both sides send requests that the API refuses "
        "(call-unanswered 1; first at requests[1] contents[1])"
    )
    assert remark.endswith(f"whether the published core does, too; {MEND}")
    assert [each.finding for each in result.unsettled] == [ERROR]


def test_an_unsettled_warning_of_both_sides_is_counted() -> None:
    result = judged(run("legacy", WARNING), run("adk", WARNING), UNKNOWN)

    assert result.verdict is CaseVerdict.PARITY
    assert result.remarks == ()
    assert [each.finding for each in result.unsettled] == [WARNING]


def test_where_the_core_is_not_at_hand_findings_of_both_are_counted_and_no_more() -> None:
    result = compare(
        run("legacy", ERROR), run("adk", ERROR), Facts(), Waivers(as_of=date(2026, 1, 1))
    )

    assert result.verdict is CaseVerdict.PARITY
    assert (result.doubts, result.remarks) == ((), ())
    assert [each.finding for each in result.unsettled] == [ERROR]


def test_findings_are_part_of_what_was_observed() -> None:
    plain, wrong = observation(), run("legacy", ERROR)

    digests = compare_observations(plain, wrong).digests
    assert digests[0] != digests[1]


def test_a_control_that_is_not_always_objected_to_is_noise() -> None:
    controls = [run("legacy", ERROR), run("legacy")]
    result = compare_repeated(controls, [run("adk", ERROR)] * 2, Facts(), core=core(AT))

    assert result.verdict is CaseVerdict.INCONCLUSIVE
    assert [each.place for each in result.noise] == ["provider[1] call-unanswered: contents[1]"]


def test_a_result_comes_back_from_the_journal_as_it_was() -> None:
    inherited = judged(run("legacy", ERROR), run("adk", ERROR), core(AT))
    unsettled = judged(run("legacy", WARNING), run("adk", WARNING), UNKNOWN)

    for result in (inherited, unsettled):
        assert CaseResult.from_json(json.loads(json.dumps(result.to_json()))) == result


def test_a_rule_that_this_build_does_not_know_is_refused() -> None:
    value = judged(run("legacy", ERROR), run("adk", ERROR), core(AT)).to_json()
    value["inherited"][0]["rule"] = "none-such"

    with pytest.raises(ValueError, match="there is no provider rule 'none-such'"):
        CaseResult.from_json(value)
