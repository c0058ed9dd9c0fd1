"""The corpus and the tests name behaviours that there are, and each is what some are about."""

import ast
from itertools import takewhile
from pathlib import Path

import pytest
import yaml

from harness.coverage.contract import Contract, load_contract
from harness.http.case import load_case

ROOT = Path(__file__).parents[3]
CASSETTES = ROOT / "cassettes"
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@pytest.fixture(scope="module")
def contract() -> Contract:
    return load_contract(ROOT / "parity_tests" / "contract.md")


def declared_in(file: Path) -> list[str]:
    """The key `contract` of a cassette; read off its line, since all of them are to be quick."""
    lines = file.read_text("utf-8").splitlines()[:12]
    for number, line in enumerate(lines):
        if line.startswith("contract:"):
            listed = takewhile(lambda each: each.startswith("- "), lines[number + 1 :])
            ids = yaml.load("\n".join([line, *listed]), Loader=LOADER)["contract"]
            assert isinstance(ids, list)
            return ids
    return []


@pytest.fixture(scope="module")
def declared() -> dict[str, list[str]]:
    files = sorted(CASSETTES.rglob("*.yaml"))
    return {file.relative_to(CASSETTES).as_posix(): declared_in(file) for file in files}


def test_every_cassette_names_one_to_three_behaviours_that_there_are(
    declared: dict[str, list[str]], contract: Contract
) -> None:
    assert len(declared) > 900
    wrong = {
        name: ids
        for name, ids in declared.items()
        if not 1 <= len(ids) <= 3 or contract.unknown(ids) or len(set(ids)) < len(ids)
    }
    assert wrong == {}


@pytest.mark.parametrize("phase", ["A", "B"])
def test_every_behaviour_of_a_phase_that_is_here_is_what_some_cassette_is_about(
    phase: str, declared: dict[str, list[str]], contract: Contract
) -> None:
    named = {behaviour for ids in declared.values() for behaviour in ids}

    assert [each.id for each in contract.of_phase(phase) if each.id not in named] == []


def test_no_behaviour_of_an_agents_is_reached_by_an_agent_that_only_ran(contract: Contract) -> None:
    ran = {
        *("child:started", "child:agent.custom", "child:asked.subagent", "child:model.flash"),
        *("child:activity.TOOL_CALL_START", "child:several_turns", "child:event.agent_start"),
        *("tool:invoke_agent", "tool_result:invoke_agent.success", "end:completed"),
    }

    assert [each.id for each in contract.of_phase("B") if each.probes.holds(ran)] == []


def test_a_recording_over_http_carries_its_behaviours(contract: Contract) -> None:
    case = load_case(CASSETTES / "http" / "stream_text.yaml", CASSETTES)

    assert case.contract == ("P-009", "P-012")


def markers_in(folder: Path) -> dict[str, list[str]]:
    """File and line of each `contract` marker, and the ids that it names."""
    found: dict[str, list[str]] = {}
    for file in sorted(folder.rglob("test_*.py")):
        text = file.read_text("utf-8")
        if "mark.contract" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "pytest.mark.contract":
                place = f"{file.relative_to(ROOT)}:{node.lineno}"
                found[place] = [ast.literal_eval(argument) for argument in node.args]
    return found


def test_every_marker_of_a_test_names_behaviours_that_there_are(contract: Contract) -> None:
    found = {**markers_in(ROOT / "tests"), **markers_in(ROOT / "parity_tests")}

    assert len(found) >= 20
    assert {place: ids for place, ids in found.items() if not ids or contract.unknown(ids)} == {}
