"""Nothing but a key turns a no of `can-flip` into a yes: no file, link, setting or variable."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from harness.signoff.records import HEAD_FILE, read_record
from harness.signoff.statement import SignOff
from harness.signoff.writing import add_signature
from harness.triage import checkout as checkout_module
from tests.harness.signoff.signed import BOB, MALLORY, add, revoke, signing
from tests.security.signing_attacks import ATTACKS, NO, NOTHING_KNOWN, UNKNOWN
from tests.security.signing_checkout import REVOCATION, SIGNED, Attack, Attacked, git

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
@pytest.mark.sampled(20)
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


VARIABLES = {
    "GIT_DIR": "{other}/.git",
    "GIT_COMMON_DIR": "{other}/.git",
    "GIT_WORK_TREE": "{other}",
    "GIT_INDEX_FILE": "{other}/.git/index",
    "GIT_OBJECT_DIRECTORY": "{other}/.git/objects",
    "GIT_CEILING_DIRECTORIES": "{root}",
    "GIT_NAMESPACE": "other",
    "GIT_SHALLOW_FILE": "{other}/shallow",
    "GIT_CONFIG_GLOBAL": "{other}/config",
    "GIT_CONFIG_SYSTEM": "{other}/config",
    "GIT_CONFIG_PARAMETERS": "'core.worktree'='{other}'",
    "GIT_EXEC_PATH": "{other}",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NOGLOB_PATHSPECS": "1",
    "GIT_TRACE": "{other}/trace",
}


@pytest.mark.parametrize("name", VARIABLES)
@pytest.mark.sampled(15)
def test_no_variable_of_git_leads_to_another_history(revoked: Attacked, name: str) -> None:
    other = revoked.root.parent / "other"
    shutil.copytree(revoked.root, other)
    git(other, "reset", "-q", "--hard", "HEAD~1")
    git(other, "reflog", "expire", "--expire=all", "--all")
    (other / "config").write_text(f"[core]\n\tworktree = {other}\n")
    (other / "shallow").write_text(revoked.said("rev-parse", "HEAD") + "\n")
    revoked.undo()
    revoked.commit("as if it had never been")
    revoked.monkeypatch.setenv(name, VARIABLES[name].format(other=other, root=revoked.root.parent))

    result = revoked.can_flip()

    assert result.exit_code == NO, result.output
    assert f"{REVOCATION} was committed once and is gone" in result.output
    assert not (other / "trace").exists()


@pytest.mark.parametrize("path", [".:{path}", ":{path}", "bin:{path}"])
@pytest.mark.sampled(3)
def test_a_git_of_the_checkout_is_not_the_one_that_is_asked(revoked: Attacked, path: str) -> None:
    revoked.undo()
    for folder in (revoked.root, revoked.root / "bin"):
        folder.mkdir(exist_ok=True)
        (folder / "git").write_text(f"#!/bin/sh\ntouch {revoked.root.parent}/ran\n")
        (folder / "git").chmod(0o755)
    found = shutil.which("git")
    assert found is not None
    revoked.monkeypatch.setenv("PATH", path.format(path=Path(found).parent))

    assert revoked.can_flip().exit_code == NO
    assert not (revoked.root.parent / "ran").exists()


def test_nothing_that_the_repository_names_is_run(revoked: Attacked) -> None:
    """A checkout from elsewhere is asked about with no program of its own."""
    ran = revoked.root.parent / "ran"
    program = revoked.root.parent / "program"
    program.write_text(f'#!/bin/sh\necho "$0 $*" >> {ran}\ncat\n')
    program.chmod(0o755)
    hooks = revoked.root.parent / "hooks"
    hooks.mkdir()
    for name in ("post-index-change", "reference-transaction", "fsmonitor-watchman"):
        shutil.copy(program, hooks / name)
    revoked.undo()
    for key in (
        *("core.fsmonitor", "core.pager", "core.sshCommand", "core.askPass", "core.editor"),
        *("gpg.program", "gpg.ssh.program", "diff.external", "pager.log", "pager.rev-list"),
        *("diff.any.command", "diff.any.textconv", "core.alternateRefsCommand"),
        *("filter.any.clean", "filter.any.smudge", "filter.any.process"),
        *("credential.helper", "uploadpack.packObjectsHook", "remote.there.uploadpack"),
    ):
        git(revoked.root, "config", key, str(program))
    git(revoked.root, "config", "core.hooksPath", str(hooks))
    git(revoked.root, "config", "log.showSignature", "true")
    git(revoked.root, "config", "alias.rev-list", f"!{program}")
    (revoked.root / ".gitattributes").write_text("* filter=any diff=any\n")
    git(revoked.root, "config", "extensions.partialClone", "there")
    git(revoked.root, "config", "remote.there.promisor", "true")
    git(revoked.root, "config", "remote.there.url", str(revoked.root.parent))
    blob = revoked.said("rev-parse", f"HEAD:signoffs/{REVOCATION}")
    (revoked.root / ".git" / "objects" / blob[:2] / blob[2:]).unlink()

    result = revoked.can_flip("--policy-from", "HEAD")

    # What the partial clone lacks is not fetched, so the revocation cannot be read.
    assert result.exit_code in (NO, UNKNOWN), result.output
    assert not ran.exists(), ran.read_text()


def test_the_error_for_another_repository_says_what_to_do(revoked: Attacked) -> None:
    real = checkout_module.clean_environment
    revoked.monkeypatch.setattr(
        checkout_module,
        "clean_environment",
        lambda: {**real(), "GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"},
    )
    revoked.undo()

    result = revoked.can_flip()

    assert result.exit_code == UNKNOWN
    assert "dubious ownership" in result.output
    assert f"git config --global --add safe.directory {revoked.root}" in result.output


def test_records_in_another_repository_than_the_gates_flip_nothing(revoked: Attacked) -> None:
    other = revoked.root.parent / "other"
    other.mkdir()
    git(other, "init", "-q")
    revoked.copy(other / "signoffs")
    git(other, "add", "-A")
    git(other, "commit", "-qm", "x")

    result = revoked.can_flip("--signoffs", other / "signoffs")

    assert result.exit_code == UNKNOWN
    assert "is not in the repository" in result.output


def test_records_in_no_repository_flip_nothing(signed: Attacked, tmp_path: Path) -> None:
    shutil.copytree(signed.signoffs, tmp_path / "signoffs")

    result = signed.can_flip("--signoffs", tmp_path / "signoffs")

    assert result.exit_code == UNKNOWN
    assert "is not in the repository" in result.output


@pytest.mark.parametrize("committed", [False, True])
@pytest.mark.sampled(2)
def test_a_copy_in_another_folder_of_the_repository_stays_revoked(
    revoked: Attacked, committed: bool
) -> None:
    revoked.copy(revoked.root / "copy")
    if committed:
        revoked.commit("a copy")

    result = revoked.can_flip("--signoffs", "copy")

    assert result.exit_code == NO
    assert f"{SIGNED}: revoked by alice" in result.output


def test_a_link_on_the_way_to_the_records_is_refused(revoked: Attacked) -> None:
    outside = revoked.root.parent / "outside"
    outside.mkdir()
    revoked.copy(outside / "signoffs")
    (revoked.root / "link").symlink_to(outside)

    result = revoked.can_flip("--signoffs", "link/signoffs")

    assert result.exit_code == NO
    assert "link is a symbolic link" in result.output


def test_a_revocation_that_was_stripped_of_a_signature_with_its_record_still_counts(
    signed: Attacked,
) -> None:
    """A second signature changes the bytes of a record; the name in its folder does not change."""
    alone = (signed.signoffs / SIGNED).read_bytes()
    add_signature(signed.signoffs / SIGNED, BOB, signing())
    signed.revoke()
    git(signed.root, "checkout", "-q", "HEAD~1")
    assert (signed.signoffs / SIGNED).read_bytes() == alone

    result = signed.can_flip()

    assert result.exit_code == NO
    assert f"{SIGNED}: revoked by alice" in result.output


def test_a_revocation_on_a_branch_needs_a_key(signed: Attacked) -> None:
    """Without one, the right to push a branch would be the right to hold up a release."""
    git(signed.root, "checkout", "-q", "-b", "strange")
    record = signed.signoffs / SIGNED
    revoke(signed.signoffs, read_record(record), MALLORY)
    (signed.root / "9999-revocation.json").symlink_to("nowhere")
    (signed.root / "9998-revocation.json").write_text("{}")
    nested = signed.root / "9997-revocation.json"
    nested.mkdir()
    git(nested, "init", "-q")
    git(nested, "commit", "-q", "--allow-empty", "-m", "x")
    signed.commit("by another person")
    git(signed.root, "checkout", "-q", "-f", "main")
    shutil.rmtree(nested, ignore_errors=True)

    assert signed.can_flip().exit_code == 0


# What must go on working.


def linked_worktree(it: Attacked) -> None:
    place = it.root.parent / "worktree"
    git(it.root, "worktree", "add", "-q", "-b", "second", str(place))
    it.monkeypatch.chdir(place)


def worktree_inside_of_the_checkout(it: Attacked) -> None:
    git(it.root, "worktree", "add", "-q", "-b", "second", "trees/second")
    it.monkeypatch.chdir(it.root / "trees" / "second")


def detached_head(it: Attacked) -> None:
    git(it.root, "checkout", "-q", "--detach")


def folder_of_a_larger_repository(it: Attacked) -> None:
    (it.root / "project").mkdir()
    for name in ("parity_tests", "signoffs", "cassettes"):
        git(it.root, "mv", name, f"project/{name}")
    it.commit("the project moves into a folder")
    it.monkeypatch.chdir(it.root / "project")


def clone_within_an_unrelated_repository(it: Attacked) -> None:
    outer = it.root.parent
    git(outer, "init", "-q")
    (outer / "notes").write_text("mine")
    git(outer, "add", "notes")
    git(outer, "commit", "-qm", "x")


def submodule_with_gates_and_records(it: Attacked) -> None:
    outer = it.root.parent / "outer"
    outer.mkdir()
    git(outer, "init", "-q")
    allowed = ["-c", "protocol.file.allow=always"]
    git(outer, *allowed, "submodule", "--quiet", "add", str(it.root), "project")
    git(outer, "commit", "-qm", "x")
    it.monkeypatch.chdir(outer / "project")


def clone(it: Attacked) -> None:
    git(it.root.parent, "clone", "-q", str(it.root), "clone")
    it.monkeypatch.chdir(it.root.parent / "clone")


def reached_by_a_link_from_outside(it: Attacked) -> None:
    (it.root.parent / "link").symlink_to(it.root)
    it.monkeypatch.chdir(it.root.parent / "link")


def record_that_is_not_committed_yet(it: Attacked) -> None:
    it.sign()


def hidden_names(it: Attacked) -> None:
    git(it.root, "config", "core.quotePath", "true")
    (it.root / "signoffs" / "ß \n x").write_text("no record")
    it.commit("a strange name")


@pytest.mark.parametrize(
    "work",
    [
        linked_worktree,
        worktree_inside_of_the_checkout,
        detached_head,
        folder_of_a_larger_repository,
        clone_within_an_unrelated_repository,
        submodule_with_gates_and_records,
        clone,
        reached_by_a_link_from_outside,
        record_that_is_not_committed_yet,
        hidden_names,
    ],
    ids=lambda work: work.__name__,
)
@pytest.mark.sampled(5)
def test_ordinary_work_is_not_in_the_way(signed: Attacked, work: Attack) -> None:
    work(signed)

    result = signed.can_flip()

    assert result.exit_code == 0, result.output
    verified = signed.verify()
    assert verified.exit_code == 0, verified.output


# A key for one run.


def test_a_throwaway_key_works_outside_of_the_repository_and_flips_nothing(
    signed: Attacked, tmp_path: Path
) -> None:
    """As CI signs: key and records lie in a folder that is thrown away."""
    folder, public = tmp_path / "run" / "signoffs", tmp_path / "ci.pub"
    public.write_bytes(MALLORY.public.pem)
    said = signed.sign().statement
    assert isinstance(said, SignOff)
    (signed.signoffs / "0002-A-release.json").unlink()
    (signed.signoffs / HEAD_FILE).write_bytes(signed.before_the_revocation)
    add(
        folder,
        MALLORY,
        profile="pull_request",
        signer="ci",
        components=said.components,
        environment=said.environment,
    )

    result = signed.verify("--signoffs", folder, "--also-trust", f"ci={public}")

    assert result.exit_code == 0, result.output
    assert f"remark: {NOTHING_KNOWN}: " in result.output
    assert signed.verify("--signoffs", folder).exit_code == NO
    assert signed.can_flip("--signoffs", folder).exit_code != 0


def test_a_release_record_outside_of_the_repository_is_not_known_to_stand(
    signed: Attacked, tmp_path: Path
) -> None:
    shutil.copytree(signed.signoffs, tmp_path / "signoffs")
    public = tmp_path / "ci.pub"
    public.write_bytes(MALLORY.public.pem)

    for words in ((), ("--also-trust", f"ci={public}")):
        result = signed.verify("--signoffs", tmp_path / "signoffs", *words)

        assert result.exit_code == UNKNOWN, result.output
        assert f"not known: {NOTHING_KNOWN}" in result.output
