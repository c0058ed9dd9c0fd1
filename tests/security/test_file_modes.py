"""What was said in a conversation lies in files that only their owner can read."""

import os
import stat
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from harness.cli import parity
from services.mcp.token_files import StoredEntry, TokenFiles
from services.output_files import save_tool_output
from services.private_files import make_private_folder, open_private, write_private
from services.recording.session_file import SessionFile
from tests.standin_thread import standin_thread

CORPUS = Path(__file__).parents[2] / "cassettes"
CASSETTE = CORPUS / "text" / "combining_marks.yaml"

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="modes as POSIX has them")


@pytest.fixture(params=[0o022, 0o000, 0o077], ids=oct, autouse=True)
def umask(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(request.param)
    yield
    os.umask(before)


def mode(place: Path) -> int:
    return stat.S_IMODE(place.stat().st_mode)


def open_to_others(folder: Path) -> list[str]:
    """What is under `folder` that others than the owner may read or enter."""
    return [
        f"{place.relative_to(folder)} {mode(place):o}"
        for place in sorted(folder.rglob("*"))
        if mode(place) & 0o077
    ]


def files(folder: Path) -> list[Path]:
    return [place for place in folder.rglob("*") if place.is_file()]


def test_a_file_has_its_mode_from_the_moment_it_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    opened = os.open

    def noted(path: Any, flags: int, mode: int = 0o777, **more: Any) -> int:
        asked.append(mode)
        return opened(path, flags, mode, **more)

    monkeypatch.setattr(os, "open", noted)
    monkeypatch.setattr(os, "chmod", None)
    monkeypatch.setattr(os, "fchmod", None)

    with open_private(tmp_path / "a", "a", encoding="utf-8") as stream:
        stream.write("x")
    write_private(tmp_path / "b", b"x")

    assert asked == [0o600, 0o600]
    assert [mode(tmp_path / name) for name in ("a", "b")] == [0o600, 0o600]


def test_a_file_that_is_there_keeps_its_mode_and_a_planted_draft_does_not(tmp_path: Path) -> None:
    there, draft = tmp_path / "there", tmp_path / "draft"
    for file in (there, draft):
        file.write_bytes(b"")
        file.chmod(0o644)

    write_private(there, b"x")
    write_private(draft, b"x", draft=True)

    assert (mode(there), mode(draft)) == (0o644, 0o600)
    assert draft.read_bytes() == b"x"


def test_folders_that_were_missing_are_private_and_others_stay(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "old").chmod(0o755)

    make_private_folder(tmp_path / "old" / "a" / "b")
    make_private_folder(tmp_path / "old" / "a" / "b")

    names = ("old", "old/a", "old/a/b")
    assert [mode(tmp_path / name) for name in names] == [0o755, 0o700, 0o700]


def test_a_session_s_file_is_private_also_when_it_is_written_anew(tmp_path: Path) -> None:
    file = SessionFile(tmp_path / "tmp" / "chats" / "s.jsonl", lambda: None)

    file.append({"sessionId": "a"})
    appended = open_to_others(tmp_path)
    file.path.write_bytes(b"torn")
    file.replace([{"sessionId": "b"}], now_ms=5)

    assert (appended, open_to_others(tmp_path)) == ([], [])
    assert {place.name for place in files(tmp_path)} == {"s.jsonl", "s.jsonl.unreadable-5"}


def test_saved_outputs_of_tools_are_private(tmp_path: Path) -> None:
    file = save_tool_output("long", "run_shell_command", "1", tmp_path / "tool-outputs" / "s")
    save_tool_output("longer", "run_shell_command", "1", tmp_path / "tool-outputs" / "s")

    assert file.read_text() == "longer"
    assert open_to_others(tmp_path) == []


def chunk(*parts: dict[str, Any]) -> dict[str, Any]:
    content = {"role": "model", "parts": list(parts)}
    return {"candidates": [{"content": content, "index": 0, "finishReason": "STOP"}]}


STEPS: list[Mapping[str, Any]] = [
    {
        "stream": [
            chunk(
                {
                    "functionCall": {
                        "name": "run_shell_command",
                        "args": {"command": "yes 0123456789 | head -n 9000"},
                        "id": "c1",
                    }
                }
            )
        ]
    },
    {"stream": [chunk({"text": "done"})]},
]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("ws", "home", "out"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "ws")
    monkeypatch.setenv("GEMINI_CLI_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GEMINI_API_KEY", "stand-in-stand-in")
    monkeypatch.setenv("NO_COLOR", "1")
    for name in ("GEMINI_MODEL", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "home"


def invoke(monkeypatch: pytest.MonkeyPatch, *words: object) -> Result:
    with standin_thread(STEPS) as standin:
        monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", standin.base_url)
        return CliRunner().invoke(parity, [str(word) for word in words])


@pytest.mark.parametrize("runtime", ["legacy", "adk"])
def test_an_agent_leaves_nothing_that_others_can_read(
    home: Path, monkeypatch: pytest.MonkeyPatch, runtime: str
) -> None:
    out = home.parent / "out"
    asked = ["-p", "hi", "-m", "gemini-2.5-flash", "-y", "--runtime", runtime]

    ran = invoke(
        monkeypatch,
        *("agent", *asked, "--record-responses", out / "answers.jsonl"),
        *("--telemetry", "--telemetry-outfile", out / "telemetry.jsonl"),
    )

    assert ran.exit_code == 0, ran.output
    assert {file.name for file in files(out)} == {"answers.jsonl", "telemetry.jsonl"}
    kept = {file.suffix for file in files(home)}
    assert kept >= {".jsonl", ".txt"}, "a recording, and an output that was too long"
    assert open_to_others(home) + open_to_others(out) == []


def test_a_recorded_cassette_is_private(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = home.parent / "out"

    asked = ["--out", out / "one.yaml", "-p", "hi", "-y", "-m", "gemini-2.5-flash"]
    ran = invoke(monkeypatch, "record", *asked)
    again = invoke(monkeypatch, "record", "--force", *asked)

    assert (ran.exit_code, again.exit_code) == (0, 0), ran.output
    assert {file.name for file in files(out)} == {"one.yaml", "one.requests.jsonl"}
    assert open_to_others(out) == []


def test_journals_traces_and_reports_are_private(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = home.parent / "out"
    make_private_folder(out / "page")

    ran = invoke(
        monkeypatch,
        *("run", CASSETTE, "--keep", "--journal", out / "j.jsonl", "--json", out / "r.json"),
        *("--junit", out / "r.xml", "--summary", out / "r.md", "--html", out / "page"),
    )
    make_private_folder(out / "text")
    traced = invoke(monkeypatch, "trace", CASSETTE, "--runtime", "legacy", "--out", out)

    kept_only = invoke(monkeypatch, "run", CASSETTE, "--keep")

    assert (ran.exit_code, traced.exit_code) == (0, 0), ran.output + traced.output
    assert kept_only.exit_code == 0
    kept = files(home.parent / "ws" / ".parity")
    assert [mode(file) for file in kept if file.suffix == ".jsonl"] == [0o600, 0o600]
    assert len(files(out)) == 6
    assert open_to_others(out) == []


def test_tokens_of_servers_are_private(tmp_path: Path) -> None:
    kept = TokenFiles(tmp_path / ".gemini" / "tokens.json", feedback=lambda level, text: None)

    for token in ("a", "b"):
        for sealed in (False, True):
            values = {"serverName": "s", "token": {"accessToken": token}}
            assert kept.save(StoredEntry(values, sealed)) is None

    assert sorted(file.name for file in files(tmp_path)) == [
        "gemini-credentials.json",
        "tokens.json",
    ]
    assert open_to_others(tmp_path) == []
