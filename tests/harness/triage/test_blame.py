from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.errors import LoadProblem
from harness.experiment.case import CaseTask, judge
from harness.parity.compare import compare_repeated
from harness.parity.divergence import ChannelName, Divergence, Kind
from harness.parity.verdict import CaseResult
from harness.parity.waivers import WaiverStatus
from harness.report.model import RunReport
from harness.triage.blame import Blame, Whose, blame
from harness.triage.changes import Change, ChangeKind, Changes
from runtimes.published.installed import check_available
from runtimes.published.problems import UpstreamUnavailable
from tests.harness.samples import BACKEND, Facts, observation, write_corpus

FOUND = Divergence(cassette="a/1", channel=ChannelName.EVENTS, kind=Kind.CHANGED, label="usage")
RED = CaseResult(cassette="a/1", divergences=(FOUND,), runtimes=("legacy", "adk"))


def report(*cases: CaseResult, **values: Any) -> RunReport:
    facts: dict[str, Any] = {"control": "legacy", "candidate": "adk", "planned": len(cases)}
    return RunReport(**{**facts, "cases": cases, **values})


def of(*cases: CaseResult, **values: Any) -> Blame:
    found = blame(report(*cases, **values))
    assert found is not None
    return found


def since(*changes: Change, green: bool = True) -> Changes:
    return Changes(since="friday.jsonl", green=green, changes=changes)


def changed(kind: ChangeKind, what: str = "it", *names: str) -> Change:
    changed = dict.fromkeys(names, "changed")
    return Change(kind=kind, what=what, was="1", now="2", names=changed or None)


def judged(tmp_path: Path, text: str, **values: Any) -> CaseResult:
    """What a case with that text comes to, judged as a run judges it."""
    root = write_corpus(tmp_path, a__1=text)
    task = CaseTask(
        backend=BACKEND,
        name="a/1",
        file=root / "a" / "1.yaml",
        root=root,
        **{"control": "legacy", "candidate": "adk", **values},
    )
    result = judge(task)
    assert isinstance(result, CaseResult)
    return result


def test_a_run_that_is_parity_has_no_blame() -> None:
    assert blame(report(CaseResult(cassette="a/1"))) is None


def test_a_divergence_is_probably_the_candidates_as_the_control_is_taken_to_be_right() -> None:
    found = of(RED)

    assert found.whose is Whose.RUNTIME
    assert found.line == (
        "whose problem: probably runtime: adk: 1 case diverges, and the control legacy is taken to "
        "be right"
    )


def test_a_file_that_does_not_load_is_the_cassettes_for_certain() -> None:
    problem = LoadProblem(file="a.yaml", message="a.yaml: model: is wrong; mend it")
    found = of(problems=(problem,))

    assert found.whose is Whose.CASSETTE
    assert found.line.startswith("whose problem: cassette: 1 file cannot be loaded: a.yaml")


def test_a_harness_that_fails_on_a_file_is_an_unknown_problem() -> None:
    problem = LoadProblem(file="a.yaml", message="a.yaml: the harness failed (KeyError: x)")

    assert of(problems=(problem,)).whose is Whose.UNKNOWN


@pytest.mark.parametrize(
    ("text", "values", "whose", "words"),
    [
        ("stalls", {}, Whose.CASSETTE, "1 case stalled on both sides"),
        ("crashes", {}, Whose.UNKNOWN, "the harness failed"),
        ("runs in a shell", {}, Whose.CASSETTE, "1 case not run, as the cassette"),
        ("plain", {"control": "baseline:{folder}"}, Whose.BASELINE, "1 case had no baseline"),
    ],
)
def test_an_undecided_case_blames_by_what_the_run_said_of_it(
    tmp_path: Path, text: str, values: dict[str, str], whose: Whose, words: str
) -> None:
    given = {key: value.format(folder=tmp_path / "kept") for key, value in values.items()}
    found = of(judged(tmp_path / "corpus", text, **given))

    assert found.whose is whose
    assert words in found.line


def passed_deadline() -> CaseResult:
    late = replace(
        observation("adk"),
        stalled=True,
        deadline_passed=True,
        error="the run passed its deadline of 60 s",
    )
    return compare_repeated([observation()], [late], Facts())


def noisy() -> CaseResult:
    again = replace(observation(), events=observation().events[1:])
    return compare_repeated([observation(), again], [observation("adk")] * 2, Facts())


def leftover() -> CaseResult:
    sides = [replace(observation(name), unused_steps=(3,)) for name in ("legacy", "adk")]
    return compare_repeated(sides[:1], sides[1:], Facts())


def hanging_alone() -> CaseResult:
    stuck = replace(observation("adk"), broken=True, error="the child is gone")
    return compare_repeated([observation()], [stuck], Facts())


def without_node(monkeypatch: pytest.MonkeyPatch, **environment: str) -> str:
    """What the published core says of a machine with this environment."""
    for name, value in {"PARITY_NODE": "", "PATH": "", **environment}.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(UpstreamUnavailable) as missing:
        check_available("0.61.0")
    return str(missing.value)


def undecided(reason: str) -> CaseResult:
    return CaseResult.undecided("a/1", reason)


@pytest.mark.parametrize(
    ("case", "whose", "words"),
    [
        pytest.param(passed_deadline(), Whose.MACHINE, "passed the deadline", id="deadline"),
        pytest.param(noisy(), Whose.MACHINE, "noise hides", id="noise"),
        pytest.param(leftover(), Whose.CASSETTE, "neither side requested model[3]", id="left over"),
        pytest.param(hanging_alone(), Whose.RUNTIME, "adk broke: the child is gone", id="broken"),
        pytest.param(
            undecided("its worker process died"), Whose.MACHINE, "out of memory", id="worker"
        ),
        pytest.param(
            undecided("stopped: it used more than 30 s of CPU time"),
            Whose.CASSETTE,
            "(--limits)",
            id="stopped-cpu",
        ),
        pytest.param(
            undecided("stopped: its memory grew by more than 1536 MiB"),
            Whose.CASSETTE,
            "(--limits)",
            id="stopped-memory",
        ),
        pytest.param(
            undecided("stopped: it took longer than 180 s"),
            Whose.MACHINE,
            "(--limits)",
            id="stopped-wall",
        ),
        pytest.param(
            undecided("the harness failed (OSError: [Errno 28] No space left on device)"),
            Whose.MACHINE,
            "full disk",
            id="disk",
        ),
        pytest.param(
            undecided("the baseline of a/1 in kept is of another version of this cassette; x"),
            Whose.BASELINE,
            "another version of the cassette",
            id="stale baseline",
        ),
        pytest.param(undecided("something new"), Whose.UNKNOWN, "something new", id="unknown"),
    ],
)
def test_each_reason_has_its_owner(case: CaseResult, whose: Whose, words: str) -> None:
    found = of(case)

    assert found.whose is whose
    assert words in found.line


@pytest.mark.parametrize("named", ["", "no-such-program"])
def test_a_machine_without_node_is_the_problem(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, named: str
) -> None:
    monkeypatch.setenv("PARITY_CACHE_HOME", str(tmp_path))
    said = without_node(monkeypatch, PARITY_NODE=named)
    found = of(undecided(f"upstream broke: {said}"))

    assert (found.whose, found.sure) == (Whose.MACHINE, True)


def test_only_what_leaves_no_other_explanation_is_said_without_probably() -> None:
    assert "probably machine" in of(undecided("its worker process died")).line
    assert "problem: machine" in of(undecided("No space left on device")).line
    assert "problem: unknown" in of(undecided("something new")).line


def test_a_divergence_comes_first_and_other_problems_after_it() -> None:
    died = replace(undecided("its worker process died"), cassette="b/1")
    problem = LoadProblem(file="c.yaml", message="c.yaml: is wrong")
    found = of(RED, died, problems=(problem,))

    assert found.whose is Whose.RUNTIME
    assert [text.split(":")[0] for text in found.also] == [
        "1 file cannot be loaded",
        "1 case died with the worker process",
    ]


def test_of_several_reasons_the_commonest_comes_first_and_a_nameless_one_last() -> None:
    cases = [replace(undecided("odd"), cassette=f"o/{n}") for n in range(3)]
    cases += [replace(undecided("its worker process died"), cassette=f"w/{n}") for n in range(2)]
    cases.append(replace(undecided("no baseline of x in y"), cassette="x"))
    found = of(*cases)

    assert found.whose is Whose.MACHINE
    assert [text[:6] for text in found.also] == ["1 case", "3 case"]


@pytest.mark.parametrize(
    ("changes", "whose", "words"),
    [
        ([changed(ChangeKind.DISTRIBUTION, "google-adk")], Whose.DEPENDENCY, "google-adk: 1 → 2"),
        ([changed(ChangeKind.SYSTEM, "python")], Whose.MACHINE, "python: 1 → 2"),
        ([changed(ChangeKind.CASSETTES, "corpus", "a/1")], Whose.CASSETTE, "corpus: a/1 changed"),
        (
            [changed(ChangeKind.RUNTIMES, "runtimes", "runtimes/legacy/turn.py")],
            Whose.RUNTIME,
            "runtime: legacy: 1 case diverges, and only the code of this runtime changed",
        ),
        (
            [changed(ChangeKind.RUNTIMES, "runtimes", "runtimes/contract.py")],
            Whose.RUNTIME,
            "runtime: adk",
        ),
        (
            [
                changed(
                    ChangeKind.RUNTIMES, "runtimes", "runtimes/legacy/a.py", "runtimes/contract.py"
                )
            ],
            Whose.RUNTIME,
            "runtime: adk: 1 case diverges, and the control legacy",
        ),
        (
            [changed(ChangeKind.SERVICES, "services", "services/clock.py")],
            Whose.RUNTIME,
            "services, or adk's use of them",
        ),
        (
            [
                changed(ChangeKind.DISTRIBUTION, "google-adk"),
                changed(ChangeKind.RUNTIMES, "runtimes", "runtimes/adk/x.py"),
            ],
            Whose.RUNTIME,
            "only the code of this runtime changed",
        ),
        (
            [
                changed(ChangeKind.DISTRIBUTION, "google-adk"),
                changed(ChangeKind.HARNESS, "harness", "harness/x.py"),
            ],
            Whose.RUNTIME,
            "taken to be right",
        ),
        ([], Whose.RUNTIME, "taken to be right"),
    ],
)
def test_what_changed_since_the_last_green_run_says_more(
    changes: Sequence[Change], whose: Whose, words: str
) -> None:
    found = of(RED, since=since(*changes))

    assert found.whose is whose
    assert words in found.line
    assert "probably" in found.line


def test_a_changed_core_is_the_baselines_problem_only_where_the_core_is_a_side() -> None:
    core = since(changed(ChangeKind.CORE, "core"), changed(ChangeKind.BASELINES, "baselines", "x"))
    theirs = replace(RED, runtimes=("upstream", "legacy"))

    assert of(theirs, control="upstream", candidate="legacy", since=core).whose is Whose.BASELINE
    assert of(RED, since=core).whose is Whose.RUNTIME
    assert of(RED, candidate="adk@mine:Plugin", since=core).whose is Whose.RUNTIME


def test_an_earlier_run_that_was_red_already_proves_nothing() -> None:
    found = of(RED, since=since(changed(ChangeKind.DISTRIBUTION, "google-adk"), green=False))

    assert found.whose is Whose.RUNTIME


def test_an_expired_waiver_is_named() -> None:
    expired = WaiverStatus(id="W7", state="expired", count=1, max_count=3)

    assert "the waiver W7 no longer covers" in of(RED, waivers=(expired,)).line


def test_a_candidate_that_differs_from_itself_is_blamed_for_certain() -> None:
    flaky = replace(observation("adk"), events=observation().events[1:])
    case = compare_repeated([observation()] * 2, [observation("adk"), flaky], Facts())
    found = of(case)

    assert (found.whose, found.sure) == (Whose.RUNTIME, True)
    assert "its runs differ from each other" in found.line


def test_a_run_that_was_cut_off_says_so() -> None:
    found = of(CaseResult(cassette="a/1"), planned=3)

    assert found.whose is Whose.MACHINE
    assert "1 of 3 cases were judged" in found.line


def test_the_line_is_redacted() -> None:
    key = "AIza" + "SyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7"[:35]

    assert key not in of(undecided(f"got nowhere: 401 for key {key}")).line


def test_what_a_cassette_says_cannot_act_on_a_terminal() -> None:
    assert "\x1b" not in of(undecided("\x1b[2Jgone\n::error::x")).line
    assert "\n" not in of(undecided("\x1b[2Jgone\n::error::x")).line


def test_a_third_partys_runtime_that_alone_changed_is_named() -> None:
    theirs = changed(ChangeKind.RUNTIMES, "runtime mine", "mine_rt.py")
    case = replace(RED, runtimes=("legacy", "mine"))
    found = blame(report(case, candidate="mine", since=since(theirs)))
    other = blame(report(RED, since=since(theirs)))

    assert found is not None
    assert other is not None
    assert "runtime: mine: 1 case diverges, and only the code of this runtime changed" in found.line
    assert found.line.endswith("since the last green run (friday.jsonl): mine_rt.py")
    assert "taken to be right" in other.line


def test_two_runtimes_of_one_project_are_distinguished_by_what_one_has_alone() -> None:
    case = replace(RED, runtimes=("hand", "stock"))
    sides = {"control": "hand", "candidate": "stock"}
    shared = changed(ChangeKind.RUNTIMES, "runtime hand", "shop/tools.py")
    both = changed(ChangeKind.RUNTIMES, "runtime stock", "shop/tools.py")
    more = changed(ChangeKind.RUNTIMES, "runtime stock", "shop/tools.py", "shop/stock.py")

    alone = blame(report(case, **sides, since=since(shared, more)))
    together = blame(report(case, **sides, since=replace(since(shared, both), commits=("1a Cut",))))

    assert alone is not None
    assert "runtime: stock: 1 case diverges, and only the code of this runtime" in alone.line
    assert together is not None
    assert together.line.endswith(
        "stock: 1 case diverges, and code of hand and stock changed since the last green run "
        "(friday.jsonl): shop/tools.py (1a Cut)"
    )
