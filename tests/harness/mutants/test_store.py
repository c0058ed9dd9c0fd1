"""Where the good runs are kept."""

import os
from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.mutants.store import Store
from runtimes.published import UpstreamUnavailable


def test_good_runs_are_kept_outside_of_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are pickles, and the working directory may be the checkout of a stranger."""
    monkeypatch.setenv("PARITY_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "checkout").mkdir()
    monkeypatch.chdir(tmp_path / "checkout")

    store = Store.open("digest")

    assert store.folder == tmp_path / "cache" / "mutants" / "digest"
    assert list(Path.cwd().iterdir()) == []


def test_only_the_newest_states_are_kept(tmp_path: Path) -> None:
    for age, name in enumerate(("b", "c", "d", "a")):
        Store.open(name, tmp_path)
        os.utime(tmp_path / name, (0, -age))

    Store.open("e", tmp_path)

    assert sorted(each.name for each in tmp_path.iterdir()) == ["b", "c", "e"]


def test_the_opened_state_is_kept_where_others_are_as_new(tmp_path: Path) -> None:
    """A file system may count time in steps: states that are opened in one step have one age."""
    for name in ("d", "c", "b"):
        Store.open(name, tmp_path)
        os.utime(tmp_path / name, (2**32, 2**32))

    Store.open("a", tmp_path)

    assert (tmp_path / "a").is_dir()
    assert len(list(tmp_path.iterdir())) == 3


def test_without_a_place_for_a_cache_the_error_says_how_to_name_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refused() -> Path:
        raise UpstreamUnavailable("there is no home folder", "name one")

    monkeypatch.setattr("harness.mutants.store.cache_folder", refused)

    with pytest.raises(UsageError, match="name one"):
        Store.open("digest")
