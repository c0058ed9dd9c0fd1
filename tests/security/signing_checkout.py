"""A repository with gates, a signed release record and its revocation, for tests that attack it."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness.cli import parity
from harness.gate.answer import GateAnswer
from harness.gate.here import here
from harness.inventory import environment
from harness.signoff.keys import SigningKey
from harness.signoff.records import HEAD_FILE, Record, read_record
from tests.harness.gate.checkout import git, made_checkout
from tests.harness.gate.green import DAY, GATES
from tests.harness.signoff.signed import ALICE, add, revoke

__all__ = ["FLAG", "REVOCATION", "SIGNED", "Attack", "Attacked", "git"]

FLAG = "experimental.adk.agentSessionNoninteractiveEnabled"
SIGNED, REVOCATION = "0001-A-release.json", "0002-revocation.json"


def _signer_block(key: SigningKey) -> str:
    """The `[signing]` table of gates that trust `key` under the name alice."""
    return f"""threshold = 1
[[signing.signer]]
name = "alice"
key = "{key.public.hexadecimal}"
phases = ["A", "B", "C"]
profiles = ["pull_request", "release"]
"""


class Attacked:
    """The repository, which is the working folder; `parity` is asked in it."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = made_checkout(root, monkeypatch)
        self.gates = root / "parity_tests" / "gates.toml"
        self.signoffs = root / "signoffs"
        self.monkeypatch = monkeypatch
        self.trust(ALICE)
        git(root, "init", "-q", "-b", "main")
        git(root, "config", "user.name", "n")
        git(root, "config", "user.email", "e@example.org")
        self.commit("the project")
        self.sign()
        self.before_the_revocation = (self.signoffs / HEAD_FILE).read_bytes()
        self.commit("signed")

    def trust(self, key: SigningKey) -> None:
        """Write gates that trust this key and no other."""
        self.gates.write_text(GATES.replace("threshold = 1\n", _signer_block(key), 1), "utf-8")

    def sign(self, key: SigningKey = ALICE, phase: str = "A", folder: Path | None = None) -> Record:
        """Append a release record over what is here."""
        place = here(None, None, DAY)
        return add(
            folder or self.signoffs,
            key,
            phase=phase,
            as_of=DAY.isoformat(),
            time="2026-03-01T12:00:00Z",
            answer=GateAnswer.of((), phase=phase, profile="release", as_of=DAY.isoformat()),
            components=place.current.components,
            environment=environment(),
        )

    def revoke(self, record: Path | None = None) -> None:
        """Append a revocation of the record and commit it."""
        revoke(self.signoffs, read_record(record or self.signoffs / SIGNED))
        self.commit("revoked")

    def undo(self, folder: Path | None = None) -> None:
        """Take the revocation away and put back the `HEAD` from before it: no key is needed."""
        place = folder or self.signoffs
        (place / REVOCATION).unlink()
        (place / HEAD_FILE).write_bytes(self.before_the_revocation)

    def copy(self, place: Path) -> Path:
        """A copy of the folder of records without the revocation."""
        shutil.copytree(self.signoffs, place)
        self.undo(place)
        return place

    def commit(self, words: str) -> None:
        git(self.root, "add", "-A")
        git(self.root, "commit", "-qm", words)

    def said(self, *words: str) -> str:
        """What git answers in the repository."""
        done = subprocess.run(["git", *words], cwd=self.root, check=True, capture_output=True)
        return done.stdout.decode().strip()

    def can_flip(self, *words: object) -> Result:
        return self._invoke("can-flip", FLAG, "--as-of", DAY.isoformat(), *words)

    def verify(self, *words: object) -> Result:
        return self._invoke("verify", *words)

    def _invoke(self, *words: object) -> Result:
        result = CliRunner().invoke(parity, [*map(str, words)], prog_name="parity")
        assert "Traceback" not in result.output
        assert result.exception is None or isinstance(result.exception, SystemExit)
        return result


Attack = Callable[[Attacked], None]
"""Something that is done to the repository."""
