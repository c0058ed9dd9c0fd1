"""`--limits` and PARITY_LIMITS, of every command that runs cases."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness.cli import parity

REPOSITORY = Path(__file__).parents[3]
CASE = str(REPOSITORY / "cassettes" / "text" / "text.yaml")
NO_TIME = "wall=0.000001"
STOPPED = "stopped: it took longer than 1e-06 s"


def invoke(*words: str | Path) -> Result:
    return CliRunner().invoke(parity, [str(word) for word in words], prog_name="parity")


COMMANDS: tuple[tuple[str, ...], ...] = (
    ("run", CASE),
    ("trace", CASE, "--runtime", "legacy"),
    ("baseline", CASE, "--runtime", "legacy", "--out", "kept"),
    ("orders", CASE),
    ("generate", "--examples", "1", "--seed", "7"),
    ("faults", "--fault", "usage-dropped", "--corpus-only", CASE),
)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: words[0])
def test_limits_that_cannot_be_read_are_wrong_usage(
    command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    given = invoke(*command, "--limits", "cpu=soon")
    monkeypatch.setenv("PARITY_LIMITS", "time=3")
    set_before = invoke(*command)

    assert (given.exit_code, set_before.exit_code) == (2, 2)
    assert "cpu is 'soon', which is no number above 0; write it as cpu=30," in given.output
    assert "'time=3' sets none of cpu, wall and memory; write it as" in set_before.output
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", COMMANDS, ids=lambda words: words[0])
@pytest.mark.sampled(6)
def test_every_command_that_runs_cases_holds_them_to_the_limits(
    command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    result = invoke(*command, "--limits", NO_TIME)

    assert STOPPED in result.output
    # A fault that stops a run shows; of anything else nothing is known.
    assert result.exit_code == (0 if command[0] == "faults" else 3)


@pytest.mark.parametrize("command", [("run", CASE), ("shrink", CASE)], ids=lambda words: words[0])
def test_the_environment_gives_the_default(
    command: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PARITY_LIMITS", NO_TIME)

    result = invoke(*command)

    assert result.exit_code == 3
    assert STOPPED in result.output
