"""Settings files, recorded sessions, piped input, streams: what they do by themselves."""

import io
import json
from pathlib import Path

import pytest

from services.clock import SystemClock
from services.model.errors import FatalConfigError
from surfaces.headless import piped_input
from surfaces.headless.machine import Machine
from surfaces.headless.options import HeadlessOptions
from surfaces.headless.piped_input import read_piped_input
from surfaces.headless.planning import plan_run
from surfaces.headless.sessions import NoSessions, SessionNotFound, find_session
from surfaces.headless.settings_files import load_settings
from surfaces.headless.streams import OutputClosed, Streams, strip_ansi


def write(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def test_comments_are_passed_over_and_variables_filled_in(tmp_path: Path) -> None:
    file = write(
        tmp_path / "s.json",
        '{ // it says "//"\n "a": "http://x/*no*/", /* {\n */ "b": ["$ONE", "${TWO:-two}", "$NO"]}',
    )

    loaded = load_settings([file], {"ONE": "1"}, required=True)

    assert loaded.document == {"a": "http://x/*no*/", "b": ["1", "two", "$NO"]}


@pytest.mark.parametrize(
    ("text", "place"),
    [
        (
            '{\n// a\n "model": {\n  "maxSessionTurns": "x"}}',
            "line 4: model.maxSessionTurns: a",
        ),
        ("[1]", "line 1: an object expected"),
        ('/*\n*/ {"a" }', "line 2, column 9: not JSON"),
        ('{"a": 1,}', "line 1, column 9: not JSON"),
    ],
)
def test_an_error_is_reported_with_its_line(tmp_path: Path, text: str, place: str) -> None:
    file = write(tmp_path / "s.json", text)

    with pytest.raises(FatalConfigError) as raised:
        load_settings([file], {}, required=True)

    assert str(raised.value).startswith(f"{file}, {place}")


def test_a_setting_without_effect_is_kept_for_a_warning(tmp_path: Path) -> None:
    files = [
        write(tmp_path / "a.json", '{"tools": {"discoveryCommand": "find-tools"}}'),
        write(tmp_path / "b.json", '{"model": {"maxSessionTurns": 3}}'),
    ]

    (warning,) = load_settings(files, {}, required=True).settings.warnings

    assert warning.startswith("The setting tools.discoveryCommand has no effect: ")


def test_a_file_that_must_be_there_is_missed(tmp_path: Path) -> None:
    with pytest.raises(FatalConfigError, match="there is no such file; name a settings file"):
        load_settings([tmp_path / "no.json"], {}, required=True)
    assert load_settings([tmp_path / "no.json"], {}, required=False).document == {}


def test_the_folders_settings_count_over_the_users_where_it_is_trusted(tmp_path: Path) -> None:
    home, root = tmp_path / "home", tmp_path / "ws"
    write(home / ".gemini/settings.json", '{"model": {"name": "user", "maxSessionTurns": 3}}')
    write(root / ".gemini/settings.json", '{"model": {"name": "folder"}}')

    def plan(options: HeadlessOptions, **variables: str) -> tuple[str, int]:
        found = plan_run(options, root=root, home=home, variables=variables)
        return found.model, found.settings.max_session_turns

    assert plan(HeadlessOptions()) == ("user", 3)
    assert plan(HeadlessOptions(skip_trust=True)) == ("folder", 3)
    assert plan(HeadlessOptions(), GEMINI_CLI_TRUST_WORKSPACE="true") == ("folder", 3)
    assert plan(HeadlessOptions(), GEMINI_MODEL="variable") == ("variable", 3)
    assert plan(HeadlessOptions(model="asked"), GEMINI_MODEL="variable") == ("asked", 3)


@pytest.mark.parametrize(
    ("document", "asked", "mode"),
    [
        ({}, None, "default"),
        ({"general": {"defaultApprovalMode": "auto_edit"}}, None, "autoEdit"),
        ({"general": {"defaultApprovalMode": "yolo"}}, None, "default"),
        ({"general": {"defaultApprovalMode": "plan"}}, "yolo", "yolo"),
    ],
)
def test_the_approval_mode_is_asked_for_or_set(
    tmp_path: Path, document: object, asked: str | None, mode: str
) -> None:
    file = write(tmp_path / "s.json", json.dumps(document))
    options = HeadlessOptions(settings_file=file, approval_mode=asked)

    assert plan_run(options, root=tmp_path, home=tmp_path, variables={}).approval_mode == mode


@pytest.mark.parametrize(
    "document",
    [
        {"output": {"format": "xml"}},
        {"general": {"defaultApprovalMode": "bogus"}},
        {"security": {"disableYoloMode": True}},
    ],
)
def test_what_settings_do_not_allow_is_refused(tmp_path: Path, document: object) -> None:
    file = write(tmp_path / "s.json", json.dumps(document))
    asked = "yolo" if "security" in json.dumps(document) else None

    with pytest.raises(FatalConfigError):
        plan_run(
            HeadlessOptions(settings_file=file, approval_mode=asked),
            root=tmp_path,
            home=tmp_path,
            variables={},
        )


def test_the_tool_that_asks_the_user_is_left_out(tmp_path: Path) -> None:
    file = write(tmp_path / "s.json", '{"tools": {"exclude": ["web_fetch"]}}')
    options = HeadlessOptions(settings_file=file)

    settings = plan_run(options, root=tmp_path, home=tmp_path, variables={}).settings

    assert settings.exclude_tools == ("web_fetch", "ask_user")
    assert settings.policy_excluded_tools == ("web_fetch", "ask_user")


def recorded(folder: Path, name: str, session: str, hour: int, **more: object) -> None:
    stamp = f"2026-01-01T{hour:02}:00:00.000Z"
    first = {"sessionId": session, "projectHash": "h", "startTime": stamp, "lastUpdated": stamp}
    said = {"id": "m", "timestamp": stamp, "type": "user", "content": [{"text": "hello"}]}
    lines = [first | more, *([] if more.get("silent") else [said])]
    write(folder / "chats" / name, "".join(f"{json.dumps(line)}\n" for line in lines))


def test_sessions_are_found_by_order_of_beginning_and_by_id(tmp_path: Path) -> None:
    clock = SystemClock()
    with pytest.raises(NoSessions):
        find_session(tmp_path, "latest", clock)
    recorded(tmp_path, "session-a.jsonl", "late", 5)
    recorded(tmp_path, "session-b.jsonl", "early", 2)
    recorded(tmp_path, "session-c.jsonl", "child", 7, kind="subagent")
    recorded(tmp_path, "session-d.jsonl", "mute", 8, silent=True)
    recorded(tmp_path, "session-e.txt", "other", 9)

    assert find_session(tmp_path, " latest ", clock).session_id == "late"
    assert find_session(tmp_path, "1", clock).session_id == "early"
    assert find_session(tmp_path, "early", clock).file.name == "session-b.jsonl"
    for wrong in ("0", "3", "01", "-1", "child", "mute"):
        with pytest.raises(SessionNotFound, match=f'identifier "{wrong}"'):
            find_session(tmp_path, wrong, clock)


def test_of_two_recordings_of_a_session_the_newer_one_is_it(tmp_path: Path) -> None:
    recorded(tmp_path, "session-a.jsonl", "same", 5)
    recorded(tmp_path, "session-b.jsonl", "same", 2)

    assert find_session(tmp_path, "latest", SystemClock()).file.name == "session-a.jsonl"


def test_piped_input_is_cut_before_a_character_that_does_not_fit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(piped_input, "MAX_INPUT_BYTES", 4)

    assert read_piped_input(io.TextIOWrapper(io.BytesIO("abcé!".encode()))) == "abc"
    assert read_piped_input(io.TextIOWrapper(io.BytesIO(b"ab\xc3"))) == "ab\ufffd"


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]8;;http://x\x07link\x1b]8;;\x1b\\", "link"),
        ("a\x9b2Kb [31m", "ab [31m"),
    ],
)
def test_terminal_sequences_are_taken_out(text: str, plain: str) -> None:
    assert strip_ansi(text) == plain


def test_half_a_character_is_written_as_a_replacement() -> None:
    out = io.StringIO()
    Streams(out, io.StringIO()).write("\ud83d\ude00 \ud83d!")

    assert out.getvalue() == "\U0001f600 \ufffd!"


def test_a_line_is_ended_once() -> None:
    out = io.StringIO()
    streams = Streams(out, io.StringIO())
    streams.end_line()
    streams.write("a")
    streams.end_line()
    streams.end_line()

    assert out.getvalue() == "a\n"


def test_closed_output_raises_output_closed() -> None:
    out, err = io.StringIO(), io.StringIO()
    out.close()
    err.close()
    streams = Streams(out, err)
    streams.report("unread")

    with pytest.raises(OutputClosed):
        streams.write("x")


class _OnTerminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("err", "unwanted", "colours"),
    [
        (_OnTerminal(), "", True),
        (_OnTerminal(), "1", False),
        (io.StringIO(), "", False),
    ],
)
def test_colour_needs_a_terminal_and_no_no_color(
    monkeypatch: pytest.MonkeyPatch, err: io.StringIO, unwanted: str, colours: bool
) -> None:
    monkeypatch.setenv("NO_COLOR", unwanted)
    assert Machine.here().colours(Streams(io.StringIO(), err)) is colours
