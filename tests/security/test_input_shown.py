"""What a terminal or an editor would show otherwise than it is: written as an escape.

Marks of direction (U+202E and its kin) turn the text around them about, escape sequences move the
cursor, and a line's end forges a line of output.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from harness.cassette.document import parse_document
from harness.cassette.dump import dump_yaml
from harness.cli import parity
from harness.errors import CassetteError, UsageError
from services.model.errors import FatalConfigError
from surfaces.headless.settings_files import load_settings

ODD = "\u202etxt.\u2066exe\x1b[31m\x07\u200b\u2028\x85\ufeff"
FILE = "n\u202e\x1b[31m"


def ask(*words: str) -> Result:
    return CliRunner().invoke(parity, list(words), color=True)


def shown(result: Result) -> str:
    hidden = {char for char in result.output if not char.isprintable()} - {"\n"}
    assert not hidden, result.output
    assert "Traceback" not in result.output
    return result.output


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """`c` with cassettes of odd names and texts, sound and not; a recording beside it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "c").mkdir()
    sound: dict[str, Any] = {
        "cassette": 1,
        "note": ODD,
        "session": {"model": "m"},
        "script": [{"send": ODD}],
        "model": [{"text": f"one\n{ODD}\n"}],
    }
    wrong: dict[str, dict[str, Any]] = {
        "plain": {},
        FILE: {},
        "key": {ODD: 1},
        f"wrong{FILE}": {"session": 1},
        "outside": {"files": {f"../{ODD}": "x"}},
        "contract": {"contract": [f"P-{ODD}"]},
        "answers": {"answers": {"confirmations": [ODD]}},
    }
    for name, changes in wrong.items():
        document = json.dumps({**sound, "name": name, **changes})
        (tmp_path / "c" / f"{name}.json").write_text(document)
    line = {"method": "generateContent", "response": {"modelVersion": ODD}}
    (tmp_path / f"{FILE}.responses").write_text(json.dumps(line))
    (tmp_path / f"bad{FILE}.responses").write_text(json.dumps({"method": ODD}))
    return tmp_path


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    "words",
    [
        ("list", "c"),
        ("check", "c"),
        ("run", "c", "--no-keep"),
        ("show", "c/plain.json"),
        ("show", f"c/{FILE}.json"),
        ("show", "c/key.json"),
        ("show", f"no{FILE}"),
        ("trace", "c", "--runtime", "legacy", "--out", "traces"),
        ("baseline", "c", "--runtime", "legacy", "--out", "kept"),
        ("import", f"{FILE}.responses", f"bad{FILE}.responses", "--out", "o"),
        ("run", "c/plain.json", "--no-keep", "--waivers", f"{FILE}.toml"),
        ("diff", FILE, FILE),
        ("merge", FILE),
    ],
    ids=lambda words: " ".join(words).encode("ascii", "replace").decode(),
)
def test_no_command_writes_what_is_not_seen(words: tuple[str, ...]) -> None:
    shown(ask(*words))


def test_an_imported_cassette_is_shown_and_written_with_escapes(folder: Path) -> None:
    ask("import", f"{FILE}.responses", "--out", "o")
    (written,) = (folder / "o").rglob("*.yaml")

    text = written.read_text("utf-8")

    assert "\\u202e" in text
    assert not {char for char in text if not char.isprintable()} - {"\n"}
    assert "\\u202e" in shown(ask("show", str(written)))


@pytest.mark.parametrize("text", [ODD, f"a\n{ODD}\n", "\u00ad", "é\u3000漢字", "a\nb\n", "x"])
def test_what_is_escaped_loads_back_to_the_same(text: str) -> None:
    document = {"cassette": 1, text: text, "list": [text, {"inner": text}]}

    assert parse_document(dump_yaml(document)) == document


def test_ordinary_text_keeps_its_form() -> None:
    assert dump_yaml({"a": "one\ntwo\n", "b": "é 漢字"}) == "a: |\n  one\n  two\nb: é 漢字\n"


def test_every_message_of_the_harness_is_printable() -> None:
    for error in (
        UsageError(f"no {ODD}", "mend\nsecond line"),
        CassetteError(FILE, ODD, ODD, ODD),
    ):
        assert all(line.isprintable() for line in str(error).split("\n"))


def test_the_error_for_an_unusable_setting_is_printable(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_text(json.dumps({"mcpServers": {ODD: 1}, "model": {"maxSessionTurns": ODD}}))

    with pytest.raises(FatalConfigError) as caught:
        load_settings([file], {}, required=True)

    assert str(caught.value).isprintable()
    assert "\\u202e" in str(caught.value)
