import json
from pathlib import Path
from typing import Any

import click
import pytest

from harness.commands.agent import headless_options, run_options
from services.telemetry_settings import TelemetryOverrides
from tests.surfaces.headless.conftest import Run, calls, says

RUNTIMES = pytest.mark.parametrize("runtime", ["legacy", "adk"])
ON = TelemetryOverrides(enabled=True, outfile="../spans.jsonl")


def spans(file: Path) -> list[Any]:
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    found = [line["resourceSpans"][0] for line in lines if "resourceSpans" in line]
    return [span for one in found for span in one["scopeSpans"][0]["spans"]]


@RUNTIMES
def test_a_measured_run_says_the_same_and_leaves_its_spans(
    run: Run, folders: Path, runtime: str
) -> None:
    answers = (calls("list_directory", dir_path="."), says("Done."))

    plain = run(*answers, runtime=runtime)
    measured = run(*answers, runtime=runtime, telemetry=ON)

    assert measured == plain
    assert [span["name"] for span in spans(folders / "spans.jsonl")] == [
        "generate_content gemini-2.5-flash",
        "execute_tool list_directory",
        "generate_content gemini-2.5-flash",
        "invoke_agent gemini-cli",
    ]
    resource = json.loads((folders / "spans.jsonl").read_text().splitlines()[0])
    attributes = resource["resourceSpans"][0]["resource"]["attributes"]
    assert {"key": "parity.runtime", "value": {"stringValue": runtime}} in attributes


def test_the_settings_file_switches_it_on_and_the_command_line_off(run: Run, folders: Path) -> None:
    settings = folders / "home" / ".gemini" / "settings.json"
    settings.parent.mkdir()
    file = folders / "spans.jsonl"
    settings.write_text(json.dumps({"telemetry": {"enabled": True, "outfile": str(file)}}))

    assert run(says("hi"), telemetry=TelemetryOverrides(enabled=False)).code == 0
    assert not file.exists()
    assert run(says("hi")).code == 0
    assert spans(file)


@RUNTIMES
def test_neither_keys_nor_words_are_recorded(
    run: Run, folders: Path, monkeypatch: pytest.MonkeyPatch, runtime: str
) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "the-key")

    run(says("the answer"), prompt="the question", runtime=runtime, telemetry=ON)

    text = (folders / "spans.jsonl").read_text()
    assert [word for word in ("the-key", "the answer", "the question") if word in text] == []


def test_a_run_that_fails_leaves_its_spans(run: Run, folders: Path) -> None:
    ran = run(calls("list_directory", dir_path="."), telemetry=ON)

    assert ran.code != 0
    failed, *_ = [span for span in spans(folders / "spans.jsonl") if span["status"]["code"] == 2]
    assert failed["name"] == "generate_content gemini-2.5-flash"


def test_a_file_that_cannot_be_written_is_told_before_anything_runs(
    run: Run, tmp_path: Path
) -> None:
    outfile = str(tmp_path / "no" / "spans.jsonl")

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
    def command(**given: Any) -> TelemetryOverrides:
        return headless_options(given).telemetry

    told = command.main(arguments, standalone_mode=False)
    assert told == TelemetryOverrides(enabled=enabled, outfile=outfile)
