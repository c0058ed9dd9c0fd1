"""`parity record` where an answer holds a secret of the environment, however it is spread."""

import base64
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from harness.cassette.load import load_cassette
from harness.cli import parity
from harness.errors import UsageError
from harness.live.remains import remains
from harness.live.secrets import Scrubber
from services.workspace import Workspace
from tests.security.secret_spellings import ALNUM, made
from tests.standin_thread import standin_thread

SECRET = made(32, ALNUM, seed=11)
HALF = len(SECRET) // 2
Record = Callable[..., Result]


def chunk(*parts: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": list(parts)}, "index": 0}
    return {"candidates": [candidate if finish is None else {**candidate, "finishReason": finish}]}


def thought(text: str) -> dict[str, Any]:
    return {"text": text, "thought": True}


def read(path: str) -> dict[str, Any]:
    return {"functionCall": {"name": "read_file", "args": {"file_path": path}, "id": "c1"}}


@pytest.fixture
def ws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "ws").mkdir()
    monkeypatch.chdir(tmp_path / "ws")
    for name, value in {
        "GEMINI_CLI_HOME": str(tmp_path / "home"),
        "GEMINI_API_KEY": "stand-in-stand-in",
        "DEPLOY_TOKEN": SECRET,
        "NO_COLOR": "1",
    }.items():
        monkeypatch.setenv(name, value)
    for name in ("GEMINI_MODEL", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "ws"


@pytest.fixture
def record(ws: Path, monkeypatch: pytest.MonkeyPatch) -> Record:
    def go(steps: list[Mapping[str, Any]], *options: str, prompt: str = "hi") -> Result:
        with standin_thread(steps) as standin:
            monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", standin.base_url)
            out = str(ws.parent / "tapes" / "one.yaml")
            asked = ["record", "--out", out, "-p", prompt, "-m", "gemini-2.5-flash", *options]
            return CliRunner().invoke(parity, [*asked, "--runtime", "legacy"])

    return go


def answers(*steps: list[dict[str, Any]]) -> list[Mapping[str, Any]]:
    return [{"stream": [*chunks[:-1], {**chunks[-1]}]} for chunks in steps]


ENDS = {"finish": "STOP"}
SPREAD: dict[str, list[Mapping[str, Any]]] = {
    "a thought and the answer": answers(
        [chunk(thought(f"so {SECRET[:5]}")), chunk({"text": f"{SECRET[5:]}."}, **ENDS)]
    ),
    "parts of one chunk": answers(
        [chunk(thought(SECRET[:HALF]), {"text": SECRET[HALF:]}, **ENDS)],
    ),
    "two answers": answers(
        [chunk({"text": f"first {SECRET[:HALF]}"}), chunk(read("a.txt"), **ENDS)],
        [chunk({"text": f"{SECRET[HALF:]} last"}, **ENDS)],
    ),
    "two answers, words between": answers(
        [chunk({"text": f"It begins {SECRET[:HALF]}, "}), chunk(read("a.txt"), **ENDS)],
        [chunk({"text": f"and it ends {SECRET[HALF:]}."}, **ENDS)],
    ),
    "two answers, in chunks, words between": answers(
        [
            *(chunk({"text": c}) for c in f"It begins {SECRET[:HALF]}."),
            chunk(read("a.txt"), **ENDS),
        ],
        [chunk({"text": "ends"}, **ENDS)],
    ),
    "an answer and a call": answers(
        [chunk({"text": SECRET[:6]}), chunk(read(SECRET[6:]), **ENDS)],
        [chunk({"text": "no such file"}, **ENDS)],
    ),
    "a call and its result": answers(
        [chunk(read(f"half/{SECRET[:HALF]}"), **ENDS)],
        [chunk({"text": "ok"}, **ENDS)],
    ),
    "a signature": answers(
        [chunk({"text": "ok", "thoughtSignature": f"c2ln{SECRET}"}, **ENDS)],
    ),
}


@pytest.mark.parametrize("spread", SPREAD)
def test_nothing_is_written_where_pieces_cannot_be_masked(
    record: Record, ws: Path, spread: str
) -> None:
    (ws / "a.txt").write_text("one\n")

    ran = record(SPREAD[spread])

    assert ran.exit_code == 2, ran.output
    assert "nothing was written: " in ran.stderr
    assert "holds pieces of the value of DEPLOY_TOKEN, from model[" in ran.stderr
    assert SECRET[:HALF] not in ran.stderr
    assert SECRET[HALF:] not in ran.stderr
    assert "Traceback" not in ran.output
    assert not (ws.parent / "tapes").exists()


def test_pieces_in_requests_count_as_well(record: Record, ws: Path) -> None:
    (ws / "a.txt").write_text("one\n")
    asked = f"half of it is {SECRET[:HALF]}"

    ran = record(answers([chunk({"text": "ok"}, **ENDS)]), prompt=asked)

    assert ran.exit_code == 2
    assert "holds pieces of the value of DEPLOY_TOKEN" in ran.stderr
    assert not (ws.parent / "tapes").exists()


def test_a_refusal_leaves_the_cassette_that_was_there(record: Record, ws: Path) -> None:
    record(answers([chunk({"text": "first"}, **ENDS)]))
    before = {file: file.read_bytes() for file in (ws.parent / "tapes").iterdir()}

    ran = record(SPREAD["a thought and the answer"], "--force")

    assert ran.exit_code == 2
    assert {file: file.read_bytes() for file in (ws.parent / "tapes").iterdir()} == before


WHOLE = {
    "in one text": SECRET,
    "coloured": f"\x1b[31m{SECRET[:7]}\x1b[0m{SECRET[7:]}",
    "with what is not shown": f"{SECRET[:7]}\u200b{SECRET[7:]}",
    "base64": base64.b64encode(f"user:{SECRET}".encode()).decode(),
    "base64 of itself": base64.b64encode(SECRET.encode()).decode(),
    "hexadecimal": SECRET.encode().hex(),
    "percent": "".join(f"%{ord(c):02X}" for c in SECRET),
}


@pytest.mark.parametrize("spelling", WHOLE)
@pytest.mark.sampled(4)
def test_where_a_mask_covers_it_the_cassette_is_written_and_replays(
    record: Record, ws: Path, spelling: str
) -> None:
    said = WHOLE[spelling]
    texts = [said[:10], said[10:]]

    ran = record(answers([chunk({"text": texts[0]}), chunk({"text": texts[1]}, **ENDS)]))

    assert ran.exit_code == 0, ran.output
    written = "".join(file.read_text() for file in (ws.parent / "tapes").iterdir())
    codes = [SECRET, SECRET.encode().hex(), SECRET[7:], said[10:]]
    assert [code for code in codes if code in written] == []
    assert base64.b64encode(SECRET.encode()).decode()[:12] not in written
    assert CliRunner().invoke(parity, ["run", str(ws.parent / "tapes" / "one.yaml")]).exit_code == 0


def test_names_notes_and_files_of_two_bytes_a_character_hold_none(record: Record, ws: Path) -> None:
    (ws / f"{SECRET}.txt").write_text("one\n")
    (ws / "wide.txt").write_bytes(SECRET.encode("utf-16"))

    ran = record(answers([chunk({"text": "ok"}, **ENDS)]), "--note", f"with {SECRET}")

    assert ran.exit_code == 0, ran.output
    written = "".join(file.read_text() for file in (ws.parent / "tapes").iterdir())
    assert SECRET not in written
    cassette = load_cassette(ws.parent / "tapes" / "one.yaml")
    assert set(cassette.files) == {f"REDACTED{'x' * (len(SECRET) - 8)}.txt"}
    assert "left out: wide.txt, which may hold secrets" in ran.stderr


def test_a_file_that_cannot_be_written_takes_the_other_with_it(
    record: Record, ws: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace = Path.replace

    def full(self: Path, target: Path) -> Path:
        if target.name == "one.yaml":
            raise OSError(28, os.strerror(28))
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", full)

    ran = record(answers([chunk({"text": "ok"}, **ENDS)]))

    assert ran.exit_code == 2
    assert "cannot be written: No space left on device" in ran.stderr
    assert not (ws.parent / "tapes").exists()


@pytest.fixture
def scrubber(tmp_path: Path) -> Callable[..., Scrubber]:
    workspace = Workspace.at(tmp_path / "ws", tmp_path / "home")
    return lambda **variables: Scrubber(variables, workspace)


@pytest.mark.parametrize(
    "name",
    [
        *(
            "DEPLOY_TOKEN",
            "SIGNING_KEY",
            "DB_PASSWD",
            "MYSQL_PWD",
            "SESSION_COOKIE",
            "X_PASSPHRASE",
        ),
        *("client_secret", "DB_PASS", "AWS_CREDENTIALS"),
    ],
)
def test_a_variable_s_name_says_that_its_value_is_secret(
    scrubber: Callable[..., Scrubber], name: str
) -> None:
    assert SECRET not in scrubber(**{name: SECRET}).text(f"it is {SECRET}")


def test_a_password_in_a_variable_s_address_is_secret(scrubber: Callable[..., Scrubber]) -> None:
    clean = scrubber(DATABASE_URL=f"postgres://app:{SECRET}@db/x").text(f"login {SECRET}")

    assert SECRET not in clean


@pytest.mark.parametrize(
    ("secret", "text"),
    [
        ("/run/secrets/project-12/token", "see /run/secrets/project-12/readme"),
        ("development-environment", "the development-environ is up"),
        (SECRET, f"{SECRET[:7]} and {SECRET[9:16]}"),
        (SECRET, "nothing of it"),
    ],
)
def test_words_and_short_pieces_are_no_remains(secret: str, text: str) -> None:
    assert remains({"parts": [{"text": text}]}, secret) is None


def test_a_remainder_is_named_by_its_place(scrubber: Callable[..., Scrubber]) -> None:
    value = [{"parts": [{"text": "a"}, {"text": f"b {SECRET[:4]}", "thought": True}]}]
    value.append({"parts": [{"text": SECRET[4:]}]})

    assert remains(value, SECRET) == "[1].parts[0].text"
    with pytest.raises(UsageError, match=r"one\.yaml holds pieces of the value of A_TOKEN"):
        scrubber(A_TOKEN=SECRET).refuse_remains(value, "one.yaml")


def test_pieces_too_short_to_be_known_alone_are_read_together() -> None:
    cut = [SECRET[at : at + 6] for at in range(0, len(SECRET), 6)]
    parts = [{"text": text, "thought": bool(number % 2)} for number, text in enumerate(cut)]
    calls = [{"functionCall": {"name": "f", "args": {"a": text}}} for text in cut]

    assert remains({"parts": [{"text": "so "}, *parts]}, SECRET) == "parts[1].text"
    assert remains([{"parts": [call]} for call in calls], SECRET) == (
        "[0].parts[0].functionCall.args.a"
    )
