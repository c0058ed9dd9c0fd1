import json
import signal
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness.cli import parity
from tests.processes import ends
from tests.runtimes.published.stand_ins import NEVER_ENDS, Machine

REPOSITORY = Path(__file__).parents[3]


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    return Machine.make(tmp_path, monkeypatch)


def upstream(*words: str) -> Result:
    return CliRunner().invoke(parity, ["upstream", *words], prog_name="parity")


def test_install_writes_progress_to_another_stream_than_the_result(machine: Machine) -> None:
    result = upstream("install")

    assert result.exit_code == 0
    assert result.stdout == (
        f"0.61.0 is in {machine.upstream}/0.61.0; compare with it: "
        "parity run --control upstream --candidate legacy\n"
    )
    assert result.stderr.startswith("installing @google/gemini-cli-core@0.61.0 into ")


def test_another_version_is_used_by_its_name_and_installed_once(machine: Machine) -> None:
    upstream("install", "--version", "0.60.0")
    again = upstream("install", "--version", "0.60.0")

    assert again.exit_code == 0
    assert again.stdout.endswith("parity run --control upstream@0.60.0 --candidate legacy\n")
    assert again.stderr == "@google/gemini-cli-core@0.60.0 is installed already\n"
    assert len(machine.npm_calls) == 1


def test_what_is_missing_is_one_message(machine: Machine) -> None:
    node = machine.node("v18.0.0")

    result = upstream("install")

    assert result.exit_code == 2
    assert result.output == (
        f"parity: {node} is node 18.0.0, and the published core needs 20 or newer; "
        "install node 20 or newer, or name one with PARITY_NODE\n"
    )


def test_a_version_that_leads_elsewhere_is_refused(machine: Machine) -> None:
    for words in (["install", "--version", "../x"], ["remove", "../x"]):
        result = upstream(*words)

        assert result.exit_code == 2
        assert result.output.startswith("parity: '../x' is ")
    assert not machine.cache.exists()


def test_list_is_a_table_with_the_default_marked(machine: Machine) -> None:
    machine.has("0.61.0")
    (machine.has("0.9.0") / "big").write_bytes(bytes(2_600_000))
    package = machine.upstream / "0.9.0/node_modules/@google/gemini-cli-core/package.json"
    package.write_text('{"version": "0.9.0"}')

    result = upstream("list")

    assert result.exit_code == 0
    assert result.output.splitlines() == [
        "version           node  size  folder",
        f"0.9.0             -     3 MB  {machine.upstream}/0.9.0",
        f"0.61.0   default  >=20  0 MB  {machine.upstream}/0.61.0",
    ]


def test_list_as_json_has_the_same(machine: Machine) -> None:
    folder = machine.has("0.61.0")
    size = sum(file.stat().st_size for file in folder.rglob("*.json"))

    result = upstream("list", "--json")

    assert json.loads(result.output) == {
        "default": "0.61.0",
        "folder": str(machine.upstream),
        "installed": [
            {
                "version": "0.61.0",
                "is_default": True,
                "node": ">=20",
                "size": size,
                "folder": str(folder),
            }
        ],
    }


def test_an_empty_list_names_the_command(machine: Machine) -> None:
    result = upstream("list")

    assert result.exit_code == 0
    assert result.output == (
        f"no version is installed in {machine.upstream}; install one: parity upstream install\n"
    )
    assert json.loads(upstream("list", "--json").output)["installed"] == []


def test_one_version_or_all_are_removed(machine: Machine) -> None:
    for version in ("0.59.0", "0.60.0", "0.61.0"):
        machine.has(version)

    assert upstream("remove", "0.60.0").output == "removed: 0.60.0\n"
    assert machine.entries() == ["0.59.0", "0.61.0"]
    assert upstream("remove", "--all").output == "removed: 0.59.0\nremoved: 0.61.0\n"
    assert machine.entries() == []
    assert upstream("remove", "--all").output == "no version is installed\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "no version is named; name one version, or give --all"),
        (["0.61.0", "--all"], "both a version and --all are given; name one version, or give"),
        (["0.60.0"], "the published core 0.60.0 is not installed; installed: 0.61.0"),
    ],
)
def test_remove_says_what_it_needs(machine: Machine, words: list[str], message: str) -> None:
    machine.has("0.61.0")

    result = upstream("remove", *words)

    assert result.exit_code == 2
    assert result.output.startswith(f"parity: {message}")
    assert machine.entries() == ["0.61.0"]


@pytest.mark.parametrize("command", [[], ["install"], ["list"], ["remove"]])
def test_help_shows_commands_to_copy(command: list[str]) -> None:
    result = upstream(*command, "--help")

    assert result.exit_code == 0
    assert f"  parity upstream {command[0] if command else 'install'}" in result.output


@pytest.mark.parametrize(
    ("number", "code", "said"),
    [(signal.SIGINT, 130, "parity: interrupted\n"), (signal.SIGTERM, 143, "")],
)
def test_an_interrupted_install_ends_npm_and_leaves_nothing(
    machine: Machine,
    monkeypatch: pytest.MonkeyPatch,
    number: signal.Signals,
    code: int,
    said: str,
) -> None:
    pipe = machine.started(monkeypatch)
    machine.npm(NEVER_ENDS)
    words = ("-m", "harness.cli", "upstream", "install")
    with machine.half_way(pipe, *words) as (child, npm):
        child.send_signal(number)
        _, stderr = child.communicate()

        assert child.returncode == code
        assert stderr.splitlines(keepends=True)[1:] == ([said] if said else [])
        assert machine.entries() == []
        assert ends(npm)
