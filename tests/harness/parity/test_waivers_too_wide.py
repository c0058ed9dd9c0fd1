"""A waiver that covers nearly everything is refused, whatever its form."""

from datetime import date
from itertools import product
from pathlib import Path

import pytest

from harness.parity.breadth import PATHS, SCENARIOS, is_wide_glob, is_wide_value
from harness.parity.waivers import WaiverFileError, load_waivers

EVERYTHING = [
    ".*",
    ".+",
    "^.*$",
    r"[\s\S]*",
    "(?s).+",
    "(?s).*",
    r"[\w\W]+",
    r"(\d|\D)*",
    "(.|\\n)*",
    "(a|[^a])*",
    ".*.*",
    ".?.*",
    "(?:.*)*",
    "(.*)(.*)",
    ".{0,}",
    ".{1,12}",
    ".|..|...|.{4,}",
    "(?!zzz).*",
    "(?=.).*",
    r"\A.*\Z",
    r"\S.*",
    "[^q]*",
    r"[^\x00]*",
    "(?i).*",
    "(?:<absent>|.*)",
    "(a*)*.*",
]
DAY = date(2026, 1, 1)
SOMETHING = [r"\d+", "[A-Z].*", ".*tool.*", "[0-9a-f]{64}", ".{64}", "null", "", "true|false"]


def written(folder: Path, **changes: str) -> Path:
    fields = {
        "id": '"W1"',
        "scenario": '"*"',
        "channel": '"events"',
        "path": '"*"',
        "control": "'re:.*'",
        "candidate": "'re:.*'",
        "impact": '"none"',
        "reason": '"because"',
        "owner": '"adk-runtime"',
        "expires": "2026-12-31",
        "max_count": "2",
        **changes,
    }
    file = folder / "waivers.toml"
    lines = [f"{key} = {value}" for key, value in fields.items()]
    file.write_text("\n".join(["format = 1", "[[waiver]]", *lines]))
    return file


def refusal(folder: Path, **changes: str) -> str | None:
    try:
        load_waivers(written(folder, **changes), as_of=date(2026, 6, 1))
    except WaiverFileError as error:
        return error.problem
    return None


@pytest.mark.parametrize("pattern", EVERYTHING)
def test_a_pattern_is_judged_by_what_it_takes(tmp_path: Path, pattern: str) -> None:
    problem = refusal(tmp_path, control=f"'re:{pattern}'", candidate=f"'re:{pattern}'")

    assert problem is not None
    assert "it would cover every difference of its channel" in problem


@pytest.mark.parametrize("pattern", SOMETHING)
def test_a_waiver_that_covers_little_is_accepted(tmp_path: Path, pattern: str) -> None:
    assert not is_wide_value(f"re:{pattern}")
    assert refusal(tmp_path, control=f"'re:{pattern}'") is None


@pytest.mark.parametrize("path", ["*", "**", "*.*", "*e*", "*t*"])
@pytest.mark.parametrize("scenario", ["*", "text/*", "text/hello"])
def test_neither_stars_in_the_path_nor_one_scenario_make_it_narrow(
    tmp_path: Path, path: str, scenario: str
) -> None:
    assert refusal(tmp_path, path=f'"{path}"', scenario=f'"{scenario}"') is not None


@pytest.mark.parametrize("path", ["inputTokens", "content[*].text", "line.*"])
def test_any_two_values_at_one_place_can_be_accepted(tmp_path: Path, path: str) -> None:
    assert refusal(tmp_path, path=f'"{path}"') is None


@pytest.mark.parametrize("absent", ["'<absent>'", "'re:<absent>'", "'re:(<absent>)?'", "'re:<.*'"])
@pytest.mark.parametrize("path", ["", "*"])
@pytest.mark.parametrize("sides", [("control", "candidate"), ("candidate", "control")])
def test_a_waiver_for_everything_that_one_side_has_is_too_wide(
    tmp_path: Path, absent: str, path: str, sides: tuple[str, str]
) -> None:
    one, other = sides
    changes = {one: absent, other: "'re:.*'", "path": f'"{path}"'}

    problem = refusal(tmp_path, **changes)

    assert problem is not None
    assert "only one side has" in problem
    assert refusal(tmp_path, **{**changes, "scenario": '"text/hello"'}) is None


@pytest.mark.parametrize("pattern", ["(a+)+b", "(.*)*b", ".*" * 40 + "b"])
def test_a_costly_pattern_neither_hangs_the_loader_nor_is_wide(
    tmp_path: Path, pattern: str
) -> None:
    assert refusal(tmp_path, control=f"'re:{pattern}'") is None


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("reason", '"<to be written: why>"', "must be completed by you"),
        ("impact", '" <to be written"', "must be completed by you"),
        ("owner", '"<to be written: a role>"', "must be completed by you"),
        ("reason", '"  "', "is empty"),
        ("path", f'"{"*a" * 1500}"', "longer than"),
    ],
)
def test_unwritten_fields_are_refused(tmp_path: Path, key: str, value: str, words: str) -> None:
    problem = refusal(tmp_path, control="1", **{key: value})

    assert problem is not None
    assert words in problem


def test_names_and_paths_are_wide_when_they_fit_most() -> None:
    assert not is_wide_glob("", PATHS)
    assert not is_wide_glob("config.*", PATHS)
    assert not is_wide_glob("text/*", SCENARIOS)
    assert is_wide_glob("*/*", SCENARIOS)


@pytest.mark.parametrize(
    ("as_of", "days", "warning"),
    [
        (date(2026, 12, 16), 15, None),
        (date(2026, 12, 17), 14, "waiver W1 expires in 14 days, on 2026-12-31"),
        (date(2026, 12, 30), 1, "waiver W1 expires tomorrow, on 2026-12-31"),
        (date(2026, 12, 31), 0, "waiver W1 expires today, on 2026-12-31"),
        (date(2027, 1, 1), -1, None),
    ],
)
def test_reports_warn_about_a_waiver_two_weeks_before_it_expires(
    tmp_path: Path, as_of: date, days: int, warning: str | None
) -> None:
    from harness.parity.waivers import settle

    waivers = load_waivers(written(tmp_path, path='"reason"'), as_of=as_of)

    _, (status,) = settle([], waivers)

    assert (status.days_left, status.expires) == (days, date(2026, 12, 31))
    assert (status.warning, status.expiring) == (warning, warning is not None)


def in_four(folder: Path, **changes: str) -> Path:
    """Four waivers that together cover a channel."""
    values = {"scenario": "*", "between": '["legacy", "adk"]'} | changes
    blocks = [
        f"""[[waiver]]
id = "w-{number}"
between = {values["between"]}
scenario = "{values["scenario"]}"
channel = "events"
path = "*"
control = 're:{control}'
candidate = 're:{candidate}'
impact = "i"
reason = "r"
owner = "adk-runtime"
expires = 2099-12-31
max_count = 9
"""
        for number, (control, candidate) in enumerate(
            product((r"[A-Za-zÜ].*", r"[^A-Za-zÜ].*"), repeat=2)
        )
    ]
    file = folder / "waivers.toml"
    file.write_text("format = 1\n" + "".join(blocks), "utf-8")
    return file


def test_waivers_that_cover_a_channel_together_are_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(WaiverFileError, match="w-0, w-1, w-2, w-3: together they would cover"):
        load_waivers(in_four(tmp_path), as_of=DAY)


def test_waivers_of_a_few_cassettes_may_cover_a_channel_together(tmp_path: Path) -> None:
    assert len(load_waivers(in_four(tmp_path, scenario="text/*"), as_of=DAY).entries) == 4


def test_waivers_of_other_comparisons_do_not_add_up(tmp_path: Path) -> None:
    text = in_four(tmp_path).read_text("utf-8")
    file = tmp_path / "other.toml"
    file.write_text(text.replace('"adk"]', '"upstream"]', 2), "utf-8")

    assert len(load_waivers(file, as_of=DAY).entries) == 4


@pytest.mark.parametrize("text", ["x = " + "[" * 5000, "format = " + "9" * 5000])
def test_invalid_toml_gives_one_clear_message(text: str, tmp_path: Path) -> None:
    file = tmp_path / "waivers.toml"
    file.write_text(text)

    with pytest.raises(WaiverFileError, match="not TOML"):
        load_waivers(file, as_of=DAY)
