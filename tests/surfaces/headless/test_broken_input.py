"""Wrong input: each error has its place and its mend, and never a traceback."""

import json
import os
from pathlib import Path

import pytest

from tests.surfaces.headless.conftest import Ran, Run, calls, says

RUNTIMES = pytest.mark.parametrize("runtime", ["legacy", "adk"])
AS_ROOT = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read and write anything"
)
SECOND_OF_SECOND = """{"hooks": {"AfterTool": [
 {"hooks": []}, // "command":
 {"hooks":
 [
  {"type": "command", "command": "true"},
  {"type": "command", "command": 1}]}]}}"""


def error_of(ran: Ran, code: int) -> str:
    assert (ran.code, ran.out) == (code, ""), ran.err
    assert "Traceback" not in ran.err
    return ran.err


@RUNTIMES
@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ('{\n "model": {"name": }}', "line 2, column 20", "not JSON"),
        ('{"model":\n  {"maxSessionTurns": "many"}}', "line 2", "model.maxSessionTurns"),
        ('{\n "tools": {\n  "exclude": "glob"}}', "line 3", "tools.exclude"),
        ("[]", "line 1", "an object expected"),
        (
            '{"hooks": {\n "BeforeTool": [\n  {"hooks": [{"type": "command"}]}]}}',
            "line 3",
            "command",
        ),
        ('{"hooks": {\n "BeforeTool": "echo"}}', "line 2", "hooks.BeforeTool"),
        ('{"hooks": {"BeforeTool":\n [{"matcher": "x"}]}}', "line 2", "hooks"),
        (
            SECOND_OF_SECOND,
            "line 6",
            "hooks.AfterTool[1].hooks[1].command",
        ),
        ('{"mcpServers": [1]}', "line 1", "mcpServers"),
        ("{" * 5000, "line 1", "not JSON"),
    ],
)
def test_broken_settings_are_reported_with_file_line_and_mend(
    run: Run, folders: Path, runtime: str, text: str, place: str, words: str
) -> None:
    settings = folders / "settings.json"
    settings.write_text(text)

    err = error_of(run(says("never"), settings_file=settings, runtime=runtime), 52)

    assert f"{settings}, {place}" in err
    assert words in err


@RUNTIMES
def test_the_users_own_broken_settings_are_reported_too(
    run: Run, folders: Path, runtime: str
) -> None:
    file = folders / "home" / ".gemini" / "settings.json"
    file.parent.mkdir()
    file.write_text("{,}")

    err = error_of(run(says("never"), runtime=runtime), 52)

    assert f"{file}, line 1, column 2: not JSON" in err


@RUNTIMES
@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"output": {"format": "xml"}}, "output.format is 'xml'; write one of text, json"),
        ({"general": {"defaultApprovalMode": "ask"}}, "Invalid approval mode: ask."),
    ],
)
def test_invalid_values_are_reported_with_the_valid_ones(
    run: Run, folders: Path, runtime: str, settings: dict[str, object], words: str
) -> None:
    file = folders / "settings.json"
    file.write_text(json.dumps(settings))

    ran = run(says("never"), settings_file=file, runtime=runtime, output=None)

    assert words in error_of(ran, 52)


@RUNTIMES
def test_an_unknown_way_to_sign_in_is_reported_with_the_known_ones(
    run: Run, folders: Path, runtime: str
) -> None:
    file = folders / "settings.json"
    file.write_text('{"security": {"auth": {"selectedType": "magic"}}}')

    err = error_of(run(says("never"), settings_file=file, runtime=runtime), 41)

    assert "'magic'; write one of oauth-personal, gemini-api-key, vertex-ai" in err


@RUNTIMES
def test_a_broken_policy_file_is_reported_and_the_run_continues(
    run: Run, folders: Path, runtime: str
) -> None:
    policies = folders / "home" / ".gemini" / "policies"
    policies.mkdir(parents=True)
    (policies / "mine.toml").write_text('[[rule]]\ntoolName = "glob"\ndecision = \n')

    ran = run(says("ok"), runtime=runtime)

    assert (ran.code, ran.out) == (0, "ok\n")
    assert "mine.toml" in ran.err
    assert "Line: 3" in ran.err
    assert "Traceback" not in ran.err


@RUNTIMES
def test_an_invalid_policy_rule_is_reported_with_its_key(
    run: Run, folders: Path, runtime: str
) -> None:
    policies = folders / "home" / ".gemini" / "policies"
    policies.mkdir(parents=True)
    (policies / "mine.toml").write_text(
        '[[rule]]\ntoolName = "glob"\ndecision = "perhaps"\npriority = 1\n'
    )

    ran = run(says("ok"), runtime=runtime)

    assert (ran.code, ran.out) == (0, "ok\n")
    assert "mine.toml" in ran.err
    assert "decision" in ran.err


@RUNTIMES
@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{nope", "line 2: not JSON"),
        ("[]", "line 2: must be an object {method, response}"),
        ('{"method": "guess", "response": []}', "line 2: unknown method 'guess'"),
        ('{"method": "generateContentStream", "response": {}}', "line 2: the response of a stream"),
        ('{"method": "generateContent", "response": []}', "line 2: the response of"),
        ('{"method": "generateContent", "response": NaN}', "line 2: not JSON"),
    ],
)
def test_an_invalid_recorded_answer_is_reported_with_its_line(
    run: Run, folders: Path, runtime: str, line: str, problem: str
) -> None:
    file = folders / "broken.jsonl"
    file.write_text(f'{{"method": "generateContentStream", "response": []}}\n{line}\n')

    err = error_of(run(fake_responses=file, runtime=runtime), 42)

    assert f"{file}, {problem}" in err
    assert 'each line is an object {"method": "generateContentStream"' in err


@RUNTIMES
def test_recorded_answers_that_are_no_text_are_reported(
    run: Run, folders: Path, runtime: str
) -> None:
    file = folders / "broken.jsonl"
    file.write_bytes(b"\xff\xfe")

    assert "not UTF-8" in error_of(run(fake_responses=file, runtime=runtime), 42)


@RUNTIMES
@pytest.mark.parametrize("asked", ["7", "0", "-1", "no-such-id", "../../etc/passwd", "1e3", " "])
def test_no_session_is_what_was_asked_for(run: Run, runtime: str, asked: str) -> None:
    run(says("one"), runtime=runtime)

    err = error_of(run(says("never"), runtime=runtime, resume=asked), 42)

    assert err.startswith(f'Error resuming session: Invalid session identifier "{asked.strip()}".')
    assert "--resume latest" in err


@RUNTIMES
def test_resuming_without_any_session_is_reported(run: Run, runtime: str) -> None:
    err = error_of(run(says("never"), runtime=runtime, resume="1"), 42)

    assert err == "Error resuming session: No previous sessions found for this project.\n"


@RUNTIMES
def test_recordings_that_are_garbage_are_no_sessions(run: Run, folders: Path, runtime: str) -> None:
    chats = folders / "home/.gemini/tmp/ws/chats"
    chats.mkdir(parents=True)
    (chats / "session-2026-01-01T00-00-aaaaaaaa.jsonl").write_bytes(b"\xff\x00garbage\n{\n")
    (chats / "session-2026-01-01T00-01-bbbbbbbb.jsonl").write_text("")
    (chats / "session-2026-01-01T00-02-cccccccc.json").write_text("[1")
    (chats / "session-2026-01-01T00-03-dddddddd.jsonl").write_text('{"sessionId": 7}\n')

    ran = run(says("ok"), runtime=runtime, resume="latest")

    assert (ran.code, ran.out) == (0, "ok\n")
    assert ran.err == "No previous sessions found for this project.\n"


@RUNTIMES
def test_a_recording_cut_off_in_its_last_line_is_gone_on_with_from_the_line_before(
    run: Run, folders: Path, runtime: str
) -> None:
    run(says("I am one"), runtime=runtime)
    (file,) = (folders / "home/.gemini/tmp/ws/chats").glob("session-*.jsonl")
    whole = file.read_bytes()
    file.write_bytes(whole + b'{"id": "cut", "type": "user", "content": [{"te')

    ran = run(says("two"), runtime=runtime, resume="latest", prompt="and then?")

    assert (ran.code, ran.out, ran.err) == (0, "two\n", "")
    again = run(says("three"), runtime=runtime, resume="latest")
    assert (again.code, again.out) == (0, "three\n")
    # In the minute in which it began, a resumed recording gets another name.
    texts = [each.read_text() for each in file.parent.glob("session-*.jsonl")]
    (text,) = [each for each in texts if "I am one" in each]
    assert text.startswith(whole.decode())
    assert all(words in text for words in ("I am one", "and then?", "two", "three"))


@RUNTIMES
def test_a_folder_as_the_file_to_record_is_reported_before_anything_runs(
    run: Run, folders: Path, runtime: str
) -> None:
    (folders / "a-file").write_text("")

    folder = error_of(run(says("never"), runtime=runtime, record_responses=folders), 42)
    under = error_of(
        run(says("never"), runtime=runtime, record_responses=folders / "a-file" / "x"), 42
    )

    assert "is a folder; name a file with --record-responses" in folder
    assert "make it, or name another file with --record-responses" in under


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a folder that takes no files")
@RUNTIMES
def test_a_place_to_record_that_takes_no_files_is_reported_before_anything_runs(
    run: Run, runtime: str
) -> None:
    file = Path("/proc/self/answers")

    assert f"{file}: cannot be written" in error_of(
        run(says("never"), runtime=runtime, record_responses=file), 42
    )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@RUNTIMES
@pytest.mark.parametrize("output", ["text", "json"])
def test_a_disk_that_fills_up_while_answers_are_recorded_fails_the_run_in_words(
    run: Run, runtime: str, output: str
) -> None:
    ran = run(says("ok"), runtime=runtime, record_responses=Path("/dev/full"), output=output)

    assert ran.code == 1
    assert "No space left on device" in ran.err
    assert "Traceback" not in ran.err


@AS_ROOT
@RUNTIMES
def test_a_place_to_record_that_may_not_be_written_is_reported_before_anything_runs(
    run: Run, folders: Path, runtime: str
) -> None:
    (folders / "kept").mkdir(mode=0o500)
    (folders / "mine").write_text("")
    (folders / "mine").chmod(0o400)

    for file in (folders / "kept" / "x", folders / "mine"):
        err = error_of(run(says("never"), runtime=runtime, record_responses=file), 42)
        assert f"{file}: cannot be written" in err


@RUNTIMES
@pytest.mark.parametrize("output", ["text", "json"])
def test_a_home_that_is_no_folder_is_reported(
    run: Run, folders: Path, runtime: str, output: str
) -> None:
    (folders / "home").rmdir()
    (folders / "home").write_text("")

    ran = run(says("ok"), runtime=runtime, output=output)

    assert ran.code in (1, 52)
    assert str(folders / "home") in ran.err
    assert "Traceback" not in ran.err


@RUNTIMES
def test_a_workspace_that_cannot_be_written_fails_the_tool_and_not_the_run(
    run: Run, folders: Path, runtime: str
) -> None:
    (folders / "ws" / "sub").write_text("a file")

    ran = run(
        calls("write_file", file_path="sub/a.txt", content="x"),
        says("It failed."),
        runtime=runtime,
        approval_mode="yolo",
        output="stream-json",
    )

    result = ran.lines[3]
    assert (ran.code, result["status"]) == (0, "error")
    assert "Traceback" not in ran.err


@RUNTIMES
def test_a_prompt_with_lone_surrogates_and_nuls_is_asked_and_shown(run: Run, runtime: str) -> None:
    ran = run(says("a\udc00b"), runtime=runtime, prompt="x\ud800\0y", output="stream-json")

    assert ran.code == 0, ran.err
    assert ran.lines[-1]["status"] == "success"
