"""No cassette is written with a secret, and none that holds one passes the check."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from harness.cassette.dump import dump_yaml
from harness.cassette.importing import import_responses
from harness.cli import parity
from harness.scenarios.found import FoundCassette, write_found
from harness.scenarios.shrinking import tidied
from services.redaction import redacted
from tests.services.redaction.specimens import GOOGLE, PEM, SECRETS

EVERY = pytest.mark.parametrize("name", SECRETS)


def chunk(text: str) -> dict[str, Any]:
    return {"candidates": [{"content": {"role": "model", "parts": [{"text": text}]}, "index": 0}]}


def spoken(name: str) -> tuple[str, list[dict[str, Any]]]:
    """The secret, and a stream that says it in two chunks."""
    _, frame, secret = SECRETS[name]
    text = frame.format(secret)
    place = text.index(secret) + len(secret) // 2
    return secret, [chunk(text[:place]), chunk(text[place:])]


def document(**more: Any) -> dict[str, Any]:
    return {
        "cassette": 1,
        "name": "text/one",
        "session": {"model": "gemini-2.5-flash"},
        "script": [{"send": "hi"}],
        "model": [{"text": "ok"}],
        **more,
    }


def check(folder: Path, written: str) -> Result:
    file = folder / "cassettes" / "text" / "one.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(written, "utf-8")
    return CliRunner().invoke(parity, ["check", str(folder / "cassettes")])


def pieces_in(text: str, secret: str) -> list[str]:
    windows = [secret[at : at + 6] for at in range(len(secret) - 5)]
    return [window for window in windows if window in text]


@EVERY
def test_a_cassette_is_written_without_secrets_that_its_stream_cuts(name: str) -> None:
    secret, stream = spoken(name)

    written = dump_yaml(document(model=[{"stream": stream}], note=f"x {secret[:1]}"))

    assert pieces_in(written, secret) == []
    parts = [
        step["candidates"][0]["content"]["parts"][0]["text"]
        for step in yaml.safe_load(written)["model"][0]["stream"]
    ]
    assert [len(part) for part in parts] == [
        len(step["candidates"][0]["content"]["parts"][0]["text"]) for step in stream
    ]


@EVERY
def test_what_is_imported_and_what_is_found_has_none(name: str, tmp_path: Path) -> None:
    secret, stream = spoken(name)
    recorded = tmp_path / "one.responses"
    recorded.write_text(
        json.dumps({"method": "generateContentStream", "response": stream}) + "\n", "utf-8"
    )
    frame = SECRETS[name][1]
    found = FoundCassette(
        document=tidied(document(model=[{"stream": stream}])),
        fingerprint="0123456789ab",
        control="legacy",
        candidate="adk",
        fault=None,
        profile=None,
        seed=None,
        block=None,
        kind="shrunk",
        says=f"events[1] message: text (changed)\nlegacy: {frame.format(secret)}",
    )

    imported = dump_yaml(import_responses(recorded))
    kept = write_found(tmp_path / "found", found).read_text("utf-8")

    assert pieces_in(imported, secret) == []
    assert pieces_in(kept, secret) == []
    assert "legacy: " in kept


@EVERY
def test_a_secret_is_refused_by_file_place_and_kind_without_its_value(
    name: str, tmp_path: Path
) -> None:
    kind, frame, secret = SECRETS[name]
    text = yaml.safe_dump(document(files={"a.txt": frame.format(secret)}), allow_unicode=True)

    result = check(tmp_path, text)

    assert result.exit_code == 2
    assert f"one.yaml: files.a.txt: holds a secret: {kind.value}; strike it out" in result.stderr
    assert "1 of 1 cassettes cannot be used" in result.stderr
    assert pieces_in(result.output.replace(str(tmp_path), ""), secret) == []
    masked = yaml.safe_dump(document(files={"a.txt": redacted(frame.format(secret))}))
    assert check(tmp_path, masked).exit_code == 0


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (
            yaml.safe_dump(document(model=[{"stream": spoken("google")[1]}])),
            "model[0].stream[0].candidates[0].content.parts[0].text",
        ),
        (f"# with {GOOGLE}\n{yaml.safe_dump(document())}", "line 1"),
        (
            yaml.safe_dump(
                document(files={"a.pem": {"base64": base64.b64encode(PEM.encode()).decode()}})
            ),
            "files.a.pem.base64",
        ),
        (
            yaml.safe_dump(document(files={"home/karlotta": "", "/home/karlotta/x": ""})),
            "files: the key '/home/REDACTED/x'",
        ),
    ],
)
def test_secrets_are_found_wherever_a_cassette_can_hold_them(
    text: str, place: str, tmp_path: Path
) -> None:
    result = check(tmp_path, text)

    assert result.exit_code == 2
    assert f": {place}: holds a secret" in result.stderr or "files./home" in result.stderr


def test_a_recording_of_http_is_looked_through_across_its_events(tmp_path: Path) -> None:
    body = "".join(f"data: {json.dumps(step)}\r\n\r\n" for step in spoken("google")[1])
    request = {
        "method": "POST",
        "uri": "https://generativelanguage.googleapis.com/v1beta/models/m:streamGenerateContent?alt=sse",
        "headers": {"content-type": ["application/json"]},
        "body": json.dumps({"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}),
    }
    response = {
        "status": {"code": 200, "message": "OK"},
        "headers": {"content-type": ["text/event-stream"]},
        "body": {"string": body},
    }
    held = {"version": 1, "interactions": [{"request": request, "response": response}]}

    result = check(tmp_path, yaml.safe_dump(held))

    assert result.exit_code == 2
    where = "interactions[0].response.body.string"
    assert f"{where}: holds a secret: Google API key" in result.stderr
    assert pieces_in(result.output, GOOGLE) == []


def test_signatures_media_and_placeholders_pass(tmp_path: Path) -> None:
    parts = [
        {"text": "see /home/user/x and api_key=YOUR_API_KEY", "thoughtSignature": GOOGLE},
        {"inlineData": {"mimeType": "image/png", "data": GOOGLE}},
    ]
    step = {"candidates": [{"content": {"role": "model", "parts": parts}, "index": 0}]}

    assert check(tmp_path, yaml.safe_dump(document(model=[{"stream": [step]}]))).exit_code == 0


def test_a_message_on_the_terminal_masks_keys_and_leaves_paths() -> None:
    result = CliRunner().invoke(parity, ["check", f"/home/karlotta/{GOOGLE}.yaml"])

    assert result.exit_code == 2
    assert f"parity: /home/karlotta/{redacted(GOOGLE)}.yaml: does not exist" in result.stderr
