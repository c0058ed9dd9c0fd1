"""Ways to take a committed revocation back without a key, each with what must be answered."""

from __future__ import annotations

import os
import shutil

from harness.signoff.records import HEAD_FILE
from tests.security.signing_checkout import REVOCATION, SIGNED, Attack, Attacked, git

__all__ = ["ATTACKS", "NO", "NOTHING_KNOWN", "UNKNOWN"]

NO, UNKNOWN = 1, 3
NOTHING_KNOWN = "git cannot say whether records were taken away"


def git_init_signoffs(it: Attacked) -> None:
    it.undo()
    git(it.signoffs, "init", "-q")


def git_init_signoffs_and_commit(it: Attacked) -> None:
    git_init_signoffs(it)
    git(it.signoffs, "add", "-A")
    git(it.signoffs, "commit", "-qm", "x")


def signoffs_is_a_link_to_a_copy_outside(it: Attacked) -> None:
    copy = it.copy(it.root.parent / "copy")
    shutil.rmtree(it.signoffs)
    it.signoffs.symlink_to(copy)


def signoffs_is_a_link_to_a_copy_inside(it: Attacked) -> None:
    copy = it.copy(it.root / "copy")
    shutil.rmtree(it.signoffs)
    it.signoffs.symlink_to(copy.name)


def signoffs_is_a_link_to_itself(it: Attacked) -> None:
    shutil.rmtree(it.signoffs)
    it.signoffs.symlink_to("signoffs")


def the_link_is_committed(it: Attacked) -> None:
    signoffs_is_a_link_to_a_copy_inside(it)
    it.commit("a link")


def git_is_not_on_the_path(it: Attacked) -> None:
    it.undo()
    empty = it.root.parent / "empty"
    empty.mkdir()
    it.monkeypatch.setenv("PATH", str(empty))


def git_cannot_be_started(it: Attacked) -> None:
    git_is_not_on_the_path(it)
    (it.root.parent / "empty" / "git").write_text("no program")


def the_folder_of_the_repository_is_gone(it: Attacked) -> None:
    it.undo()
    shutil.rmtree(it.root / ".git")


def the_repository_is_a_new_one_without_a_commit(it: Attacked) -> None:
    the_folder_of_the_repository_is_gone(it)
    git(it.root, "init", "-q")


def the_branch_has_no_commit_yet(it: Attacked) -> None:
    it.undo()
    git(it.root, "checkout", "-q", "--orphan", "other")


def another_first_commit(it: Attacked) -> None:
    the_branch_has_no_commit_yet(it)
    it.commit("as if from the beginning")


def git_is_led_to_another_repository_by_a_file(it: Attacked) -> None:
    it.undo()
    other = it.root.parent / "other"
    shutil.copytree(it.root, other)
    shutil.rmtree(other / ".git")
    git(other, "init", "-q", "-b", "main")
    git(other, "add", "-A")
    git(other, "commit", "-qm", "x")
    shutil.rmtree(it.root / ".git")
    (it.root / ".git").write_text(f"gitdir: {other / '.git'}\n")


def git_is_led_to_another_repository_by_a_link(it: Attacked) -> None:
    git_is_led_to_another_repository_by_a_file(it)
    (it.root / ".git").unlink()
    (it.root / ".git").symlink_to(it.root.parent / "other" / ".git")


def the_work_tree_is_said_to_be_elsewhere(it: Attacked) -> None:
    it.undo()
    elsewhere = it.root.parent / "elsewhere"
    elsewhere.mkdir()
    git(it.root, "config", "core.worktree", str(elsewhere))


def the_repository_calls_itself_bare(it: Attacked) -> None:
    it.undo()
    git(it.root, "config", "core.bare", "true")


def the_folder_of_records_is_deleted(it: Attacked) -> None:
    shutil.rmtree(it.signoffs)


def marked_so_that_git_does_not_look(how: str) -> Attack:
    def attack(it: Attacked) -> None:
        git(it.root, "update-index", how, f"signoffs/{REVOCATION}", "signoffs/HEAD")
        it.undo()

    return attack


def ignored_by(file: str) -> Attack:
    def attack(it: Attacked) -> None:
        with (it.root / file).open("a") as stream:
            stream.write("signoffs\n")
        it.undo()

    return attack


def deleted_by_a_commit(it: Attacked) -> None:
    it.undo()
    it.commit("as if it had never been")


def merged_away(it: Attacked) -> None:
    """A merge whose records are those of its first parent: `git log` follows no other parent."""
    deleted_by_a_commit(it)
    git(it.root, "checkout", "-q", "-b", "side", "HEAD~2")
    git(it.root, "commit", "-q", "--allow-empty", "-m", "beside it")
    git(it.root, "merge", "-q", "-s", "ours", "-m", "merged", "main")
    git(it.root, "update-ref", "refs/heads/main", "side")


def replaced_in_history(it: Attacked) -> None:
    it.undo()
    it.commit("as if it had never been")
    git(it.root, "replace", "HEAD~1", "HEAD~2")
    git(it.root, "replace", "--graft", "HEAD", "HEAD~3")


def grafted(it: Attacked) -> None:
    it.undo()
    it.commit("as if it had never been")
    ours, before = it.said("rev-parse", "HEAD"), it.said("rev-parse", "HEAD~2")
    (it.root / ".git" / "info" / "grafts").write_text(f"{ours} {before}\n")


def a_cache_lies_about_parents(it: Attacked) -> None:
    """The commit graph, which git takes for the commits, names another parent of the last one."""
    deleted_by_a_commit(it)
    git(it.root, "commit-graph", "write", "--reachable")
    file = it.root / ".git" / "objects" / "info" / "commit-graph"
    raw = bytearray(file.read_bytes())
    chunks = {bytes(raw[at : at + 4]): int.from_bytes(raw[at + 4 : at + 12]) for at in _table(raw)}
    order = sorted(it.said("rev-list", "HEAD").split())
    last, first = (order.index(it.said("rev-parse", name)) for name in ("HEAD", "HEAD~2"))
    entry = chunks[b"CDAT"] + 36 * last + 20  # after the hash of the tree
    raw[entry : entry + 4] = first.to_bytes(4)
    file.chmod(0o644)
    file.write_bytes(raw)
    assert it.said("rev-list", "--count", "HEAD") == "3"


def _table(raw: bytearray) -> range:
    """Where the entries of a commit graph's table of chunks begin."""
    return range(8, 8 + 12 * raw[6], 12)


def shallow(it: Attacked) -> None:
    deleted_by_a_commit(it)
    url, clone = it.root.as_uri(), it.root.parent / "clone"
    git(it.root.parent, "clone", "-q", "--depth", "1", url, str(clone))
    it.monkeypatch.chdir(clone)


def history_before_the_revocation(*words: str) -> Attack:
    def attack(it: Attacked) -> None:
        git(it.root, *words)

    return attack


def reset_without_a_reflog(it: Attacked) -> None:
    """Another branch still has the revocation, as a remote's usually has."""
    git(it.root, "branch", "elsewhere")
    git(it.root, "reset", "-q", "--hard", "HEAD~1")
    git(it.root, "reflog", "expire", "--expire=all", "--all")


def moved_to_another_folder(it: Attacked) -> None:
    (it.root / "moved").mkdir()
    for name in ("parity_tests", "signoffs", "cassettes"):
        git(it.root, "mv", name, f"moved/{name}")
    it.undo(it.root / "moved" / "signoffs")
    it.commit("moved")
    it.monkeypatch.chdir(it.root / "moved")


def a_repository_within_the_repository(it: Attacked) -> None:
    """The project lies in a folder of a larger repository, and becomes one of its own."""
    (it.root / "project").mkdir()
    for name in ("parity_tests", "signoffs", "cassettes"):
        git(it.root, "mv", name, f"project/{name}")
    it.commit("the project moves into a folder")
    inner = it.root / "project"
    it.monkeypatch.chdir(inner)
    assert it.can_flip().exit_code == NO
    it.undo(inner / "signoffs")
    git(inner, "init", "-q")
    git(inner, "add", "-A")
    git(inner, "commit", "-qm", "as if from the beginning")


def records_of_a_submodule(it: Attacked) -> None:
    other = it.copy(it.root.parent / "records")
    git(other, "init", "-q")
    git(other, "add", "-A")
    git(other, "commit", "-qm", "x")
    git(it.root, "rm", "-rq", "signoffs")
    allowed = ["-c", "protocol.file.allow=always"]
    git(it.root, *allowed, "submodule", "--quiet", "add", str(other), "signoffs")
    it.commit("records are a submodule")


def files_in_a_submodule_that_is_not_there(it: Attacked) -> None:
    records_of_a_submodule(it)
    (it.signoffs / ".git").unlink()


def a_record_is_a_link(it: Attacked) -> None:
    it.undo()
    (it.signoffs / SIGNED).rename(it.root / "record")
    (it.signoffs / SIGNED).symlink_to("../record")


def head_is_a_link(it: Attacked) -> None:
    it.undo()
    (it.signoffs / HEAD_FILE).rename(it.root / "head")
    (it.signoffs / HEAD_FILE).symlink_to("../head")


def head_is_a_pipe(it: Attacked) -> None:
    it.undo()
    (it.signoffs / HEAD_FILE).unlink()
    os.mkfifo(it.signoffs / HEAD_FILE)


def settings_hide_commits(it: Attacked) -> None:
    for name, value in [
        ("log.showRoot", "false"),
        ("log.diffMerges", "off"),
        ("log.follow", "true"),
        ("diff.relative", "true"),
        ("color.ui", "always"),
        ("core.ignoreCase", "true"),
    ]:
        git(it.root, "config", name, value)
    merged_away(it)


ATTACKS: dict[str, tuple[Attack, int, str]] = {
    attack.__name__: (attack, code, says)
    for attack, code, says in [
        (git_init_signoffs, NO, "is a repository of its own"),
        (git_init_signoffs_and_commit, NO, "is a repository of its own"),
        (signoffs_is_a_link_to_a_copy_outside, NO, "signoffs is a symbolic link"),
        (signoffs_is_a_link_to_a_copy_inside, NO, "signoffs is a symbolic link"),
        (signoffs_is_a_link_to_itself, NO, "signoffs is a symbolic link"),
        (the_link_is_committed, NO, "signoffs is a symbolic link"),
        (git_is_not_on_the_path, UNKNOWN, f"{NOTHING_KNOWN}: there is no git on PATH"),
        (git_cannot_be_started, UNKNOWN, f"{NOTHING_KNOWN}: git cannot be started"),
        (the_folder_of_the_repository_is_gone, UNKNOWN, f"{NOTHING_KNOWN}: "),
        (the_repository_is_a_new_one_without_a_commit, UNKNOWN, f"{NOTHING_KNOWN}: "),
        (the_branch_has_no_commit_yet, UNKNOWN, f"{NOTHING_KNOWN}: "),
        (another_first_commit, NO, f"{SIGNED}: revoked by alice"),
        (git_is_led_to_another_repository_by_a_file, NO, ".git leads to"),
        (git_is_led_to_another_repository_by_a_link, NO, ".git is a symbolic link"),
        (the_work_tree_is_said_to_be_elsewhere, UNKNOWN, f"{NOTHING_KNOWN}: "),
        (the_repository_calls_itself_bare, UNKNOWN, f"{NOTHING_KNOWN}: "),
        (the_folder_of_records_is_deleted, NO, f"{SIGNED} was committed once and is gone"),
        (deleted_by_a_commit, NO, f"{REVOCATION} was committed once and is gone"),
        (merged_away, NO, f"{REVOCATION} was committed once and is gone"),
        (replaced_in_history, NO, f"{REVOCATION} was committed once and is gone"),
        (grafted, NO, f"{REVOCATION} was committed once and is gone"),
        (a_cache_lies_about_parents, NO, f"{REVOCATION} was committed once and is gone"),
        (shallow, UNKNOWN, "shallow"),
        (reset_without_a_reflog, NO, f"{SIGNED}: revoked by alice"),
        (moved_to_another_folder, NO, f"{SIGNED}: revoked by alice"),
        (a_repository_within_the_repository, NO, "lies within the repository"),
        (records_of_a_submodule, NO, "is a repository of its own"),
        (files_in_a_submodule_that_is_not_there, NO, "is committed as a link or a submodule"),
        (a_record_is_a_link, NO, "is a symbolic link"),
        (head_is_a_link, NO, "is a symbolic link"),
        (head_is_a_pipe, NO, "is no regular file"),
        (settings_hide_commits, NO, f"{REVOCATION} was committed once and is gone"),
    ]
}
for _name, _attack in [
    ("assume unchanged", marked_so_that_git_does_not_look("--assume-unchanged")),
    ("skip worktree", marked_so_that_git_does_not_look("--skip-worktree")),
    ("git/info/exclude", ignored_by(".git/info/exclude")),
    ("gitignore", ignored_by(".gitignore")),
]:
    ATTACKS[_name] = (_attack, NO, f"{REVOCATION} was committed once and is gone")
for _words in (
    ("reset", "-q", "--hard", "HEAD~1"),
    ("checkout", "-q", "HEAD~1"),
    ("checkout", "-q", "-b", "old", "HEAD~1"),
):
    ATTACKS[" ".join(_words)] = (
        history_before_the_revocation(*_words),
        NO,
        f"{SIGNED}: revoked by alice",
    )
