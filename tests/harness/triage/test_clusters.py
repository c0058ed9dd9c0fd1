from dataclasses import replace

from harness.parity.divergence import ChannelName, Divergence, Kind
from harness.parity.verdict import CaseResult
from harness.triage.clusters import clusters


def case(name: str, label: str, count: int = 1) -> CaseResult:
    found = Divergence(cassette=name, channel=ChannelName.EVENTS, kind=Kind.CHANGED, label=label)
    more = [replace(found, control_index=number) for number in range(1, count)]
    return CaseResult(cassette=name, divergences=(found, *more))


def test_cases_that_fail_alike_are_one_cluster_with_the_smallest_to_look_at() -> None:
    found = clusters([case("a/1", "usage", 3), case("a/2", "usage"), case("b/1", "error", 2)])

    assert [(each.representative, each.cases) for each in found] == [
        ("a/2", ("a/1", "a/2")),
        ("b/1", ("b/1",)),
    ]


def test_the_size_of_the_cassette_decides_where_it_is_known() -> None:
    sizes = {"a/1": 10, "a/2": 500}
    found = clusters([case("a/1", "usage", 3), case("a/2", "usage")], lambda c: sizes[c.cassette])

    assert found[0].representative == "a/1"


def test_cases_that_are_parity_or_undecided_are_in_no_cluster() -> None:
    cases = [CaseResult(cassette="a/1"), CaseResult.undecided("a/2", "x")]

    assert clusters(cases) == ()


def test_a_case_whose_differences_are_not_described_has_a_cluster_by_its_channel() -> None:
    cut = CaseResult(cassette="a/1", cut=(ChannelName.EVENTS,))

    assert clusters([cut])[0].place == "events"
