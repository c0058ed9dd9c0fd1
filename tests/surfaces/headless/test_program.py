import json
from pathlib import Path

import pytest

from runtimes import registry
from runtimes.contract import RuntimeFactory
from services.clock import SystemClock
from services.recording.loading import load_conversation_record
from services.wire import Json
from tests.surfaces.headless.conftest import Run, calls, chunk, says

RUNTIMES = pytest.mark.parametrize("runtime", ["legacy", "adk"])


@RUNTIMES
def test_text_is_the_answer_without_terminal_sequences_and_a_line_end(
    run: Run, runtime: str
) -> None:
    answer = [chunk({"text": "Hello \x1b[31mred\x1b[0m "}, finish=None), says("world")]

    ran = run(answer, runtime=runtime)

    assert (ran.code, ran.out, ran.err) == (0, "Hello red world\n", "")


def test_raw_output_lets_terminal_sequences_through_and_warns(run: Run) -> None:
    ran = run(says("\x1b[31mred"), raw_output=True)
    quiet = run(says("\x1b[31mred"), accept_raw_output_risk=True)

    assert ran.out == quiet.out == "\x1b[31mred\n"
    assert ran.err.startswith("[WARNING] --raw-output is enabled.")
    assert quiet.err == ""


def test_a_setting_without_effect_is_warned_of(run: Run, folders: Path) -> None:
    file = folders / "settings.json"
    file.write_text('{"tools": {"discoveryCommand": "find-tools"}}')

    ran = run(says("Hello"), settings_file=file)

    assert (ran.code, ran.out) == (0, "Hello\n")
    assert ran.err == (
        "[WARNING] The setting tools.discoveryCommand has no effect: this build finds tools by MCP "
        "servers only, not by a command.\n"
    )


@RUNTIMES
def test_text_after_a_tool_begins_a_new_line(run: Run, runtime: str) -> None:
    look = chunk(
        {"text": "Let me look."},
        {"functionCall": {"name": "list_directory", "args": {"dir_path": "."}, "id": "c1"}},
    )

    ran = run(look, says("Done."), runtime=runtime)

    assert (ran.code, ran.out) == (0, "Let me look.\nDone.\n")


@RUNTIMES
def test_json_is_one_object_with_the_last_words_and_what_was_used(run: Run, runtime: str) -> None:
    call = chunk(
        {"text": "I write. "},
        {
            "functionCall": {
                "name": "write_file",
                "args": {"file_path": "a.txt", "content": "1\n2\n"},
                "id": "c1",
            }
        },
    )

    ran = run(call, says("ok"), runtime=runtime, output="json", approval_mode="yolo")

    document = ran.document
    assert ran.code == 0
    assert list(document) == ["session_id", "response", "stats"]
    assert document["response"] == "ok"
    model = document["stats"]["models"]["gemini-2.5-flash"]
    assert model["api"]["totalRequests"] == model["roles"]["main"]["totalRequests"] == 2
    assert model["tokens"] == {
        "input": 160,
        "prompt": 200,
        "candidates": 20,
        "total": 230,
        "cached": 40,
        "thoughts": 10,
        "tool": 0,
    }
    tools = document["stats"]["tools"]
    assert (tools["totalCalls"], tools["totalSuccess"], tools["totalFail"]) == (1, 1, 0)
    assert tools["byName"]["write_file"]["decisions"]["accept"] == 1
    assert document["stats"]["files"] == {"totalLinesAdded": 2, "totalLinesRemoved": 0}
    assert Path("a.txt").read_text() == "1\n2\n"


@RUNTIMES
def test_stream_json_is_a_line_for_each_thing_that_happens(run: Run, runtime: str) -> None:
    answers = [calls("read_file", file_path="missing.txt"), says("No file.")]

    ran = run(*answers, runtime=runtime, output="stream-json", piped="from a pipe\n")

    init, user, use, result, answer, end = ran.lines
    assert ran.code == 0
    assert list(init) == ["type", "timestamp", "session_id", "model"]
    assert init["model"] == "gemini-2.5-flash"
    assert (user["role"], user["content"]) == ("user", "from a pipe\n\n\nhi")
    assert (use["type"], use["tool_name"]) == ("tool_use", "read_file")
    assert use["parameters"] == {"file_path": "missing.txt"}
    assert result["tool_id"] == use["tool_id"] == "read_file__c1"
    assert (result["status"], result["output"]) == ("error", "File not found.")
    assert result["error"]["type"] == "file_not_found"
    assert (answer["role"], answer["content"], answer["delta"]) == ("assistant", "No file.", True)
    assert (end["type"], end["status"]) == ("result", "success")
    assert end["stats"]["input_tokens"] == 200
    assert end["stats"]["tool_calls"] == 1
    assert ran.err == "Error executing tool read_file: File not found.\n"


@RUNTIMES
@pytest.mark.parametrize("output", ["text", "json", "stream-json"])
def test_used_up_turns_end_with_53(run: Run, folders: Path, runtime: str, output: str) -> None:
    settings = folders / "settings.json"
    settings.write_text('{"model": {"maxSessionTurns": 1}} // one\n')
    answers = [calls("list_directory", dir_path="."), says("never asked for")]

    ran = run(*answers, runtime=runtime, output=output, settings_file=settings)

    assert ran.code == 53
    if output == "stream-json":
        assert ran.lines[-1]["error"]["type"] == "FatalTurnLimitedError"
        assert ran.lines[-1]["error"]["message"].startswith("[API Error: Reached max session turns")
    else:
        assert "Reached max session turns for this session." in ran.err
    if output == "json":
        assert json.loads(ran.err)["error"]["code"] == 53
        assert ran.out == ""


@pytest.mark.parametrize("output", ["text", "json", "stream-json"])
def test_an_error_of_no_known_kind_ends_with_1(run: Run, folders: Path, output: str) -> None:
    (folders / "none.jsonl").write_text("")

    ran = run(output=output, fake_responses=folders / "none.jsonl", runtime="legacy")

    assert ran.code == 1
    shown = ran.out if output == "stream-json" else ran.err
    assert "No more mock responses for generateContentStream" in shown
    assert "Traceback" not in ran.err


@pytest.mark.parametrize(("enabled", "packages"), [(False, "legacy"), (True, "adk")])
def test_the_settings_flags_choose_the_runtime(
    run: Run, folders: Path, monkeypatch: pytest.MonkeyPatch, enabled: bool, packages: str
) -> None:
    flags = {"runtimeEnabled": enabled, "agentSessionNoninteractiveEnabled": True}
    settings = folders / "settings.json"
    settings.write_text(json.dumps({"experimental": {"adk": flags}}))
    opened: list[str] = []
    real = registry.runtime_factory

    def noted(name: str) -> RuntimeFactory:
        opened.append(name)
        return real(name)

    monkeypatch.setattr(registry, "runtime_factory", noted)

    ran = run(says("ok"), settings_file=settings)

    assert (ran.code, opened) == (0, [packages])


@RUNTIMES
def test_a_session_is_gone_on_with(run: Run, folders: Path, runtime: str) -> None:
    first = run(says("I am one"), runtime=runtime, output="stream-json")
    second = run(
        says("two"), runtime=runtime, resume="latest", output="stream-json", prompt="and then?"
    )
    number = run(says("three"), runtime=runtime, resume="1", output="json")

    session = first.lines[0]["session_id"]
    assert second.lines[0]["session_id"] == number.document["session_id"] == session
    files = (folders / "home/.gemini/tmp/ws/chats").glob("session-*.jsonl")
    records = [load_conversation_record(file, SystemClock()) for file in files]
    answers = [
        [_words(message["content"]) for message in record.messages if message["type"] == "gemini"]
        for record in records
        if record is not None
    ]
    # An engine begins a recording when it opens, which stays without answers after a resume.
    assert [each for each in answers if each] == [["I am one", "two", "three"]]


def _words(content: Json) -> Json:
    """The text of a recorded answer; a resume writes it as parts."""
    return content if isinstance(content, str) else content[0]["text"]


def test_the_latest_of_no_sessions_is_a_new_one(run: Run) -> None:
    ran = run(says("ok"), resume="latest")

    assert (ran.code, ran.out) == (0, "ok\n")
    assert ran.err == "No previous sessions found for this project.\n"


def test_an_unknown_session_ends_with_42(run: Run) -> None:
    run(says("ok"))
    ran = run(says("ok"), resume="7")

    assert (ran.code, ran.out) == (42, "")
    assert ran.err.startswith('Error resuming session: Invalid session identifier "7".')


def test_what_a_model_answers_can_be_recorded_and_answered_again(run: Run, folders: Path) -> None:
    file = folders / "recorded.jsonl"
    run(says("once"), record_responses=file)

    assert run(fake_responses=file).out == "once\n"


def test_an_unknown_model_is_asked_all_the_same(run: Run) -> None:
    ran = run(says("ok"), model="no-such-model", output="stream-json")

    assert (ran.code, ran.lines[0]["model"]) == (0, "no-such-model")


def test_without_input_the_program_ends_with_42(run: Run) -> None:
    ran = run(says("ok"), prompt="")

    assert ran.code == 42
    assert ran.err.startswith("No input provided via stdin.")


@pytest.mark.parametrize("output", ["text", "json", "stream-json"])
def test_without_a_way_to_sign_in_the_program_ends_with_41(
    run: Run, monkeypatch: pytest.MonkeyPatch, output: str
) -> None:
    monkeypatch.delenv("GEMINI_API_KEY")
    ran = run(output=output)

    assert (ran.code, ran.out) == (41, "")
    shown = json.loads(ran.err)["error"]["message"] if output == "json" else ran.err
    assert shown.startswith("Please set an Auth method")
    assert "GEMINI_API_KEY" in shown


def test_bad_input_is_reported_with_its_place_and_its_mend(run: Run, folders: Path) -> None:
    broken = folders / "broken.jsonl"
    broken.write_text('{"method": "generateContentStream", "response": []}\n{nope\n')

    missing = run(fake_responses=folders / "none.jsonl")
    wrong = run(fake_responses=broken)
    unknown = run(says("ok"), runtime="nope")
    nowhere = run(says("ok"), record_responses=folders / "none" / "file")

    assert [ran.code for ran in (missing, wrong, unknown, nowhere)] == [42] * 4
    assert "none.jsonl: cannot be read: No such file" in missing.err
    assert "broken.jsonl, line 2: not JSON" in wrong.err
    assert "unknown runtime 'nope'; known: adk, legacy" in unknown.err
    assert "make it, or name another file with --record-responses" in nowhere.err


def test_broken_settings_end_with_52(run: Run, folders: Path) -> None:
    settings = folders / "settings.json"
    settings.write_text('{\n "model": {"name": }}')

    ran = run(says("ok"), settings_file=settings)

    assert (ran.code, ran.out) == (52, "")
    assert f"{settings}, line 2, column 20: not JSON" in ran.err


def test_the_tool_that_asks_the_user_is_not_offered(run: Run, folders: Path) -> None:
    (folders / "none.jsonl").write_text("")

    # The message of a file that ran out holds the whole request.
    ran = run(fake_responses=folders / "none.jsonl", runtime="legacy")

    assert '"name":"read_file"' in ran.err
    assert '"name":"ask_user"' not in ran.err
