from pathlib import Path

import pytest

import harness
from harness.inventory import CODE as PACKAGES
from harness.inventory import Component, Inventory
from harness.signoff.clean import clean_revision, stray_packages
from harness.signoff.material import refuse_unreadable
from harness.signoff.problems import SigningRefused
from tests.harness.signoff.signable import git

CODE = ["services/clock.py"]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A checkout with a source file, a cassette and a folder of records."""
    root = tmp_path / "tree"
    for name in ("services/clock.py", "cassettes/a.yaml", "signoffs/README.md"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x\n")
    (root / ".gitignore").write_text("ignored*\n")
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "x")
    return root


def revision(tree: Path, code: list[str] = CODE, *, installed: bool = False) -> str | None:
    places = [tree / "cassettes" / "a.yaml"]
    return clean_revision(None if installed else tree, code, places, tree / "signoffs")


def test_a_clean_checkout_is_known_by_its_commit(tree: Path) -> None:
    found = revision(tree)

    assert found is not None
    assert len(found) == 40


def test_installed_code_has_no_commit(tree: Path) -> None:
    assert revision(tree, installed=True) is None


def test_ignored_files_and_records_make_nothing_dirty(tree: Path) -> None:
    (tree / "ignored.txt").write_text("x")
    (tree / "signoffs" / "0001-A-release.json").write_text("x")

    assert revision(tree)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("services/clock.py", "services/clock.py is changed"),
        ("cassettes/a.yaml", "cassettes/a.yaml is changed"),
        ("new.txt", "new.txt is not tracked"),
    ],
)
def test_what_is_not_as_committed_is_named(tree: Path, name: str, says: str) -> None:
    (tree / name).write_text("y\n")

    with pytest.raises(SigningRefused, match=says):
        revision(tree)


def test_a_staged_change_is_no_commit(tree: Path) -> None:
    (tree / "services" / "clock.py").write_text("y\n")
    git(tree, "add", "-A")

    with pytest.raises(SigningRefused, match="is changed"):
        revision(tree)


@pytest.mark.parametrize("how", ["--assume-unchanged", "--skip-worktree"])
def test_a_file_that_git_does_not_watch_is_named(tree: Path, how: str) -> None:
    git(tree, "update-index", how, "services/clock.py")
    (tree / "services" / "clock.py").write_text("y\n")

    with pytest.raises(SigningRefused, match=r"services/clock\.py is marked"):
        revision(tree)


def test_a_source_file_that_git_ignores_is_named(tree: Path) -> None:
    (tree / "services" / "ignored.py").write_text("y\n")

    with pytest.raises(SigningRefused, match=r"git does not know .*: services/ignored\.py"):
        revision(tree, [*CODE, "services/ignored.py"])


def test_a_variable_of_a_hook_does_not_point_elsewhere(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))

    assert revision(tree)


def test_what_lies_in_no_checkout_is_refused(tree: Path, tmp_path: Path) -> None:
    stray = tmp_path / "stray" / "a.yaml"
    stray.parent.mkdir()
    stray.write_text("x")

    with pytest.raises(SigningRefused, match="is in no checkout"):
        clean_revision(tree, CODE, [stray], tree / "signoffs")


def test_a_file_that_cannot_be_read_cannot_be_signed_for() -> None:
    refuse_unreadable(Inventory({"distributions": Component({"click": "8.1"})}))

    with pytest.raises(SigningRefused, match=r"cannot be read: services/x\.py"):
        refuse_unreadable(Inventory({"services": Component({"services/x.py": "unreadable"})}))


def test_a_package_that_comes_from_elsewhere_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine").mkdir()
    for place in ("mine/own_one", "mine/own_two", "other/own_two"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "__init__.py").write_text("")
    names = ["own_one", "own_two", "own_three"]
    monkeypatch.syspath_prepend(tmp_path / "mine")
    assert stray_packages(names[:2], tmp_path / "mine") == []

    monkeypatch.syspath_prepend(tmp_path / "other")

    assert stray_packages(names, tmp_path / "mine") == [
        f"own_two ({tmp_path / 'other' / 'own_two' / '__init__.py'})",
        "own_three (None)",
    ]


def test_our_own_packages_come_from_one_place() -> None:
    assert stray_packages(PACKAGES, Path(harness.__file__).parents[1]) == []
