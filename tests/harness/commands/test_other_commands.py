import json
import os
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from harness.cli import parity
from tests.harness.samples import BACKEND, write_corpus
from tests.services.redaction.specimens import GOOGLE

REPOSITORY = Path(__file__).parents[3]
COMMANDS = parity.list_commands(click.Context(parity))
CASSETTE = """\
cassette: 1
name: {name}
note: says {name}
phase: {phase}
session: {{model: gemini-2.5-flash}}
script: [{{send: Hi}}]
model:
- text: {{$repeat: {{text: ab, times: 3}}}}
"""


def invoke(*arguments: object) -> Result:
    words = [str(argument) for argument in arguments]
    return CliRunner().invoke(parity, words, obj=BACKEND, prog_name="parity")


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """`./cassettes` with three sound cassettes."""
    monkeypatch.chdir(tmp_path)
    names = {"text/one": "A", "text/two": "B", "tools/one": "A"}
    cases = {
        name.replace("/", "__"): CASSETTE.format(name=name, phase=phase)
        for name, phase in names.items()
    }
    return write_corpus(tmp_path / "cassettes", **cases)


def test_trace_writes_one_document_per_cassette(tmp_path: Path) -> None:
    folder = write_corpus(tmp_path / "in", a__1="plain", b__2="plain")

    result = invoke("trace", folder, "--runtime", "legacy", "--out", tmp_path / "out")

    assert result.exit_code == 0
    document = json.loads((tmp_path / "out" / "b" / "2.json").read_text())
    assert (document["name"], document["runtime"]) == ("b/2", "legacy")


def test_trace_of_one_cassette_goes_to_standard_output(tmp_path: Path) -> None:
    folder = write_corpus(tmp_path, a__1="plain")

    result = invoke("trace", folder / "a" / "1.yaml", "--runtime", "adk")

    assert json.loads(result.stdout)["runtime"] == "adk"


@pytest.mark.parametrize(
    ("cases", "code", "words"),
    [
        ({"a__1": "plain", "a__2": "stalls"}, 3, "not observed: a/2: legacy could not go on"),
        ({"a__1": "plain", "a__2": "crashes"}, 3, "not observed: a/2: the harness failed"),
        ({"a__1": "plain", "a__2": "shell"}, 3, "give --trust"),
        ({"a__1": "broken", "a__2": "stalls", "a__3": "plain"}, 2, "model: is wrong"),
    ],
)
def test_trace_says_what_was_not_observed(
    tmp_path: Path, cases: dict[str, str], code: int, words: str
) -> None:
    folder = write_corpus(tmp_path / "in", **cases)

    result = invoke("trace", folder, "--runtime", "legacy", "--out", tmp_path / "out")

    assert result.exit_code == code
    assert words in result.output
    assert len(list((tmp_path / "out").rglob("*.json"))) >= 1


def test_traces_of_two_workers_are_those_of_one(tmp_path: Path) -> None:
    cases = {f"a__{n}": "plain" for n in range(4)}
    folder = write_corpus(tmp_path / "in", **cases)
    for jobs in (1, 2):
        out = tmp_path / str(jobs)
        invoke("trace", folder, "--runtime", "adk", "--out", out, "-n", jobs)

    one = {f.name: f.read_bytes() for f in (tmp_path / "1").rglob("*.json")}
    two = {f.name: f.read_bytes() for f in (tmp_path / "2").rglob("*.json")}
    assert one == two
    assert len(one) == 4


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["{folder}", "--runtime", "x"], "unknown runtime 'x'; known: adk, legacy"),
        (["{folder}", "--runtime", "adk"], "name a folder for them with --out"),
        (["{folder}", "--runtime", "adk", "--out", "{folder}/a/1.yaml/x"], "cannot be written"),
        (["{folder}"], "--runtime"),
    ],
)
def test_wrong_usage_of_trace(tmp_path: Path, arguments: list[str], words: str) -> None:
    folder = write_corpus(tmp_path, a__1="plain", a__2="plain")
    result = invoke("trace", *(argument.format(folder=folder) for argument in arguments))

    assert result.exit_code == 2
    assert words in result.output


def test_list_shows_name_phase_and_note(corpus: Path) -> None:
    result = invoke("list")

    assert "corpus: cassettes" in result.stderr
    assert result.stdout.splitlines() == [
        "text/one   A  says text/one",
        "text/two   B  says text/two",
        "tools/one  A  says tools/one",
    ]


def test_what_a_note_holds_does_nothing_to_the_terminal_and_betrays_nothing(corpus: Path) -> None:
    note = f"\x1b]0;title\x07 \u202e\n::error::x {GOOGLE}"
    file = corpus / "text" / "one.yaml"
    file.write_text(file.read_text().replace("says text/one", json.dumps(note)))
    result = invoke("list")

    assert len(result.stdout.splitlines()) == 3
    assert all(line.isprintable() for line in result.stdout.splitlines())
    assert GOOGLE not in result.stdout


def test_list_takes_a_phase_and_an_expression(corpus: Path) -> None:
    assert invoke("list", "--phase", "B").stdout.split()[:2] == ["text/two", "B"]
    assert invoke("list", "-k", "one and not tools").stdout.split()[0] == "text/one"


@pytest.fixture
def contract(corpus: Path) -> Path:
    """A contract of this project's own. One cassette names a behaviour of it."""
    row = "| P-001 | It answers. | `message:agent.text` | s |"
    (corpus.parent / "parity_tests").mkdir(exist_ok=True)
    file = corpus.parent / "parity_tests" / "contract.md"
    file.write_text(f"## Phase A\n### streaming\n{row}\n")
    named = corpus / "text" / "one.yaml"
    named.write_text(f"{named.read_text()}contract: [P-001]\n")
    return file


def test_list_finds_what_names_a_behaviour(contract: Path) -> None:
    found = invoke("list", "--contract", "P-001")
    unknown = invoke("list", "--contract", "P-002")

    assert found.stdout.splitlines() == ["text/one  A  says text/one"]
    assert "P-001 (streaming, phase A): It answers." in found.stderr
    assert (unknown.exit_code, unknown.stdout) == (2, "")
    assert "parity_tests/contract.md has no 'P-002'" in unknown.output


def test_check_refuses_a_behaviour_that_there_is_not(contract: Path, corpus: Path) -> None:
    assert invoke("check", corpus).exit_code == 0
    wrong = corpus / "text" / "one.yaml"
    wrong.write_text(wrong.read_text().replace("P-001", "P-001, P-404"))

    result = invoke("check", corpus)

    assert result.exit_code == 2
    assert "text/one.yaml: contract: parity_tests/contract.md has no behaviour 'P-404'" in (
        result.output
    )
    assert "1 of 3 cassettes cannot be used" in result.output


def test_a_contract_that_cannot_be_read_is_reported_before_anything_runs(
    contract: Path, corpus: Path
) -> None:
    contract.write_text("## Phase A\n### nothing\n")

    for command in ("check", "run"):
        result = invoke(command, corpus)
        assert result.exit_code == 2
        assert "contract.md:2: there is no class 'nothing'" in result.output


@pytest.mark.parametrize("name", ["text/two", "two", "cassettes/text/two.yaml"])
def test_show_expands_macros(corpus: Path, name: str) -> None:
    result = invoke("show", name)

    assert result.exit_code == 0
    assert "ababab" in result.output
    assert "$repeat" not in result.output


@pytest.mark.parametrize(
    ("name", "words"),
    [("text/three", "no cassette 'text/three'"), ("one", "text/one, tools/one")],
)
def test_show_says_what_it_could_have_shown(corpus: Path, name: str, words: str) -> None:
    result = invoke("show", name)

    assert result.exit_code == 2
    assert words in result.output


def test_check_counts_what_is_valid(corpus: Path) -> None:
    result = invoke("check")

    assert result.exit_code == 0
    assert "3 cassettes: all valid" in result.output


def test_check_names_every_problem(corpus: Path) -> None:
    (corpus / "text" / "bad.yaml").write_text("cassette: 1\nsurprise: 2\n")
    (corpus / "text" / "worse.yaml").write_text("cassette: [")

    result = invoke("check", corpus)

    assert result.exit_code == 2
    assert "text/bad.yaml" in result.output
    assert "text/worse.yaml" in result.output
    assert "2 of 5 cassettes cannot be used" in result.output


def test_import_makes_cassettes_that_check_accepts(tmp_path: Path) -> None:
    answer = {"candidates": [{"content": {"parts": [{"text": "Hi"}]}, "finishReason": "STOP"}]}
    line = {"method": "generateContentStream", "response": [answer]}
    (tmp_path / "hello.responses").write_text(json.dumps(line) + "\n")
    out = tmp_path / "out"

    result = invoke("import", tmp_path / "hello.responses", "--out", out)

    assert result.exit_code == 0, result.output
    assert (out / "imported" / "hello.yaml").exists()
    assert invoke("check", out).exit_code == 0
    assert invoke("import", tmp_path / "hello.responses", "--out", out).exit_code == 2
    assert invoke("import", tmp_path / "hello.responses", "--out", out, "--force").exit_code == 0


def test_import_names_the_file_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "bad.responses").write_text("not json\n")

    result = invoke("import", tmp_path / "bad.responses", tmp_path / "gone", "--out", tmp_path)

    assert result.exit_code == 2
    assert "bad.responses" in result.output
    assert "gone" in result.output
    assert "Traceback" not in result.output


@pytest.mark.parametrize("words", [["--help"], *([name, "--help"] for name in COMMANDS)])
def test_help_imports_nothing_slow_and_no_command(words: list[str]) -> None:
    program = (
        "import sys\n"
        "from harness.cli import parity\n"
        f"parity({words}, standalone_mode=False)\n"
        "slow = {'google', 'yaml', 'pydantic', 'deepdiff', 'rich', 'jinja2', 'asyncio'}\n"
        "slow |= {name for name in sys.modules if name.startswith('harness.commands')}\n"
        "print('SLOW', sorted(slow & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        check=True,
    )

    assert "SLOW []" in done.stdout


def test_every_command_explains_itself_with_an_example() -> None:
    for name in COMMANDS:
        result = invoke(name, "--help")
        assert result.exit_code == 0
        assert f"  parity {name}" in result.output


def test_an_unknown_command_is_wrong_usage() -> None:
    assert invoke("runn").exit_code == 2
