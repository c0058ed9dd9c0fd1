"""`parity measure`: runs what the gate lacks and no more, goes on, and ends with the answer."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness.cli import parity
from harness.commands.generate import GenerateSeams
from harness.faults.catalogue import faults
from harness.gate.answer import GateAnswer
from harness.report.journal import read_journal
from harness.scenarios.block import BlockDone, BlockTask
from tests.harness.scenarios.made_up import here, quiet
from tests.harness.signoff.signable import Signable, signable

LEG = Path("parity-report/legacy-adk.jsonl")
AGAIN = "parity measure --phase A --profile release"


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Signable]:
    """A checkout in which a matrix of faults is there, and no leg was run."""
    monkeypatch.delenv("COLUMNS", raising=False)  # as wide as it takes
    for made in signable(tmp_path, monkeypatch):
        Path("parity-report/leg.jsonl").unlink()
        yield made


def measure(checkout: Signable, *words: object) -> Result:
    return checkout.invoke("measure", "--phase", "A", "-n", "1", *words)


def sampled(run: Callable[[BlockTask], BlockDone]) -> Result:
    """Measure, with made-up blocks of scenarios."""
    seams = GenerateSeams(workers=here(), now=lambda: 0.0, run=run)
    words = ["measure", "--phase", "A", "-n", "1"]
    return CliRunner().invoke(parity, words, obj=seams)


def started(name: str) -> int:
    return LEG.read_text().count(json.dumps({"started": name}))


def killed_after(name: str) -> None:
    """Leave of the leg's journal what a kill leaves, right after that case."""
    lines = LEG.read_text().splitlines(keepends=True)
    end = next(n for n, line in enumerate(lines) if line.startswith(f'{{"finished": "{name}"'))
    LEG.write_text("".join(lines[: end + 1]))


def header(**changes: object) -> None:
    """Change something in the first line of the leg's journal."""
    first, _, rest = LEG.read_text().partition("\n")
    LEG.write_text(json.dumps(json.loads(first) | changes) + "\n" + rest)


def test_what_lacks_is_planned_run_and_judged(checkout: Signable) -> None:
    result = measure(checkout)
    lines = result.stdout.splitlines()

    assert result.exit_code == 0, (result.output, result.exception)
    assert lines[0] == "to measure, about 10s in total with 1 worker (an estimate):"
    assert lines[1] == "  10s  legacy ≡ adk (3 cases)"
    assert "[1/1] legacy ≡ adk, about 10s" in lines
    assert "yes: phase A may be switched on, by profile release" in lines
    assert read_journal(LEG).ended


def test_the_answer_is_left_for_reports(checkout: Signable) -> None:
    measure(checkout, "--profile", "pull_request")

    written = json.loads(Path("parity-report/gate-A-pull_request.json").read_text())
    assert GateAnswer.from_json(written).answer.value == "yes"


def test_the_page_of_a_run_shows_the_answer_that_lies_beside_it(checkout: Signable) -> None:
    measure(checkout)
    pages = []
    for folder in ("parity-report", "elsewhere"):
        checkout.invoke("report", "--journal", LEG, "--html", folder)
        pages.append(Path(folder, "index.html").read_text())

    assert "phase A may be switched on, by profile release" in pages[0]
    assert "Not of this run" not in pages[0]
    assert "may be flipped" not in pages[1]


def test_what_is_there_is_not_run_again(checkout: Signable) -> None:
    measure(checkout)
    before = LEG.read_bytes()

    result = measure(checkout)

    assert result.exit_code == 0
    assert "to be measured" not in result.stdout
    assert LEG.read_bytes() == before


def test_a_dry_run_shows_the_commands_and_runs_none(checkout: Signable) -> None:
    result = measure(checkout, "--dry-run")

    assert result.exit_code == 3
    command = f"parity run cassettes --control legacy --candidate adk --journal {LEG} -n 0"
    assert command in result.stdout
    assert not LEG.exists()


@pytest.mark.parametrize("days", [0, 1])
def test_a_leg_that_was_killed_goes_on_also_after_midnight(checkout: Signable, days: int) -> None:
    measure(checkout)
    killed_after("a/1")
    header(as_of=(datetime.now(UTC) - timedelta(days=days)).date().isoformat())
    before = LEG.read_text()

    result = measure(checkout)

    assert result.exit_code == 0, result.output
    assert (
        "legacy ≡ adk (2 cases, continues an interrupted run, the time of its last" in result.stdout
    )
    assert LEG.read_text().startswith(before)
    assert (started("a/1"), started("a/2"), started("b/2")) == (1, 1, 1)


def test_a_leg_that_cannot_go_on_is_run_anew(checkout: Signable) -> None:
    measure(checkout)
    killed_after("a/1")
    header(repeat=2)

    result = measure(checkout)

    assert result.exit_code == 0, result.output
    assert "it cannot continue" in result.stderr
    assert "repeat" in result.stderr
    assert (started("a/1"), read_journal(LEG).header.repeat) == (1, 1)


def test_a_sample_that_was_cut_off_goes_on(checkout: Signable) -> None:
    measure(checkout)
    gates = Path("parity_tests/gates.toml")
    asked = 'sample = [{ profile = "fallback", examples = 100 }]'
    gates.write_text(gates.read_text().replace("sample = []", asked))
    drawn: list[int] = []

    def cut_off(task: BlockTask) -> BlockDone:
        if len(drawn) == 2:
            raise KeyboardInterrupt
        return counted(task)

    def counted(task: BlockTask) -> BlockDone:
        drawn.append(task.number)
        return quiet(task)

    first, second = (sampled(run) for run in (cut_off, counted))

    assert (first.exit_code, second.exit_code) == (130, 0), (first.output, second.output)
    assert sorted(drawn) == [0, 1, 2, 3]
    assert "100 independent scenarios of profile fallback" in second.stdout


def test_ctrl_c_ends_it_with_the_command_that_goes_on(checkout: Signable) -> None:
    Path("cassettes/a/2.yaml").write_text("interrupts")

    result = measure(checkout, "--trust", "--waivers", "parity_tests/waivers.toml")

    assert result.exit_code == 130
    again = f"{AGAIN} --waivers parity_tests/waivers.toml --trust"
    assert result.stderr.endswith(f"interrupted; to continue: {again}\n")
    assert read_journal(LEG).header.trust
    assert "whether phase A" not in result.stdout


def test_what_cannot_be_run_here_is_refused_before_anything_runs(checkout: Signable) -> None:
    gates = Path("parity_tests/gates.toml")
    gates.write_text(gates.read_text().replace('control = "legacy"', 'control = "upstream"'))

    result = measure(checkout)

    assert result.exit_code == 2
    assert "legacy ≡ adk cannot be run here: 'baseline:baselines/upstream': there" in result.stderr
    assert "to be measured" not in result.stdout


def test_the_waivers_that_are_named_are_those_that_count(checkout: Signable) -> None:
    Path("parity_tests/waivers.toml").rename("accepted.toml")

    unwaived = measure(checkout, "--journal", "elsewhere")
    waived = measure(checkout, "--waivers", "accepted.toml")

    assert "divergent: legacy and adk over 3 cases" in unwaived.stdout
    assert "divergent: legacy and adk" not in waived.stdout
    assert read_journal(LEG).header.waivers


def test_what_fails_is_reported_and_the_gate_says_what_that_means(checkout: Signable) -> None:
    Path("parity-report/kills.json").unlink()

    result = measure(checkout)

    assert result.exit_code == 3
    assert "not measured: seeded faults: there is no folder" in result.stderr
    assert read_journal(LEG).ended
    assert "kill matrix missing: there is no kill matrix" in result.stdout
    assert result.stdout.count(f"seeded faults ({len(faults())} faults)") == 2


def test_a_divergence_ends_in_a_no(checkout: Signable) -> None:
    Path("cassettes/a/2.yaml").write_text("loses usage")
    checkout.measure()

    result = measure(checkout)

    assert result.exit_code == 1
    assert "no: phase A must not be switched on" in result.stdout
    assert "measurements do not change a no: fix what is marked ✗ first" in result.stdout


def test_another_folder_is_measured_into_and_named_again(checkout: Signable) -> None:
    result = measure(checkout, "--journal", "elsewhere", "--dry-run")

    assert "--journal elsewhere/legacy-adk.jsonl" in result.stdout
    again = checkout.invoke("gate", "--phase", "A", "--journal", "elsewhere")
    assert f"  {AGAIN} --journal elsewhere" in again.stdout.splitlines()
