from pathlib import Path

from harness.replay.envelope import changes, folder_state, open_envelope, write_files


def test_files_are_made_with_their_folders_and_scripts_can_run(tmp_path: Path) -> None:
    write_files(tmp_path, {"a/b.txt": "text", "run.sh": "#!/bin/sh\n", "raw": b"\xff"})

    assert (tmp_path / "a" / "b.txt").read_text() == "text"
    assert (tmp_path / "run.sh").stat().st_mode & 0o111
    assert (tmp_path / "raw").read_bytes() == b"\xff"


def test_changes_name_what_is_new_other_or_gone(tmp_path: Path) -> None:
    write_files(tmp_path, {"kept": "k", "other": "1", "gone": "g"})
    before = folder_state(tmp_path)
    write_files(tmp_path, {"other": "2", "new/deep": "n", "raw": b"\xff\xfe"})
    (tmp_path / "gone").unlink()

    assert changes(before, folder_state(tmp_path)) == {
        "gone": None,
        "new/deep": "n",
        "other": "2",
        "raw": "base64://4=",
    }


def test_links_are_read_as_where_they_point(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc/hostname")

    assert folder_state(tmp_path) == {"link": b"-> /etc/hostname"}


def test_every_run_gets_folders_of_its_own_with_names_of_one_length() -> None:
    with open_envelope() as one, open_envelope() as other:
        assert one.workspace.root != other.workspace.root
        assert len(str(one.workspace.root)) == len(str(other.workspace.root))
        assert one.workspace.root.name == "ws"
        root = one.workspace.root

    assert not root.exists()


def test_files_of_a_run_are_of_different_ages_in_the_order_of_the_cassette(tmp_path):
    names = ["c.txt", "a.txt", "sub/b.txt"]
    write_files(tmp_path, dict.fromkeys(names, "x"))
    (tmp_path / "later.txt").write_text("x")
    ages = [(tmp_path / name).stat().st_mtime_ns for name in [*names, "later.txt"]]
    assert ages == sorted(set(ages))
