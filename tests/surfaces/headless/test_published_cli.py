"""`parity agent` beside the published CLI, with the same recorded answers.

Exit codes, and everything that programs read of the output, must be equal. What is compared is
less: times, session ids, and words of this product's own. The CLI's agent session is switched on,
because its older loop is not what `AgentProtocol` replaces; see `docs/headless.md`.
"""

import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.surfaces.headless.conftest import calls, chunk, says, write_answers
from tests.surfaces.headless.published_cli import (
    NEEDS_THE_CLI,
    PUBLISHED,
    VERSION,
    compared_output,
    error_object,
    our_outcome,
    placed,
    publish,
    published_outcome,
    run_ours,
    without_own_values,
)
from tests.surfaces.headless.published_scenarios import SCENARIOS, Scenario

RECORDINGS = Path(__file__).parents[3] / ".." / "shared" / "recordings" / "gemini-cli"
NO_RECORDINGS = pytest.mark.skip(reason="the recordings are missing: ../shared/recordings")
pytestmark = NEEDS_THE_CLI


def test_the_published_cli_is_the_version_that_is_compared() -> None:
    assert PUBLISHED is not None
    version = subprocess.run([*PUBLISHED, "--version"], capture_output=True, text=True, check=True)

    assert version.stdout.strip() == VERSION


@pytest.mark.parametrize(
    ("scenario", "output", "runtime"),
    [
        (scenario, output, runtime)
        for scenario in SCENARIOS
        for output in scenario.formats
        # Formats are no business of a runtime: one of them is enough to compare both.
        for runtime in (("legacy", "adk") if output == scenario.formats[-1] else ("legacy",))
    ],
    ids=lambda value: value.name if isinstance(value, Scenario) else value,
)
def test_both_end_and_print_alike(
    scenario: Scenario,
    output: str,
    runtime: str,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    theirs = published_outcome(scenario, output, tmp_path_factory)
    ours = our_outcome(scenario, output, runtime, tmp_path, monkeypatch)

    assert ours.code == theirs.code, (ours, theirs)
    assert scenario.code in (None, ours.code)
    assert compared_output(ours.out, output) == compared_output(theirs.out, output), (
        ours.err,
        theirs.err,
    )
    if output == "json" and not ours.out:
        assert error_object(ours.err) == error_object(theirs.err)


@pytest.mark.parametrize("runtime", ["legacy", "adk"])
@pytest.mark.parametrize(
    "file",
    # Those of the browser agent call subagents, which this build has not yet.
    sorted(set(RECORDINGS.rglob("*.responses")) - set(RECORDINGS.rglob("browser-agent*")))
    or [pytest.param(None, marks=NO_RECORDINGS)],
    ids=lambda file: getattr(file, "stem", "none"),
)
def test_both_make_the_same_of_recorded_files(
    file: Path,
    runtime: str,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scenario = Scenario(name=str(file), recorded=file, settings={"useWriteTodos": True})

    theirs = published_outcome(scenario, "stream-json", tmp_path_factory)
    ours = our_outcome(scenario, "stream-json", runtime, tmp_path, monkeypatch)

    assert ours.code == theirs.code, (ours.err, theirs.err)
    assert compared_output(ours.out, "stream-json") == compared_output(theirs.out, "stream-json")


def test_recorded_answers_are_the_same_file_both_ways(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = calls("list_directory", dir_path=".")
    last = [chunk({"text": "Dön"}, finish=None), says("e \u2028 ok")]
    scenario = Scenario(name="recording", answers=[call, last])
    theirs, ours = tmp_path_factory.mktemp("t") / "seen.jsonl", tmp_path / "seen.jsonl"
    outputs = []
    for file, folder in ((theirs, "first"), (ours, "second")):
        place = tmp_path / folder
        place.mkdir()
        with placed(scenario, place) as variables:
            answers = write_answers(place / "answers.jsonl", *scenario.answers)
            recorded = replace(scenario, options={"record_responses": file})
            if file is theirs:
                outputs.append(publish(place, answers, variables, recorded).out)
            else:
                monkeypatch.setenv("GEMINI_CLI_HOME", str(place / "home"))
                monkeypatch.setenv("GEMINI_API_KEY", variables["GEMINI_API_KEY"])
                monkeypatch.chdir(place / "ws")
                outputs.append(run_ours(recorded, "text", "legacy", place / "answers.jsonl").out)

    assert theirs.read_bytes() == ours.read_bytes()
    # And each answers from what the other has recorded.
    lines = [json.loads(line)["response"] for line in theirs.read_text().split("\n") if line]
    again = replace(scenario, name="again", answers=lines)
    outputs.append(published_outcome(again, "text", tmp_path_factory).out)
    (tmp_path / "third").mkdir()
    outputs.append(our_outcome(again, "text", "adk", tmp_path / "third", monkeypatch).out)
    assert outputs == ["Döne \u2028 ok\n"] * 4


MENTIONS = (
    "what is in @a.txt?",
    "@a.txt",
    "compare @a.txt and @sub/b.md, please",
    "read @sub",
    "read @sub/ now",
    "find @b.md.",
    "nothing like @missing.txt here",
    "mail me@example.com",
    r"not \@a.txt",
    r"with @sp\ ace.txt spaces",
    "two:@a.txt@sub/b.md",
    "line\n@a.txt\nline",
    "secret @hidden.log and @a.txt",
    "outside @../outside.txt @/etc/hostname",
    "alone @ sign",
    "twice @a.txt @a.txt",
    "picture @p.png",
    "let @generalist look",
)


@pytest.mark.parametrize("prompt", MENTIONS)
def test_the_files_that_a_prompt_mentions_go_along_alike(
    prompt: str,
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    files = {
        "a.txt": "one\ntwo\n",
        "sub/b.md": "# b\n",
        "sub/c.txt": "c",
        "sp ace.txt": "s",
        "hidden.log": "h",
        ".geminiignore": "*.log\n",
        "p.png": "not really",
    }
    # With no answer left the error holds the request that was made.
    scenario = Scenario(name=f"mention {prompt}", prompt=prompt, files=files)

    theirs = published_outcome(scenario, "json", tmp_path_factory)
    ours = our_outcome(scenario, "json", "legacy", tmp_path, monkeypatch)

    assert _asked(ours.err) == _asked(theirs.err)


def _asked(err: str) -> list[Any]:
    """The parts that a failed run had sent, without the environment's own."""
    message = json.JSONDecoder().raw_decode(err[err.index('{\n  "session_id"') :])[0]["error"]
    request = json.loads(message["message"].split("got request:\n", 1)[1])
    parts = [part for content in request["contents"] for part in content["parts"]]
    kept = [part for part in parts if "<session_context>" not in part.get("text", "")]
    return [without_own_values(part) for part in kept]
