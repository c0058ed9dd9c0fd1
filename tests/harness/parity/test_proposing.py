import tomllib
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from harness.canonical import canonical
from harness.parity.diff import bounded_pair
from harness.parity.divergence import ABSENT, ChannelName, Divergence, Kind
from harness.parity.proposing import NotWaivable, Said, proposed
from harness.parity.verdict import CaseResult
from harness.parity.waivers import WaiverFileError, load_waivers, settle

DAY = date(2026, 6, 1)
SAID = Said(owner="adk-runtime", impact="none", reason="because")


def divergence(**changes: Any) -> Divergence:
    found = Divergence(
        cassette="text/hello",
        channel=ChannelName.EVENTS,
        kind=Kind.CHANGED,
        label="usage",
        control_index=4,
        path="inputTokens",
        control=10,
        candidate=ABSENT,
    )
    return replace(found, **changes)


def case(*found: Divergence, runtimes: tuple[str, str] = ("legacy", "adk")) -> CaseResult:
    return CaseResult(cassette="text/hello", divergences=found, runtimes=runtimes)


def settled(folder: Path, entry: str, result: CaseResult) -> CaseResult:
    file = folder / "waivers.toml"
    file.write_text(f"format = 1\n\n{entry}")
    return settle([result], load_waivers(file, as_of=DAY))[0][0]


LONG = "x" * 3000
CUT = bounded_pair("a" + LONG, "b" + LONG)


@pytest.mark.parametrize(
    ("control", "candidate"),
    [
        (10, ABSENT),
        (1.5, 1e22),
        (True, False),
        (None, 1),
        ("re:.*", "re:x"),
        ('quote " and \\ and \n and \x7f and \x00', "Ünlikely 語 😀"),
        ("half \ud83d", "whole"),
        ({"a": [1, {"b c": "x"}], "d": {}}, [True, "y", []]),
        ({"a": None}, [None]),
        ({"a": "\ud83d"}, "x"),
        CUT,
        (10**30, -3),
        ("", "<absent>!"),
    ],
)
def test_a_proposed_entry_covers_its_divergence(
    tmp_path: Path, control: Any, candidate: Any
) -> None:
    found = divergence(control=control, candidate=candidate)
    other = replace(found, control="another", candidate="thing")
    entry = proposed(case(found), found, as_of=DAY, said=SAID)

    assert settled(tmp_path, entry, case(found)).waived == {
        0: tomllib.loads(entry)["waiver"][0]["id"]
    }
    assert settled(tmp_path, entry, case(other)).waived == {}


def test_values_are_literal_where_they_can_be() -> None:
    found = divergence(control={"a": [1]}, candidate="plain")
    (entry,) = tomllib.loads(proposed(case(found), found, as_of=DAY))["waiver"]

    assert entry["control"] == {"a": [1]}
    assert entry["candidate"] == "plain"
    assert entry["scenario"] == "text/hello"
    assert entry["path"] == "inputTokens"
    assert entry["between"] == ["legacy", "adk"]
    assert entry["expires"] == date(2026, 8, 30)
    assert entry["max_count"] == 1


def test_a_cut_value_is_pinned_by_its_digest(tmp_path: Path) -> None:
    found = divergence(control=CUT[0], candidate=CUT[1])
    changed = divergence(control=CUT[0], candidate=bounded_pair("a" + LONG, "b" + LONG + "y")[1])
    entry = proposed(case(found), found, as_of=DAY, said=SAID)

    assert len(entry) < 1000
    assert settled(tmp_path, entry, case(found)).waived
    assert not settled(tmp_path, entry, case(changed)).waived


def test_placeholders_in_a_proposed_waiver_are_refused(tmp_path: Path) -> None:
    found = divergence()
    entry = proposed(case(found), found, as_of=DAY)

    with pytest.raises(WaiverFileError, match="must be completed"):
        settled(tmp_path, entry, case(found))
    assert Said(owner="x").unsaid == ("impact", "reason")


def test_a_proposed_entry_has_the_given_expiry_and_a_free_id() -> None:
    found = divergence()
    first = tomllib.loads(proposed(case(found), found, as_of=DAY, days=3))["waiver"][0]
    second = proposed(case(found), found, as_of=DAY, taken=[first["id"]])

    assert first["expires"] == date(2026, 6, 4)
    assert tomllib.loads(second)["waiver"][0]["id"] == f"{first['id']}-2"


def test_a_proposed_waiver_counts_equal_divergences_of_its_case() -> None:
    found = divergence()
    result = case(found, replace(found, control_index=9), replace(found, control=11))

    assert tomllib.loads(proposed(result, found, as_of=DAY))["waiver"][0]["max_count"] == 2


@pytest.mark.parametrize(
    ("runtimes", "between"),
    [
        (("upstream@0.60.0", "legacy"), ["upstream", "legacy"]),
        (("adk+legacy", "legacy+legacy"), ["*", "*"]),
        (("", ""), ["*", "*"]),
    ],
)
def test_it_is_between_the_runtimes_by_their_base_names(
    runtimes: tuple[str, str], between: list[str]
) -> None:
    found = divergence()
    entry = proposed(case(found, runtimes=runtimes), found, as_of=DAY)

    assert tomllib.loads(entry)["waiver"][0]["between"] == between


@pytest.mark.parametrize(
    ("changes", "said", "words"),
    [
        ({"kind": Kind.NONDETERMINISTIC}, SAID, "never waived"),
        ({"control": "AIza" + "Sy1234567890abcdefghijklmnopqrstuvw"}, SAID, "secret"),
        ({}, Said(owner="Ada Lovelace"), "owner"),
        ({}, Said(reason="  "), "reason: is empty"),
    ],
)
def test_no_waiver_is_proposed_for_what_cannot_be_waived(
    changes: dict[str, Any], said: Said, words: str
) -> None:
    found = divergence(**changes)

    with pytest.raises(NotWaivable, match=words):
        proposed(case(found), found, as_of=DAY, said=said)


def test_the_values_come_back_as_they_went_in() -> None:
    found = divergence(control={"key with \n": ["\t", 0.1, {"": "\\"}]}, candidate=[])
    (entry,) = tomllib.loads(proposed(case(found), found, as_of=DAY))["waiver"]

    assert canonical(entry["control"]) == canonical(found.control)
    assert canonical(entry["candidate"]) == canonical(found.candidate)
