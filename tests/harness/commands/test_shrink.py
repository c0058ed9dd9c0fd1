import os
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from harness.cassette.load import load_cassette
from harness.cli import parity
from harness.commands.shrink import ShrinkSeams

REPOSITORY = Path(__file__).parents[3]

CHUNK = {
    "candidates": [{"content": {"parts": [{"text": "Done."}]}, "finishReason": "STOP"}],
    "usageMetadata": {"promptTokenCount": 9, "candidatesTokenCount": 5, "totalTokenCount": 14},
}
CASSETTE: dict[str, Any] = {
    "cassette": 1,
    "name": "mine/big",
    "phase": "A",
    "session": {"model": "gemini-2.5-flash", "approval_mode": "yolo"},
    "files": {"a.txt": "alpha\n"},
    "script": [{"send": "what is this?"}, {"send": "and now?"}],
    "model": [{"text": "A file."}, {"stream": [CHUNK]}],
}


def invoke(*arguments: object, seams: ShrinkSeams | None = None) -> Result:
    words = ["shrink", *map(str, arguments)]
    return CliRunner().invoke(parity, words, obj=seams, prog_name="parity")


def write(file: Path, document: dict[str, Any]) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(yaml.safe_dump(document, sort_keys=False))
    return file


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def big(here: Path) -> Path:
    return write(here / "mine" / "big.yaml", CASSETTE)


FOUND = Path(".parity/found/shrunk/2fa3272ca154_usage-dropped.yaml")


def test_a_failing_cassette_becomes_a_small_one(big: Path) -> None:
    before = big.read_bytes()

    result = invoke(big, "--fault", "usage-dropped")

    assert result.exit_code == 0, result.output
    small = load_cassette(FOUND)
    assert small.document["script"] == [{"send": "ok"}]
    assert len(small.steps) == 1
    assert small.provenance.kind == "shrunk"
    assert small.provenance.source == "shrunk from mine/big"
    assert "usage" in small.note
    assert big.read_bytes() == before
    assert list(Path(".parity/shrink").iterdir()) == []


def test_it_says_from_what_to_what_where_it_is_and_how_to_see_it(big: Path) -> None:
    lines = invoke(big, "--fault", "usage-dropped").stdout.splitlines()

    assert lines[0].startswith("before: 2 model turns, 2 parts, ")
    assert lines[1].startswith("after:  1 model turn, 1 part, ")
    assert any("adk emitted the" in line and "legacy did not" in line for line in lines)
    assert f"written: {FOUND}" in lines
    assert f"replay:  parity run {FOUND} --control legacy --candidate adk" in lines
    assert "only with the seeded fault usage-dropped" in lines


@pytest.mark.slow
def test_a_kept_finding_says_itself_between_whom_and_with_which_fault(big: Path) -> None:
    invoke(big, "--fault", "usage-dropped", "--control", "adk", "--candidate", "legacy")
    (found,) = Path(".parity/found/shrunk").iterdir()

    result = invoke(found)

    assert result.exit_code == 0, result.output
    assert "it is as small as it gets: 1 model turn" in result.stdout
    assert "events[4] usage (missing)" in result.stdout
    assert "written" not in result.stdout


def test_a_cassette_that_is_as_small_as_it_gets_is_not_written_again(here: Path) -> None:
    small = {**CASSETTE, "script": [{"send": "ok"}], "session": {"model": "gemini-2.5-flash"}}
    small["model"] = [{"stream": [{**CHUNK, "usageMetadata": {"promptTokenCount": 1}}]}]
    small["model"][0]["stream"][0]["candidates"] = [
        {"content": {"role": "model", "parts": [{"text": "ok"}]}, "finishReason": "STOP"}
    ]
    del small["files"]

    result = invoke(write(here / "mine" / "big.yaml", small), "--fault", "usage-dropped")

    assert (result.exit_code, Path(".parity/found").exists()) == (0, False)
    assert "it is as small as it gets" in result.stdout


@pytest.mark.slow
def test_out_names_the_file_and_the_cassette(big: Path) -> None:
    result = invoke(big, "--fault", "usage-dropped", "--out", "new/text/usage.yaml")

    assert result.exit_code == 0, result.output
    assert load_cassette(Path("new/text/usage.yaml")).name == "text/usage"
    assert not Path(".parity/found").exists()


@pytest.mark.slow
def test_found_names_the_folder(big: Path) -> None:
    assert invoke(big, "--fault", "usage-dropped", "--found", "kept").exit_code == 0
    assert load_cassette(Path("kept", *FOUND.parts[2:])).name.startswith("shrunk/")


def test_where_the_runtimes_agree_there_is_nothing_to_keep(big: Path) -> None:
    result = invoke(big)

    assert result.exit_code == 3
    assert "legacy and adk agree, so there is nothing to shrink" in result.output
    assert not Path(".parity").exists()


def test_where_nothing_can_be_said_there_is_nothing_to_keep(here: Path) -> None:
    document = {**CASSETTE, "model": [{"hang": True}], "script": [{"send": "go"}]}

    result = invoke(write(here / "mine" / "big.yaml", document))

    assert result.exit_code == 3
    assert "no verdict on legacy and adk: " in result.output


def interrupting(after: int) -> ShrinkSeams:
    return ShrinkSeams(interrupts=lambda tries: tries == after)


def test_ctrl_c_writes_the_smallest_so_far_and_says_how_to_go_on(big: Path) -> None:
    result = invoke(big, "--fault", "usage-dropped", seams=interrupting(5))

    assert result.exit_code == 130
    assert "interrupted; the smallest cassette so far is written" in result.output
    assert load_cassette(FOUND).document["script"] == [{"send": "and now?"}]
    assert f"parity shrink {big} --control legacy --candidate adk" in result.stdout
    assert result.stdout.rstrip().endswith("--fault usage-dropped --resume")


def tries(output: str) -> int:
    """How many tries a run says that it took."""
    match = re.search(r"\((\d+) tr", output)
    assert match is not None, output
    return int(match[1])


def test_resume_goes_on_where_it_was_ended(big: Path) -> None:
    whole = invoke(big, "--fault", "usage-dropped", "--found", "whole").stdout
    invoke(big, "--fault", "usage-dropped", seams=interrupting(12))

    result = invoke(big, "--fault", "usage-dropped", "--resume")

    assert result.exit_code == 0, result.output
    assert tries(result.stdout) <= tries(whole) - 6
    steps = load_cassette(FOUND).document["model"]
    assert steps == load_cassette(Path("whole", *FOUND.parts[2:])).document["model"]


@pytest.mark.slow
def test_resume_does_not_try_again_what_was_refused(big: Path) -> None:
    whole = tries(invoke(big, "--fault", "usage-dropped", "--found", "whole").stdout)
    anew = tries(invoke(Path("whole", *FOUND.parts[2:])).stdout)
    invoke(big, "--fault", "usage-dropped", seams=interrupting(whole - 1))

    resumed = tries(invoke(big, "--fault", "usage-dropped", "--resume").stdout)

    assert resumed <= 2 < anew


def test_resume_without_anything_to_go_on_with_is_remarked(big: Path) -> None:
    result = invoke(big, "--fault", "usage-dropped", "--resume")

    assert result.exit_code == 0
    assert "remark: there is no .parity/shrink/" in result.stderr
    assert "to go on with: begun anew" in result.stderr


@pytest.mark.slow
def test_a_journal_that_is_none_is_remarked_and_replaced(big: Path) -> None:
    invoke(big, "--fault", "usage-dropped", seams=interrupting(3))
    (journal,) = Path(".parity/shrink").iterdir()
    journal.write_text("nonsense")

    result = invoke(big, "--fault", "usage-dropped", "--resume")

    assert result.exit_code == 0
    assert "is no journal of a shrinking: begun anew" in result.stderr


def test_time_that_is_up_ends_it(big: Path) -> None:
    moments = iter(range(1000))
    seams = ShrinkSeams(clock=lambda: float(next(moments)))

    result = invoke(big, "--fault", "usage-dropped", "--time", "4s", seams=seams)

    assert result.exit_code == 0
    assert "time was up after 4s" in result.stdout
    assert "continue: parity shrink" in result.stdout
    assert FOUND.is_file()


@pytest.mark.slow
def test_a_cassette_that_starts_processes_needs_trust(here: Path) -> None:
    call = {"name": "run_shell_command", "args": {"command": "echo a"}}
    step = {"stream": [{"candidates": [{"content": {"parts": [{"functionCall": call}]}}]}]}
    document = {**CASSETTE, "model": [step, {"stream": [CHUNK]}], "script": [{"send": "go"}]}
    file = write(here / "mine" / "big.yaml", document)

    refused = invoke(file, "--fault", "usage-dropped")
    assert refused.exit_code == 2
    assert "run_shell_command: echo a; give --trust" in refused.output

    trusted = invoke(file, "--fault", "usage-dropped", "--trust")
    assert trusted.exit_code == 0, trusted.output
    assert "--candidate adk --trust" in trusted.stdout


@pytest.mark.slow
def test_a_resumed_session_can_be_shrunk(here: Path) -> None:
    message = {"id": "m1", "timestamp": "2026-01-01T00:00:00.000Z"}
    records = [
        {"sessionId": "s", "projectHash": "h", "startTime": message["timestamp"], "kind": "main"},
        {**message, "type": "user", "content": [{"text": "before"}]},
        {**message, "id": "m2", "type": "gemini", "content": "yes"},
    ]
    document = {**CASSETTE, "resume": {"records": records, "file": "session-a.jsonl"}}

    result = invoke(write(here / "mine" / "big.yaml", document), "--fault", "usage-dropped")

    assert result.exit_code == 0, result.output
    assert load_cassette(FOUND).resume is None


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere.yaml"], "does not exist"),
        (["."], "is a folder; name one cassette"),
        (["mine/big.yaml", "--fault", "usage-droped"], "did you mean usage-dropped"),
        (["mine/big.yaml", "--control", "legasy"], "unknown runtime 'legasy'; known: adk, legacy"),
        (["mine/big.yaml", "--control", "baseline:x"], "cannot be run; name a runtime"),
        (["mine/big.yaml", "--out", "a.txt"], "is no name for a cassette; name it FAMILY/NAME"),
        (["mine/big.yaml", "--out", "mine/big.yaml"], "already exists; choose another file"),
        (["mine/big.yaml", "--out", "a/b.yaml", "--found", "c"], "exclude each other"),
        (["mine/big.yaml", "--time", "soon"], "is no duration; write it like 90s"),
        (["mine/big.yaml", "--waivers", "none.toml"], "none.toml"),
        ([], "Missing argument 'CASSETTE'"),
        (["bad.yaml"], "bad.yaml: "),
        ([str(REPOSITORY / "cassettes/http/stream_text.yaml")], "is recorded HTTP traffic"),
        (
            ["mine/big.yaml", "--fault", "usage-dropped", "--control", "adk", "--candidate", "adk"],
            "is one of legacy, and neither side is one",
        ),
    ],
)
def test_wrong_usage_is_said_in_one_line(big: Path, arguments: list[str], words: str) -> None:
    Path("bad.yaml").write_text("cassette: [")

    result = invoke(*arguments)

    assert result.exit_code == 2, result.output
    assert words in result.output
    assert "Traceback" not in result.output
    assert not Path(".parity").exists()


@pytest.mark.slow
def test_a_cassette_that_names_files_beside_it_stays_under_its_root(here: Path) -> None:
    document = {**CASSETTE, "script": [{"send": "<CASSETTES>/a"}, {"send": "b"}]}
    file = write(here / "mine" / "big.yaml", document)

    refused = invoke(file, "--fault", "usage-dropped")
    assert refused.exit_code == 2
    assert "names files beside it by <CASSETTES>; write it to" in refused.output

    kept = invoke(file, "--fault", "usage-dropped", "--out", "other/small.yaml")
    assert kept.exit_code == 0, kept.output


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_folder_that_cannot_be_written_is_wrong_usage(big: Path) -> None:
    big.parent.parent.chmod(0o500)
    result = invoke(big, "--fault", "usage-dropped")
    big.parent.parent.chmod(0o700)

    assert result.exit_code == 2
    assert "cannot be written" in result.output


def test_a_file_in_the_place_of_the_folder_is_wrong_usage(big: Path) -> None:
    Path(".parity").write_text("")

    result = invoke(big, "--fault", "usage-dropped")

    assert result.exit_code == 2
    assert "cannot be written: " in result.output
    assert "Traceback" not in result.output
