from pathlib import Path

import pytest

from harness.config import default_equivalents
from harness.mutants.population import Population
from harness.mutants.record import RecordError, load_equivalents
from harness.mutants.source import CODE_ROOT

ENTRY = """
[[equivalent]]
fingerprint = "0123456789ab"
place = "services/a.py go"
change = "x < 1 becomes x <= 1"
reason = "x is never 1: it counts in steps of two from zero"
reader = "B. Reader"
"""


def written(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "equivalent_mutants.toml"
    file.write_text(text)
    return file


def test_records_are_read_by_fingerprint(tmp_path: Path) -> None:
    found = load_equivalents(written(tmp_path, f"format = 1\n{ENTRY}"))

    assert found.records["0123456789ab"].reader == "B. Reader"
    assert found.stale({"0123456789ab"}) == []
    assert [each.fingerprint for each in found.stale({"ffffffffffff"})] == ["0123456789ab"]


def test_no_file_has_no_records() -> None:
    assert load_equivalents(None).records == {}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("format = 2\n", "format"),
        (f"format = 1\n{ENTRY}{ENTRY}", "is there twice"),
        (f"format = 1\n{ENTRY}".replace("0123456789ab", "xyz"), "fingerprint"),
        (f"format = 1\n{ENTRY}".replace('reader = "B. Reader"', ""), "reader"),
        (f"format = 1\n{ENTRY}".replace("B. Reader", " "), "reader"),
        (
            f"format = 1\n{ENTRY}".replace(
                "x is never 1: it counts in steps of two from zero", "no idea"
            ),
            "reason",
        ),
        (f"format = 1\n{ENTRY}odd = 1\n", "odd"),
        ("format = ", "not TOML"),
    ],
)
def test_a_file_that_is_wrong_is_refused_by_its_key(
    tmp_path: Path, text: str, problem: str
) -> None:
    with pytest.raises(RecordError, match=problem):
        load_equivalents(written(tmp_path, text))


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="cannot be read"):
        load_equivalents(tmp_path)
    (tmp_path / "odd.toml").write_bytes(b"\xff\xfe\xfa")
    with pytest.raises(RecordError, match="cannot be read"):
        load_equivalents(tmp_path / "odd.toml")


def test_every_record_of_the_suite_is_of_a_mutant_that_there_is() -> None:
    equivalents = load_equivalents(default_equivalents())
    files = {record.place.split()[0].rstrip(",") for record in equivalents.records.values()}
    known = {mutant.fingerprint for mutant in Population.of(CODE_ROOT, files).mutants}

    assert equivalents.stale(known) == []
