"""`parity gate` as it is typed: what it prints first and last, its exit codes, bad input."""

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness.cli import parity
from harness.gate.answer import GateAnswer
from tests.harness.gate.checkout import git, made_checkout, world_of
from tests.harness.gate.green import GATES, divergence

PLACE = Path("report")
LITTLE = "10s"
"""The estimate of what takes less than ten seconds."""
ON_THE_DAY = ("--as-of", "2026-03-01")


OVER_LEGS = (
    "all legs have the same corpus and environment",
    "provider rules broken on both sides are settled",
    "waivers are valid at 2026-03-01",
    "every class is reached in both runtimes",
    "cassettes show the behaviours that they name",
    "cost within limits: legacy ≡ adk",
)
"""What is judged over this leg, or over all."""


def invoke(*words: object, phase: str = "A", places: tuple[object, ...] = (PLACE,)) -> Result:
    asked = ["gate", "--phase", phase, "--profile", "pull_request", *ON_THE_DAY]
    for place in places:
        asked += ["--journal", str(place)]
    return CliRunner().invoke(parity, [*asked, *map(str, words)], prog_name="parity")


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = made_checkout(tmp_path / "checkout", monkeypatch)
    world_of(folder).write(folder / PLACE)
    return folder


def test_a_yes_stands_first_and_then_condition_by_condition(checkout: Path) -> None:
    result = invoke()
    lines = result.stdout.splitlines()

    assert result.exit_code == 0
    assert lines[0] == "yes: phase A may be switched on, by profile pull_request"
    assert lines[1] == "phase A (non-interactive), profile pull_request, at 2026-03-01"
    assert "✓ legacy ≡ adk: every case is parity: 3 of 3 cases parity (adk.jsonl)" in lines
    assert any("at 95 % fewer than 1 in 40" in line for line in lines)
    assert "measure" not in result.stdout


def test_evidence_is_looked_for_where_measurements_are_left(checkout: Path) -> None:
    unmeasured = invoke(places=())
    assert unmeasured.exit_code == 3
    assert "  parity measure --phase A --profile pull_request" in unmeasured.stdout.splitlines()

    (checkout / PLACE).rename(checkout / "parity-report")
    assert invoke(places=()).exit_code == 0


def test_a_no_names_the_case_and_what_would_change_it(checkout: Path) -> None:
    made = world_of(checkout)
    made.change_case("adk", "a/two", divergences=(divergence("a/two"),))
    made.write(PLACE)

    result = invoke()
    lines = result.stdout.splitlines()

    assert result.exit_code == 1
    assert lines[0] == "no: phase A must not be switched on"
    assert lines[3] == "✗ legacy ≡ adk: every case is parity: 2 of 3 cases parity (adk.jsonl)"
    assert lines[4] == "    divergent: 1 case divergent in adk.jsonl: a/two"
    assert "parity run cassettes -k a/two --control legacy --candidate adk" in lines[5]
    assert lines[-1] == "measurements do not change a no: fix what is marked ✗ first"


def test_what_lacks_is_unknown_and_ends_with_the_command_that_measures_it(checkout: Path) -> None:
    (checkout / PLACE / "kills.json").unlink()

    result = invoke()

    assert result.exit_code == 3
    assert "? seeded faults are found: not measured with the current files" in result.stdout
    assert result.stdout.splitlines()[-3:] == [
        f"to measure, about {LITTLE} in total (an estimate):",
        "  parity measure --phase A --profile pull_request --journal report",
        f"    {LITTLE}  seeded faults (4 faults)",
    ]


def test_what_follows_from_a_leg_that_lacks_is_one_line(checkout: Path) -> None:
    (checkout / PLACE / "adk.jsonl").unlink()

    lines = invoke().stdout.splitlines()

    unknown = [line for line in lines if line.startswith("?")]
    assert unknown == [
        "? legacy ≡ adk: every case is parity: not run with the current files",
        f"? not known without legacy ≡ adk: {'; '.join(OVER_LEGS)}",
    ]
    assert [line for line in lines if line.startswith("    ")] == [
        "    leg missing: no journal compares legacy with adk",
        f"    {LITTLE}  legacy ≡ adk (3 cases)",
    ]


def test_what_is_alike_is_shown_a_few_times_and_counted(checkout: Path) -> None:
    names = ["errors", "hooks", "loops", "masking", "mcp"]
    gates = GATES.replace("tools = 2", "\n".join(f"{name} = 1" for name in names))
    (checkout / "parity_tests/gates.toml").write_text(gates, "utf-8")
    world_of(checkout).write(PLACE)

    lines = invoke().stdout.splitlines()

    assert sum(line.startswith("    class not reached: ") for line in lines) == 4
    assert "    class not reached: 2 more; --json writes all of them" in lines
    assert "measurements do not change this: see the reason of each ?" in lines


def test_the_page_holds_the_same_answer_and_runs_nothing(checkout: Path) -> None:
    (checkout / PLACE / "adk.jsonl").unlink()
    made = world_of(checkout)
    made.change_case("core", "a/two", blockers=("<script>alert(1)</script>",))
    del made.legs["adk"]
    made.write(PLACE)

    result = invoke("--html", "out/gate.html")
    page = (checkout / "out/gate.html").read_text()

    assert result.stdout.endswith("written: out/gate.html\n")
    assert "script-src &#39;none&#39;" in page
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)" in page
    assert "parity measure --phase A --profile pull_request --journal report" in page
    assert "no journal compares legacy with adk" in page


def test_a_changed_cassette_makes_all_of_it_stale_by_name(checkout: Path) -> None:
    (checkout / "cassettes/a/two.yaml").write_text("cassette: 1\nname: a/two\nphase: C\n")

    result = invoke()

    assert result.exit_code == 3
    assert "other corpus: adk.jsonl covers other cassettes: corpus: a/two changed" in result.stdout
    assert "kill matrix stale: kills.json was measured with other corpus" in result.stdout


def test_the_json_file_holds_the_same_answer(checkout: Path) -> None:
    file = checkout / "out" / "gate.json"

    assert invoke("--json", file).exit_code == 0

    answer = GateAnswer.from_json(json.loads(file.read_text()))
    assert (answer.answer.value, answer.profile, len(answer.legs)) == ("yes", "pull_request", 3)


def test_a_terminal_without_such_marks_gets_plain_ones(checkout: Path) -> None:
    asked = ["gate", "--phase", "A", "--profile", "pull_request", *ON_THE_DAY]
    result = CliRunner(charset="ascii").invoke(parity, [*asked, "--journal", str(PLACE)])

    assert result.exit_code == 0
    assert "+ legacy ? adk: every case is parity" in result.output


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git here; install it")
def test_a_change_of_the_rules_is_shown_first_and_does_not_judge_itself(checkout: Path) -> None:
    git(checkout, "init", "-q", "-b", "main")
    git(checkout, "add", "parity_tests", "cassettes")
    git(checkout, "commit", "-qm", "first")
    gates = checkout / "parity_tests/gates.toml"
    gates.write_text(GATES.replace("examples = 100", "examples = 10"), "utf-8")
    made = world_of(checkout)
    made.samples[0]["drawn"] = 50
    made.write(PLACE)
    assert invoke().exit_code == 0

    result = invoke("--policy-from", "main")
    lines = result.stdout.splitlines()

    assert result.exit_code == 3
    assert lines[0].startswith("judged by revision main (")
    assert lines[1] == ("  gates: phase.A.pull_request.sample[fallback].examples was 100 and is 10")
    assert "sample too small: 50 scenarios drawn, and 100 are required" in result.stdout


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git here; install it")
def test_rules_that_are_the_same_are_said_to_be(checkout: Path) -> None:
    git(checkout, "init", "-q", "-b", "main")
    git(checkout, "add", "parity_tests", "cassettes")
    git(checkout, "commit", "-qm", "first")

    result = invoke("--policy-from", "HEAD")

    assert result.exit_code == 0
    assert result.stdout.startswith("gates and waivers are those of revision HEAD (")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--policy-from", "main"), "not a git repository"),
        (("--gates", "gone.toml"), "gone.toml: cannot be read"),
        (("--waivers", "gone.toml"), "gone.toml: cannot be read"),
        (("--json", "/dev/null/x.json"), "cannot be written"),
        (("--as-of", "yesterday"), "--as-of"),
    ],
)
def test_bad_input_is_reported_on_one_line_and_exits_two(
    words: tuple[str, ...], says: str, checkout: Path
) -> None:
    result = invoke(*words)

    assert result.exit_code == 2
    assert says in result.stderr
    assert "Traceback" not in result.output


def test_a_place_without_evidence_is_unknown_and_one_that_is_not_there_is_an_error(
    checkout: Path,
) -> None:
    (checkout / "empty").mkdir()

    assert invoke(places=("empty",)).exit_code == 3
    gone = invoke(places=("gone",))
    assert gone.exit_code == 2
    assert (
        "gone is not there; name another place, or make the evidence with `parity measure`"
        in gone.stderr
    )


def test_a_phase_that_the_gates_have_not_is_an_error(checkout: Path) -> None:
    result = invoke(phase="B")

    assert result.exit_code == 2
    assert "the gates have no phase B" in result.stderr


def test_gates_that_name_a_corpus_that_is_not_here_are_an_error(checkout: Path) -> None:
    gates = checkout / "parity_tests/gates.toml"
    gates.write_text(GATES.replace('["cassettes"]', '["casettes"]'), "utf-8")

    result = invoke()

    assert result.exit_code == 2
    assert "corpus: there is no 'casettes' here" in result.stderr


def test_texts_of_others_are_shown_and_never_obeyed(checkout: Path) -> None:
    made = world_of(checkout)
    made.change_case("adk", "a/two", blockers=("\x1b[31m[bold]::error::\u202eevil",))
    made.write(PLACE)

    result = invoke()

    assert result.exit_code == 3
    assert "\\x1b[31m[bold]::error::\\u202eevil" in result.stdout
    assert "\x1b" not in result.stdout
