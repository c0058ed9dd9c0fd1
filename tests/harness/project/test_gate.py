"""Gate and sign-off of a user's project, with a phase and a flag of its own."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness.cli import parity
from tests.harness.project.test_commands import AGENT, BAD, GOOD, REPOSITORY, commit
from tests.runtimes.third_party import forgotten, forgotten_modules

__all__ = ["forgotten"]

PROJECT = """
parity = 1
control = "legacy"
candidate = "mine"
corpus = ["cassettes"]
code = ["shop"]
gates = "gates.toml"
signoffs = "records"
[runtimes]
mine = "shop.agent:open_runtime"
"""
GATES = """
format = 1
corpus = ["cassettes"]
[signing]
threshold = 1
[phase.read-only]
title = "questions about orders"
flag = "shop.new-engine"
[[phase.read-only.leg]]
name = "old ≡ new"
control = "legacy"
candidate = "mine"
min_cases = 1
[phase.read-only.pull_request]
max_age_days = 3
waivers = { most = 0 }
[phase.read-only.release]
max_age_days = 3
waivers = { most = 0 }
"""

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="there is no git; install it")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = tmp_path / "project"
    for name, text in {
        "parity.toml": PROJECT,
        "gates.toml": GATES,
        ".gitignore": "parity-report/\n__pycache__/\n",
        "shop/__init__.py": "",
        "shop/agent.py": AGENT,
        "shop/words.py": GOOD,
        "cassettes/text/plain.yaml": (REPOSITORY / "cassettes/text/text.yaml").read_text("utf-8"),
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text.replace("text/text", "text/plain"))
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "path", [*sys.path])
    # As installed: the checkout of this code may have changes.
    monkeypatch.setattr("harness.commands.here.code_checkout", lambda: None)
    monkeypatch.setattr("harness.commands.here.core_baselines", lambda: ())
    commit(folder, "Begin")
    yield folder
    forgotten_modules("shop")


def run(*words: str) -> Result:
    forgotten_modules("shop")
    return CliRunner().invoke(parity, list(words), prog_name="parity")


def signed(folder: Path) -> Result:
    """Measure, trust a key for releases, and sign."""
    key = folder.parent / "key"
    made = run("keygen", "--out", str(key), "--name", "owner", "--no-passphrase")
    entry = made.stdout[made.stdout.index("[[signing.signer]]") :]
    gates = folder / "gates.toml"
    gates.write_text(GATES.replace("[phase.read-only]", f"{entry}\n[phase.read-only]", 1))
    commit(folder, "Trust the owner")
    assert run("measure", "--phase", "read-only").exit_code == 0
    return run("sign", "--phase", "read-only", "--key", str(key), "--yes")


def test_an_own_phase_is_measured_signed_verified_and_flipped(project: Path) -> None:
    before = run("gate", "--phase", "read-only")
    assert (before.exit_code, "leg missing" in before.stdout) == (3, True)

    done = signed(project)

    assert done.exit_code == 0, done.output
    assert "what this does not say:" in done.stdout
    assert "phases" not in done.stdout[done.stdout.index("what this") :]
    (record,) = [file for file in (project / "records").glob("*.json") if file.name[0] == "0"]
    assert record.name == "0001-read-only-release.json"
    head = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, check=True, text=True)
    assert head.stdout.strip() in json.dumps(done.stdout)
    commit(project, "Sign")
    verified = run("verify")
    assert verified.exit_code == 0, verified.output
    flip = run("can-flip", "shop.new-engine")
    assert flip.exit_code == 0, flip.output
    assert "yes: shop.new-engine may be turned on" in flip.stdout


def test_a_change_of_the_agents_code_takes_the_yes_back(project: Path) -> None:
    assert signed(project).exit_code == 0
    (project / "shop" / "words.py").write_text(BAD)
    commit(project, "Say less")

    verified, flip = run("verify"), run("can-flip", "shop.new-engine")

    assert (verified.exit_code, flip.exit_code) == (1, 3)  # stale, so it is not known
    assert "shop/words.py" in verified.stdout
    assert "the signed files differ from the current ones" in flip.stdout


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["gate", "--phase", "A"], "the gates have no phase A; they have read-only"),
        (["can-flip", "other"], "unknown flag 'other'; known: shop.new-engine, experimental"),
        (
            ["can-flip", "shop.new-engine", "--surface", "interactive"],
            "is a flag of the project, which has no surfaces",
        ),
    ],
)
def test_what_the_gates_do_not_have(project: Path, words: list[str], problem: str) -> None:
    done = run(*words)

    assert done.exit_code == 2
    assert problem in done.stderr


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("[phase.read-only]", '[phase."1"]', "phase"),
        ('flag = "shop.new-engine"', "classes = { tools = 1 }", "no leg in which they must be"),
        ("min_cases = 1", 'min_cases = 1\nprofiles = ["release"]', "has no leg, so nothing would"),
    ],
)
def test_gates_that_would_ask_for_nothing(project: Path, old: str, new: str, problem: str) -> None:
    (project / "gates.toml").write_text(GATES.replace(old, new, 1))

    done = run("gate", "--phase", "read-only")

    assert done.exit_code == 2
    assert problem in done.stderr
