import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from harness.inventory import Component, Inventory
from harness.journal_header import JournalHeader
from harness.parity.divergence import ChannelName, Divergence, Kind
from harness.parity.verdict import CaseResult
from harness.parity.waivers import load_waivers
from harness.report.journal import Journal, read_journal
from harness.report.kept import kept_place
from harness.report.model import RunReport
from harness.report.since import Run, since_journal, since_last_green, with_changes
from harness.triage.changes import Change, ChangeKind, Changes, changes_between

TODAY = datetime(2026, 3, 1, tzinfo=UTC).date()
WAIVERS = load_waivers(None, as_of=TODAY)
CASES = ("a/1", "a/2")


def inventory(**files: dict[str, str]) -> Inventory:
    corpus = dict.fromkeys(CASES, "c")
    components = {"corpus": corpus, "runtimes": {}, "distributions": {}, **files}
    return Inventory({name: Component(each) for name, each in components.items()})


def header(made: Inventory, day: int = 1, **values: Any) -> JournalHeader:
    facts: dict[str, Any] = {
        "control": "legacy",
        "candidate": "adk",
        "as_of": "2026-03-01",
        "components": made.digests,
        "started_at": f"2026-03-{day:02}T06:00:00+00:00",
    }
    return JournalHeader(**{**facts, **values})


def red(name: str) -> CaseResult:
    found = Divergence(cassette=name, channel=ChannelName.EVENTS, kind=Kind.EXTRA)
    return CaseResult(cassette=name, divergences=(found,))


def keep(folder: Path, day: int, made: Inventory, reds: Iterable[str] = (), **values: Any) -> Path:
    """A journal of a run on that day of March, in which the cases in `reds` diverged."""
    given = values.pop("cases", CASES)
    file = kept_place(datetime(2026, 3, day, 6, tzinfo=UTC), folder)
    assert file is not None
    with Journal(file, header(made, day, **values), made) as journal:
        for name in given:
            journal.started(name)
            journal.outcome(name, red(name) if name in reds else CaseResult(cassette=name))
        journal.ended()
    return file


def now(made: Inventory, day: int = 20, **values: Any) -> Run:
    return Run(header(made, day, **values), made)


OLD = inventory(runtimes={"runtimes/adk/a.py": "1", "runtimes/adk/b.py": "1"})
NEW = inventory(runtimes={"runtimes/adk/a.py": "2", "runtimes/adk/c.py": "1"})
NEWER = inventory(runtimes={"runtimes/adk/a.py": "3"})


def test_changed_files_are_named_with_what_became_of_them() -> None:
    (change,) = changes_between((header(OLD), OLD), (header(NEW), NEW))

    assert (change.kind, change.line) == (
        ChangeKind.RUNTIMES,
        "runtimes: runtimes/adk/a.py changed, runtimes/adk/b.py gone, runtimes/adk/c.py new",
    )


def test_packages_are_listed_by_version_our_dependencies_first() -> None:
    was = inventory(distributions={"google-adk": "2.13.0", "attrs": "1", "pip": "24"})
    is_now = inventory(distributions={"google-adk": "2.13.1", "attrs": "2", "zlib": "3"})
    asked = {"google-adk": "2.13.0"}, {"google-adk": "2.13.1"}
    found = changes_between(
        (header(was, environment=asked[0]), was), (header(is_now, environment=asked[1]), is_now)
    )

    assert {change.kind for change in found} == {ChangeKind.DISTRIBUTION}
    assert [change.line for change in found] == [
        "google-adk: 2.13.0 → 2.13.1",
        "attrs: 1 → 2",
        "pip: 24 → none",
        "zlib: none → 3",
    ]


def test_the_day_the_shard_and_the_paths_are_no_change() -> None:
    other = header(OLD, 9, as_of="2027-01-01", shard="1/2", paths=("x",), revision="1", dirty=True)

    assert changes_between((header(OLD), OLD), (other, OLD)) == ()


@pytest.mark.parametrize(
    ("values", "kind", "line"),
    [
        ({"environment": {"python": "3.12"}}, ChangeKind.SYSTEM, "python: none → 3.12"),
        ({"environment": {"core": "0.62"}}, ChangeKind.CORE, "core: none → 0.62"),
        ({"made_of": {"baseline:x": "1 of y"}}, ChangeKind.BASELINES, "baseline:x: none → 1 of y"),
        ({"repeat": 3}, ChangeKind.ASKED, "repeat: 1 → 3"),
        ({"phase": "A"}, ChangeKind.ASKED, "phase: None → A"),
    ],
)
def test_each_change_is_of_its_kind(values: dict[str, Any], kind: ChangeKind, line: str) -> None:
    (change,) = changes_between((header(OLD), OLD), (header(OLD, **values), OLD))

    assert (change.kind, change.line) == (kind, line)


FEWER = inventory(corpus={"a/1": "c"}, baselines={"a/1.json": "b"})
ALL = inventory(baselines={"a/1.json": "b", "a/2.json": "b"})


@pytest.mark.parametrize(
    "chosen", [{"expr": "1"}, {"paths": ("cassettes/a/1.yaml",)}, {"phase": "A"}]
)
def test_cassettes_that_were_not_chosen_are_not_gone(chosen: dict[str, Any]) -> None:
    found = changes_between((header(ALL), ALL), (header(FEWER, **chosen), FEWER))
    back = changes_between((header(FEWER, **chosen), FEWER), (header(ALL), ALL))

    assert [change for change in (*found, *back) if change.kind is not ChangeKind.ASKED] == []


def test_of_cassettes_that_both_chose_a_changed_one_is_named() -> None:
    fewer = inventory(corpus={"a/1": "d"}, baselines={"a/1.json": "b"})
    (found,) = changes_between((header(ALL), ALL), (header(fewer, expr="1"), fewer))

    assert (found.kind, found.line) == (ChangeKind.CASSETTES, "corpus: a/1 changed")


def test_a_cassette_is_gone_where_both_runs_chose_alike() -> None:
    found = changes_between((header(ALL, expr="a"), ALL), (header(FEWER, expr="a"), FEWER))

    assert [each.line for each in found] == ["corpus: a/2 gone", "baselines: a/2.json gone"]


def test_a_third_partys_runtime_is_named_by_its_files() -> None:
    was = inventory(**{"runtime mine": {"mine_rt/engine.py": "1", "mine_rt/x.py": "1"}})
    is_now = inventory(**{"runtime mine": {"mine_rt/engine.py": "2", "mine_rt/x.py": "1"}})
    found = changes_between((header(was), was), (header(is_now), is_now))
    changes = Changes(since="friday", green=True, changes=found)

    assert [(each.kind, each.line) for each in found] == [
        (ChangeKind.RUNTIMES, "runtime mine: mine_rt/engine.py changed")
    ]
    assert changes.third_party == {"mine": {"mine_rt/engine.py"}}
    assert (changes.own_files, changes.files) == ((), ("mine_rt/engine.py",))


def test_many_names_are_counted() -> None:
    names = {f"a/{number}": "new" for number in range(9)}
    change = Change(kind=ChangeKind.CASSETTES, what="corpus", names=names)

    assert change.line.endswith("a/4 new and 4 more")


def test_names_cannot_act_on_a_terminal() -> None:
    change = Change(kind=ChangeKind.CASSETTES, what="corpus", names={"\x1b[2J\n": "new"})

    assert change.line.isprintable()


def test_the_last_green_run_is_held_against_the_first_red_one(tmp_path: Path) -> None:
    keep(tmp_path, 1, OLD)
    green = keep(tmp_path, 2, OLD)
    first_red = keep(tmp_path, 3, NEW, reds=["a/1"])
    keep(tmp_path, 4, NEWER, reds=["a/1"])

    found = since_last_green(now(NEWER), ["a/1"], WAIVERS, tmp_path)

    assert found is not None
    assert found.since == f"{green.name}, 2026-03-02 06:00 UTC"
    assert found.until == f"{first_red.name}, 2026-03-03 06:00 UTC"
    assert "runtimes/adk/c.py new" in found.changes[0].line
    assert found.lines()[0].startswith(f"what changed, last green ({green.name}")


def test_a_run_that_is_the_first_red_one_itself_needs_no_name(tmp_path: Path) -> None:
    keep(tmp_path, 1, OLD)
    found = since_last_green(now(NEW), ["a/1"], WAIVERS, tmp_path)

    assert found is not None
    assert (found.until, found.green) == ("", True)
    assert found.span.endswith("→ this run")


def test_green_is_judged_by_the_cases_that_are_red_now(tmp_path: Path) -> None:
    other_red = keep(tmp_path, 1, OLD, reds=["a/2"])
    keep(tmp_path, 2, OLD, cases=["a/2"])

    found = since_last_green(now(NEW), ["a/1"], WAIVERS, tmp_path)

    assert found is not None
    assert found.since.startswith(other_red.name)


def test_a_run_that_judged_only_some_of_the_red_cases_is_not_their_last_green_one(
    tmp_path: Path,
) -> None:
    green = keep(tmp_path, 1, OLD)
    keep(tmp_path, 2, NEW, cases=["a/2"])

    found = since_last_green(now(NEW), ["a/1", "a/2"], WAIVERS, tmp_path)

    assert found is not None
    assert found.since.startswith(green.name)


def test_runs_of_other_sides_later_ones_and_broken_journals_are_passed_over(tmp_path: Path) -> None:
    green = keep(tmp_path, 1, OLD)
    keep(tmp_path, 2, NEW, control="upstream")
    keep(tmp_path, 3, NEW).write_text("{}\n")
    keep(tmp_path, 25, NEW)

    found = since_last_green(now(NEW), ["a/1"], WAIVERS, tmp_path)

    assert found is not None
    assert found.since.startswith(green.name)


def test_without_a_green_run_or_a_red_case_nothing_is_said(tmp_path: Path) -> None:
    keep(tmp_path, 1, OLD, reds=["a/1"])

    assert since_last_green(now(NEW), ["a/1"], WAIVERS, tmp_path) is None
    assert since_last_green(now(NEW), [], WAIVERS, tmp_path) is None
    assert since_last_green(now(NEW), ["a/1"], WAIVERS, tmp_path / "none") is None


def test_a_given_journal_is_called_green_only_if_it_was(tmp_path: Path) -> None:
    was_green = read_journal(keep(tmp_path, 1, OLD))
    was_red = read_journal(keep(tmp_path, 2, OLD, reds=["a/1"]))

    assert since_journal(was_green, now(NEW), ["a/1"], WAIVERS).green
    changes = since_journal(was_red, now(NEW), ["a/1"], WAIVERS)
    assert not changes.green
    assert changes.span.startswith("an earlier run (")


def test_commits_between_are_listed_where_the_checkout_knows_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which("git") is None:
        pytest.skip("there is no git; install it")
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    monkeypatch.chdir(checkout)
    git("init", "-q")
    revisions = []
    for subject in ("one", "two \x1b[2J", "three"):
        git("commit", "-q", "--allow-empty", "-m", subject)
        revisions.append(git("rev-parse", "HEAD"))
    keep(tmp_path, 1, OLD, revision=revisions[0])

    later = now(NEW, revision=revisions[2], dirty=True)
    found = since_last_green(later, ["a/1"], WAIVERS, tmp_path)
    unknown = since_last_green(now(NEW, revision="f" * 40), ["a/1"], WAIVERS, tmp_path)

    assert found is not None
    assert [commit.split(" ", 1)[1] for commit in found.commits] == ["three", "two \\x1b[2J"]
    assert any("uncommitted" in line for line in found.lines())
    assert unknown is not None
    assert unknown.commits == ()


def git(*words: str) -> str:
    who = ("-c", "user.name=n", "-c", "user.email=n@example.org", "-c", "commit.gpgsign=false")
    done = subprocess.run(["git", *who, *words], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def test_lines_say_when_nothing_is_known_to_have_changed() -> None:
    assert Changes(since="x", green=True).lines()[1] == "  nothing that a journal records"


def test_a_red_report_gets_what_changed(tmp_path: Path) -> None:
    keep(tmp_path, 1, OLD)
    head = replace(header(NEW), started_at="2026-03-09T06:00:00+00:00")
    sides: dict[str, Any] = {"control": "legacy", "candidate": "adk", "header": head, "planned": 1}
    report = RunReport(cases=(red("a/1"),), **sides)
    green = RunReport(cases=(CaseResult(cassette="a/1"),), **sides)

    assert with_changes(report, NEW, WAIVERS, tmp_path).since is not None
    assert with_changes(green, NEW, WAIVERS, tmp_path).since is None
