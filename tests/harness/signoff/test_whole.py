"""A checkout of the project with its own code: signed with a throwaway key, then changed.

By night: by day `test_verification.py` and `tests/harness/commands/test_verify.py` name each change
in small checkouts, and CI signs and verifies the project itself.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.harness.signoff.signable import GATES, WAIVER, git

pytestmark = pytest.mark.slow

REPOSITORY = Path(__file__).parents[3]
PACKAGES = ("agent_protocol", "seeded_faults", "services", "runtimes", "surfaces", "harness")

CASSETTE = """cassette: 1
name: text/{name}
phase: A
session:
  model: gemini-2.5-flash
script:
- send: hi
model:
- text: hello
"""

MATRIX = """
import json, sys
from datetime import UTC, datetime
from pathlib import Path
from harness.cassette.find import find_cassettes
from harness.gate.facts import evidence_facts
files = [(each.name, each.path) for each in find_cassettes([Path("cassettes")])]
measured = evidence_facts(files, Path("parity_tests/waivers.toml"), datetime.now(UTC).date())
conditions = {"cassettes": 2, "sample": None, "measured": measured}
matrix = {"kills": 2, "faults": [], "conditions": conditions, "planned": 0, "interrupted": False}
Path("parity-report/kills.json").write_text(json.dumps(matrix))
"""


class Tree:
    def __init__(self, root: Path) -> None:
        self.root = root

    def python(self, code: str, *words: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", code, *map(str, words)],
            cwd=self.root,
            env={**os.environ, "PYTHONPATH": str(self.root), "PYTHONDONTWRITEBYTECODE": "1"},
            capture_output=True,
            text=True,
            timeout=100,
        )

    def parity(self, *words: object) -> subprocess.CompletedProcess[str]:
        return self.python("from harness.cli import main; main()", *words)

    def problems(self) -> list[str]:
        lead = "does not hold: "
        public = f"ci={self.root.parent / 'ci.key.pub'}"
        said = self.parity("verify", "--also-trust", public).stdout
        found = [line.removeprefix(lead) for line in said.splitlines() if line.startswith(lead)]
        return found or said.splitlines()[-1:]


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """A copy of the code with two cassettes, journalled, signed by `ci` and committed."""
    place = tmp_path_factory.mktemp("whole")
    root = place / "checkout"
    compiled = shutil.ignore_patterns("__pycache__")
    for package in PACKAGES:
        shutil.copytree(REPOSITORY / package, root / package, ignore=compiled)
    (root / "cassettes" / "text").mkdir(parents=True)
    for name in ("one", "two"):
        (root / f"cassettes/text/{name}.yaml").write_text(CASSETTE.format(name=name))
    suite = root / "parity_tests"
    suite.mkdir()
    of_the_core = 'between = ["upstream", "legacy"]\nscenario'
    (suite / "waivers.toml").write_text(WAIVER.replace("scenario", of_the_core))
    (suite / "gates.toml").write_text(GATES.format(threshold=1, signers=""), "utf-8")
    shutil.copy(REPOSITORY / "pyproject.toml", root)
    shutil.copy(REPOSITORY / ".gitignore", root)
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "x")
    made = Tree(root)
    key = place / "ci.key"
    steps = [
        made.parity("keygen", "--out", key, "--name", "ci", "--no-passphrase"),
        made.parity("run", "cassettes", "--journal", "parity-report/leg.jsonl"),
        made.python(MATRIX),
        made.parity(
            *("sign", "--phase", "A", "--profile", "pull_request", "--journal", "parity-report"),
            *("--key", key, "--signer", "ci", "--yes"),
        ),
    ]
    for step in steps:
        assert step.returncode == 0, step.stdout + step.stderr
    return made


def test_it_holds_as_it_was_signed(tree: Tree) -> None:
    assert tree.problems() == ["0001-A-pull_request.json holds"]


@pytest.mark.parametrize(
    ("file", "old", "new", "says"),
    [
        ("cassettes/text/one.yaml", "hello", "good day", None),
        ("parity_tests/waivers.toml", "max_count = 9", "max_count = 8", "waiver W1 changed"),
        ("services/clock.py", '"""', '""" ', None),
    ],
)
@pytest.mark.sampled(3)
def test_what_is_changed_is_named(
    tree: Tree, file: str, old: str, new: str, says: str | None
) -> None:
    place = tree.root / file
    text = place.read_text("utf-8")
    assert old in text
    place.write_text(text.replace(old, new, 1), "utf-8")
    try:
        assert tree.problems() == [says or f"{file} changed"]
    finally:
        place.write_text(text, "utf-8")


def test_changed_gates_are_named_and_say_no_longer_who_may_sign(tree: Tree) -> None:
    place = tree.root / "parity_tests" / "gates.toml"
    text = place.read_text("utf-8")
    place.write_text(text.replace("min_cases = 1", "min_cases = 0", 1), "utf-8")
    try:
        first, second = tree.problems()
    finally:
        place.write_text(text, "utf-8")

    assert first.startswith("parity_tests/gates.toml is not as it was committed")
    assert second == "gates.toml changed"


@pytest.mark.parametrize(
    ("put", "says"),
    [
        (b"A", "the record's signature does not fit its bytes (ci)"),
        (b"@", "is not as it was signed: a signature must have"),
    ],
)
@pytest.mark.sampled(2)
def test_a_byte_of_the_record_is_named_once(tree: Tree, put: bytes, says: str) -> None:
    record = tree.root / "signoffs" / "0001-A-pull_request.json"
    raw = record.read_bytes()
    place = raw.index(b'"sig":"') + 20
    other = b"B" if raw[place : place + 1] == put else put
    record.write_bytes(raw[:place] + other + raw[place + 1 :])
    try:
        (problem,) = tree.problems()
    finally:
        record.write_bytes(raw)

    assert problem.startswith(f"0001-A-pull_request.json: {says}")
