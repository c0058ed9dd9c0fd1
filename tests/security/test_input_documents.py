"""Documents that can be read in two ways, or hold more than their readers can: refused in words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.cassette.document import parse_document
from harness.cassette.find import name_filter
from harness.cassette.importing import import_responses
from harness.cassette.load import build_cassette
from harness.cassette.problems import FormatProblem
from harness.errors import CassetteFormatError, UsageError
from harness.http.vcr_cassettes import load_recording
from harness.replay.runner import run_cassette
from services.hooks.outputs import parse_output
from services.json_values import MOST_LEVELS, is_deeper, parse_json
from services.mcp.json_text import parse_json as parse_message
from services.model.errors import FatalConfigError
from services.model.replay.responses import ResponsesFormatError, parse_responses
from services.policy.rules import Tier
from services.policy.toml_files import load_policies
from services.wire import js_json
from surfaces.headless.settings_files import load_settings

DIGITS = "9" * 5_000
EXCHANGE = """\
- request: {method: POST, uri: "https://generativelanguage.googleapis.com/v1beta/models/m:generateContent", body: "{}"}
  response:
    status: {code: 200, message: OK}
    headers: {a: [b]}
    body: {string: '{"candidates": []}'}
"""  # noqa: E501 - an address


def nested(levels: int) -> str:
    return "[" * levels + "]" * levels


@pytest.mark.parametrize("text", ["010", "-017", "1:30", "1:30.5", "1_000", "1_0.5", "0b11"])
def test_a_number_that_two_versions_of_yaml_read_differently_is_refused(text: str) -> None:
    with pytest.raises(FormatProblem) as caught:
        parse_document(f"cassette: 1\nmodel:\n- text: {text}\n")

    assert caught.value.key == "model[0].text"
    assert f"line 3: {text!r} cannot be used" in caught.value.problem
    assert caught.value.mend == "write a plain number, or text in quotes"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("10", 10),
        ("+5", 5),
        ("0", 0),
        ("0x1F", 31),
        ("-1.5", -1.5),
        (".5", 0.5),
        ("1.5e+3", 1500.0),
        ("'010'", "010"),
        ("'1:30'", "1:30"),
        ("0:0", "0:0"),
        ("1e3", "1e3"),
        ("0o17", "0o17"),
        ("2026-01-01", "2026-01-01"),
        ("yes", True),
    ],
)
def test_other_scalars_are_what_they_were(text: str, value: Any) -> None:
    assert parse_document(f"a: {text}") == {"a": value}


@pytest.mark.parametrize("key", ["headers", "status", "body"])
def test_a_key_that_is_there_twice_in_a_recording_loses_no_exchange(
    tmp_path: Path, key: str
) -> None:
    file = tmp_path / "r.yaml"
    file.write_text(f"interactions:\n{EXCHANGE}")
    load_recording(file)  # sound
    file.write_text(f"interactions:\n{EXCHANGE}    {key}: {{}}\n")

    with pytest.raises(CassetteFormatError, match=f"line 7: the key `{key}` is there twice"):
        load_recording(file)


def test_a_status_in_sixties_is_no_status(tmp_path: Path) -> None:
    file = tmp_path / "r.yaml"
    file.write_text(f"interactions:\n{EXCHANGE}".replace("code: 200", "code: 3:20"))

    with pytest.raises(CassetteFormatError, match="line 4: '3:20' cannot be used"):
        load_recording(file)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f'{{"model": {{"maxSessionTurns": {DIGITS}}}}}', "5,000 characters"),
        (f'{{"unknown": -{DIGITS}}}', "5,001 characters"),
        ('{"a": 1e999}', "1e999 is not a JSON number"),
        ('{"a": NaN}', "NaN is not a JSON number"),
        (f'{{"a": {nested(500)}}}', "nested deeper than"),
        (f'{{"a": {nested(100_000)}}}', "nested too deeply"),
    ],
)
def test_the_error_for_settings_that_cannot_be_held_names_their_file(
    tmp_path: Path, text: str, words: str
) -> None:
    file = tmp_path / "settings.json"
    file.write_text(text)

    with pytest.raises(FatalConfigError) as caught:
        load_settings([file], {}, required=True)

    assert str(caught.value).startswith(f"{file}: ")
    assert words in str(caught.value)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("response", "words"),
    [
        (f'{{"n": {DIGITS}}}', "5,000 characters"),
        (f'{{"n": {nested(500)}}}', "nested deeper than"),
        ('{"n": 1, "n": 2}', "the key 'n' is there twice"),
    ],
)
def test_a_line_of_recorded_answers_that_cannot_be_held_is_an_error(
    response: str, words: str
) -> None:
    with pytest.raises(ResponsesFormatError, match=words):
        parse_responses(f'{{"method": "generateContent", "response": {response}}}')


def test_levels_are_counted_alike_for_lists_and_objects() -> None:
    assert parse_json(nested(MOST_LEVELS))
    assert parse_json('{"a":' * MOST_LEVELS + "1" + "}" * MOST_LEVELS)
    for text in (nested(MOST_LEVELS + 1), '{"a":' * 101 + "1" + "}" * 101):
        with pytest.raises(ValueError, match="nested deeper than 100 levels"):
            parse_json(text)
    assert not is_deeper("text", 0)
    assert is_deeper([1], 0)


def test_what_servers_and_hooks_say_is_bounded_in_depth() -> None:
    with pytest.raises(ValueError, match="nested deeper"):
        parse_message(nested(500))
    hook = parse_output(f'{{"decision": "block", "a": {nested(500)}}}', "", 0)
    assert hook is not None
    assert hook["decision"] == "allow"  # what is no JSON is a message


def session(**more: Any) -> dict[str, Any]:
    return {
        "cassette": 1,
        "name": "x",
        "session": {"model": "gemini-2.5-flash"},
        "script": [{"send": "hi"}],
        "model": [{"text": "ok"}],
        **more,
    }


def resumed(session_id: str, start: str = "2026-01-01T00:00:00.000Z") -> dict[str, Any]:
    first = {"sessionId": session_id, "projectHash": "<PROJECT_HASH>", "startTime": start}
    said = {"id": "m", "timestamp": start, "type": "user", "content": "before"}
    return {"records": [first, said]}


@pytest.mark.parametrize(
    "path", [".gemini", ".gemini/tmp", ".gemini/tmp/ws", ".gemini/tmp/ws/chats"]
)
def test_no_file_of_the_home_takes_the_place_of_the_recordings(path: str) -> None:
    with pytest.raises(FormatProblem, match="where the run has the folder of its recordings"):
        build_cassette(session(home_files={path: "x"}), Path("/nowhere/x.yaml"))


@pytest.mark.parametrize("path", ["d.jsonl", "d.jsonl/inner"])
def test_no_file_of_the_home_takes_the_place_of_the_resumed_recording(path: str) -> None:
    document = session(
        resume={**resumed("abc"), "file": "d.jsonl"},
        home_files={f".gemini/tmp/ws/chats/{path}": "x"},
    )
    with pytest.raises(FormatProblem, match="where `resume` writes its recording"):
        build_cassette(document, Path("/nowhere/x.yaml"))


def test_a_folder_that_is_called_like_a_recording_is_none() -> None:
    document = session(home_files={".gemini/tmp/ws/chats/x.jsonl/y.txt": "x"})

    seen = run_cassette(build_cassette(document, Path("/nowhere/x.yaml")), "legacy")

    assert seen.error is None
    assert len(seen.recording) == 1


@pytest.mark.parametrize("runtime", ["legacy", "adk"])
@pytest.mark.parametrize(
    ("session_id", "start"),
    [("../../../x", "2026-01-01T00:00:00.000Z"), ("a\0b", "\0"), ("..", "/../../../../../")],
)
def test_the_id_and_start_of_a_resumed_session_lead_nowhere(
    runtime: str, session_id: str, start: str
) -> None:
    # Such a folder would let the name's `..` lead out of the recordings' folder.
    beside = {".gemini/tmp/ws/chats/session-/x": "x"}
    document = session(resume=resumed(session_id, start), home_files=beside)
    cassette = build_cassette(document, Path("/nowhere/x.yaml"))

    seen = run_cassette(cassette, runtime)

    assert cassette.resume is not None
    assert "/" not in cassette.resume.name
    assert "\0" not in cassette.resume.name
    assert seen.error is None
    for path, lines in seen.recording.items():
        assert path.startswith("tmp/ws/chats/session-")
        assert path.count("/") == 3
        assert js_json(lines)
    assert any("before" in js_json(lines) for lines in seen.recording.values())


def test_recorded_answers_that_no_cassette_can_hold_are_not_imported(tmp_path: Path) -> None:
    file = tmp_path / "r.responses"
    file.write_text('{"method": "generateContent", "response": {"$ref": 1}}\n')

    with pytest.raises(CassetteFormatError, match=r"generate.\$ref: unknown macro"):
        import_responses(file)


@pytest.mark.parametrize("value", [DIGITS, nested(50_000), nested(500)])
def test_a_policy_file_that_cannot_be_held_is_an_error_of_that_file(
    tmp_path: Path, value: str
) -> None:
    file = tmp_path / "p.toml"
    file.write_text(f"a = {value}\n")

    loaded = load_policies([file], lambda _: Tier.USER)

    assert [error.file for error in loaded.errors] == [file]
    assert loaded.rules == []


@pytest.mark.parametrize("expression", ["(" * 3_000 + "a" + ")" * 3_000, "not " * 3_000 + "a"])
def test_an_expression_of_names_is_bounded(expression: str) -> None:
    with pytest.raises(UsageError, match="more than 200 words") as caught:
        name_filter(expression)
    assert len(str(caught.value)) < 500
