"""The gates file: what it says is what is judged by, and what it cannot say is refused by place."""

from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.gate.gates import GatesFileError, load_gates, parse_gates
from tests.harness.gate.green import GATES

CHECKOUT = Path(__file__).resolve().parents[3]

WRONG = {
    "an unknown key": ("threshold = 1", "threshold = 1\nweaker = true", "signing.weaker: unknown"),
    "an unknown key of a leg": (
        'name = "begun in adk"',
        'name = "begun in adk"\nmin_case = 1',
        "phase.A.leg[2].min_case: unknown",
    ),
    "a missing key": ("min_cases = 1\n", "\n", "phase.A.leg[2].min_cases: this key is required"),
    "a missing profile": ("[phase.A.release]", "[phase.A.nightly]", "phase.A.release: this key"),
    "no gates at all": ("format = 1", "", "format: this key is required"),
    "another format": ("format = 1", "format = 2", "format:"),
    "a phase that there is not": ("[phase.A]", "[phase.D]", "phase.D"),
    "a share above one": ("bound = 0.4, class", "bound = 1.4, class", "kills.bound"),
    "a count below nought": ("min_cases = 1\n", "min_cases = -1\n", "leg[2].min_cases"),
    "a number as text": ("max_age_days = 3", 'max_age_days = "3"', "max_age_days"),
    "a class that nothing observes and that is none": (
        "baselines = true",
        'baselines = true\nunobserved = ["tolls"]',
        "there is no 'tolls'",
    ),
    "a class that is none": ("tools = 2", "tolls = 2", "phase.A.classes: there is no 'tolls'"),
    "a class of faults that is none": (
        'fault_classes = ["tools"]',
        'fault_classes = ["tolls"]',
        "phase.A.fault_classes: there is no 'tolls'",
    ),
    "a generator's profile that is none": (
        'profile = "fallback"',
        'profile = "falback"',
        "there is no 'falback'",
    ),
    "a leg that is none": (
        'reached_in = "legacy ≡ adk"',
        'reached_in = "legacy"',
        "phase.A: pull_request has no leg 'legacy'",
    ),
    "a leg that only the other profile has": (
        'candidate = "adk"\nmin_cases = 3',
        'candidate = "adk"\nmin_cases = 3\nprofiles = ["pull_request"]',
        "phase.A: release has no leg 'legacy ≡ adk'",
    ),
    "two legs of one name": (
        'name = "begun in adk"',
        'name = "legacy ≡ adk"',
        "phase.A: two legs have one name",
    ),
    "two legs of one comparison": (
        'control = "legacy+legacy"\ncandidate = "adk+legacy"',
        'control = "legacy"\ncandidate = "adk"',
        "phase.A: two legs compare the same",
    ),
    "a digest of its own": ("format = 1", 'format = 1\ndigest = "x"', "digest: unknown key"),
    "no TOML": ("format = 1", "format = ", "not TOML"),
    "a number without end": ("format = 1", f"format = {'9' * 5000}", "not TOML"),
}

SIGNER = '[[signing.signer]]\nname = "{}"\nphases = ["A"]\nprofiles = ["{}"]\n{}\n'
KEY = f'key = "{"a" * 64}"'


def with_signers(*signers: str) -> str:
    return GATES.replace("[phase.A]\n", "".join(signers) + "[phase.A]\n", 1)


@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_wrong_is_refused_with_its_place(wrong: str) -> None:
    old, new, says = WRONG[wrong]
    assert old in GATES

    with pytest.raises(GatesFileError) as refused:
        parse_gates(GATES.replace(old, new).encode(), "gates.toml")

    assert str(refused.value).startswith("gates.toml: ")
    assert says in str(refused.value)


def test_the_projects_own_gates_have_every_phase_and_no_signer_of_releases() -> None:
    gates = load_gates(CHECKOUT / "parity_tests" / "gates.toml")

    assert list(gates.phase) == ["A", "B", "C"]
    for phase in gates.phase:
        # With a private key in the checkout, everybody could sign.
        assert gates.signing.signers(phase, "release") == ()
        assert [each.name for each in gates.signing.signers(phase, "pull_request")] == ["ci"]


def test_a_release_asks_for_no_less_than_a_pull_request() -> None:
    for phase in load_gates(CHECKOUT / "parity_tests" / "gates.toml").phase.values():
        small, large = phase.pull_request, phase.release

        assert large.kills.faults > small.kills.faults
        assert large.kills.bound > small.kills.bound
        assert large.kills.class_bound > small.kills.class_bound
        assert large.max_age_days <= small.max_age_days
        assert small.baselines
        assert not large.baselines
        drawn = {rule.profile: rule.examples for rule in large.sample if rule.candidate == "adk"}
        assert all(drawn[rule.profile] > rule.examples for rule in small.sample)


def test_a_phase_that_the_file_has_not_is_named() -> None:
    with pytest.raises(UsageError, match="the gates have no phase B; they have A"):
        parse_gates(GATES.encode(), "gates.toml").of_phase("B")


def test_the_digest_is_of_the_text() -> None:
    one, other = (parse_gates(text.encode(), "x") for text in (GATES, GATES + "\n# more\n"))

    assert one.digest != other.digest
    assert one.phase == other.phase


def test_a_signer_without_a_key_may_sign_pull_requests_only() -> None:
    parse_gates(with_signers(SIGNER.format("ci", "pull_request", "")).encode(), "x")
    with pytest.raises(GatesFileError, match="without a key"):
        parse_gates(with_signers(SIGNER.format("ci", "release", "")).encode(), "x")


@pytest.mark.parametrize(
    ("signers", "says"),
    [
        ([SIGNER.format("one", "release", KEY), SIGNER.format("two", "release", KEY)], "twice"),
        ([SIGNER.format("one", "release", KEY)] * 2, "twice"),
        ([SIGNER.format("One", "release", KEY)], "signer[0].name"),
        ([SIGNER.format("one", "release", 'key = "ab"')], "signer[0].key"),
    ],
)
def test_one_person_is_one_signer(signers: list[str], says: str) -> None:
    with pytest.raises(GatesFileError) as refused:
        parse_gates(with_signers(*signers).encode(), "x")

    assert says in str(refused.value)


def test_a_file_that_cannot_be_read_says_so(tmp_path: Path) -> None:
    with pytest.raises(GatesFileError, match="cannot be read: No such file"):
        load_gates(tmp_path / "gates.toml")
    file = tmp_path / "gates.toml"
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(GatesFileError, match="not UTF-8"):
        load_gates(file)
    file.write_bytes(b"#" * (2 << 20))
    with pytest.raises(GatesFileError, match="larger than"):
        load_gates(file)
    file.write_bytes(b"x = " + b"[" * 100_000)
    with pytest.raises(GatesFileError, match="not TOML"):
        load_gates(file)


@pytest.mark.parametrize("key", ["00" * 32, "00" * 31 + "80", "01" + "00" * 31, "ed" + "ff" * 31])
def test_a_key_for_which_anybody_can_sign_is_refused(key: str) -> None:
    text = with_signers(SIGNER.format("alice", "release", f'key = "{key}"'))

    with pytest.raises(GatesFileError, match="anybody can sign with this key"):
        parse_gates(text.encode(), "gates.toml")
