import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness.cli import parity
from harness.replay.observation import Observation
from harness.replay.trace import trace_json
from tests.harness.samples import observation


def invoke(*arguments: object) -> Result:
    words = [str(argument) for argument in arguments]
    return CliRunner().invoke(parity, ["diff", *words], prog_name="parity")


def write(file: Path, seen: Observation) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(trace_json(seen))
    return file


def lossy(runtime: str = "adk") -> Observation:
    seen = observation(runtime)
    return replace(seen, events=[event for event in seen.events if event["type"] != "usage"])


@pytest.fixture
def legacy(tmp_path: Path) -> Path:
    return write(tmp_path / "legacy.json", observation())


def test_traces_of_equal_runs_are_parity(legacy: Path, tmp_path: Path) -> None:
    result = invoke(legacy, write(tmp_path / "adk.json", observation("adk", base="/tmp/b")))

    assert result.exit_code == 0, result.output
    assert result.output.splitlines()[-1] == "parity: legacy and adk over 1 case"


def test_a_difference_is_explained_as_in_a_run(legacy: Path, tmp_path: Path) -> None:
    lost = write(tmp_path / "adk trace.json", lossy())
    result = invoke(legacy, lost)

    assert result.exit_code == 1
    assert "first divergence: tools/read" in result.output
    assert "events[4] usage (missing)" in result.output
    assert f"reproduce: parity diff {legacy} '{lost}'" in result.output


def test_two_traces_of_one_runtime_are_named_by_their_files(legacy: Path, tmp_path: Path) -> None:
    later = write(tmp_path / "later.json", lossy("legacy"))

    assert f"divergent: {legacy} and {later} over 1 case" in invoke(legacy, later).output


def test_folders_are_compared_file_by_file(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    for folder, runtime in ((here, "legacy"), (there, "adk")):
        write(folder / "a" / "1.json", observation(runtime))
    write(here / "a" / "2.json", observation())
    write(there / "a" / "2.json", lossy())

    both = invoke(here, there)
    write(here / "a" / "3.json", observation())
    alone = invoke(here, there)

    assert both.exit_code == 1
    assert "first divergence: a/2" in both.output
    assert "divergent: legacy and adk over 2 cases" in both.output
    assert f"a/3: only {here} has a trace of it" in alone.output


def test_a_trace_without_partner_is_inconclusive(tmp_path: Path) -> None:
    for folder in ("here", "there"):
        write(tmp_path / folder / "1.json", observation())
    write(tmp_path / "there" / "2.json", observation())

    assert invoke(tmp_path / "here", tmp_path / "there").exit_code == 3


def test_a_file_that_is_no_trace_does_not_stop_the_others(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    write(here / "1.json", observation())
    write(there / "1.json", lossy())
    (here / "2.json").write_text("{}")
    (there / "2.json").write_text("{}")

    result = invoke(here, there)

    assert result.exit_code == 2
    assert "not loaded: trace " in result.output
    assert "first divergence: 1" in result.output


def test_the_report_can_be_json_on_standard_output_alone(legacy: Path, tmp_path: Path) -> None:
    result = invoke(legacy, write(tmp_path / "adk.json", lossy()), "--json", "-")

    document = json.loads(result.stdout)
    assert document["verdict"] == "divergent"
    assert document["cases"][0]["reproduce"].startswith("parity diff ")


def test_the_report_can_be_json_in_a_file(legacy: Path, tmp_path: Path) -> None:
    invoke(legacy, legacy, "--json", tmp_path / "d.json")

    assert json.loads((tmp_path / "d.json").read_text())["verdict"] == "parity"


def test_traces_of_different_cassettes_are_remarked(legacy: Path, tmp_path: Path) -> None:
    other = write(tmp_path / "other.json", observation("adk", name="tools/other"))
    result = invoke(legacy, other)

    assert f"note: {legacy} is of tools/read, {other} of tools/other" in result.stderr
    assert result.exit_code == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["{trace}", "{folder}/gone.json"], "gone.json does not exist"),
        (["{trace}", "{folder}"], "are not both files or both folders"),
        (["{folder}/empty", "{folder}/empty"], "contains a trace"),
        (["{trace}", "{trace}", "--json", "{trace}/x.json"], "cannot be written"),
        (["{trace}"], "Missing argument 'B'"),
    ],
)
def test_wrong_usage_is_a_clear_error(
    legacy: Path, tmp_path: Path, words: list[str], message: str
) -> None:
    (tmp_path / "empty").mkdir()
    result = invoke(*(word.format(trace=legacy, folder=tmp_path) for word in words))

    assert result.exit_code == 2
    assert message in result.output
    assert "Traceback" not in result.output
