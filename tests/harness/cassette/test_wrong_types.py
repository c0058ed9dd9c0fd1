"""Values of the wrong type, and recordings that are too large: refused with their place."""

from pathlib import Path

import pytest

import harness.cassette.importing as importing
from harness.cassette.importing import import_responses
from harness.cassette.load import load_cassette
from harness.errors import CassetteFormatError

MINIMAL = "cassette: 1\nname: a/b\nsession: {model: m}\nscript: [{send: x}]\nmodel: [{text: y}]\n"


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        ("files: [a]\n", "files: must be a mapping"),
        ("home_files: text\n", "home_files: must be a mapping"),
        ("answers: [cancel]\n", "answers: must be a mapping"),
        ("provenance: me\n", "provenance: must be a mapping"),
    ],
)
def test_what_must_be_a_mapping_is_named(tmp_path: Path, extra: str, words: str) -> None:
    file = tmp_path / "a" / "b.yaml"
    file.parent.mkdir()
    file.write_text(MINIMAL + extra)

    with pytest.raises(CassetteFormatError, match=words):
        load_cassette(file, tmp_path)


def test_a_recording_that_is_too_large_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "MAX_BYTES", 10)
    file = tmp_path / "x.responses"
    file.write_text('{"method": "countTokens", "response": {"totalTokens": 1}}\n')

    with pytest.raises(CassetteFormatError, match="split the recording"):
        import_responses(file)
