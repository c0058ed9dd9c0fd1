from dataclasses import replace

import pytest

from harness.parity.guess import Seam
from harness.triage.leads import Good, Leads, bisecting, changed_lines
from harness.triage.places import places_of

OLD, NEW = "a" * 40, "b" * 40
GOOD = Good(revision=OLD, run="friday.jsonl, 2026-03-01 06:00 UTC")
LEADS = Leads(revision=NEW, here=NEW, good={"tools/x": GOOD})
OURS = ("legacy", "adk")
FLOW = places_of(Seam.SCHEDULER, *OURS)


def command(leads: Leads, sides: tuple[str, str] = OURS, *options: str) -> str:
    return bisecting(leads, "tools/x", "tools/x", sides, options).command


def test_the_search_begins_at_the_commit_of_the_last_green_run() -> None:
    found = bisecting(LEADS, "tools/x", "tools/x", OURS)

    assert found.lines() == [f"bisect: parity bisect tools/x --good {OLD[:10]}"]


def test_what_the_run_was_given_is_given_to_the_search() -> None:
    assert command(LEADS, OURS, "--trust").endswith(" --trust")
    assert command(LEADS, ("legacy", "mine")).endswith(" --control legacy --runtime mine")
    assert command(LEADS, ("baseline:b/upstream", "adk")).endswith(f"{OLD[:10]} --runtime adk")


def test_a_run_of_another_commit_than_the_one_here_ends_the_search_at_its_own() -> None:
    assert f"--bad {NEW[:10]}" in command(replace(LEADS, here="c" * 40))


def test_where_no_run_was_green_it_says_what_to_put_there() -> None:
    found = bisecting(replace(LEADS, good={}), "tools/x", "my file.yaml", OURS)

    assert found.command == "parity bisect 'my file.yaml' --good REV"
    assert found.note.startswith("replace REV with a revision in which the case was green")


@pytest.mark.parametrize(
    ("dirty", "words"), [(True, "git diff"), (False, "not a commit of this checkout")]
)
def test_a_change_within_one_commit_cannot_be_searched_for(dirty: bool, words: str) -> None:
    here = Leads(revision=OLD, here=OLD, dirty=dirty, good={"tools/x": GOOD})
    found = bisecting(here, "tools/x", "tools/x", OURS)

    assert found.command == ""
    assert found.lines()[0].startswith("bisect: nothing to search: the case was green at the same")
    assert words in found.note


def test_files_that_are_not_committed_are_said_not_to_be_searched() -> None:
    found = bisecting(replace(LEADS, dirty=True), "tools/x", "tools/x", OURS)

    assert "commit your changes first" in found.lines()[1]


def test_a_green_run_of_changed_files_is_said_to_be_one() -> None:
    unsure = {"tools/x": replace(GOOD, dirty=True)}
    found = bisecting(replace(LEADS, good=unsure), "tools/x", "tools/x", OURS)

    assert "files of the green run (friday.jsonl" in found.note


def test_the_changed_files_at_the_seam_come_first() -> None:
    files = ("runtimes/adk/agent.py", "runtimes/adk/flow.py")
    lines = changed_lines(Leads(files=files, since="changed since Friday"), FLOW, "adk")

    assert lines == [
        (
            "changed since Friday, at this seam: runtimes/adk/flow.py; "
            "elsewhere: runtimes/adk/agent.py"
        )
    ]


def test_it_says_so_where_none_of_the_changed_files_is_at_the_seam() -> None:
    leads = Leads(files=("runtimes/adk/agent.py",), since="changed since Friday")

    assert "since Friday, but not at this seam: run" in changed_lines(leads, FLOW, "adk")[0]
    assert changed_lines(leads, (), "adk") == ["changed since Friday: runtimes/adk/agent.py"]


def test_many_changed_files_are_counted() -> None:
    files = tuple(f"services/x{number}.py" for number in range(9))

    assert changed_lines(Leads(files=files, since="changed"), FLOW, "adk")[0].endswith("and 3 more")


def test_without_anything_to_compare_with_nothing_is_said() -> None:
    assert changed_lines(Leads(), FLOW, "adk") == []


def test_names_cannot_act_on_a_terminal() -> None:
    leads = Leads(files=("services/\x1b[2J.py",), since="changed")

    assert changed_lines(leads, FLOW, "adk")[0].isprintable()
