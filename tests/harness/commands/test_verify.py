import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import Result

from harness.signoff.keys import SigningKey
from tests.harness.signoff.signable import Signable, signable

RECORD = "0001-A-release.json"


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Signable]:
    for made in signable(tmp_path, monkeypatch):
        result = made.sign()
        assert result.exit_code == 0, result.output
        yield made


def problems(result: Result) -> list[str]:
    lead = "does not hold: "
    return [line.removeprefix(lead) for line in result.output.splitlines() if line.startswith(lead)]


def replace(file: Path, old: str, new: str) -> None:
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), "utf-8")


def test_a_record_holds_and_says_what_it_says(checkout: Signable) -> None:
    result = checkout.invoke("verify")

    assert result.exit_code == 0, result.output
    assert "signed by alice on " in result.output
    assert "what this does not say:" in result.output
    assert result.output.splitlines()[-1] == f"{RECORD} holds"


@pytest.mark.parametrize("name", [RECORD, f"signoffs/{RECORD}"])
def test_a_record_is_named_by_file_or_by_name(checkout: Signable, name: str) -> None:
    assert checkout.invoke("verify", name).exit_code == 0


def test_each_thing_that_changed_is_named(checkout: Signable) -> None:
    (checkout.root / "cassettes/a/1.yaml").write_text("plain ")
    replace(checkout.root / "parity_tests/waivers.toml", "max_count = 9", "max_count = 8")
    (checkout.root.parent / "code/services/clock.py").write_text("TICK = 2\n")
    replace(checkout.root / "parity_tests/gates.toml", "min_cases = 1", "min_cases = 0")

    result = checkout.invoke("verify")

    assert result.exit_code == 1
    not_committed = (
        "parity_tests/gates.toml is not as it was committed, and it says who may sign; "
        "see `git diff HEAD -- parity_tests/gates.toml`, then commit it or put it back"
    )
    assert sorted(problems(result)) == [
        "cassettes/a/1.yaml changed",
        "gates.toml changed",
        not_committed,
        "services/clock.py changed",
        "waiver W1 changed",
    ]
    assert result.output.splitlines()[-1] == f"{RECORD} does not hold: 5 reasons"


@pytest.mark.parametrize("place", [30, 400, 2000, -200, -40, -5])
@pytest.mark.sampled(3)
def test_a_byte_of_the_record_is_named(checkout: Signable, place: int) -> None:
    file = checkout.signoffs / RECORD
    raw = bytearray(file.read_bytes())
    raw[place] ^= 1
    file.write_bytes(raw)

    result = checkout.invoke("verify", RECORD)

    assert result.exit_code == 1
    assert any(
        "is not as it was signed" in each
        or "signature does not fit its bytes" in each
        or "signed by 0 trusted signers" in each
        for each in problems(result)
    ), result.output
    assert "Traceback" not in result.output


def test_a_forged_payload_is_named_as_its_signature(checkout: Signable) -> None:
    """What the JSON and its fields cannot show, the signature does."""
    from harness.signoff.envelope import parse_envelope, rendered

    file = checkout.signoffs / RECORD
    envelope = parse_envelope(file.read_bytes(), file)
    envelope.payload = envelope.payload.replace(b'"cases":3', b'"cases":4')
    file.write_bytes(rendered(envelope))

    result = checkout.invoke("verify")

    assert f"{RECORD}: the record's signature does not fit its bytes (alice)" in problems(result)
    assert result.exit_code == 1


def test_an_unknown_signer_is_refused_whatever_the_record_brings_along(
    checkout: Signable,
) -> None:
    checkout.keygen("mallory")
    mallory = SigningKey.from_pem(checkout.key("mallory").read_bytes(), "m", None)
    from harness.signoff.envelope import parse_envelope, rendered, seal

    file = checkout.signoffs / RECORD
    file.write_bytes(rendered(seal(parse_envelope(file.read_bytes(), file).payload, mallory)))

    result = checkout.invoke("verify")

    assert result.exit_code == 1
    assert f"{RECORD}: signed by 0 trusted signers, and 1 must" in problems(result)


def test_a_key_that_is_taken_out_of_the_gates_no_longer_counts(checkout: Signable) -> None:
    gates = checkout.root.parent / "other-gates.toml"
    gates.write_text((checkout.root / "parity_tests/gates.toml").read_text("utf-8"), "utf-8")
    replace(gates, 'name = "alice"\nkey = "', 'name = "alice"\nkey = "ff')
    text = gates.read_text("utf-8")
    start = text.index('key = "ff') + 7
    gates.write_text(text[: start + 64] + text[start + 66 :], "utf-8")

    result = checkout.invoke("verify", "--gates", gates)

    assert result.exit_code == 1
    assert any("signed by 0 trusted signers" in each for each in problems(result))


def test_a_rolled_back_head_is_refused(checkout: Signable) -> None:
    checkout.sign()
    (checkout.signoffs / "0002-A-release.json").unlink()

    result = checkout.invoke("verify", RECORD)

    assert result.exit_code == 1
    assert "rolled back: HEAD knows record 0002, and the newest is 0001" in problems(result)


def test_the_newest_record_is_the_one_that_is_expected(checkout: Signable) -> None:
    digest = next(
        line.split("(")[1].rstrip(")")
        for line in checkout.invoke("verify").output.splitlines()
        if line.startswith("record: ")
    )
    assert checkout.invoke("verify", "--expect-head", digest[:12]).exit_code == 0

    result = checkout.invoke("verify", "--expect-head", "0" * 64)
    assert result.exit_code == 1
    assert "is not 0000000000000000 as expected" in problems(result)[0]


def test_cases_are_run_again_and_their_traces_compared(checkout: Signable) -> None:
    result = checkout.invoke("verify", "--replay", "2", "--seed", "7")

    assert result.exit_code == 0, result.output
    assert "run again: 2 cases (seed 7)" in result.output


def test_a_case_that_comes_out_otherwise_is_named(checkout: Signable) -> None:
    (checkout.root / "cassettes/a/1.yaml").write_text("loses usage")

    result = checkout.invoke("verify", "--replay", "9")

    assert result.exit_code == 1
    assert "a/1: adk left another trace" in problems(result)


def test_a_case_that_cannot_be_run_is_not_taken_for_one_that_came_out_well(
    checkout: Signable,
) -> None:
    (checkout.root / "cassettes/a/1.yaml").write_text("crashes")

    result = checkout.invoke("verify", "--replay", "9", "--json", "out.json")

    document = json.loads(Path("out.json").read_text())
    assert result.exit_code == 1  # the cassette changed
    assert any(each.startswith("a/1: ") for each in document["undecided"])
    assert document["replayed"] == ["a/1", "a/2", "b/2"]


def test_what_was_found_is_written_as_json(checkout: Signable) -> None:
    checkout.invoke("verify", "--json", "out.json")

    document = json.loads(Path("out.json").read_text())
    assert (document["holds"], document["record"], document["signers"]) == (True, RECORD, ["alice"])
    assert document["notSaid"]


@pytest.mark.parametrize("place", ["parity-report/signoffs", "../thrown-away/signoffs"])
def test_a_guest_key_makes_a_pull_request_valid_and_says_so(checkout: Signable, place: str) -> None:
    checkout.keygen("ci")
    checkout.commit()
    folder = Path(place)
    words = ["--signer", "ci", "--signoffs", folder]
    made = checkout.sign(*words, key="ci", profile="pull_request")
    assert made.exit_code == 0, made.output
    public = f"ci={checkout.key('ci')}.pub"

    alone = checkout.invoke("verify", "--signoffs", folder)
    result = checkout.invoke("verify", "--signoffs", folder, "--also-trust", public)

    assert alone.exit_code == 1
    assert result.exit_code == 0, result.output
    assert "trusted for this call, and for pull_request records only: ci" in result.output
    assert "ci is trusted by --also-trust, for this call and pull requests only" in result.output
    outside = "remark: git cannot say whether records were taken away" in result.output
    assert outside is place.startswith("..")


def test_a_guest_key_never_makes_a_release_valid(checkout: Signable) -> None:
    public = f"guest={checkout.key('alice')}.pub"
    gates = checkout.root.parent / "unsigned.toml"
    gates.write_text((checkout.root / "parity_tests/gates.toml").read_text("utf-8"), "utf-8")
    for name in ("alice", "bob"):
        replace(gates, f'name = "{name}"\nkey', f'name = "{name}"\n# key')
    text = gates.read_text("utf-8").replace('["pull_request", "release"]', '["pull_request"]')
    gates.write_text(text, "utf-8")

    result = checkout.invoke("verify", "--gates", gates, "--also-trust", public)

    assert result.exit_code == 1
    assert f"{RECORD}: signed by 0 trusted signers, and 1 must" in problems(result)


def test_there_is_nothing_to_verify_in_an_empty_folder(checkout: Signable) -> None:
    (checkout.root / "empty").mkdir()

    result = checkout.invoke("verify", "--signoffs", "empty")

    assert result.exit_code == 3
    assert "contains no record" in result.output


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["gone.json"], "there is no record gone.json"),
        (["signoffs/HEAD"], "signoffs/HEAD is no record's name"),
        ([".."], ".. is no record's name"),
        (
            ["cassettes/0001-A-release.json", "--signoffs", "signoffs"],
            "cassettes/0001-A-release.json is not in the folder signoffs",
        ),
        (["--signoffs", "gone"], "there is no folder gone"),
        (["--expect-head", "xyz"], "is no SHA-256"),
        (["--also-trust", "ci"], "is not NAME=FILE"),
        (["--also-trust", "ci=gone"], "cannot be read"),
        (["--also-trust", "ci=.gitignore"], "is no public key in PEM"),
        (["--gates", "gone"], "cannot be read"),
        (["--replay", "-1"], "Invalid value"),
        (["--json", "cassettes"], "is a directory"),
    ],
)
@pytest.mark.sampled(6)
def test_wrong_usage_is_one_clear_message(checkout: Signable, words: list[str], says: str) -> None:
    result = checkout.invoke("verify", *words)

    assert result.exit_code == 2, result.output
    assert says in result.output
    assert "Traceback" not in result.output
