import json
from pathlib import Path

import pytest

from harness.cassette.find import find_cassettes
from harness.detection import found_before
from harness.detection.found_before import first_of_all, write

CORPUS = Path(__file__).parents[3] / "cassettes"


def row(name: str, cassette: str | None) -> dict[str, object]:
    corpus = None if cassette is None else {"cassette": cassette}
    return {"name": name, "corpus": corpus, "outcome": "killed" if corpus else "survived"}


def test_what_a_matrix_found_is_run_first_and_all_else_in_its_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    matrix, kept = tmp_path / "kills.json", tmp_path / "found.json"
    kept.write_text('{"an-older": "text/stop"}')
    matrix.write_text(json.dumps({"faults": [row("seen", "text/text"), row("unseen", None)]}))
    files = find_cassettes([CORPUS / "text"])

    assert write(matrix, kept) == 2
    monkeypatch.setattr(found_before, "_FILE", kept)
    found_before._known.cache_clear()
    try:
        first, *others = first_of_all("seen", files)
        assert first.name == "text/text"
        assert others == [file for file in files if file is not first]
        assert first_of_all("unseen", files) == files
    finally:
        found_before._known.cache_clear()


def test_the_file_names_faults_and_cassettes_that_there_are() -> None:
    from harness.faults.catalogue import faults

    known = found_before._known()
    names = {file.name for file in find_cassettes([CORPUS, CORPUS / "http"])}

    assert known
    assert set(known) <= set(faults())
    assert {name.removesuffix("@sessions") for name in known.values()} <= names
