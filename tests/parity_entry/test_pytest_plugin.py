import os
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from harness.report.journal import read_journal
from tests.runtimes.third_party import install

pytest_plugins = ("pytester",)

OURS = {"agent_protocol", "harness", "runtimes", "services", "surfaces"}
WITHOUT_OURS = f"import sys\ndef test_own(): assert not {OURS | {'vcr'}} & set(sys.modules)"
REPOSITORY = Path(__file__).parents[2]
INSTALLED = any(point.name == "parity" for point in entry_points(group="pytest11"))
IN_THE_JUDGING_PROCESS = """
import sys
if any(word.endswith("serve.py") for word in sys.orig_argv):
    import judging_process
"""
"""`sitecustomize`: what a test wants changed, Python imports in the process of ours alone."""
BROKEN = """
import contextlib
from harness.faults.catalogue import faults
stack = contextlib.ExitStack()
stack.enter_context(faults()["usage-dropped"].breaks())
"""

WARNING = """
import warnings
import harness.experiment.backend as backend
sound = backend._run
def run_and_warn(*arguments):
    warnings.warn("a package's own affair, and no difference between runtimes")
    return sound(*arguments)
backend._run = run_and_warn
"""


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """Another project with one cassette of ours, a test of its own, and other YAML."""
    before = os.environ.get("PYTHONPATH", "")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(REPOSITORY), before])))
    for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTHONDONTWRITEBYTECODE"):
        monkeypatch.delenv(name, raising=False)
    take(pytester, "tools/read_file")
    pytester.makepyfile(test_own="def test_own(): pass")
    pytester.makefile(".yaml", compose="services: {}")
    pytester.makefile(".json", package='{"name": "x"}')
    pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function\n")
    return pytester


def take(project: pytest.Pytester, name: str, text: str | None = None) -> Path:
    """Put a cassette of the corpus, or one with that text, into the project."""
    source = REPOSITORY / "cassettes" / f"{name}.yaml"
    file = project.path / "cassettes" / f"{name}.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(source.read_text("utf-8") if text is None else text, "utf-8")
    return file


def change_the_judging_process(project: pytest.Pytester, code: str) -> None:
    place = project.path / "changed"
    place.mkdir()
    (place / "sitecustomize.py").write_text(IN_THE_JUDGING_PROCESS)
    (place / "judging_process.py").write_text(code)
    paths = [str(place), os.environ["PYTHONPATH"]]
    project._monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))


def run(project: pytest.Pytester, *words: str | Path) -> pytest.RunResult:
    loaded = () if INSTALLED else ("-p", "parity_entry.pytest_plugin")
    return project.runpytest_subprocess(*loaded, *words, timeout=100)


@pytest.mark.slow
def test_cassettes_are_tests_beside_a_projects_own(project: pytest.Pytester) -> None:
    """And what judges them stays out of the interpreter of the project's tests."""
    project.makepyfile(test_own=WITHOUT_OURS)

    result = run(project, "--parity", "-v")

    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(
        [
            "cassettes/tools/read_file.yaml::tools/read_file PASSED*",
            "test_own.py::test_own PASSED*",
            "parity: legacy and adk over 1 case*",
        ]
    )


def test_without_the_option_nothing_happens_and_nothing_else_of_ours_is_imported(
    project: pytest.Pytester,
) -> None:
    project.makepyfile(test_own=WITHOUT_OURS)

    result = run(project, "-v")

    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*read_file*")


@pytest.fixture
def namesake(project: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A project that has packages of our names, and tests of them."""
    for name in sorted(OURS):
        (project.path / name).mkdir()
        (project.path / name / "__init__.py").write_text("OWNER = 'the user'\n")
    imports = "\n".join(f"import {name}" for name in sorted(OURS))
    owners = ", ".join(f"{name}.OWNER" for name in sorted(OURS))
    project.makepyfile(test_own=f"{imports}\ndef test_own(): assert {{{owners}}} == {{'the user'}}")
    # The plugin is installed, and none of our folders stands before the user's.
    monkeypatch.delenv("PYTHONPATH")
    return project


@pytest.mark.skipif(not INSTALLED, reason="pytest finds the plugin of an installed project")
@pytest.mark.parametrize("how", ["prepend", "module", "pythonpath", "PYTHONPATH", "workers"])
@pytest.mark.sampled(5)
def test_a_project_with_packages_of_our_names_works(
    how: str, namesake: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["--parity", "-v"]
    if how == "pythonpath":
        namesake.makeini("[pytest]\npythonpath = .\nasyncio_default_fixture_loop_scope = function")
        words += ["--import-mode=importlib"]
    if how == "PYTHONPATH":
        monkeypatch.setenv("PYTHONPATH", str(namesake.path))
    if how == "workers":
        words += ["-n", "2"]
    start = ["-m", "pytest"]
    if how == "prepend":  # as the console script: the current folder is on no path
        namesake.makeconftest("")
        start = ["-P", "-m", "pytest"]

    plain = namesake.run(sys.executable, *start, "-v")
    result = namesake.run(sys.executable, *start, *words, timeout=100)

    plain.assert_outcomes(passed=1)
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["parity: legacy and adk over 1 case*"])


# By day its lines are looked for in what a worker of xdist hands over, and cases that fail in one
# process are inconclusive.
@pytest.mark.slow
def test_a_seeded_fault_fails_with_the_explainers_words_and_the_replay_command(
    project: pytest.Pytester,
) -> None:
    change_the_judging_process(project, BROKEN)

    result = run(project, "--parity", "cassettes")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "divergent: tools/read_file",
            "1. *usage*",
            "seam: *",
            "reproduce: parity run *read_file.yaml --control legacy --candidate adk*",
            "whose problem: probably runtime: *",
            "divergent: legacy and adk over 1 case*",
        ]
    )
    result.stdout.no_fnmatch_line("*Traceback*")


def waivers(most: int) -> str:
    """What `usage-dropped` does, accepted; the event no more than `most` times."""
    common = 'impact = "i"\nreason = "r"\nowner = "adk"\nexpires = 2099-01-01\n'
    return (
        "format = 1\n"
        '[[waiver]]\nid = "W1"\nscenario = "*"\nchannel = "events"\npath = ""\n'
        f'control = "<absent>"\ncandidate = "re:.*usage.*"\nmax_count = {most}\n{common}'
        '[[waiver]]\nid = "W2"\nscenario = "*"\nchannel = "cost"\npath = "tokens.*"\n'
        f'control = 0\ncandidate = "re:.*"\nmax_count = 99\n{common}'
    )


@pytest.mark.slow
def test_waivers_are_counted_over_the_whole_session(project: pytest.Pytester) -> None:
    change_the_judging_process(project, BROKEN)
    project.makefile(".toml", accepted=waivers(2))
    words = ("--parity", "cassettes", "--parity-waivers", "accepted.toml")

    accepted = run(project, *words)
    take(project, "tools/read_file_2", renamed("tools/read_file", "tools/read_file_2"))
    exceeded = run(project, *words)

    accepted.assert_outcomes(passed=1)
    assert accepted.ret == 0
    exceeded.assert_outcomes(passed=2)
    assert exceeded.ret == 1
    exceeded.stdout.fnmatch_lines(
        ["waiver W1: exceeded", "divergent: legacy and adk over 2 cases*"]
    )


def renamed(name: str, new: str) -> str:
    text = (REPOSITORY / "cassettes" / f"{name}.yaml").read_text("utf-8")
    return text.replace(f"name: {name}", f"name: {new}")


@pytest.mark.slow
def test_a_case_that_cannot_be_judged_fails_with_its_reason(project: pytest.Pytester) -> None:
    take(project, "own/shell", renamed("abort/during_shell", "own/shell"))
    take(project, "own/bad", "cassette: 1\nname: own/bad\nmodel: 3\n")

    result = run(project, "--parity", "cassettes/own")

    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(
        [
            "not loaded: *bad.yaml: *",
            "inconclusive: *",
            "*give --trust*",
            "whose problem: cassette: *",
        ]
    )


@pytest.mark.slow
def test_the_same_options_stand_in_the_configuration(project: pytest.Pytester) -> None:
    project.makeini(
        "[pytest]\nasyncio_default_fixture_loop_scope = function\nparity = true\n"
        "parity_control = adk\nparity_candidate = adk\nparity_phase = A\n"
        "parity_journal = out/journal.jsonl\nfilterwarnings = error::UserWarning\n"
    )
    change_the_judging_process(project, WARNING)
    take(project, "own/later", "cassette: 1\nname: own/later\nphase: C\n")

    result = run(project, "cassettes")

    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["parity: adk and adk over 1 case*"])
    record = read_journal(project.path / "out" / "journal.jsonl")
    assert list(record.finished) == ["tools/read_file"]
    assert (record.header.control, record.ended) == ("adk", True)


def test_workers_of_xdist_hand_their_results_over(project: pytest.Pytester) -> None:
    change_the_judging_process(project, BROKEN)
    take(project, "tools/read_file_2", renamed("tools/read_file", "tools/read_file_2"))

    result = run(project, "--parity", "-n", "1", "--parity-journal", "journal.jsonl", "cassettes")

    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(
        [
            "divergent: tools/read_file",
            "1. *usage*",
            "seam: *",
            "reproduce: parity run *read_file.yaml --control legacy --candidate adk*",
            "whose problem: *2 cases diverge*",
            "divergent: legacy and adk over 2 cases*",
        ]
    )
    assert len(read_journal(project.path / "journal.jsonl").finished) == 2


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--parity-candidate", "adq"], "*unknown runtime 'adq'; known: *"),
        (["--parity-control", "baseline:gone"], "*there is no folder 'gone' of baselines*"),
        (["--parity-phase", "D"], "*write A, B or C*"),
        (["--parity-repeat", "0"], "*a number from 1 to 20*"),
        (["--parity-as-of", "soon"], "*--parity-as-of soon: write a day as 2026-01-31"),
        (["--parity-waivers", "gone.toml"], "*gone.toml*cannot be read*"),
        (["--parity-journal", "test_own.py/x"], "*cannot be written*"),
    ],
)
@pytest.mark.sampled(7)
def test_wrong_options_are_reported_before_anything_runs(
    project: pytest.Pytester, words: list[str], message: str
) -> None:
    result = run(project, "--parity", *words)

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([message])
    result.stderr.no_fnmatch_line("*Traceback*")


@pytest.mark.slow
def test_a_file_that_is_named_is_a_cassette_whatever_it_looks_like(
    project: pytest.Pytester,
) -> None:
    result = run(project, "--parity", "compose.yaml")

    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["not loaded: *"])


@pytest.mark.slow
def test_a_runtime_whose_import_is_broken_is_one_sentence(project: pytest.Pytester) -> None:
    at_hand(project, "raise ValueError('no licence')")

    result = run(project, "--parity", "--parity-candidate", "mine")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*the runtime 'mine' *failed with ValueError: no licence; mend*"])
    result.stderr.no_fnmatch_line("*Traceback*")


@pytest.mark.slow
def test_a_runtime_of_a_wrong_shape_fails_each_case_with_one_sentence(
    project: pytest.Pytester,
) -> None:
    at_hand(project, "def open_runtime(services): return None")
    take(project, "tools/read_file_2", renamed("tools/read_file", "tools/read_file_2"))

    result = run(project, "--parity", "--parity-candidate", "mine", "cassettes")

    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["the runtime 'mine' *cannot be used: its factory returned no *"])
    result.stdout.no_fnmatch_line("*Traceback*")


def at_hand(project: pytest.Pytester, source: str) -> None:
    """Install a third party's runtime that only the session's interpreter finds."""
    install(project.path / "theirs", source)
    project.makeini(
        "[pytest]\npythonpath = theirs\nasyncio_default_fixture_loop_scope = function\n"
    )
