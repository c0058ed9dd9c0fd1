"""Which files a report shows the text of: the cassettes it is about, and no other."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from harness.report.html_cassettes import MOST_CHARACTERS, cassette_text
from tests.services.redaction.specimens import GOOGLE as SECRET


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    file = tmp_path / "corpus" / "tools" / "read.yaml"
    file.parent.mkdir(parents=True)
    file.write_text("format: 1\n")
    return tmp_path / "corpus"


def test_a_cassette_is_shown(corpus: Path) -> None:
    found = cassette_text("tools/read", str(corpus / "tools" / "read.yaml"))

    assert found is not None
    assert (found.text, found.cut) == ("format: 1\n", False)


def test_a_long_one_is_cut(corpus: Path) -> None:
    file = corpus / "tools" / "read.yaml"
    file.write_text("é" * (MOST_CHARACTERS + 1))
    found = cassette_text("tools/read", str(file))

    assert found is not None
    assert (len(found.text), found.cut) == (MOST_CHARACTERS, True)


def test_one_that_is_no_text_is_shown_as_far_as_it_is(corpus: Path) -> None:
    file = corpus / "tools" / "read.yaml"
    file.write_bytes(b"a: \xff\xfe\n")
    found = cassette_text("tools/read", str(file))

    assert found is not None
    assert found.text == "a: \ufffd\ufffd\n"


def test_a_secret_that_chunks_cut_is_struck_out(corpus: Path) -> None:
    file = corpus / "tools" / "read.yaml"
    chunks = "".join(
        f'  - candidates: [{{content: {{parts: [{{text: "{SECRET[at : at + 7]}"}}]}}}}]\n'
        for at in range(0, len(SECRET), 7)
    )
    file.write_text(f"format: 1\nmodel:\n- stream:\n{chunks}")
    found = cassette_text("tools/read", str(file))

    assert found is not None
    assert "stream:" in found.text
    assert not any(SECRET[at : at + 7] in found.text for at in range(0, len(SECRET) - 7, 7))


def test_one_with_a_secret_that_cannot_be_struck_out_is_not_shown(corpus: Path) -> None:
    file = corpus / "tools" / "read.yaml"
    halves = (SECRET[:20], SECRET[20:])
    chunks = [{"candidates": [{"content": {"parts": [{"text": half}]}}]} for half in halves]
    body = "".join(f"data: {json.dumps(each)}\n\n" for each in chunks)
    file.write_text(json.dumps({"http": [{"body": body}]}))

    assert cassette_text("tools/read", str(file)) is None


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("tools/read", None),
        ("tools/read", "tools/nowhere.yaml"),
        ("tools/other", "tools/read.yaml"),
        ("../secret", "../secret.yaml"),
        ("tools/../../secret", "../secret.yaml"),
        ("secret", "tools/../../secret.toml"),
        ("", "tools/read.yaml"),
        ("tools/read", "tools"),
        ("tools/read", "tools/read.yaml\x00"),
        ("tools/loop", "tools/loop.yaml"),
        ("tools/link", "tools/link.yaml"),
        ("tools/pipe", "tools/pipe.yaml"),
    ],
)
def test_nothing_else_is_read(corpus: Path, name: str, file: str | None) -> None:
    (corpus.parent / "secret.yaml").write_text("secret")
    (corpus.parent / "secret.toml").write_text("secret")
    (corpus / "tools" / "loop.yaml").symlink_to("loop.yaml")
    (corpus / "tools" / "link.yaml").symlink_to("../../secret.yaml")
    os.mkfifo(corpus / "tools" / "pipe.yaml")  # reading it would never end

    assert cassette_text(name, None if file is None else str(corpus / file)) is None


def test_an_absolute_name_is_none(corpus: Path) -> None:
    file = corpus / "tools" / "read.yaml"

    assert cassette_text(str(file.with_suffix("")), str(file)) is None
