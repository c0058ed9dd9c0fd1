import json
from pathlib import Path

import pytest

from harness.canonical import canonical
from harness.signoff.envelope import rendered, seal
from harness.signoff.problems import RecordRefused
from harness.signoff.records import file_name, is_record_name, read_head, read_record
from harness.signoff.statement import payload_of
from tests.harness.signoff.signed import ALICE, add, revoke, sign_off


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("0001-A-release.json", True),
        ("9999-C-pull_request.json", True),
        ("0002-revocation.json", True),
        ("1-A-release.json", False),
        ("0001-D1-release.json", False),
        ("0001-read-only-release.json", True),
        ("0001-A-everything.json", False),
        ("0001-A-release.json.part", False),
        ("\u0660001-A-release.json", False),
    ],
)
def test_a_record_is_known_by_its_name(name: str, is_one: bool) -> None:
    assert is_record_name(name) is is_one


def test_records_are_named_for_what_they_say(tmp_path: Path) -> None:
    record = add(tmp_path, phase="B", profile="pull_request")

    assert record.name == file_name(record.statement) == "0001-B-pull_request.json"
    assert revoke(tmp_path, record).name == "0002-revocation.json"


def test_a_field_with_escapes_in_its_name_is_shown_harmless(tmp_path: Path) -> None:
    statement = json.loads(payload_of(sign_off()))
    statement["predicate"]["\x1b[2J\u202e"] = 1
    file = tmp_path / "0001-A-release.json"
    file.write_bytes(rendered(seal(canonical(statement).encode(), ALICE)))

    with pytest.raises(RecordRefused) as caught:
        read_record(file)

    assert "\\x1b[2J\\u202e" in str(caught.value)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("kind", ["folder", "pipe", "gone"])
def test_what_is_no_file_is_no_record_and_nothing_waits_for_it(tmp_path: Path, kind: str) -> None:
    import os

    file = tmp_path / "0001-A-release.json"
    if kind == "folder":
        file.mkdir()
    elif kind == "pipe":
        os.mkfifo(file)

    with pytest.raises(RecordRefused):
        read_record(file)


def test_a_head_that_is_a_link_is_refused(tmp_path: Path) -> None:
    add(tmp_path)
    head = tmp_path / "HEAD"
    head.rename(tmp_path / "elsewhere")
    head.symlink_to("elsewhere")

    with pytest.raises(RecordRefused, match="symbolic link"):
        read_head(tmp_path)


def test_a_link_to_nowhere_is_not_taken_for_no_head(tmp_path: Path) -> None:
    (tmp_path / "HEAD").symlink_to("nowhere")

    with pytest.raises(RecordRefused, match="symbolic link"):
        read_head(tmp_path)
