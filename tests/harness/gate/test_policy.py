"""The policy of a revision: what a change brings along does not judge the change."""

import shutil
import subprocess
from datetime import date
from pathlib import Path

import pytest

from harness.errors import HarnessError, UsageError
from harness.gate.policy import policy_changes, policy_here, policy_of_revision
from tests.harness.gate.green import GATES

pytestmark = pytest.mark.skipif(
    shutil.which("git") is None, reason="there is no git here; install it"
)

DAY = date(2026, 3, 1)
WAIVER = """
[[waiver]]
id = "{id}"
scenario = "a/*"
channel = "events"
path = "text"
control = "a"
candidate = "b"
impact = "none"
reason = "for now"
owner = "adk-runtime"
expires = 2026-12-31
max_count = {count}
"""


def git(folder: Path, *words: str) -> None:
    identity = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


def write_waivers(file: Path, **counts: int) -> None:
    text = "format = 1\n" + "".join(
        WAIVER.format(id=name.replace("_", "-"), count=count) for name, count in counts.items()
    )
    file.write_text(text)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "checkout"
    (folder / "parity_tests").mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    (folder / "parity_tests" / "gates.toml").write_text(GATES)
    write_waivers(folder / "parity_tests" / "waivers.toml", kept=1, gone=1, wider=1)
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "first")
    return folder


def files(checkout: Path) -> tuple[Path, Path]:
    return (checkout / "parity_tests" / "gates.toml", checkout / "parity_tests" / "waivers.toml")


def test_a_change_is_judged_by_the_policy_before_and_reported_by_name(checkout: Path) -> None:
    gates, waivers = files(checkout)
    gates.write_text(GATES.replace("faults = 4, bound = 0.4", "faults = 1, bound = 0.1", 1))
    write_waivers(waivers, kept=1, wider=9, new=1)

    then = policy_of_revision("main", gates, waivers, DAY)
    now = policy_here(gates, waivers, DAY)

    assert then.gates.phase["A"].pull_request.kills.bound == 0.4
    assert [waiver.id for waiver in then.waivers.entries] == ["kept", "gone", "wider"]
    assert policy_changes(then, now) == [
        "waiver gone: removed",
        "waiver new: added",
        "waiver wider: max_count was 1 and is 9",
        "gates: phase.A.pull_request.kills.bound was 0.4 and is 0.1",
        "gates: phase.A.pull_request.kills.faults was 4 and is 1",
    ]


def test_what_is_the_same_is_no_change(checkout: Path) -> None:
    gates, waivers = files(checkout)

    then = policy_of_revision("HEAD", gates, waivers, DAY)

    assert policy_changes(then, policy_here(gates, waivers, DAY)) == []


def test_a_leg_or_signer_that_is_taken_out_is_reported(checkout: Path) -> None:
    gates, waivers = files(checkout)
    leg = GATES[GATES.index('[[phase.A.leg]]\nname = "begun') : GATES.index("[phase.A.pull_req")]
    gates.write_text(GATES.replace(leg, ""))

    changes = policy_changes(
        policy_of_revision("HEAD", gates, waivers, DAY), policy_here(gates, waivers, DAY)
    )

    assert 'gates: phase.A.leg[begun in adk].control was "legacy+legacy" and is nothing' in changes
    assert all("leg[begun in adk]" in change for change in changes)


def test_nothing_is_waived_where_the_revision_has_no_waivers(checkout: Path) -> None:
    gates, waivers = files(checkout)
    git(checkout, "rm", "-q", "--cached", "parity_tests/waivers.toml")
    git(checkout, "commit", "-q", "-m", "without")

    assert policy_of_revision("HEAD", gates, waivers, DAY).waivers.entries == ()


def test_the_checkout_is_left_as_it_is(checkout: Path) -> None:
    gates, waivers = files(checkout)
    gates.write_text(GATES + "\n# more\n")

    policy_of_revision("HEAD", gates, waivers, DAY)

    assert gates.read_text().endswith("# more\n")


@pytest.mark.parametrize("revision", ["nowhere", "--help", "HEAD:parity_tests", "a b", ""])
def test_a_bad_revision_is_named(revision: str, checkout: Path) -> None:
    with pytest.raises(UsageError, match=r"--policy-from.*there is no such revision"):
        policy_of_revision(revision, *files(checkout), DAY)


def test_gates_that_the_revision_has_not_are_an_error(checkout: Path) -> None:
    other = checkout / "parity_tests" / "other.toml"
    other.write_text(GATES)

    with pytest.raises(UsageError, match=r"there is no parity_tests/other\.toml in it"):
        policy_of_revision("HEAD", other, None, DAY)


def test_outside_a_checkout_there_is_no_revision(tmp_path: Path) -> None:
    file = tmp_path / "gates.toml"
    file.write_text(GATES)

    with pytest.raises(UsageError, match="not a git repository"):
        policy_of_revision("HEAD", file, None, DAY)


def test_waivers_of_another_checkout_are_refused(checkout: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not in the checkout"):
        policy_of_revision("HEAD", files(checkout)[0], tmp_path / "waivers.toml", DAY)


@pytest.mark.parametrize("name", ["gates.toml", "waivers.toml"])
def test_a_broken_file_of_the_revision_is_named_with_it(name: str, checkout: Path) -> None:
    file = checkout / "parity_tests" / name
    kept = file.read_text()
    file.write_text("format = 1\nunheard = 2\n")
    git(checkout, "commit", "-qam", "broken")
    file.write_text(kept)

    with pytest.raises(
        HarnessError, match=f"^HEAD:.*{name}: unheard|^HEAD:.*{name}: .*is required"
    ):
        policy_of_revision("HEAD", *files(checkout), DAY)
