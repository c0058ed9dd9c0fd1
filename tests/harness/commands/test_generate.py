import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from harness.cli import parity
from harness.commands.generate import GenerateSeams
from harness.gate.evidence import read_evidence
from harness.inventory import CODE
from harness.scenarios.block import BlockDone, BlockTask
from tests.harness.scenarios.made_up import done, files, finding, here, quiet

SMALL = ("--shrink-time", "0")


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def generate(*options: str, run: Callable[[BlockTask], BlockDone] = quiet) -> Result:
    """Run the command here, with made-up blocks."""
    seams = GenerateSeams(workers=here(), now=lambda: 0.0, run=run)
    return CliRunner().invoke(parity, ["generate", *options], obj=seams)


def for_real(*options: str) -> Result:
    """Run the command with its worker processes."""
    return CliRunner().invoke(parity, ["generate", *options])


def finds(task: BlockTask) -> BlockDone:
    return done(task.number, finding(task.number), examples=task.examples)


def summary(file: str = "out.json") -> dict[str, Any]:
    loaded = json.loads(Path(file).read_text())
    assert isinstance(loaded, dict)
    return loaded


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--examples", "0"), "draws nothing"),
        (("--examples", "-3"), "draws nothing"),
        (("--time", "0"), "no time at all"),
        (("--time", "soon"), "no duration"),
        (("--time", "1m", "--examples", "5"), "exclude each other"),
        (("--profile", "nonsense"), "known: everything"),
        (("--fault", "usage-drop"), "did you mean usage-dropped"),
        (("--fault", "usage-dropped", "--control", "adk"), "neither side"),
        (("--control", "unknown"), "known: adk, legacy"),
        (("--control", "baseline:x"), "cannot be run"),
        (("--seed", "-1"), "below 0"),
        (("--shrink-time", "long"), "no duration"),
        (("--resume",), "no such run"),
        (("--waivers", "nowhere.toml"), "nowhere.toml"),
        (("--executor", "tcp://10.0.0.1:1"), "not encrypted"),
    ],
)
def test_nonsense_is_refused_with_a_reason(options: tuple[str, ...], says: str) -> None:
    result = for_real(*options)

    assert result.exit_code == 2
    assert says in result.output
    assert "Traceback" not in result.output


@pytest.mark.parametrize("option", ["--found", "--json"])
def test_a_place_that_cannot_be_written_to_is_refused_first(option: str) -> None:
    Path("in the way").write_text("")

    result = generate(option, "in the way/x")

    assert result.exit_code == 2
    assert option in result.output
    assert not Path(".parity/generate").exists()


def test_a_summary_says_what_it_was_drawn_with_and_the_gate_reads_it() -> None:
    generate("--sample", "--examples", "50", "--seed", "5", "--json", "out.json")

    (run,) = read_evidence([Path("out.json")]).samples

    assert (run.way, run.profile, run.seed, run.drawn) == ("sample", "everything", 5, 50)
    assert (run.control, run.candidate, run.verdict) == ("legacy", "adk", "nothing found")
    assert set(CODE) < set(run.facts.components)
    assert all(run.facts.components[name] for name in ("harness", "runtimes", "services"))


def test_findings_that_were_known_before_count_at_the_gate() -> None:
    generate("--sample", "--examples", "25", "--seed", "5", *SMALL, run=finds)
    generate("--sample", "--examples", "25", "--seed", "6", *SMALL, "--json", "out.json", run=finds)

    (run,) = read_evidence([Path("out.json")]).samples

    assert run.verdict == "findings"
    assert len(run.fingerprints) == 1


def test_nothing_found_exits_by_0_and_says_which_examples() -> None:
    result = generate("--examples", "60", "--seed", "5", "--json", "out.json")

    assert result.exit_code == 0
    assert "search: profile everything" in result.output
    assert "60 examples in 3 blocks" in result.output
    assert "rate of divergence: none" in result.output
    assert "--seed 5 --examples 60" in result.output
    assert summary()["verdict"] == "nothing found"
    assert summary()["upperBound"] is None
    assert summary()["examplesDigest"] in result.output


def test_without_a_seed_a_fresh_one_is_drawn_and_shown() -> None:
    seeds = set()
    for _ in range(3):
        assert generate("--examples", "25", "--json", "out.json").exit_code == 0
        seeds.add(summary()["seed"])

    assert len(seeds) == 3


def test_500_examples_are_drawn_by_default() -> None:
    generate("--json", "out.json")

    assert summary()["drawn"] == 500


def test_a_sample_that_finds_nothing_states_its_bound_and_for_what() -> None:
    result = generate("--sample", "--examples", "100", "--seed", "5", "--json", "out.json")

    assert result.exit_code == 0
    assert "below 2.951% at 95 %, from 100 independent examples" in result.output
    assert "for profile everything" in result.output
    bound = summary()["upperBound"]
    assert bound["rate"] == pytest.approx(0.0295, abs=1e-4)
    assert (bound["profile"], bound["seed"]) == ("everything", 5)


def test_half_a_sample_states_no_bound() -> None:
    def stopped(task: BlockTask) -> BlockDone:
        if task.number == 1:
            raise KeyboardInterrupt
        return quiet(task)

    result = generate("--sample", "--examples", "50", "--json", "out.json", run=stopped)

    assert result.exit_code == 130
    assert "no bound (the run has findings or was interrupted)" in result.output
    assert summary()["upperBound"] is None


def test_each_finding_has_its_file_and_how_to_replay_it() -> None:
    def again(task: BlockTask) -> BlockDone:
        return done(task.number, finding(task.number), finding(task.number, "message"))

    result = generate("--sample", "--examples", "25", *SMALL, "--json", "out.json", run=again)

    # Made up, they do not come again: of such nothing can be said.
    assert result.exit_code == 3
    assert {found["fingerprint"] for found in summary()["findings"]} == {
        finding().fingerprint,
        finding(label="message").fingerprint,
    }
    for found in summary()["findings"]:
        assert Path(found["file"]).is_file()
        assert f"replay: parity run {found['file']}" in result.output
        assert found["count"] == 2
    assert "no bound (the run has findings or was interrupted)" in result.output
    assert summary()["upperBound"] is None


def test_what_was_found_before_is_counted_and_still_exits_by_1() -> None:
    generate("--examples", "25", "--seed", "1", *SMALL, run=finds)
    (file,) = Path(".parity/found/generated").iterdir()
    before = file.read_bytes()

    def seen_again(task: BlockTask) -> BlockDone:
        assert finding().fingerprint in task.muted
        block = quiet(task)
        block.seen[finding().fingerprint] = 4
        return block

    result = generate("--examples", "25", "--seed", "2", "--json", "out.json", run=seen_again)

    assert result.exit_code == 1
    assert f"known: {finding().fingerprint}, 4 times" in result.output
    assert summary()["findings"] == []
    assert file.read_bytes() == before


def test_findings_between_others_mute_nothing() -> None:
    generate("--examples", "25", "--seed", "1", *SMALL, run=finds)
    muted: list[frozenset[str]] = []

    def looks(task: BlockTask) -> BlockDone:
        muted.append(task.muted)
        return quiet(task)

    generate("--examples", "25", "--control", "adk", "--candidate", "legacy", run=looks)
    generate("--examples", "25", "--fault", "usage-dropped", run=looks)

    assert muted == [frozenset(), frozenset()]


def test_only_undecided_cases_exit_by_3() -> None:
    def fails(task: BlockTask) -> BlockDone:
        block = quiet(task)
        block.lost = "its worker died twice"
        return block

    result = generate("--examples", "25", run=fails)

    assert result.exit_code == 3
    assert "its worker died twice" in result.output


def test_interrupted_it_keeps_what_it_has_and_goes_on_later() -> None:
    begun: list[int] = []

    def stopped(task: BlockTask) -> BlockDone:
        begun.append(task.number)
        if len(begun) == 3:
            raise KeyboardInterrupt
        return finds(task)

    first = generate("--examples", "100", *SMALL, "--json", "out.json", run=stopped)
    assert first.exit_code == 130
    assert "with --resume continues" in first.output
    assert summary()["interrupted"]
    seed = summary()["seed"]
    assert len(files(Path(".parity/found"))) == 1

    second = generate("--examples", "100", *SMALL, "--resume", "--json", "out.json", run=stopped)
    assert begun == [0, 1, 2, 2, 3]
    assert "continuing after 2 blocks" in second.output
    assert summary()["seed"] == seed
    assert [found["block"] for found in summary()["findings"]] == [0]
    assert summary()["known"] == []


def test_a_broken_journal_is_named() -> None:
    generate("--examples", "25", "--seed", "1")
    (journal,) = Path(".parity/generate").glob("*.jsonl")
    journal.write_text("nonsense\n")

    result = generate("--examples", "25", "--seed", "1", "--resume")

    assert result.exit_code == 2
    assert f"{journal}: line 1" in result.output


def test_the_profiles_are_listed() -> None:
    result = for_real("--list-profiles")

    assert result.exit_code == 0
    assert "everything" in result.output
    assert "masking" in result.output


@pytest.mark.slow
def test_one_worker_and_two_run_the_same_examples() -> None:
    summaries = []
    for jobs in ("1", "2"):
        result = for_real("--examples", "27", "--seed", "3", "-n", jobs, "--json", "out.json")
        assert result.exit_code in (0, 1, 3), result.output
        summaries.append({key: summary()[key] for key in ("drawn", "examplesDigest", "reached")})

    assert summaries[0] == summaries[1]
    assert summaries[0]["drawn"] == 27


def test_a_log_says_how_far_it_is_and_how_long_it_will_take() -> None:
    blocks: list[int] = []

    def run(task: BlockTask) -> BlockDone:
        blocks.append(task.number)
        return quiet(task)

    # Each block takes six seconds.
    seams = GenerateSeams(workers=here(), now=lambda: 6.0 * len(blocks), run=run)
    result = CliRunner().invoke(parity, ["generate", "--examples", "100", "--seed", "1"], obj=seams)

    lines = [line for line in result.stderr.splitlines() if "left" in line]
    assert lines
    assert lines[0].startswith("50 examples in 2 blocks, ")
    assert lines[0].endswith(", after 12s, about 12s left")
