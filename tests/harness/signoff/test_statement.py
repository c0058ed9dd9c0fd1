import json
from typing import Any

import pytest

from harness.canonical import canonical, sha256_hex
from harness.gate.answer import GateAnswer, Reason, ReasonKind
from harness.signoff.reading import NotAStatement, parse_statement
from harness.signoff.statement import (
    HEAD_TYPE,
    STATEMENT_TYPE,
    Head,
    Named,
    Revocation,
    payload_of,
)
from tests.harness.signoff.signed import TIME, sign_off

STATEMENT = sign_off().to_json()


def parsed(**changes: Any) -> Any:
    return parse_statement(canonical({**STATEMENT, **changes}).encode())


def with_predicate(**changes: Any) -> Any:
    return parsed(predicate={**STATEMENT["predicate"], **changes})


def test_a_sign_off_is_an_in_toto_statement_whose_subjects_are_the_files() -> None:
    assert set(STATEMENT) == {"_type", "subject", "predicateType", "predicate"}
    assert STATEMENT["_type"] == STATEMENT_TYPE
    assert {"name": "corpus:text/one", "digest": {"sha256": "1" * 64}} in STATEMENT["subject"]


@pytest.mark.parametrize(
    "statement",
    [
        sign_off(),
        sign_off(2, Named(file="0001-A-release.json", sha256="f" * 64)),
        Revocation(
            number=2,
            predecessor=Named(file="0001-A-release.json", sha256="f" * 64),
            revokes=Named(file="0001-A-release.json", sha256="f" * 64),
            reason="r",
            signer="alice",
            time=TIME,
        ),
        Head(number=1, payload_sha256="e" * 64, signer="alice", time=TIME),
    ],
)
def test_a_statement_reads_back_as_it_was(statement: Any) -> None:
    assert parse_statement(payload_of(statement)) == statement


@pytest.mark.parametrize(
    "changes",
    [
        {"_type": "https://in-toto.io/Statement/v0.1"},
        {"predicateType": "urn:parity:signoff:v2"},
        {"predicateType": HEAD_TYPE},
        {"extra": 1},
        {"subject": []},
        {"subject": [*STATEMENT["subject"], STATEMENT["subject"][0]]},
        {"subject": [*STATEMENT["subject"], {"name": "corpus:x", "digest": {"sha256": "1" * 64}}]},
        {"subject": [*STATEMENT["subject"], {"name": "what:x", "digest": {"sha256": "1" * 64}}]},
        {"subject": [{**STATEMENT["subject"][0], "uri": "x"}, *STATEMENT["subject"][1:]]},
        {"subject": [*reversed(STATEMENT["subject"])]},
        {"subject": [{"name": "corpus:x", "digest": {"sha256": "1" * 63}}]},
        {"predicate": []},
    ],
)
def test_another_type_or_field_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(NotAStatement):
        parsed(**changes)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"_type": "x"}, "its _type is not"),
        ({"predicateType": "x"}, "its predicateType is none of"),
        ({"extra": 1}, "extra: unknown key"),
    ],
)
def test_the_refusal_of_a_statement_names_the_field(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(NotAStatement, match=words):
        parsed(**changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"extra": 1},
        {"number": "1"},
        {"number": True},
        {"number": 0},
        {"phase": "D"},
        {"profile": "everything"},
        {"answer": {**STATEMENT["predicate"]["answer"], "answer": "no"}},
        {"answer": {**STATEMENT["predicate"]["answer"], "key": "k"}},
        {"answer": {**STATEMENT["predicate"]["answer"], "phase": "B"}},
        {"answer": {**STATEMENT["predicate"]["answer"], "profile": "pull_request"}},
        {"answer": {**STATEMENT["predicate"]["answer"], "asOf": "2026-01-02"}},
        {"predecessor": {"file": "../x.json", "sha256": "1" * 64}},
        {"traces": {"text/one": ["a" * 64]}},
        {"components": {}},
        {"time": "yesterday"},
        {"time": "2026-02-30T12:00:00Z"},
        {"time": "2026-2-3T12:00:00Z"},
        {"time": "\u0662026-01-01T12:00:00Z"},
        {"not_said": []},
    ],
)
def test_a_predicate_holds_what_it_must_and_nothing_else(changes: dict[str, Any]) -> None:
    with pytest.raises(NotAStatement):
        with_predicate(**changes)


def test_a_field_that_is_missing_is_refused() -> None:
    predicate = {k: v for k, v in STATEMENT["predicate"].items() if k != "notSaid"}

    with pytest.raises(NotAStatement, match="notSaid"):
        parsed(predicate=predicate)


def test_a_statement_has_one_spelling() -> None:
    with pytest.raises(NotAStatement, match="canonical"):
        parse_statement(json.dumps(STATEMENT).encode())


def test_the_digests_of_a_case_that_is_named_like_a_secret_are_signed_as_they_are() -> None:
    digests = (sha256_hex("one"), sha256_hex("two"))
    signed = sign_off(traces={"errors/refused_credentials": digests})

    assert parse_statement(payload_of(signed)) == signed


def test_a_key_that_is_there_twice_is_refused() -> None:
    payload = payload_of(sign_off()).replace(b'"phase":', b'"phase":"B","phase":', 1)

    with pytest.raises(NotAStatement, match="twice"):
        parse_statement(payload)


def test_only_a_yes_can_be_signed() -> None:
    reason = Reason(kind=ReasonKind.DIVERGENT, about="leg", says="it diverges", change="mend it")
    answer = GateAnswer.of([reason], phase="A", profile="release", as_of="2026-01-01")

    with pytest.raises(ValueError, match="only yes is signed"):
        sign_off(answer=answer)


def test_the_day_is_one_of_the_calendar() -> None:
    with pytest.raises(ValueError, match="as_of"):
        sign_off(as_of="2026-02-30")
