"""A flag may be flipped by the newest record of its phase, if that still holds here and now."""

from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from harness.flip.judge import Flip, judged_flip
from harness.gate.answer import Answer, GateAnswer, ReasonKind, WaiverAnswer
from harness.gate.gates import Gates, parse_gates
from harness.inventory import Component, Inventory
from harness.signoff.history import History
from harness.signoff.records import Record
from tests.harness.gate.green import GATES
from tests.harness.signoff.signed import ALICE, BOB, MALLORY, add, components, revoke

DAY = date(2026, 1, 10)
HERE = Inventory(components())
MACHINE = {"python": "CPython 3.12", "google-adk": "2.13.0"}


def trusting() -> Gates:
    signers = "".join(
        f'[[signing.signer]]\nname = "{name}"\nkey = "{key.public.hexadecimal}"\n'
        'phases = ["A", "B"]\nprofiles = ["pull_request", "release"]\n'
        for name, key in (("alice", ALICE), ("bob", BOB))
    )
    text = GATES.replace("threshold = 1\n", f"threshold = 1\nvalid_days = 30\n{signers}", 1)
    return parse_gates(text.encode(), "gates.toml")


def asked(folder: Path, **changes: Any) -> Flip:
    values: dict[str, Any] = {
        "phase": "A",
        "folder": folder,
        "gates": trusting(),
        "current": HERE,
        "environment": MACHINE,
        "as_of": DAY,
        "history": History(),
    }
    return judged_flip(**(values | changes))


def kinds(flip: Flip) -> list[ReasonKind]:
    return [reason.kind for reason in flip.reasons]


def waived(expires: str, state: str = "used") -> GateAnswer:
    waiver = WaiverAnswer(
        id="W1", state=state, count=1, max_count=1, expires=expires, owner="adk-runtime"
    )
    return GateAnswer.of((), phase="A", profile="release", as_of="2026-01-01", waivers=(waiver,))


def test_a_release_record_of_what_is_here_is_a_yes(tmp_path: Path) -> None:
    add(tmp_path)

    flip = asked(tmp_path)

    assert (flip.answer, flip.reasons) == (Answer.YES, ())
    assert flip.record is not None
    assert flip.record.profile == "release"


def test_without_a_record_nothing_is_known(tmp_path: Path) -> None:
    flip = asked(tmp_path)

    assert (flip.answer, kinds(flip)) == (Answer.UNKNOWN, [ReasonKind.RECORD_MISSING])
    assert flip.reasons[0].change.startswith("parity sign --phase A --profile release")


def test_a_record_of_another_phase_is_none_of_this_one(tmp_path: Path) -> None:
    add(tmp_path, phase="B")

    assert kinds(asked(tmp_path)) == [ReasonKind.RECORD_MISSING]
    assert asked(tmp_path, phase="B").answer is Answer.YES


def test_a_pull_request_record_is_refused_and_says_so(tmp_path: Path) -> None:
    add(tmp_path, profile="pull_request")

    flip = asked(tmp_path)

    assert (flip.answer, kinds(flip)) == (Answer.NO, [ReasonKind.RECORD_OTHER_PROFILE])
    assert "pull_request, which flips nothing" in flip.reasons[0].says


def test_no_older_record_takes_the_newest_ones_place(tmp_path: Path) -> None:
    add(tmp_path)
    add(tmp_path, profile="pull_request")

    assert kinds(asked(tmp_path)) == [ReasonKind.RECORD_OTHER_PROFILE]


@pytest.mark.parametrize("key", [MALLORY])
def test_a_record_without_a_trusted_signature_is_refused(key: Any, tmp_path: Path) -> None:
    add(tmp_path, key)

    flip = asked(tmp_path)

    assert (flip.answer, kinds(flip)) == (Answer.NO, [ReasonKind.RECORD_REFUSED])


def test_a_revoked_record_is_refused(tmp_path: Path) -> None:
    record = add(tmp_path)
    revoke(tmp_path, record)

    flip = asked(tmp_path)

    assert (flip.answer, kinds(flip)) == (Answer.NO, [ReasonKind.RECORD_REFUSED])
    assert "it was wrong" in flip.reasons[0].says


def test_a_chain_that_was_rolled_back_is_refused(tmp_path: Path) -> None:
    add(tmp_path)
    newest: Record = add(tmp_path)
    (tmp_path / newest.name).unlink()

    assert kinds(asked(tmp_path)) == [ReasonKind.RECORD_REFUSED]


def test_a_record_is_no_yes_where_git_cannot_say_whether_it_is_the_newest(tmp_path: Path) -> None:
    add(tmp_path)

    flip = asked(tmp_path, history=History(unknown=("there is no git",)))

    assert (flip.answer, kinds(flip)) == (Answer.UNKNOWN, [ReasonKind.RECORD_UNKNOWN])
    assert "there is no git" in flip.reasons[0].says
    wrong = History(problems=("it is a link",), unknown=("there is no git",))
    assert asked(tmp_path, history=wrong).answer is Answer.NO


def test_another_head_than_the_reader_knows_is_refused(tmp_path: Path) -> None:
    record = add(tmp_path)

    assert asked(tmp_path, expect_head=record.sha256[:16]).answer is Answer.YES
    assert kinds(asked(tmp_path, expect_head="0" * 16)) == [ReasonKind.RECORD_REFUSED]


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"corpus": Component({"text/one": "1" * 64, "text/two": "9" * 64})}, "text/two changed"),
        ({"waivers": Component({"waivers.toml": "8" * 64}, {"W1": "9" * 64})}, "W1 changed"),
        ({"harness": Component({"harness/new.py": "9" * 64})}, "harness/new.py new"),
        ({"corpus": Component({"text/one": "1" * 64})}, "text/two gone"),
    ],
)
def test_what_is_no_longer_as_it_was_signed_is_named(
    changed: Mapping[str, Component], named: str, tmp_path: Path
) -> None:
    add(tmp_path)

    flip = asked(tmp_path, current=Inventory({**components(), **changed}))

    assert (flip.answer, kinds(flip)) == (Answer.UNKNOWN, [ReasonKind.RECORD_STALE])
    assert named in flip.reasons[0].says


def test_another_machine_is_no_reason_but_another_package_is(tmp_path: Path) -> None:
    add(tmp_path, environment={"python": "CPython 3.11", "google-adk": "2.13.0"})
    machine = Inventory({**components(), "distributions": Component({"click": "9.0"})})

    assert asked(tmp_path, current=machine).answer is Answer.YES
    flip = asked(tmp_path, environment={**MACHINE, "google-adk": "2.14.0"})

    assert kinds(flip) == [ReasonKind.RECORD_STALE]
    assert "google-adk 2.13.0, here 2.14.0" in flip.reasons[0].says


def test_a_record_stands_for_as_long_as_the_gates_say(tmp_path: Path) -> None:
    add(tmp_path)  # signed on 2026-01-01

    assert asked(tmp_path, as_of=date(2026, 1, 31)).answer is Answer.YES
    assert kinds(asked(tmp_path, as_of=date(2026, 2, 1))) == [ReasonKind.RECORD_OLD]


def test_a_record_of_a_future_day_does_not_count_today(tmp_path: Path) -> None:
    add(tmp_path, time="9999-12-31T00:00:00Z", as_of="2026-01-09")

    flip = asked(tmp_path)

    assert (flip.answer, kinds(flip)) == (Answer.UNKNOWN, [ReasonKind.RECORD_OLD])
    assert "9999-12-31, which is after 2026-01-10" in flip.reasons[0].says


def test_a_record_is_as_old_as_the_day_by_which_it_was_judged(tmp_path: Path) -> None:
    add(tmp_path, time="2026-01-09T00:00:00Z", as_of="2025-06-01")

    flip = asked(tmp_path)

    assert (flip.answer, kinds(flip)) == (Answer.UNKNOWN, [ReasonKind.RECORD_OLD])
    assert "judged by 2025-06-01" in flip.reasons[0].says


def test_a_waiver_that_ended_since_takes_the_yes_with_it(tmp_path: Path) -> None:
    add(tmp_path, answer=waived("2026-01-10"))

    assert asked(tmp_path).answer is Answer.YES
    flip = asked(tmp_path, as_of=date(2026, 1, 11))

    assert (flip.answer, kinds(flip)) == (Answer.NO, [ReasonKind.WAIVER_EXPIRED])
    assert flip.reasons[0].about == "W1"
