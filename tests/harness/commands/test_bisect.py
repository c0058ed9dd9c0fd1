import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from harness.cli import parity
from harness.replay.trace import to_trace
from tests.harness.samples import observation

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="there is no git; install it")

REPOSITORY = Path(__file__).parents[3]
WHO = ("-c", "user.name=n", "-c", "user.email=n@example.org", "-c", "commit.gpgsign=false")

STAND_IN = textwrap.dedent(
    """
    import json, pathlib, sys
    here = pathlib.Path(__file__).parents[1]
    document = json.loads((here / "trace.json").read_text())
    runtime = document["runtime"] = sys.argv[sys.argv.index("--runtime") + 1]
    behaviour = json.loads((here / "behaviour.json").read_text()).get(runtime, "plain")
    if behaviour == "loses usage":
        document["events"] = [e for e in document["events"] if e["type"] != "usage"]
    if behaviour == "gets nowhere":
        document |= {"events": [], "requests": [], "error": "SyntaxError: invalid syntax"}
    if behaviour == "hangs":
        import os, time
        if "MEETING" in os.environ:
            pathlib.Path(os.environ["MEETING"]).write_text("hanging")
        time.sleep(600)
    if behaviour == "does not load":
        raise ImportError("no such wheel")
    if behaviour == "prints rubbish":
        print("hello")
    else:
        print(json.dumps(document))
    """
)


class Project:
    """A repository of a tiny project whose `parity trace` does what a file in it says."""

    def __init__(self, folder: Path) -> None:
        self.root = folder
        self.commits: list[str] = []
        (folder / "harness").mkdir(parents=True)
        (folder / "harness" / "__init__.py").touch()
        (folder / "harness" / "cli.py").write_text(STAND_IN)
        (folder / "trace.json").write_text(json.dumps(to_trace(observation())))
        self.git("init", "-q", "-b", "main")

    def git(self, *words: str) -> str:
        done = subprocess.run(
            ["git", *WHO, *words], cwd=self.root, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    def commit(self, **behaviour: str) -> str:
        (self.root / "behaviour.json").write_text(json.dumps(behaviour))
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", f"step {len(self.commits)}")
        self.commits.append(self.git("rev-parse", "HEAD"))
        return self.commits[-1]

    def state(self) -> Mapping[str, Any]:
        """All of the user's that must stay as it is."""
        git = self.root / ".git"
        return {
            "refs": self.git("for-each-ref"),
            "head": (git / "HEAD").read_text(),
            "index": (git / "index").read_bytes(),
            "stash": self.git("stash", "list"),
            "status": self.git("status", "--porcelain"),
            "config": (git / "config").read_text(),
            "worktrees": self.git("worktree", "list"),
            "notes": sorted(path.name for path in git.iterdir()),
        }


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path / "project")


@pytest.fixture
def cassette(tmp_path: Path) -> Path:
    file = tmp_path / "case.yaml"
    file.write_text("cassette: 1\n")
    return file


@pytest.fixture
def bisect(
    project: Project, cassette: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[..., Result]:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    waivers = tmp_path / "waivers.toml"
    waivers.write_text("format = 1\n")

    def invoke(*words: object) -> Result:
        given = ["bisect", cassette, "--repository", project.root, "--waivers", waivers, *words]
        result = CliRunner().invoke(parity, [str(word) for word in given], prog_name="parity")
        assert list(temporary.iterdir()) == [], "something was left behind"
        return result

    return invoke


def plant(project: Project, count: int, first_red: int, **odd: tuple[int, ...]) -> None:
    """A line of commits, red from one on; of `odd` revisions adk does something else."""
    for number in range(count):
        behaviour = "loses usage" if number >= first_red else "plain"
        for name, numbers in odd.items():
            if number in numbers:
                behaviour = name.replace("_", " ")
        project.commit(adk=behaviour)


@pytest.mark.slow
def test_a_planted_commit_is_found_among_thirty_of_which_three_do_not_load(
    project: Project, bisect: Callable[..., Result]
) -> None:
    plant(project, 30, 17, does_not_load=(14, 15, 22))
    before = project.state()

    result = bisect("--good", project.commits[0])

    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[-1].startswith(
        f"the first red revision is {project.commits[17]} ("
    )
    assert "events[4] usage (missing)" in result.stdout
    assert "changed there: behaviour.json" in result.stdout
    assert "(ImportError: no such wheel)" in result.stderr
    assert project.state() == before


@pytest.mark.slow
def test_skipped_revisions_beside_the_first_red_one_make_it_a_range(
    project: Project, bisect: Callable[..., Result], tmp_path: Path
) -> None:
    plant(project, 8, 5, gets_nowhere=(4,), prints_rubbish=(3,))
    file = tmp_path / "found.json"

    result = bisect("--good", project.commits[0], "--json", file)

    assert result.exit_code == 3
    last = result.stdout.splitlines()[-1]
    between = f"{project.commits[2][:12]}..{project.commits[5][:12]}"
    assert last.startswith(f"the first red revision is one of 3 in {between} (")
    document = json.loads(file.read_text())
    assert not document["exact"]
    assert sorted(document["suspects"]) == sorted(project.commits[3:5])


def test_one_runtime_is_compared_with_what_it_did_in_the_good_revision(
    project: Project, bisect: Callable[..., Result]
) -> None:
    for number in range(6):
        both = "loses usage" if number >= 2 else "plain"
        project.commit(adk=both, legacy=both)

    alike = bisect("--good", project.commits[0])
    one = bisect("--good", project.commits[0], "--runtime", "legacy")

    assert alike.exit_code == 2
    assert "--bad HEAD is green: adk agrees with legacy there" in alike.stderr
    assert one.exit_code == 0, one.output
    assert project.commits[2] in one.stdout.splitlines()[-1]
    assert f"legacy at {project.commits[2][:10]}" in one.stdout


def test_a_trace_can_be_what_is_right(
    project: Project, bisect: Callable[..., Result], tmp_path: Path
) -> None:
    plant(project, 5, 3)
    expected = tmp_path / "expected.json"
    expected.write_text(json.dumps(to_trace(observation("adk"))))

    result = bisect("--good", project.commits[0], "--control", expected)

    assert result.exit_code == 0, result.output
    assert project.commits[3] in result.stdout.splitlines()[-1]


@pytest.mark.slow
def test_a_merged_branch_is_searched_as_well(
    project: Project, bisect: Callable[..., Result]
) -> None:
    good = project.commit(adk="plain")
    project.git("checkout", "-q", "-b", "side")
    project.commit(adk="plain")
    culprit = project.commit(adk="loses usage")
    project.git("checkout", "-q", "main")
    (project.root / "other.txt").touch()
    project.git("add", "-A")
    project.git("commit", "-q", "-m", "meanwhile")
    project.git("merge", "-q", "--no-ff", "-m", "merged", "side")

    result = bisect("--good", good)

    assert result.exit_code == 0, result.output
    assert culprit in result.stdout.splitlines()[-1]


def test_waived_differences_are_not_red(
    project: Project, bisect: Callable[..., Result], tmp_path: Path
) -> None:
    plant(project, 4, 2)
    common = 'impact = "i"\nreason = "r"\nowner = "adk"\nexpires = 2099-12-31\nmax_count = 9\n'
    (tmp_path / "waivers.toml").write_text(
        "format = 1\n"
        '[[waiver]]\nid = "W1"\nscenario = "*"\nchannel = "events"\npath = ""\n'
        f'control = "re:.*usage.*"\ncandidate = "<absent>"\n{common}'
        '[[waiver]]\nid = "W2"\nscenario = "*"\nchannel = "cost"\npath = "tokens.*"\n'
        f'control = "re:.*"\ncandidate = 0\n{common}'
    )

    assert "--bad HEAD is green" in bisect("--good", project.commits[0]).stderr


@pytest.mark.slow
def test_a_revision_that_takes_too_long_is_skipped_and_its_child_ended(
    project: Project, bisect: Callable[..., Result]
) -> None:
    plant(project, 3, 2, hangs=(1,))

    result = bisect("--good", project.commits[0], "--timeout", "4")

    assert result.exit_code == 3
    assert "it was not done with adk after 4 s" in result.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--good", "nowhere"], "--good nowhere: there is no such revision"),
        (["--good", "--all"], "--good --all: there is no such revision"),
        (["--good", "HEAD"], "are one revision"),
        (["--good", "HEAD", "--bad", "HEAD~2"], "exchange them"),
        (["--good", "side"], "is not an ancestor of --bad HEAD"),
        (["--good", "HEAD~1"], "--good HEAD~1 is red already"),
        (["--good", "HEAD~3", "--bad", "HEAD~2"], "--bad HEAD~2 is green"),
        (["--good", "HEAD~3", "--runtime", "adq"], "unknown runtime 'adq'"),
        (["--good", "HEAD~3", "--control", "gone.json"], "cannot be read"),
        (["--good", "broken"], "--good broken is inconclusive: ImportError: no such wheel"),
        (["--good", "broken", "--runtime", "adk"], "--good broken cannot be traced"),
        (["--good", "empty"], "not a revision of this project"),
    ],
)
@pytest.mark.sampled(3)
def test_wrong_ends_are_clear_errors(
    project: Project, bisect: Callable[..., Result], words: list[str], message: str
) -> None:
    (project.root / "harness").rename(project.root / "hidden")
    project.commit()
    project.git("tag", "empty")
    (project.root / "hidden").rename(project.root / "harness")
    project.commit(adk="does not load")
    project.git("tag", "broken")
    plant(project, 4, 2)
    project.git("checkout", "-q", "-b", "side", "HEAD~1")
    project.git("commit", "-q", "--allow-empty", "-m", "aside")
    project.git("checkout", "-q", "main")

    result = bisect(*words)

    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.output


def test_the_words_of_a_revision_are_shown_without_secrets(
    project: Project, bisect: Callable[..., Result]
) -> None:
    key = "AIza" + "SyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7"[:35]
    cli = project.root / "harness" / "cli.py"
    cli.write_text(STAND_IN.replace("no such wheel", f"no such wheel {key}\\x1b[2J"))
    project.commit(adk="does not load")
    project.commit(adk="plain")

    result = bisect("--good", project.commits[0])

    assert "ImportError: no such wheel" in result.stderr
    assert key not in result.output
    assert "\x1b" not in result.output


def test_outside_a_checkout_there_is_nothing_to_search(
    bisect: Callable[..., Result], tmp_path: Path
) -> None:
    result = bisect("--good", "x", "--repository", tmp_path)

    assert result.exit_code == 2
    assert "run this in a checkout" in result.stderr


def test_nothing_that_the_repository_names_is_run_on_the_way(
    project: Project, bisect: Callable[..., Result], tmp_path: Path
) -> None:
    mark = tmp_path / "was-run"
    hooks = project.root / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("post-checkout", "post-index-change", "reference-transaction"):
        (hooks / name).write_text(f"#!/bin/sh\ntouch {mark}\n")
        (hooks / name).chmod(0o755)
    (project.root / ".gitattributes").write_text("*.json filter=odd\n")
    plant(project, 4, 2)
    for key in ("smudge", "process"):
        project.git("config", f"filter.odd.{key}", f"touch {mark}; cat")
    project.git("config", "filter.odd.required", "true")
    project.git("config", "core.fsmonitor", f"touch {mark}; false")
    project.git("config", "core.pager", f"touch {mark}")
    mark.unlink(missing_ok=True)

    result = bisect("--good", project.commits[0])

    assert project.commits[2] in result.stdout.splitlines()[-1], result.output
    assert not mark.exists()


def test_changes_that_are_not_committed_stay_as_they_are(
    project: Project, bisect: Callable[..., Result]
) -> None:
    plant(project, 4, 2)
    (project.root / "behaviour.json").write_text("{}")
    (project.root / "new.txt").write_text("mine")
    project.git("add", "new.txt")
    (project.root / "new.txt").write_text("mine, later")
    before = project.state()

    result = bisect("--good", project.commits[0])

    assert result.exit_code == 0, result.output
    assert project.state() == before
    assert (project.root / "new.txt").read_text() == "mine, later"


def test_an_edit_of_the_same_size_within_a_second_is_not_taken_for_the_old_code(
    project: Project, bisect: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    cli = project.root / "harness" / "cli.py"
    cli.write_text(f"import harness.said\n{STAND_IN}".replace('"plain")', "harness.said.SAID)"))
    for number in range(6):
        said = "loses usage" if number >= 4 else "nothing odd"
        (project.root / "harness" / "said.py").write_text(f"SAID = {said!r}\n")
        project.commit(legacy="plain")

    result = bisect("--good", project.commits[0])

    assert project.commits[4] in result.stdout.splitlines()[-1], result.output


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.sampled(2)
def test_an_interrupted_search_leaves_nothing_behind(
    project: Project, cassette: Path, tmp_path: Path, number: signal.Signals
) -> None:
    plant(project, 4, 3, hangs=(1, 2))
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    meeting = tmp_path / "meeting"
    os.mkfifo(meeting)
    before = project.state()
    words = [sys.executable, "-m", "harness.cli", "bisect", cassette, "--good", project.commits[0]]
    search = subprocess.Popen(
        [*map(str, words), "--repository", str(project.root)],
        cwd=REPOSITORY,
        env={**os.environ, "TMPDIR": str(temporary), "MEETING": str(meeting)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert meeting.read_text() == "hanging"
    search.send_signal(number)
    _, rest = search.communicate(timeout=100)

    assert search.returncode == {signal.SIGINT: 130, signal.SIGTERM: 143}[number], rest
    assert "Traceback" not in rest
    assert list(temporary.iterdir()) == []
    assert project.state() == before
    assert not _processes_with(str(cassette))


def _processes_with(word: str) -> list[str]:
    found = []
    for process in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it has ended meanwhile
            found.append(process.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
    return [line for line in found if word in line]


@pytest.mark.slow
def test_the_real_tree_is_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Real revisions of this project: a fault planted in legacy, and some that do not load."""
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    project = tmp_path / "project"
    for package in (
        "agent_protocol",
        "seeded_faults",
        "services",
        "runtimes",
        "surfaces",
        "harness",
    ):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(REPOSITORY / package, project / package, ignore=ignored)

    def git(*words: str) -> str:
        done = subprocess.run(
            ["git", *WHO, "-c", "gc.auto=0", *words],
            cwd=project,
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout.strip()

    git("init", "-q")
    git("add", "-A")
    source = project / "runtimes" / "legacy" / "turn.py"
    sound = source.read_text("utf-8")
    faulty = sound.replace('chunk.get("usageMetadata")', 'chunk.get("usage")')
    assert faulty != sound
    commits = []
    for number in range(30):
        text = faulty if number >= 17 else sound
        source.write_text(
            f"{'def (' if number in (14, 15, 22) else ''}{text}\n# {number}\n", "utf-8"
        )
        git("commit", "-q", "-a", "-m", f"step {number}")
        commits.append(git("rev-parse", "HEAD"))
    cassette = REPOSITORY / "cassettes" / "tools" / "read_file.yaml"
    given = [
        "bisect",
        cassette,
        "--good",
        commits[0],
        "--runtime",
        "legacy",
        "--repository",
        project,
    ]

    result = CliRunner().invoke(parity, [str(word) for word in given], prog_name="parity")

    assert result.exit_code == 0, result.output
    assert commits[17] in result.stdout.splitlines()[-1]
    assert "skipped" in result.stderr
    assert "changed there: runtimes/legacy/turn.py" in result.stdout
