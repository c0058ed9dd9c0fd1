"""Nothing but a key turns a no of `can-flip` into a yes: no file, link, setting or variable."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.security.signing_attacks import ATTACKS, NO, NOTHING_KNOWN, UNKNOWN
from tests.security.signing_checkout import REVOCATION, SIGNED, Attacked, git

pytestmark = pytest.mark.skipif(
    shutil.which("git") is None, reason="there is no git here; install it"
)


@pytest.fixture
def signed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Attacked:
    """Phase A is signed and committed; nothing was revoked."""
    return Attacked(tmp_path / "checkout", monkeypatch)


@pytest.fixture
def revoked(signed: Attacked) -> Attacked:
    """The record was revoked, and the revocation committed."""
    signed.revoke()
    assert signed.can_flip().exit_code == NO
    return signed


@pytest.mark.parametrize("name", ATTACKS)
def test_a_committed_revocation_cannot_be_undone_without_a_key(
    revoked: Attacked, name: str
) -> None:
    attack, code, says = ATTACKS[name]
    attack(revoked)

    result = revoked.can_flip()

    assert (result.exit_code, says in result.output) == (code, True), result.output
    verified = revoked.verify(*(() if name.startswith("the_folder_of_rec") else (SIGNED,)))
    assert verified.exit_code in (NO, UNKNOWN, 2), verified.output
    assert "holds\n" not in verified.output
