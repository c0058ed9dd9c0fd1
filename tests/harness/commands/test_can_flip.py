"""`parity can-flip` as it is typed."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from harness.cli import parity
from harness.gate.answer import GateAnswer
from harness.gate.here import here
from harness.inventory import environment
from tests.harness.gate.checkout import git, made_checkout
from tests.harness.gate.green import DAY, GATES
from tests.harness.signoff.signed import ALICE, add

RUNTIME = "experimental.adk.runtimeEnabled"
OWN = "experimental.adk.agentSessionNoninteractiveEnabled"
SIGNER = f"""threshold = 1
[[signing.signer]]
name = "alice"
key = "{ALICE.public.hexadecimal}"
phases = ["A", "B", "C"]
profiles = ["pull_request", "release"]
"""


def invoke(*words: object) -> Result:
    asked = ["can-flip", *map(str, words), "--as-of", "2026-03-01"]
    return CliRunner().invoke(parity, asked, prog_name="parity")


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = made_checkout(tmp_path / "checkout", monkeypatch)
    gates = folder / "parity_tests" / "gates.toml"
    gates.write_text(GATES.replace("threshold = 1\n", SIGNER, 1), "utf-8")
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "the gates")
    return folder


def sign(checkout: Path, phase: str = "A", profile: str = "release") -> Path:
    answer = GateAnswer.of((), phase=phase, profile=profile, as_of=DAY.isoformat())
    record = add(
        checkout / "signoffs",
        phase=phase,
        profile=profile,
        as_of=DAY.isoformat(),
        time="2026-03-01T12:00:00Z",
        answer=answer,
        components=here(None, None, DAY).current.components,
        environment=environment(),
    )
    return checkout / "signoffs" / record.name


def test_a_release_record_of_its_phase_lets_a_surfaces_flag_be_turned_on(checkout: Path) -> None:
    sign(checkout)

    for name in (OWN, OWN.rpartition(".")[2]):
        result = invoke(name)

        assert result.exit_code == 0, result.output
        assert result.stdout.splitlines() == [
            "✓ noninteractive (phase A): record 0001, profile release, signed 2026-03-01",
            f"yes: {OWN} may be turned on",
        ]


def test_a_pull_request_record_is_refused_saying_so(checkout: Path) -> None:
    sign(checkout, profile="pull_request")

    result = invoke(OWN)

    assert result.exit_code == 1
    assert "the newest record of phase A is of profile pull_request" in result.stdout
    assert result.stdout.splitlines()[-1] == f"no: {OWN} must not be turned on"


def test_the_runtime_flag_takes_a_record_of_every_phase_that_it_moves(checkout: Path) -> None:
    sign(checkout)

    result = invoke(RUNTIME)

    assert result.exit_code == 3
    assert "✓ noninteractive (phase A)" in result.stdout
    assert "holds no record of phase B" in result.stdout
    assert "holds no record of phase C" in result.stdout
    assert invoke(RUNTIME, "--surface", "noninteractive").exit_code == 0
    sign(checkout, "B")
    sign(checkout, "C")
    assert invoke(RUNTIME).exit_code == 0


def test_a_surface_whose_own_flag_is_off_stays_where_it_is(checkout: Path) -> None:
    sign(checkout)
    settings = checkout / "settings.json"
    on = {"experimental": {"adk": {"agentSessionNoninteractiveEnabled": True}}}
    settings.write_text("// by hand\n" + json.dumps(on))

    result = invoke(RUNTIME, "--settings", settings)

    assert result.exit_code == 0, result.output
    assert "phase B" not in result.stdout
    settings.write_text("{}")
    nothing = invoke(RUNTIME, "--settings", settings)
    assert (nothing.exit_code, "switches nothing" in nothing.stdout) == (0, True)


def test_what_changed_since_is_named(checkout: Path) -> None:
    sign(checkout)
    (checkout / "cassettes/a/two.yaml").write_text("cassette: 1\nname: a/two\nphase: C\n")
    (checkout / "parity_tests/waivers.toml").write_text("format = 1\n# more\n")

    result = invoke(OWN)

    assert result.exit_code == 3
    assert "corpus: a/two changed" in result.stdout
    assert "waivers: waivers.toml changed" in result.stdout


def test_one_byte_of_the_record_is_enough(checkout: Path) -> None:
    record = sign(checkout)
    text = record.read_text()
    at = text.index('"payload"') + 40
    record.write_text(text[:at] + ("A" if text[at] != "A" else "B") + text[at + 1 :])

    result = invoke(OWN)

    assert result.exit_code == 1
    assert "record refused" in result.stdout


def test_without_a_record_the_command_that_makes_one_is_shown(checkout: Path) -> None:
    result = invoke(OWN)

    assert result.exit_code == 3
    assert "to fix: parity sign --phase A --profile release" in result.stdout


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("runtimeEnable",), "unknown flag 'runtimeEnable'; known: experimental.adk.runtime"),
        ((OWN, "--surface", "subagent"), "does not switch subagent; it switches: noninteractive"),
        ((OWN, "--surface", "tui"), "--surface"),
        ((OWN, "--settings", "gone.json"), "gone.json: there is no such file"),
        ((OWN, "--settings", "broken.json"), "broken.json, line 1"),
        ((OWN, "--gates", "gone.toml"), "gone.toml: cannot be read"),
        ((OWN, "--expect-head", ""), "--expect-head '' is no SHA-256"),
        ((OWN, "--expect-head", "12"), "--expect-head '12' is no SHA-256"),
    ],
)
def test_bad_input_exits_two(words: tuple[str, ...], says: str, checkout: Path) -> None:
    (checkout / "broken.json").write_text("{")

    result = invoke(*words)

    assert result.exit_code == 2
    assert says in result.stderr
    assert "Traceback" not in result.output
