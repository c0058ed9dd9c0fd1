"""Cassettes, findings, journals and baselines, named by path or by name in every command."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness.cli import parity
from harness.commands.naming import cassette_place, find_one, near_paths
from harness.errors import HarnessError
from tests.harness.samples import BACKEND, write_corpus

CASSETTE = """\
cassette: 1
name: {name}
session: {{model: gemini-2.5-flash}}
script: [{{send: Hi}}]
model: [{{text: plain}}]
"""
NAMED = ["tools/batch_two", "cassettes/tools/batch_two", "cassettes/tools/batch_two.yaml"]


def invoke(*words: object) -> Result:
    return CliRunner().invoke(parity, [str(word) for word in words], obj=BACKEND)


@pytest.fixture(autouse=True)
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """`./cassettes` with a few sound cassettes."""
    monkeypatch.chdir(tmp_path)
    names = ("tools/batch_one", "tools/batch_two", "text/hello", "http/recorded")
    cases = {name.replace("/", "__"): CASSETTE.format(name=name) for name in names}
    return write_corpus(tmp_path / "cassettes", **cases)


@pytest.mark.parametrize("asked", NAMED)
@pytest.mark.parametrize(
    "command",
    [
        ["run", "--no-keep"],
        ["trace", "--runtime", "adk"],
        ["list"],
        ["check"],
        ["show"],
        ["baseline", "--runtime", "adk", "--out", "kept"],
    ],
)
def test_a_name_and_a_path_name_the_same(command: Sequence[str], asked: str) -> None:
    result = invoke(*command, asked)

    assert result.exit_code == 0, result.output
    assert invoke(*command, "cassettes/tools/batch_two.yaml").stdout == result.stdout


@pytest.mark.parametrize("asked", ["tools", "cassettes/tools", "./cassettes/tools"])
def test_a_folder_of_the_corpus_can_be_named_too(asked: str) -> None:
    result = invoke("list", asked)

    assert [line.split()[0] for line in result.stdout.splitlines()] == [
        "tools/batch_one",
        "tools/batch_two",
    ]


@pytest.mark.parametrize("asked", NAMED)
def test_a_past_run_is_found_by_name_and_by_path(asked: str) -> None:
    assert invoke("run", "tools", "--keep").exit_code == 0

    result = invoke("history", asked)

    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[0] == "tools/batch_two"


def test_recorded_traffic_has_names_too(corpus: Path) -> None:
    assert cassette_place("http/recorded") == Path("cassettes/http/recorded.yaml")


def test_a_path_that_exists_is_taken_as_it_is(tmp_path: Path) -> None:
    own = write_corpus(tmp_path / "tools", own__case="plain")

    assert cassette_place("tools") == Path("tools")
    assert find_one("tools").path == own.relative_to(tmp_path) / "own" / "case.yaml"


def test_a_variant_can_be_named(corpus: Path) -> None:
    file = corpus / "tools" / "batch_one.yaml"
    file.write_text(file.read_text() + "phase: B\n")

    assert cassette_place("tools/batch_one@sessions") == Path(
        "cassettes/tools/batch_one.yaml@sessions"
    )
    assert find_one("batch_one@sessions").name == "tools/batch_one@sessions"
    with pytest.raises(HarnessError, match="did you mean tools/batch_"):
        cassette_place("tools/batch_two@sessions")


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ("tools/bacth_two", "did you mean tools/batch_two or tools/batch_one?"),
        ("batchtwo", "did you mean tools/batch_two?"),
        ("tolls", "did you mean tools?"),
        ("cassettes/tools/bacth_two.yaml", "did you mean cassettes/tools/batch_two.yaml or"),
        ("casettes/tools/batch_two.yaml", "did you mean cassettes/tools/batch_two.yaml?"),
        ("tool", "did you mean tools? Or name one of tools/batch_one, tools/batch_two"),
        ("batch", "name one of tools/batch_one, tools/batch_two"),
        ("elsewhere/entirely", "see `parity list`"),
        ("", "an empty name"),
        ("../cassettes/../x", "does not exist"),
        ("x" * 5000, "no cassette"),
    ],
)
@pytest.mark.parametrize("command", [["run"], ["list"], ["show"], ["trace", "--runtime", "adk"]])
def test_a_misspelt_one_is_wrong_usage_with_a_suggestion(
    command: Sequence[str], asked: str, words: str
) -> None:
    result = invoke(*command, asked)

    assert result.exit_code == 2
    assert words in result.output


@pytest.mark.parametrize(
    "command",
    [
        ["run", "tools/bacth_two"],
        ["check", "tools/bacth_two"],
        ["baseline", "--runtime", "adk", "--out", "kept", "tools/bacth_two"],
        ["orders", "tools/bacth_two"],
        ["faults", "tools/bacth_two"],
        ["bisect", "tools/bacth_two", "--good", "HEAD~1"],
        ["shrink", "tools/bacth_two"],
        ["waive", "tools/bacth_two"],
    ],
)
def test_every_command_with_cassettes_suggests(command: Sequence[str]) -> None:
    result = invoke(*command)

    assert result.exit_code == 2
    assert "did you mean tools/batch_two" in result.output


def test_history_suggests_what_the_journals_know() -> None:
    invoke("run", "tools", "--keep")

    result = invoke("history", "tools/bacth_two")

    assert result.exit_code == 2
    assert "did you mean tools/batch_two" in result.output


def test_the_bundled_corpus_answers_to_the_path_of_the_checkouts(
    tmp_path: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundled = corpus.rename(tmp_path / "bundled")
    monkeypatch.setattr("harness.config.trusted_roots", lambda: (bundled,))

    assert cassette_place("cassettes/tools/batch_one.yaml") == bundled / "tools" / "batch_one.yaml"
    assert cassette_place("cassettes/tools") == bundled / "tools"
    assert cassette_place("cassettes") == bundled


def test_a_finding_has_a_name(tmp_path: Path, corpus: Path) -> None:
    found = tmp_path / ".parity" / "found" / "shrunk"
    found.mkdir(parents=True)
    (corpus / "tools" / "batch_one.yaml").rename(found / "2fa3272ca154.yaml")

    assert cassette_place("shrunk/2fa3272ca154") == Path(".parity/found/shrunk/2fa3272ca154.yaml")
    for words in (["adopt", "shrunk/2fa3272ca155"], ["adopt", "tools/batch_two"]):
        result = invoke(*words)
        assert result.exit_code == 2
        assert "does not exist, and is not a finding in .parity/found" in result.output
    assert "did you mean shrunk/2fa3272ca154?" in invoke("adopt", "shrunk/2fa3272ca155").output


def test_a_kept_journal_has_a_name(tmp_path: Path) -> None:
    invoke("run", "tools", "--keep")
    (journal,) = (tmp_path / ".parity" / "journals").glob("*.jsonl")

    named = invoke("report", "--journal", journal.stem)
    misspelt = invoke("report", "--journal", f"x{journal.stem}")

    assert named.stdout == invoke("report", "--journal", journal).stdout.replace(
        str(journal), str(journal.relative_to(tmp_path))
    )
    assert misspelt.exit_code == 2
    assert f"did you mean {journal.stem}?" in misspelt.output


def test_a_folder_of_baselines_has_a_name() -> None:
    invoke("baseline", "tools", "--runtime", "legacy", "--out", "baselines/legacy")

    named = invoke("run", "tools", "--no-keep", "--control", "baseline:legacy")
    misspelt = invoke("run", "tools", "--no-keep", "--control", "baseline:baselines/legcay")

    by_name = invoke("run", "tools", "--no-keep", "--control", "baseline:legcay")

    assert "did you mean baseline:legacy?" in by_name.output
    assert named.exit_code == 0, named.output
    assert "baseline:baselines/legacy and adk over 2 cases" in named.output
    assert misspelt.exit_code == 2
    assert "did you mean baseline:baselines/legacy?" in misspelt.output


def test_a_trace_is_found_without_its_suffix(tmp_path: Path) -> None:
    invoke("trace", "tools", "--runtime", "adk", "--out", "traces")

    same = invoke("diff", "traces/tools/batch_one", "traces/tools/batch_one.json")
    misspelt = invoke("diff", "traces/tools/bacth_one.json", "traces/tools/batch_one.json")

    assert same.exit_code == 0, same.output
    assert misspelt.exit_code == 2
    assert "did you mean traces/tools/batch_one.json" in misspelt.output
    assert json.loads((tmp_path / "traces" / "tools" / "batch_one.json").read_text())


def test_only_the_first_missing_part_of_a_path_is_taken_as_misspelt(tmp_path: Path) -> None:
    assert near_paths(Path("casettes/tools")) == [Path("cassettes/tools")]
    assert near_paths(tmp_path / "cassettes" / "tolls" / "x.yaml") == [
        tmp_path / "cassettes" / "tools"
    ]
    assert near_paths(Path("nothing-like-it/x")) == []
