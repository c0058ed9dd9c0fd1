"""A small checkout with a corpus, gates, waivers and journals, in which there is a yes to sign."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness import config, inventory
from harness.cassette.find import find_cassettes
from harness.cli import parity
from harness.commands.sign import SignSeams
from harness.experiment.backend import Backend
from harness.experiment.pool import process_workers
from harness.gate.facts import evidence_facts
from harness.scenarios.block import run_block
from tests.harness.samples import BACKEND, write_corpus

__all__ = ["Signable", "git", "signable"]

GATES = """
format = 1
corpus = ["cassettes"]
[signing]
threshold = {threshold}
{signers}
[phase.A]
title = "non-interactive"
cassettes = ["A"]
reached_in = "legacy ≡ adk"
fault_classes = []
[[phase.A.leg]]
name = "legacy ≡ adk"
control = "legacy"
candidate = "adk"
min_cases = 1
[phase.A.classes]
[phase.A.pull_request]
max_age_days = 30
baselines = true
recordings_days = 365
kills = {{ faults = 0, bound = 0.0, class_faults = 0, class_bound = 0.0, held_out = 0.0 }}
sample = []
waivers = {{ most = 9 }}
cost = []
[phase.A.release]
max_age_days = 30
baselines = true
recordings_days = 365
kills = {{ faults = 0, bound = 0.0, class_faults = 0, class_bound = 0.0, held_out = 0.0 }}
sample = []
waivers = {{ most = 9 }}
cost = []
"""

WAIVER = """format = 1
[[waiver]]
id = "W1"
scenario = "b/*"
channel = "events"
path = ""
control = "re:.*usage.*"
candidate = "<absent>"
impact = "i"
reason = "r"
owner = "adk"
expires = 2099-12-31
max_count = 9
[[waiver]]
id = "W2"
scenario = "b/*"
channel = "cost"
path = "tokens.*"
control = "re:.*"
candidate = 0
impact = "i"
reason = "r"
owner = "adk"
expires = 2099-12-31
max_count = 9
"""


class Signable:
    """The checkout, which is the working folder, and commands in it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.signoffs = root / "signoffs"

    def invoke(self, *words: object, backend: Backend = BACKEND) -> Result:
        seams = SignSeams(
            backend=backend, run_block=run_block, workers=process_workers(backend, ())
        )
        first = str(words[0])
        obj = seams if first == "sign" else backend
        return CliRunner().invoke(parity, [str(word) for word in words], obj=obj)

    def keygen(self, name: str) -> Path:
        """A key beside the checkout, not in it."""
        file = self.root.parent / f"{name}.key"
        made = self.invoke("keygen", "--out", file, "--name", name, "--no-passphrase")
        assert made.exit_code == 0, made.output
        return file

    def trust(self, *names: str, threshold: int = 1) -> None:
        """Write the gates, with these signers."""
        blocks = []
        for name in names:
            made = self.invoke(
                "keygen",
                "--out",
                self.root.parent / f"{name}.key",
                "--name",
                name,
                "--no-passphrase",
            )
            assert made.exit_code == 0, made.output
            block = made.output[made.output.index("[[signing.signer]]") :]
            blocks.append(block)
        text = GATES.format(threshold=threshold, signers="\n".join(blocks))
        (self.root / "parity_tests" / "gates.toml").write_text(text, "utf-8")

    def key(self, name: str) -> Path:
        return self.root.parent / f"{name}.key"

    def commit(self) -> None:
        git(self.root, "add", "-A")
        git(self.root, "commit", "-qm", "x")

    def journal(self) -> None:
        """Run the leg, into a folder that git ignores, beside a matrix of no faults at all."""
        ran = self.invoke("run", "cassettes", "--journal", "parity-report/leg.jsonl")
        assert ran.exit_code == 0, (ran.output, ran.exception)
        self.measure()

    def measure(self) -> None:
        """Leave a matrix of no faults."""
        files = [(each.name, each.path) for each in find_cassettes([Path("cassettes")])]
        day = datetime.now(UTC).date()
        measured = evidence_facts(files, Path("parity_tests/waivers.toml"), day)
        kills = {
            "kills": 2,
            "faults": [],
            "conditions": {"cassettes": 3, "sample": None, "measured": measured},
            "planned": 0,
            "interrupted": False,
        }
        Path("parity-report/kills.json").write_text(json.dumps(kills))

    def sign(
        self,
        *words: object,
        key: str = "alice",
        profile: str = "release",
        backend: Backend = BACKEND,
    ) -> Result:
        return self.invoke(
            "sign",
            *("--phase", "A", "--profile", profile, "--journal", "parity-report"),
            *("--key", self.key(key), "--yes", *words),
            backend=backend,
        )


def git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=t", "-c", "user.email=t@t.invalid"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


def signable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Signable]:
    """A checkout with a yes to sign. The code counts as installed, and is a file or two."""
    root, code = tmp_path / "checkout", tmp_path / "code"
    (code / "services").mkdir(parents=True)
    (code / "services" / "clock.py").write_text("TICK = 1\n")
    root.mkdir()
    monkeypatch.chdir(root)
    monkeypatch.setattr(config, "_checkout", lambda: ())
    monkeypatch.setattr(inventory, "_PACKAGES", code)
    inventory.code_components.cache_clear()
    write_corpus(root / "cassettes", a__1="plain", a__2="plain", b__2="loses usage")
    suite = root / "parity_tests"
    suite.mkdir()
    (suite / "waivers.toml").write_text(WAIVER)
    (root / ".gitignore").write_text("parity-report/\n.parity/\n")
    git(root, "init", "-q")
    made = Signable(root)
    made.trust("alice", "bob")
    made.commit()
    made.journal()
    yield made
    inventory.code_components.cache_clear()
