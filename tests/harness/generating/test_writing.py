"""Drawn scenarios as cassettes."""

import re
from pathlib import Path

from click.testing import CliRunner, Result

from harness.cassette.find import find_cassettes
from harness.cli import parity
from harness.commands.generate import GenerateSeams
from harness.http.case import load_found
from harness.scenarios.block import BlockTask, drawn_in, run_block
from harness.scenarios.trial import try_document
from tests.harness.mutants.crafted import NONE
from tests.harness.scenarios.made_up import here

WORDS = ("--sample", "--profile", "aborts", "--examples", "3", "--seed", "11")


def write(folder: Path, *words: str) -> Result:
    seams = GenerateSeams(workers=here(), now=lambda: 0.0, run=run_block)
    return CliRunner().invoke(
        parity, ["generate", *WORDS, "--write", str(folder), *words], obj=seams
    )


def test_the_scenarios_of_a_plan_are_cassettes_that_both_runtimes_play(tmp_path: Path) -> None:
    result = write(tmp_path)

    assert result.exit_code == 0, result.output
    assert f"3 scenarios written to {tmp_path}" in re.sub(r"\s+", " ", result.output)
    files = find_cassettes([tmp_path])
    assert len(files) == 3
    for file in files:
        document = load_found(file)
        assert document.name == file.name


def test_they_are_those_that_a_run_would_draw_with_the_unused_steps_declared(
    tmp_path: Path,
) -> None:
    write(tmp_path)
    task = BlockTask(
        way="sample",
        profile="aborts",
        seed=11,
        number=0,
        examples=3,
        control="legacy",
        candidate="adk",
        waivers=NONE,
    )
    drawn = {str(each.document["name"]): each.document for each in drawn_in(task)}

    written = {file.name: load_found(file) for file in find_cassettes([tmp_path])}

    assert written.keys() == drawn.keys()
    for name, cassette in written.items():
        trial = try_document(drawn[name], "legacy", "adk", NONE)
        assert list(cassette.unused) == trial.document["unused"]


def test_a_number_of_scenarios_is_needed(tmp_path: Path) -> None:
    result = CliRunner().invoke(
        parity, ["generate", "--time", "1m", "--write", str(tmp_path / "out")]
    )

    assert result.exit_code == 2
    assert "--write draws a number of scenarios" in result.output
