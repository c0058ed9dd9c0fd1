from pathlib import Path
from typing import Any

import pytest

from harness.coverage.contract import BehaviourClass, Contract, load_contract
from harness.coverage.declared import declared_remarks
from harness.coverage.table import Coverage, coverage
from harness.parity.verdict import CaseResult

TEXT = """\
## Phase A

### streaming

| P-001 | One. | `event:message` | s |
| P-002 | Two. | `event:usage` | s |

### abort

| P-003 | Three. | `end:aborted` | s |

## Phase B

### subagents

| P-004 | Four. | `subagent:asked` | s |
"""


@pytest.fixture
def contract(tmp_path: Path) -> Contract:
    file = tmp_path / "contract.md"
    file.write_text(TEXT)
    return load_contract(file)


def case(
    declared: str, control: str, candidate: str, name: str = "a/1", **changes: Any
) -> CaseResult:
    values: dict[str, Any] = {
        "cassette": name,
        "contract": tuple(declared.split()),
        "reached": (tuple(control.split()), tuple(candidate.split())),
        "runtimes": ("legacy", "adk"),
    }
    return CaseResult(**{**values, **changes})


def unreached(found: Coverage) -> list[BehaviourClass]:
    """The classes without a behaviour that both runtimes reached."""
    return [each.behaviour_class for each in found.classes if not each.both]


def test_what_a_case_declares_and_shows_is_reached(contract: Contract) -> None:
    both = "event:message event:usage"
    found = coverage([case("P-001 P-002", both, "event:message")], contract, "A")

    streaming = found.classes[0]
    assert streaming.behaviour_class is BehaviourClass.STREAMING
    assert (streaming.control, streaming.candidate) == (("P-001", "P-002"), ("P-001",))
    assert (streaming.both, streaming.never) == (("P-001",), ())
    assert streaming.declaring == 1
    assert unreached(found) == [BehaviourClass.ABORT]
    assert [str(each) for each in found.unshown] == ["P-002 is declared, but adk did not reach it"]


def test_probes_of_a_behaviour_that_no_case_declares_do_not_reach_it(contract: Contract) -> None:
    found = coverage([case("P-001", "end:aborted", "end:aborted")], contract, "A")

    abort = found.classes[1]
    assert abort.behaviour_class is BehaviourClass.ABORT
    assert (abort.both, abort.never) == ((), ("P-003",))


def test_a_class_is_reached_only_in_both_runtimes(contract: Contract) -> None:
    one_sided = [
        case("P-001", "event:message", ""),
        case("P-002", "", "event:usage", name="a/2"),
        case("P-003", "end:aborted", "end:aborted", name="a/3"),
    ]

    assert unreached(coverage(one_sided, contract, "A")) == [BehaviourClass.STREAMING]


def test_a_case_that_decides_nothing_reaches_nothing(contract: Contract) -> None:
    stuck = case("P-001 P-002", "event:message", "event:message", blockers=("stalled",))
    found = coverage([stuck], contract, "A")

    assert unreached(found) == [BehaviourClass.STREAMING, BehaviourClass.ABORT]
    assert found.unshown == ()
    assert declared_remarks(stuck, contract) == ()


def test_each_phase_has_its_own_classes(contract: Contract) -> None:
    found = coverage([case("P-004", "subagent:asked", "subagent:asked")], contract, "B")

    assert [each.behaviour_class for each in found.classes] == [BehaviourClass.SUBAGENTS]
    assert unreached(found) == []
    assert coverage([], contract, "C").classes == ()


def test_declared_ids_that_the_contract_does_not_have_are_reported(contract: Contract) -> None:
    unknown = case("P-009", "", "")

    assert [str(each) for each in coverage([unknown], contract, "A").undeclarable] == [
        "P-009 is declared, but the contract has no such behaviour"
    ]
    assert declared_remarks(unknown, contract) == (
        "P-009 is declared, but the contract has no such behaviour",
    )
    assert declared_remarks(unknown, Contract()) == ()
