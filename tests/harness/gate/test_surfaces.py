"""Legs behind a surface: the gate counts what a user of the surface can play."""

from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest

from harness.coverage.behaviour import Behaviour, BehaviourClass
from harness.coverage.contract import Contract
from harness.coverage.expression import parse_probes
from harness.gate.answer import Answer, ReasonKind
from harness.parity.verdict import CaseResult
from tests.harness.gate.green import (
    NAMES,
    LegFile,
    World,
    contract,
    divergence,
    facts_of,
    gates,
    kinds,
    result,
    world,
)

ACP: Final = ("acp:legacy", "acp:adk")
LEG: Final = """
[[phase.A.leg]]
name = "ACP over both"
control = "acp:legacy"
candidate = "acp:adk"
min_cases = 2

[phase.A.pull_request]
"""
REACHED: Final = (("surface:acp",), ("surface:acp",))


def behind_acp(*, cases: int = 2) -> World:
    """One that a gate says yes to, with a leg of two cases and one that no client can play."""
    made = world()
    made.gates = gates(
        leg=("\n[phase.A.pull_request]\n", LEG),
        classes=("tools = 2", f"tools = 2\nsurfaces = {cases}"),
    )
    shown = Behaviour(
        id="P-198",
        phase="A",
        behaviour_class=BehaviourClass.SURFACES,
        title="an editor's session",
        probes=parse_probes("surface:acp"),
        source="somewhere",
    )
    made.contract = Contract(behaviours=[*contract().behaviours, shown])
    results = {name: result(name, ACP, contract=(), reached=REACHED) for name in NAMES[:2]}
    refused = CaseResult.undecided(NAMES[2], "not played through the ACP client: no request")
    results[NAMES[2]] = replace(refused, phase="A", unplayable=True)
    made.legs["acp"] = LegFile(*ACP, results=results, header={"phase": "A"})
    return made


def test_what_cannot_be_played_is_counted_apart(tmp_path: Path) -> None:
    answer = behind_acp().judged(tmp_path)

    assert (answer.answer, answer.reasons) == (Answer.YES, ())
    says = facts_of(answer)["ACP over both: every case is parity"]
    assert says == "2 of 2 cases parity, 1 case not playable (acp.jsonl)"


def test_a_surface_that_shows_one_runtime_otherwise_is_a_no(tmp_path: Path) -> None:
    made = behind_acp()
    made.change_case("acp", NAMES[0], divergences=(divergence(NAMES[0]),))

    answer = made.judged(tmp_path)

    assert answer.answer is Answer.NO
    assert {reason.about for reason in answer.reasons} == {"ACP over both"}
    assert ReasonKind.DIVERGENT in kinds(answer)


def test_a_case_that_one_side_alone_can_play_is_inconclusive(tmp_path: Path) -> None:
    made = behind_acp()
    made.change_case("acp", NAMES[2], unplayable=False)

    assert ReasonKind.INCONCLUSIVE in kinds(made.judged(tmp_path))


def test_too_few_playable_cases_are_not_enough(tmp_path: Path) -> None:
    made = behind_acp()
    made.change_case("acp", NAMES[1], unplayable=True, blockers=("not played",))

    assert ReasonKind.LEG_PARTIAL in kinds(made.judged(tmp_path))


def test_a_leg_behind_a_surface_that_was_not_run_is_missing(tmp_path: Path) -> None:
    made = behind_acp()
    del made.legs["acp"]

    answer = made.judged(tmp_path)

    assert answer.answer is Answer.UNKNOWN
    (reason,) = answer.reasons
    assert (reason.kind, reason.about) == (ReasonKind.LEG_MISSING, "ACP over both")
    assert reason.measure is not None
    assert "--phase A" in reason.measure.command


def test_the_class_of_the_surfaces_needs_its_cases(tmp_path: Path) -> None:
    answer = behind_acp(cases=3).judged(tmp_path)

    assert [reason.about for reason in answer.reasons] == ["surfaces"]
    assert "in 2 cases, and 3 are required" in answer.reasons[0].says


def test_both_sides_of_a_leg_are_behind_one_surface() -> None:
    mixed = LEG.replace("acp:adk", "adk")

    with pytest.raises(Exception, match="not behind the same surface"):
        gates(leg=("\n[phase.A.pull_request]\n", mixed))
