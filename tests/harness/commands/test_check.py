"""`parity check`: all problems of all cassettes, one line each."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness.cli import parity
from tests.services.redaction.specimens import GOOGLE

SOUND = "cassette: 1\nname: a/sound\nsession: {model: m}\nscript: [{send: Hi}]\nmodel: []\n"
BAD = f"""\
cassette: 1
name: a/bad
surprise: 1
another: 2
phase: Z
session: {{model: '', aproval_mode: yolo, interactive: 'no', settings: {{sandbx: 1, model: 3}}}}
files: {{../up: text, notes.txt: {GOOGLE}}}
script: [{{sendd: Hi}}, {{send: Hi}}, {{write_file: {{path: x}}}}]
during: [{{when: {{request: -1}}, do: abort}}]
model: [{{txt: a}}, {{text: fine}}, {{text: b, oops: 1}}]
unused: [-1]
"""
KEYS = [
    "surprise",
    "another",
    "session.aproval_mode",
    "session.model",
    "session.settings.sandbx",
    "session.settings.model",
    "session.interactive",
    "model[0]",
    "model[2].oops",
    "phase",
    "files.../up",
    "script[0].sendd",
    "script[2].write_file.text",
    "during[0].when.request",
    "unused[0]",
    "files.notes.txt",
]


def check(folder: Path, **files: str) -> Result:
    for name, text in files.items():
        place = folder / "a" / f"{name}.yaml"
        place.parent.mkdir(exist_ok=True)
        place.write_text(text)
    return CliRunner().invoke(parity, ["check", str(folder)], prog_name="parity")


def test_no_problem_hides_another(tmp_path: Path) -> None:
    result = check(tmp_path, bad=BAD, sound=SOUND)

    lines = result.stderr.splitlines()
    file = tmp_path / "a" / "bad.yaml"
    assert result.exit_code == 2
    assert [line.removeprefix(f"{file}: ").split(": ")[0] for line in lines[:-1]] == KEYS
    assert lines[-1] == f"1 of 2 cassettes cannot be used: {len(KEYS)} problems"
    assert GOOGLE not in result.output


def test_the_secrets_of_a_cassette_that_cannot_be_loaded_are_found_too(tmp_path: Path) -> None:
    result = check(tmp_path, bad=f"cassette: 1\nnote: {GOOGLE}\n")

    assert "note: holds a secret" in result.stderr
    assert "session: is missing" in result.stderr


@pytest.mark.parametrize(
    ("text", "words"),
    [("", "is empty"), ("cassette: [", "bad.yaml: line"), ("cassette: 2\n", "format version 2")],
)
def test_what_is_no_cassette_is_one_problem(tmp_path: Path, text: str, words: str) -> None:
    result = check(tmp_path, bad=text)

    assert words in result.stderr
    assert result.stderr.endswith("1 of 1 cassettes cannot be used: 1 problem\n")


def test_of_very_many_problems_the_first_are_listed(tmp_path: Path) -> None:
    many = "".join(f"key{n}: 1\n" for n in range(5000))

    result = check(tmp_path, bad=SOUND.replace("a/sound", "a/bad") + many)

    assert "bad.yaml: has more problems than these; mend these first" in result.stderr
    assert result.stderr.endswith("1 of 1 cassettes cannot be used: 1001 problems\n")


def test_steps_that_cannot_be_read_refuse_no_index(tmp_path: Path) -> None:
    text = SOUND.replace("a/sound", "a/bad").replace("[]\n", "[{txt: a}]\nunused: [0]\n")

    assert "1 problem\n" in check(tmp_path, bad=text).stderr


def test_a_setting_that_has_no_effect_is_named_and_the_cassette_is_valid(tmp_path: Path) -> None:
    settings = "{model: m, settings: {billing: {overageStrategy: never}, useRipgrep: true}}"
    result = check(tmp_path, sound=SOUND.replace("{model: m}", settings))

    (line,) = result.stderr.splitlines()
    assert (result.exit_code, result.stdout) == (0, "1 cassette: all valid\n")
    assert line.startswith(
        f"{tmp_path}/a/sound.yaml: session.settings: The setting billing has no effect: "
    )
