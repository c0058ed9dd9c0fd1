from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from harness.experiment.case import BaselineTask, CaseTask, baseline, judge
from harness.parity.compare import compare
from harness.parity.divergence import ABSENT, ChannelName, Divergence, Kind
from harness.parity.verdict import CaseResult, CaseVerdict
from harness.parity.waivers import WaiverFileError, Waivers, load_waivers, settle
from runtimes.registry import known_runtimes
from tests.harness.samples import BACKEND, Facts, observation, write_corpus

TODAY = date(2026, 6, 1)
FIELDS = {
    "id": '"W1"',
    "scenario": '"text/*"',
    "channel": '"events"',
    "path": '"inputTokens"',
    "control": "10",
    "candidate": '"<absent>"',
    "impact": '"none"',
    "reason": '"because"',
    "owner": '"adk-runtime"',
    "expires": "2026-12-31",
    "max_count": "2",
}


def toml(**changes: str | None) -> str:
    fields = {**FIELDS, **changes}
    lines = [f"{key} = {value}" for key, value in fields.items() if value is not None]
    return "\n".join(["[[waiver]]", *lines])


def written(folder: Path, *waivers: str, head: str = "format = 1") -> Path:
    file = folder / "waivers.toml"
    file.write_text("\n".join([head, *waivers]))
    return file


def loaded(folder: Path, *waivers: str, as_of: date = TODAY) -> Waivers:
    return load_waivers(written(folder, *waivers), as_of=as_of)


def divergence(**changes: Any) -> Divergence:
    found = Divergence(
        cassette="text/hello",
        channel=ChannelName.EVENTS,
        kind=Kind.CHANGED,
        label="usage",
        control_index=4,
        candidate_index=4,
        path="inputTokens",
        control=10,
        candidate=ABSENT,
    )
    return replace(found, **changes)


def case(
    *found: Divergence,
    name: str = "text/hello",
    runtimes: tuple[str, str] = ("legacy", "adk"),
) -> CaseResult:
    return CaseResult(cassette=name, divergences=found, runtimes=runtimes)


def test_a_fitting_waiver_makes_a_divergent_case_parity(tmp_path: Path) -> None:
    waivers = loaded(tmp_path, toml())

    (settled,), (status,) = settle([case(divergence())], waivers)

    assert case(divergence()).verdict is CaseVerdict.DIVERGENT
    assert settled.verdict is CaseVerdict.PARITY
    assert settled.waived == {0: "W1"}
    assert (status.id, status.state, status.count) == ("W1", "used", 1)


@pytest.mark.parametrize(
    "changes",
    [
        {"cassette": "tools/hello"},
        {"channel": ChannelName.RECORDING},
        {"path": "outputTokens"},
        {"path": "x.inputTokens"},
        {"control": 11},
        {"control": "10"},
        {"control": True},
        {"candidate": None},
        {"kind": Kind.NONDETERMINISTIC},
    ],
)
def test_a_waiver_covers_only_what_fits_in_every_respect(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    (settled,), (status,) = settle([case(divergence(**changes))], loaded(tmp_path, toml()))

    assert settled.verdict is CaseVerdict.DIVERGENT
    assert status.state == "unused"


def test_one_waived_divergence_does_not_hide_another(tmp_path: Path) -> None:
    found = case(divergence(), divergence(path="outputTokens"))
    (settled,), _ = settle([found], loaded(tmp_path, toml()))

    assert settled.verdict is CaseVerdict.DIVERGENT
    assert [each.path for each in settled.open] == ["outputTokens"]


def test_it_holds_on_its_last_day_and_not_on_the_next(tmp_path: Path) -> None:
    on_time = settle([case(divergence())], loaded(tmp_path, toml(), as_of=date(2026, 12, 31)))
    late = settle([case(divergence())], loaded(tmp_path, toml(), as_of=date(2027, 1, 1)))

    assert on_time[0][0].verdict is CaseVerdict.PARITY
    assert late[0][0].verdict is CaseVerdict.DIVERGENT
    assert late[1][0].state == "expired"


def test_one_that_fits_more_than_its_count_covers_nothing(tmp_path: Path) -> None:
    cases = [case(divergence(cassette=f"text/{n}"), name=f"text/{n}") for n in range(3)]

    within, _ = settle(cases[:2], loaded(tmp_path, toml()))
    beyond, (status,) = settle(cases, loaded(tmp_path, toml()))

    assert {each.verdict for each in within} == {CaseVerdict.PARITY}
    assert {each.verdict for each in beyond} == {CaseVerdict.DIVERGENT}
    assert (status.state, status.count, status.max_count) == ("exceeded", 3, 2)


def test_what_an_exceeded_waiver_held_goes_to_the_next_that_fits(tmp_path: Path) -> None:
    waivers = loaded(tmp_path, toml(max_count="1"), toml(id='"W2"', max_count="9"))
    cases = [case(divergence(cassette=f"text/{n}"), name=f"text/{n}") for n in range(2)]

    settled, states = settle(cases, waivers)

    assert [each.waived for each in settled] == [{0: "W2"}, {0: "W2"}]
    assert [(status.id, status.state) for status in states] == [("W1", "exceeded"), ("W2", "used")]


def test_patterns_fit_the_whole_text_of_a_value(tmp_path: Path) -> None:
    waiver = toml(control=r"'re:1\d'", candidate="'re:.*'")
    settled, _ = settle([case(divergence())], loaded(tmp_path, waiver))
    other, _ = settle([case(divergence(control=110))], loaded(tmp_path, waiver))

    assert settled[0].verdict is CaseVerdict.PARITY
    assert other[0].verdict is CaseVerdict.DIVERGENT


def test_a_star_in_a_path_stands_for_an_index(tmp_path: Path) -> None:
    waiver = toml(path='"content[*].text"')
    settled, _ = settle([case(divergence(path="content[12].text"))], loaded(tmp_path, waiver))
    other, _ = settle([case(divergence(path="content[12].data"))], loaded(tmp_path, waiver))

    assert settled[0].verdict is CaseVerdict.PARITY
    assert other[0].verdict is CaseVerdict.DIVERGENT


LEG = '["upstream", "legacy"]'


@pytest.mark.parametrize(
    ("between", "runtimes", "covered"),
    [
        (None, ("legacy", "adk"), True),
        (None, ("upstream", "legacy"), True),
        (LEG, ("upstream", "legacy"), True),
        (LEG, ("upstream@0.60.0", "legacy"), True),
        (LEG, ("legacy", "upstream"), False),
        (LEG, ("upstream", "adk"), False),
        (LEG, ("upstreamer", "legacy"), False),
        (LEG, ("legacy", "adk"), False),
        (LEG, ("", ""), False),
        ('["upstream", "*"]', ("upstream", "adk"), True),
        ('["upstream", "*"]', ("upstream", "upstream@0.60.0"), True),
        ('["upstream", "*"]', ("legacy", "adk"), False),
        ('["*", "legacy"]', ("adk", "legacy"), True),
        ('["*", "*"]', ("legacy", "adk"), True),
    ],
)
def test_a_waiver_covers_and_has_a_status_only_between_its_runtimes(
    tmp_path: Path, between: str | None, runtimes: tuple[str, str], covered: bool
) -> None:
    (settled,), states = settle(
        [case(divergence(), runtimes=runtimes)], loaded(tmp_path, toml(between=between))
    )

    assert (settled.verdict is CaseVerdict.PARITY) is covered
    assert [status.state for status in states] == (["used"] if covered else [])


@pytest.mark.parametrize(
    ("as_of", "found", "state"),
    [
        (TODAY, 0, "unused"),
        (TODAY, 3, "exceeded"),
        (date(2027, 1, 1), 1, "expired"),
    ],
)
def test_only_a_run_between_its_runtimes_finds_fault_with_a_waiver(
    tmp_path: Path, as_of: date, found: int, state: str
) -> None:
    waivers = loaded(tmp_path, toml(between=LEG), as_of=as_of)
    divergences = [divergence()] * found

    _, (status,) = settle([case(*divergences, runtimes=("upstream", "legacy"))], waivers)
    _, elsewhere = settle([case(*divergences, runtimes=("legacy", "adk"))], waivers)

    assert (status.state, status.count) == (state, found)
    assert elsewhere == []


def test_cases_of_other_runtimes_do_not_count_towards_a_waivers_most(tmp_path: Path) -> None:
    waivers = loaded(tmp_path, toml(between=LEG, max_count="1"))
    cases = [
        case(divergence(), runtimes=("upstream", "legacy")),
        case(divergence(), runtimes=("legacy", "adk")),
    ]

    settled, (status,) = settle(cases, waivers)

    assert [each.verdict for each in settled] == [CaseVerdict.PARITY, CaseVerdict.DIVERGENT]
    assert (status.state, status.count) == ("used", 1)


def test_a_waiver_without_runtimes_has_a_status_in_a_run_of_nothing(tmp_path: Path) -> None:
    _, (status,) = settle([], loaded(tmp_path, toml(), toml(id='"W2"', between=LEG)))

    assert (status.id, status.state) == ("W1", "unused")


def test_the_runtimes_compared_are_those_that_were_observed(tmp_path: Path) -> None:
    waivers = loaded(tmp_path, toml(scenario='"tools/*"', between=LEG, path='"reason"', **ENDINGS))
    ended = observation("legacy")
    other = replace(ended, events=[*ended.events[:-1], {**ended.events[-1], "reason": "failed"}])

    on_leg = compare(observation("upstream@0.60.0"), other, Facts(), waivers)
    off_leg = compare(observation("adk"), other, Facts(), waivers)

    assert on_leg.runtimes == ("upstream@0.60.0", "legacy")
    assert (on_leg.verdict, off_leg.verdict) == (CaseVerdict.PARITY, CaseVerdict.DIVERGENT)


ENDINGS = {"control": '"completed"', "candidate": '"failed"'}


def test_a_baseline_counts_as_the_runtime_that_it_was_made_of(tmp_path: Path) -> None:
    root = write_corpus(tmp_path / "in", a__1="plain")
    what: dict[str, Any] = {
        "backend": BACKEND,
        "name": "a/1",
        "file": root / "a" / "1.yaml",
        "root": root,
    }
    kept = baseline(BaselineTask(**what, runtime="legacy", out=tmp_path / "kept"))
    assert getattr(kept, "doubt", "not made") is None

    result = judge(CaseTask(**what, control=f"baseline:{tmp_path / 'kept'}", candidate="adk"))

    assert isinstance(result, CaseResult)
    assert result.runtimes == ("legacy", "adk")


def test_a_channel_with_more_than_is_listed_stays_divergent(tmp_path: Path) -> None:
    found = replace(case(divergence()), cut=(ChannelName.EVENTS,))

    assert settle([found], loaded(tmp_path, toml()))[0][0].verdict is CaseVerdict.DIVERGENT


@pytest.mark.parametrize(
    ("changes", "key", "problem"),
    [
        ({"wildcard": '"x"'}, "waiver[0].wildcard", "unknown key"),
        ({"reason": None}, "waiver[0].reason", "this key is required"),
        ({"control": None}, "waiver[0].control", "this key is required"),
        ({"expires": None}, "waiver[0].expires", "this key is required"),
        ({"owner": None}, "waiver[0].owner", "this key is required"),
        ({"max_count": None}, "waiver[0].max_count", "this key is required"),
        ({"max_count": "0"}, "waiver[0].max_count", "greater"),
        ({"max_count": '"3"'}, "waiver[0].max_count", "must be a whole number"),
        ({"max_count": "true"}, "waiver[0].max_count", "must be a whole number"),
        ({"expires": '"never"'}, "waiver[0].expires", "date"),
        ({"channel": '"*"'}, "waiver[0].channel", "no such channel"),
        ({"between": '"upstream"'}, "waiver[0].between", "must be two names"),
        ({"between": '["upstream"]'}, "waiver[0].between", "must be two names"),
        ({"between": '["a", "b", "c"]'}, "waiver[0].between", "must be two names"),
        ({"between": '["upstream", 1]'}, "waiver[0].between", "must be two names"),
        ({"between": "{upstream = 1, adk = 2}"}, "waiver[0].between", "must be two names"),
        ({"between": '["upstream@0.60.0", "adk"]'}, "waiver[0].between", "base name"),
        ({"between": '["adk", "baseline:x"]'}, "waiver[0].between", "base name"),
        ({"between": '["adk", ""]'}, "waiver[0].between", "base name"),
        ({"between": '["up*", "adk"]'}, "waiver[0].between", "base name"),
        ({"control": "2026-01-01"}, "waiver[0].control", "write it as text"),
        ({"kind": '"nondeterministic"'}, "waiver[0].kind", "use one of"),
        ({"owner": '"Ada Lovelace"'}, "waiver[0].owner", "pattern"),
        ({"reason": '""'}, "waiver[0].reason", "at least 1"),
        ({"control": '"re:("'}, "waiver[0].control", "not a regular expression"),
        (
            {"path": '"*"', "control": '"re:.*"', "candidate": '"re:.*"'},
            "waiver[0]",
            "cover every difference",
        ),
        (
            {"path": '"**"', "control": "'re:(?s).*'", "candidate": "'re:[^z]*.*'"},
            "waiver[0]",
            "cover every difference",
        ),
    ],
)
def test_a_waiver_that_says_too_little_is_refused(
    tmp_path: Path, changes: dict[str, str | None], key: str, problem: str
) -> None:
    with pytest.raises(WaiverFileError) as caught:
        loaded(tmp_path, toml(**changes))

    assert caught.value.key == key
    assert problem in str(caught.value)
    assert str(tmp_path / "waivers.toml") in str(caught.value)
    assert caught.value.exit_code == 2


def test_a_repeated_id_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WaiverFileError, match="occurs twice"):
        loaded(tmp_path, toml(), toml())


@pytest.mark.parametrize("head", ["format = 2", "", "format = 1\nextra = 1", "format = ["])
def test_another_format_is_refused(tmp_path: Path, head: str) -> None:
    with pytest.raises(WaiverFileError):
        load_waivers(written(tmp_path, toml(), head=head), as_of=TODAY)


def test_a_missing_file_is_refused_and_no_file_gives_no_waivers(tmp_path: Path) -> None:
    with pytest.raises(WaiverFileError, match="cannot be read"):
        load_waivers(tmp_path / "none.toml", as_of=TODAY)

    assert load_waivers(None, as_of=TODAY).entries == ()


def test_the_projects_own_file_is_sound() -> None:
    file = Path(__file__).parents[3] / "parity_tests" / "waivers.toml"

    assert load_waivers(file, as_of=TODAY).digest


def test_the_projects_own_waivers_are_between_runtimes_that_exist() -> None:
    """A wrong name would make a waiver that no run ever reports as unused."""
    file = Path(__file__).parents[3] / "parity_tests" / "waivers.toml"
    legs = [waiver.between or () for waiver in load_waivers(file, as_of=TODAY).entries]

    assert {name for leg in legs for name in leg} <= {*known_runtimes(), "*"}


def test_the_files_example_is_a_waiver(tmp_path: Path) -> None:
    text = (Path(__file__).parents[3] / "parity_tests" / "waivers.toml").read_text()
    example = [line.removeprefix("#   ") for line in text.splitlines() if line.startswith("#   ")]

    (waiver,) = loaded(tmp_path, *example).entries

    assert (waiver.id, waiver.between) == ("adk-usage-cached", ("legacy", "adk"))
