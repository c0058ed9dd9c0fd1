from pathlib import Path

import pytest

from harness.parity.guess import Seam
from harness.triage.places import lies_at, places_of, ranked

SEAMS = sorted(set(Seam) - {Seam.UNKNOWN})


@pytest.mark.parametrize("candidate", ["adk", "legacy"])
@pytest.mark.parametrize("seam", SEAMS)
def test_every_place_of_a_seam_is_there(
    seam: Seam, candidate: str, pytestconfig: pytest.Config
) -> None:
    places = places_of(seam, "legacy", candidate)

    assert len(set(places)) == len(places)
    assert [each for each in places if not (pytestconfig.rootpath / each).exists()] == []


def test_between_our_runtimes_the_judged_ones_files_come_first() -> None:
    first = places_of(Seam.SCHEDULER, "legacy", "adk")

    assert first[0] == "runtimes/adk/flow.py"
    assert "services/scheduler" in first


def test_against_another_engine_the_services_come_first() -> None:
    assert places_of(Seam.SCHEDULER, "baseline:x", "adk")[0] == "services/scheduler"


def test_of_the_published_core_the_folder_is_named() -> None:
    assert "runtimes/upstream" in places_of(Seam.STREAM, "legacy", "upstream@0.60.0")


def test_of_a_third_partys_runtime_no_place_is_known() -> None:
    assert places_of(Seam.STREAM, "legacy", "mine") == ()


def test_of_two_that_take_turns_the_first_is_looked_at() -> None:
    assert places_of(Seam.HISTORY, "legacy", "adk+legacy")[0] == "runtimes/adk/conversation.py"


def test_an_unknown_seam_has_no_place() -> None:
    assert places_of(Seam.UNKNOWN, "legacy", "adk") == ()


def test_a_folder_holds_its_files_and_not_those_of_a_longer_name() -> None:
    assert lies_at("services/hooks/system.py", ["services/hooks"])
    assert not lies_at("services/hooks_trust.py", ["services/hooks"])


def test_changed_files_are_ranked_by_how_near_they_are_to_the_seam() -> None:
    changed = [
        "harness/cli.py",
        "runtimes/legacy/agent.py",
        "runtimes/adk/agent.py",
        "services/scheduler/states.py",
        "services/clock.py",
        "runtimes/adk/flow.py",
    ]

    found = ranked(changed, places_of(Seam.SCHEDULER, "legacy", "adk"), "adk")

    assert found.at == ("runtimes/adk/flow.py", "services/scheduler/states.py")
    assert found.others == (
        "runtimes/adk/agent.py",
        "services/clock.py",
        "runtimes/legacy/agent.py",
        "harness/cli.py",
    )


def test_the_page_about_explanations_names_the_same_places(pytestconfig: pytest.Config) -> None:
    page = Path(pytestconfig.rootpath, "docs", "explaining.md").read_text("utf-8")
    rows = {
        cells[1].strip(): cells[3]
        for line in page.splitlines()
        if len(cells := line.split("|")) == 5
    }

    for seam in SEAMS:
        for candidate in ("adk", "legacy"):
            first = places_of(seam, "legacy", candidate)[0]
            assert f"`{first}`" in rows[seam.value], (seam, first)
