"""Commands in a user's project: its file, its code as evidence, its commits."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness.cli import parity
from harness.config import current_inventory, default_contract, default_waivers
from tests.runtimes.third_party import forgotten, forgotten_modules

__all__ = ["forgotten"]

REPOSITORY = Path(__file__).parents[3]
WHO = ("-c", "user.name=n", "-c", "user.email=n@example.org", "-c", "commit.gpgsign=false")
PROJECT = """
parity = 1
control = "legacy"
candidate = "mine"
corpus = ["cassettes"]
code = ["shop"]
[runtimes]
mine = "shop.agent:open_runtime"
"""
AGENT = """
from contextlib import asynccontextmanager
from parity.runtimes.legacy import open_runtime as legacy
from shop.words import changed

@asynccontextmanager
async def open_runtime(services):
    async with legacy(services) as runtime:
        make = runtime.agent
        runtime.agent = lambda **given: changed(make(**given))
        yield runtime
"""
GOOD = "def changed(agent):\n    return agent\n"
BAD = """
def changed(agent):
    subscribe = agent.subscribe
    def without_updates(callback):
        return subscribe(lambda event: event.type != "session_update" and callback(event))
    agent.subscribe = without_updates
    return agent
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A repository with one runtime, which is our own engine behind a package of the user."""
    for name, text in {
        "parity.toml": PROJECT,
        "shop/__init__.py": "",
        "shop/agent.py": AGENT,
        "shop/words.py": GOOD,
        "cassettes/text/plain.yaml": (REPOSITORY / "cassettes/text/text.yaml").read_text("utf-8"),
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text.replace("text/text", "text/plain"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield tmp_path
    forgotten_modules("shop")


def run(*words: str) -> Result:
    forgotten_modules("shop")
    return CliRunner().invoke(parity, list(words), prog_name="parity")


def commit(folder: Path, message: str) -> None:
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", message]):
        subprocess.run(["git", *WHO, *words], cwd=folder, check=True)


def test_the_file_names_the_sides_and_the_corpus(project: Path) -> None:
    done = run("run", "--no-keep")

    assert done.exit_code == 0, done.output
    assert "parity: legacy and mine over 1 case" in done.output
    assert (default_waivers(), default_contract()) == (None, None)


def test_the_code_of_the_project_is_evidence(project: Path) -> None:
    def files() -> dict[str, str]:
        made = current_inventory([], None, ["legacy", "mine"])
        return dict(made.components["runtime mine"].files)

    before = files()
    (project / "shop" / "words.py").write_text(BAD)
    after = files()

    assert list(before) == ["parity.toml", "shop/__init__.py", "shop/agent.py", "shop/words.py"]
    assert [name for name in before if before[name] != after[name]] == ["shop/words.py"]


def test_what_has_another_purpose_is_no_code(project: Path) -> None:
    """Otherwise a signed record would make itself stale."""
    named = 'waivers = "shop/waivers.toml"\ngates = "shop/gates.toml"\nsignoffs = "shop/signoffs"\n'
    text = PROJECT.replace('code = ["shop"]', f'code = ["."]\n{named}')
    (project / "parity.toml").write_text(text)
    for name in ("waivers.toml", "gates.toml", "signoffs/0001-switch-release.json", "words.txt"):
        (project / "shop" / name).parent.mkdir(exist_ok=True)
        (project / "shop" / name).write_text("format = 1\n")

    made = current_inventory([], None, ["mine"])

    code = ["parity.toml", "shop/__init__.py", "shop/agent.py", "shop/words.py", "shop/words.txt"]
    assert list(made.components["runtime mine"].files) == code


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git; install it")
def test_a_red_run_is_blamed_on_the_projects_files_and_commit(project: Path) -> None:
    commit(project, "Begin")
    before = run("run", "--keep")
    assert before.exit_code == 0, before.output
    (project / "shop" / "words.py").write_text(BAD)
    commit(project, "Say less")

    done = run("run", "--keep")

    assert done.exit_code == 1, done.output
    assert "whose problem: probably runtime: mine: 1 case diverges" in done.output
    assert "): shop/words.py (" in done.output
    assert " Say less)" in done.output
    assert "bisect: parity bisect text/plain --good " in done.output


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git; install it")
def test_bisect_finds_the_commit_of_the_project(project: Path) -> None:
    commit(project, "Begin")
    (project / "shop" / "words.py").write_text(BAD)
    commit(project, "Say less")

    done = run("bisect", "text/plain", "--good", "HEAD~1", "--runtime", "mine")

    assert done.exit_code == 0, done.output
    assert "Say less" in done.stdout
    assert "changed there: shop/words.py" in done.stdout
    assert "the first red revision is " in done.stdout


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("parity = 1\nx = 2", "parity.toml: x: unknown key"),
        ("parity = 3", "parity.toml: parity: "),
        ("parity = ", "parity.toml: not TOML: "),
        ('parity = 1\n[runtimes]\nmine = "shop"', "parity.toml: runtimes.mine: "),
        ('parity = 1\n[runtimes]\nadk = "shop:x"', "'adk' has a meaning in parity"),
        ('parity = 1\nfolder = "x"', "parity.toml: folder: unknown key"),
    ],
)
def test_a_broken_file_is_one_sentence(project: Path, text: str, problem: str) -> None:
    (project / "parity.toml").write_text(text)

    done = run("run")

    assert done.exit_code == 2
    assert problem in done.stderr
    assert done.stderr.endswith("; docs/own-agent.md describes its keys\n")


def test_a_runtime_that_cannot_be_imported_names_its_line(project: Path) -> None:
    (project / "shop" / "words.py").write_text("x = 1\nraise ValueError('no licence')\n")

    done = run("run")

    assert done.exit_code == 2
    assert done.stderr == (
        "parity: the runtime 'mine' (parity.toml: `mine = 'shop.agent:open_runtime'`) cannot be "
        "used: importing shop.agent failed with ValueError: no licence (shop/words.py, line 2); "
        "mend it; `parity --debug run` shows the traceback\n"
    )


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git; install it")
def test_a_change_that_is_not_committed_is_named(project: Path) -> None:
    commit(project, "Begin")
    (project / "shop" / "words.py").write_text(BAD)
    compiled = project / "shop" / "__pycache__" / "other.cpython-311.pyc"
    compiled.parent.mkdir(exist_ok=True)
    compiled.write_bytes(b"x")

    done = run("run", "--no-keep")

    assert done.exit_code == 1, done.output
    assert "changed, not committed: shop/words.py" in done.output
