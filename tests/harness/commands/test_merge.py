import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness.cli import parity
from harness.report.journal import read_journal
from tests.harness.samples import BACKEND, write_corpus

CASES = {
    "a__1": "plain",
    "a__2": "loses usage",
    "a__3": "phase B",
    "b__1": "crashes",
    "b__2": "plain",
    "b__3": "plain",
}


def invoke(*arguments: object) -> Result:
    words = [str(argument) for argument in arguments]
    return CliRunner().invoke(parity, words, obj=BACKEND, prog_name="parity")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a corpus, in which commands are run."""
    write_corpus(tmp_path / "cassettes", **CASES)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def shards(count: int, *more: object) -> list[str]:
    files = [f"{number}.jsonl" for number in range(1, count + 1)]
    for number, file in enumerate(files, 1):
        invoke("run", "--phase", "A", "--shard", f"{number}/{count}", "--journal", file, *more)
    return files


@pytest.mark.parametrize("count", [1, 2, 3, 6])
@pytest.mark.sampled(4)
def test_shards_merge_to_the_verdict_and_the_results_of_one_run(here: Path, count: int) -> None:
    one = invoke("run", "--phase", "A", "--journal", "one", "--json", "one.json")

    merged = invoke("merge", *shards(count), "--journal", "all", "--json", "all.json")

    assert merged.exit_code == one.exit_code == 1
    report, whole = (json.loads((here / name).read_text()) for name in ("all.json", "one.json"))
    assert report["cases"] == whole["cases"]
    assert report["verdict"] == whole["verdict"]
    results = [
        [line for line in (here / name).read_text().splitlines() if line.startswith('{"finished"')]
        for name in ("all", "one")
    ]
    assert results[0] == results[1]
    assert read_journal(here / "all").header.shard == ""


@pytest.mark.slow
def test_a_shard_that_was_killed_and_resumed_merges_to_the_same(here: Path) -> None:
    first, second = shards(2)
    invoke("merge", first, second, "--journal", "before")
    lines = (here / first).read_text().splitlines(keepends=True)
    (here / first).write_text("".join(lines[:6])[:-30])

    cut = invoke("merge", first, second, "--journal", "cut")
    resumed = invoke("run", "--phase", "A", "--shard", "1/2", "--journal", first, "--resume")
    again = invoke("merge", first, second, "--journal", "after")

    assert "missing: " in cut.output
    assert f"part 1/2, {first}: is incomplete" in cut.output
    assert "`parity run` with its options, --shard and --resume completes it" in cut.output
    assert resumed.exit_code != 2, resumed.output
    assert again.exit_code == 1
    assert read_journal(here / "after").finished == read_journal(here / "before").finished


def test_what_is_missing_makes_it_inconclusive_and_is_named(here: Path) -> None:
    write_corpus(here / "cassettes", a__2="plain", b__1="plain")

    result = invoke("merge", shards(3)[0])

    assert result.exit_code == 3
    assert "merged: 1 journal\n" in result.output
    assert "no journal of shard 2/3, 3/3" in result.output


def test_a_divergence_stays_one_where_something_is_missing(here: Path) -> None:
    result = invoke("merge", shards(2)[1])

    assert result.exit_code == 1


def test_journals_of_other_corpora_are_refused(here: Path) -> None:
    first, second = shards(2)
    write_corpus(here / "cassettes", a__1="plain, but other")
    invoke("run", "--phase", "A", "--shard", "2/2", "--journal", second)

    result = invoke("merge", first, second, "--journal", "all")

    assert result.exit_code == 2
    assert "corpus: a/1 changed" in result.output
    assert not (here / "all").exists()


def test_other_waivers_than_those_of_the_run_are_refused(here: Path) -> None:
    (first,) = shards(1)
    (here / "parity_tests").mkdir()
    (here / "parity_tests" / "waivers.toml").write_text("format = 1\n")

    result = invoke("merge", first)

    assert result.exit_code == 2
    assert "the run used other waivers" in result.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "Missing argument"),
        (("gone.jsonl",), "cannot be read"),
        (("cassettes/a/1.yaml",), "has no header"),
        (("cassettes",), "is a directory"),
        (("1.jsonl", "--journal", "cassettes/a/1.yaml/x"), "cannot be written"),
        (("1.jsonl", "--json", "cassettes/a/1.yaml/x"), "cannot be written"),
    ],
)
def test_wrong_usage_is_one_clear_message(
    here: Path, arguments: tuple[str, ...], words: str
) -> None:
    shards(1)
    (here / "cassettes" / "a" / "1.yaml").write_text("plain")

    result = invoke("merge", *arguments)

    assert result.exit_code == 2
    assert words in result.output
    assert "Traceback" not in result.output


@pytest.mark.parametrize("shard", ["0/2", "3/2", "1", "1/0", "a/b", "1/9999", "-1/2", "1/2/3", ""])
def test_a_part_that_there_is_none_of_is_refused(here: Path, shard: str) -> None:
    result = invoke("run", "--shard", shard)

    assert result.exit_code == 2
    assert "--shard" in result.output


def test_more_parts_than_cassettes_are_refused(here: Path) -> None:
    result = invoke("run", "--shard", "7/7")

    assert result.exit_code == 2
    assert "use fewer shards" in result.output
