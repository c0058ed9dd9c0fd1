import json
from pathlib import Path
from typing import Any

import click
import pytest

from harness.command_line.agents import run_options
from harness.commands.agent import headless_options
from services.settings.telemetry import TelemetryOverrides
from tests import outfiles
from tests.surfaces.headless.conftest import Run, calls, says

RUNTIMES = pytest.mark.parametrize("runtime", ["legacy", "adk"])
ON = TelemetryOverrides(enabled=True, outfile="../telemetry.log")


def spans(file: Path) -> list[Any]:
    return outfiles.spans(file.read_text("utf-8"))


@RUNTIMES
def test_a_measured_run_says_the_same_and_leaves_its_spans(
    run: Run, folders: Path, runtime: str
) -> None:
    answers = (calls("list_directory", dir_path="."), says("Done."))

    plain = run(*answers, runtime=runtime)
    measured = run(*answers, runtime=runtime, telemetry=ON)

    assert measured == plain
    assert [span["name"] for span in spans(folders / "telemetry.log")] == [
        "generate_content gemini-2.5-flash",
        "execute_tool list_directory",
        "generate_content gemini-2.5-flash",
        "invoke_agent gemini-cli",
    ]
    assert spans(folders / "telemetry.log")[0]["resource"]["parity.runtime"] == runtime


def test_the_settings_file_switches_it_on_and_the_command_line_off(run: Run, folders: Path) -> None:
    settings = folders / "home" / ".gemini" / "settings.json"
    settings.parent.mkdir()
    file = folders / "telemetry.log"
    settings.write_text(json.dumps({"telemetry": {"enabled": True, "outfile": str(file)}}))

    assert run(says("hi"), telemetry=TelemetryOverrides(enabled=False)).code == 0
    assert not file.exists()
    assert run(says("hi")).code == 0
    assert spans(file)


@RUNTIMES
def test_without_prompts_neither_keys_nor_words_are_recorded(
    run: Run, folders: Path, monkeypatch: pytest.MonkeyPatch, runtime: str
) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "the-key")
    monkeypatch.setenv("GEMINI_TELEMETRY_LOG_PROMPTS", "false")

    run(says("the answer"), prompt="the question", runtime=runtime, telemetry=ON)

    text = (folders / "telemetry.log").read_text()
    assert [word for word in ("the-key", "the answer", "the question") if word in text] == []


def test_a_run_that_fails_leaves_its_spans(run: Run, folders: Path) -> None:
    ran = run(calls("list_directory", dir_path="."), telemetry=ON)

    assert ran.code != 0
    failed, *_ = [span for span in spans(folders / "telemetry.log") if span["status"]["code"] == 2]
    assert failed["name"] == "generate_content gemini-2.5-flash"


def test_a_file_that_cannot_be_written_is_reported_before_anything_runs(
    run: Run, tmp_path: Path
) -> None:
    outfile = str(tmp_path / "no" / "telemetry.log")

    ran = run(says("hi"), telemetry=TelemetryOverrides(enabled=True, outfile=outfile))

    assert (ran.code, ran.out) == (52, "")
    assert f"{outfile}: cannot be written: No such file or directory" in ran.err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full: only Linux has one")
@RUNTIMES
def test_a_full_disk_is_one_warning(run: Run, runtime: str) -> None:
    full = TelemetryOverrides(enabled=True, outfile="/dev/full")

    ran = run(says("hi"), runtime=runtime, telemetry=full)

    assert (ran.code, ran.out) == (0, "hi\n")
    assert ran.err == "Telemetry stopped: /dev/full cannot be written: No space left on device\n"


@pytest.mark.parametrize(
    ("arguments", "enabled", "outfile"),
    [
        ([], None, None),
        (["--telemetry"], True, None),
        (["--no-telemetry"], False, None),
        (["--telemetry", "--telemetry-outfile", "here"], True, "here"),
    ],
)
def test_the_command_line_says_whether(
    arguments: list[str], enabled: bool | None, outfile: str | None
) -> None:
    @click.command()
    @run_options
    def command(**given: Any) -> TelemetryOverrides | None:
        return headless_options(given).telemetry

    overrides = command.main(arguments, standalone_mode=False)
    assert (overrides or TelemetryOverrides()) == TelemetryOverrides(
        enabled=enabled, outfile=outfile
    )


@RUNTIMES
def test_the_log_has_the_published_cores_records(run: Run, folders: Path, runtime: str) -> None:
    (folders / "ws" / "a.txt").write_text("one\n")

    run(calls("read_file", file_path="a.txt"), says("One."), runtime=runtime, telemetry=ON)

    text = (folders / "telemetry.log").read_text("utf-8")
    named = [one["attributes"]["event.name"] for one in outfiles.records(text)]
    kept = [name.removeprefix("gemini_cli.") for name in named if not name.startswith("gen_ai.")]
    timed = "plan.approval_mode_duration"
    assert [name for name in kept if name != timed] == [
        *("config", "user_prompt", "model_routing", "api_request", "api_response"),
        *("file_operation", "tool_call", "api_request", "api_response"),
    ]
    (call,) = outfiles.records(text, "tool_call")
    attributes = call["attributes"]
    assert attributes["function_name"] == "read_file"
    assert json.loads(attributes["function_args"]) == {"file_path": "a.txt"}
    assert (attributes["success"], attributes["tool_type"]) == (True, "native")
    assert attributes["duration_ms"] >= 0
    assert call["_body"].startswith("Tool call: read_file. Decision: accept. Success: true.")
    metrics = outfiles.metrics(text)
    assert metrics["gemini_cli.session.count"]["dataPoints"][0]["value"] == 1
    assert "gemini_cli.tool.call.latency" in metrics


@RUNTIMES
def test_the_log_has_what_is_said_unless_that_is_switched_off(
    run: Run, folders: Path, monkeypatch: pytest.MonkeyPatch, runtime: str
) -> None:
    file = folders / "telemetry.log"
    run(says("the answer"), prompt="the question", runtime=runtime, telemetry=ON)
    (prompt,) = outfiles.read_records(file, "user_prompt")
    (request,) = outfiles.read_records(file, "api_request")
    (response,) = outfiles.read_records(file, "api_response")
    assert prompt["prompt"] == "the question"
    assert json.loads(request["request_text"])[-1]["parts"][-1] == {"text": "the question"}
    assert "the answer" in response["response_text"]

    file.unlink()
    monkeypatch.setenv("GEMINI_TELEMETRY_LOG_PROMPTS", "false")
    run(says("the answer"), prompt="the question", runtime=runtime, telemetry=ON)
    (prompt,) = outfiles.read_records(file, "user_prompt")
    assert "prompt" not in prompt
    assert prompt["prompt_length"] == len("the question")


@RUNTIMES
def test_hook_calls_are_logged(run: Run, folders: Path, runtime: str) -> None:
    hook = {"type": "command", "command": "cat > /dev/null; echo '{}'; echo why >&2"}
    settings = {"hooks": {"BeforeAgent": [{"hooks": [hook]}]}}
    (folders / "home" / ".gemini").mkdir()
    (folders / "home" / ".gemini" / "settings.json").write_text(json.dumps(settings))

    run(says("hi"), runtime=runtime, telemetry=ON)

    (call,) = outfiles.read_records(folders / "telemetry.log", "hook_call")
    assert (call["hook_event_name"], call["hook_name"]) == ("BeforeAgent", hook["command"])
    assert (call["success"], call["exit_code"], call["stderr"]) == (True, 0, "why\n")
    assert json.loads(call["hook_input"])["prompt"] == "hi"
