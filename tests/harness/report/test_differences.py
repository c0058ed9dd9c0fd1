import json
import re
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from harness.canonical import printable
from harness.parity.waivers import Waiver
from harness.report.differences import BEGIN, END, PageError, generated_part, main, page_with

REPOSITORY = Path(__file__).parents[3]
MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])

texts = st.text(min_size=1, max_size=20) | st.text(alphabet="`|*_~<>[]&;#!-\\$ \n\ta1", min_size=1)


def waiver(**changes: Any) -> Waiver:
    fields = {
        "id": "W1",
        "between": ("upstream", "legacy"),
        "scenario": "text/*",
        "channel": "events",
        "path": "cachedTokens",
        "kind": "changed",
        "control": 12,
        "candidate": "<absent>",
        "impact": "Usage lacks a number.",
        "reason": "It is not counted yet.",
        "owner": "legacy-runtime",
        "expires": date(2026, 12, 31),
        "max_count": 3,
    }
    return Waiver(**{**fields, **changes})


def lines(**changes: Any) -> list[str]:
    return generated_part([waiver(**changes)]).splitlines()


def page(*between: str) -> str:
    return "\n".join(["# Page", "", BEGIN, *between, END, "", "After.", ""])


def test_an_entry_says_what_each_side_does_where_why_who_and_until_when() -> None:
    assert generated_part([waiver()]) == (
        "### events\n"
        "\n"
        "`W1`: Usage lacks a number.\n"
        "\n"
        "- upstream: `12`\n"
        "- legacy: nothing\n"
        "- where: `text/*`, at `cachedTokens` (changed)\n"
        "- why: It is not counted yet.\n"
        "- owner: legacy-runtime, until 2026-12-31\n"
    )


def test_without_waivers_of_upstream_it_says_none() -> None:
    assert generated_part([]) == "None.\n"
    assert generated_part([waiver(between=None)]) == "None.\n"


@pytest.mark.parametrize(
    ("between", "listed"),
    [
        (("upstream", "legacy"), True),
        (("upstream", "*"), True),
        (("legacy", "upstream"), True),
        (("*", "upstream"), True),
        (("upstream", "upstream"), False),
        (("legacy", "adk"), False),
        (("*", "*"), False),
        (None, False),
    ],
)
def test_only_waivers_between_upstream_and_something_else_are_listed(
    between: tuple[str, str] | None, listed: bool
) -> None:
    assert ("W1" in generated_part([waiver(between=between)])) is listed


def test_upstream_comes_first_whichever_side_it_is() -> None:
    assert lines(between=("legacy", "upstream"))[4:6] == ["- upstream: nothing", "- legacy: `12`"]
    assert lines(between=("*", "upstream"))[4:6] == ["- upstream: nothing", "- any runtime: `12`"]


def test_an_item_as_a_whole_and_any_kind_read_well() -> None:
    assert lines(path="", kind=None)[6] == "- where: `text/*`, the item as a whole"


def test_channels_are_in_causal_order_and_entries_by_id_whatever_the_files_order() -> None:
    waivers = [
        waiver(id="b", channel="cost"),
        waiver(id="c", channel="requests"),
        waiver(id="a", channel="cost"),
    ]
    part = generated_part(waivers)

    assert re.findall("^###.*|^`.`", part, re.MULTILINE) == [
        "### requests",
        "`c`",
        "### cost",
        "`a`",
        "`b`",
    ]
    assert part == generated_part(waivers[::-1])


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("<absent>", "nothing"),
        ("", '`""`'),
        ("re", '`"re"`'),
        (None, "`null`"),
        (True, "`true`"),
        ({"b": 1, "a": ["ä|`"]}, '``{"a": ["ä|`"], "b": 1}``'),
        ("two\nlines", r'`"two\nlines"`'),
        ("re:.*", "anything"),
        ("re:", "an empty text"),
        ("re:12", "exactly `12`"),
        ("re:.*usage.*", "what contains `usage`"),
        (r"re:a\.b\[\].*", "what begins with `a.b[]`"),
        ("re:.*end", "what ends with `end`"),
        (r"re:a\.*", r"what matches `a\.*`"),
        (r"re:a\\.*", "what begins with `a\\`"),
        (r"re:\d+", r"what matches `\d+`"),
        ("re:a|b", "what matches `a|b`"),
        ("re:.*.*", "what matches `.*.*`"),
        ("re:a\nb", r"exactly `a\nb`"),
    ],
)
def test_values_and_patterns_are_in_words(value: Any, words: str) -> None:
    assert lines(control=value)[4] == f"- upstream: {words}"


LAST = waiver(channel="cost")
PLAIN = generated_part([waiver(), LAST])


@example("a | b\n--- | ---\n| x |", "``x`", "`")
@example("0", " ", "0")
@example("<!-- hidden", f"{END}\n{BEGIN}", END)
@example("# no heading\n\n- no list\n\n```\n", " x ", " ")
@example("*a* __b__ _c_ a_b ~~d~~ [e](f) ![g](h) <i> &amp; $j$ \\", "x" * 99, "x\x1b[0m")
@given(texts.filter(str.strip), texts, texts)
def test_whatever_a_waiver_says_is_shown_as_it_is(prose: str, code: str, literal: str) -> None:
    odd = waiver(
        id=code, scenario=code, path=code, impact=prose, reason=prose, control={"k": literal}
    )
    part = generated_part([odd, LAST])
    plain, listed = printable(" ".join(prose.split())), printable(code)
    value = printable(json.dumps({"k": literal}, ensure_ascii=False))

    tokens = MARKDOWN.parse(page_with(page(), part))

    assert shape(tokens) == shape(MARKDOWN.parse(page_with(page(), PLAIN)))
    inlines = [token.children or [] for token in tokens if token.type == "inline"]
    impact, control, _, where, reason, _ = (words(children) for children in inlines[2:8])
    assert impact == [listed, f": {plain}".rstrip()]
    assert control == ["upstream: ", value]
    assert where == ["where: ", listed, ", at ", listed, " (changed)"]
    assert reason == [f"why: {plain}".rstrip()]


def shape(tokens: list[Token]) -> list[str]:
    return [token.type for token in tokens]


def words(children: list[Token]) -> list[str]:
    """The texts of an inline element; anything but plain text and code shows by its type."""
    kinds = {"text", "code_inline"}
    return [each.content if each.type in kinds else f"<{each.type}>" for each in children]


def test_only_what_is_between_the_markers_is_replaced() -> None:
    once = page_with(page("old", "older"), "new\n")

    assert once == page("", "new", "")
    assert page_with(once, "new\n") == once


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("# Page", f"the line {BEGIN} occurs 0 times"),
        (f"{BEGIN}\n", f"the line {END} occurs 0 times"),
        (page(BEGIN), f"the line {BEGIN} occurs 2 times"),
        (page(END), f"the line {END} occurs 2 times"),
        (f"{END}\n{BEGIN}\n", f"the line {END} comes before"),
    ],
)
def test_a_page_without_one_place_for_the_part_is_refused(text: str, problem: str) -> None:
    with pytest.raises(PageError) as caught:
        page_with(text, "new\n")

    assert problem in str(caught.value)


def test_a_marker_inside_a_line_does_not_count() -> None:
    part = generated_part([waiver(id=END, control=BEGIN, reason=END)])
    once = page_with(page(), part)

    assert page_with(once, "None.\n") == page("", "None.", "")


def checkout(folder: Path, text: str) -> Path:
    """A folder with a page and with waivers, upstream's among them."""
    example = (REPOSITORY / "parity_tests" / "waivers.toml").read_text().splitlines()
    waivers = [line.removeprefix("#   ") for line in example if line.startswith("#   ")]
    (folder / "docs").mkdir()
    (folder / "docs" / "differences-from-upstream.md").write_text(text)
    (folder / "parity_tests").mkdir()
    toml = "\n".join(["format = 1", *waivers]).replace('["legacy", "adk"]', '["upstream", "adk"]')
    (folder / "parity_tests" / "waivers.toml").write_text(toml)
    return folder / "docs" / "differences-from-upstream.md"


def invoke(root: Path, *arguments: str) -> Result:
    return CliRunner().invoke(main, arguments, obj=root)


def test_a_stale_page_is_reported_and_written_only_without_check(tmp_path: Path) -> None:
    file = checkout(tmp_path, page("old"))

    stale = invoke(tmp_path, "--check")
    assert stale.exit_code == 1
    assert "docs/differences-from-upstream.md is stale" in stale.output
    assert "update it with `nox -s docs`" in stale.output
    assert file.read_text() == page("old")

    assert invoke(tmp_path).exit_code == 0
    assert "`adk-usage-cached`" in file.read_text()
    assert invoke(tmp_path, "--check").exit_code == 0


@pytest.mark.parametrize("arguments", [[], ["--check"]])
def test_what_cannot_be_made_is_one_clear_message(tmp_path: Path, arguments: list[str]) -> None:
    file = checkout(tmp_path, "# Page")
    no_place = invoke(tmp_path, *arguments)
    file.unlink()
    no_page = invoke(tmp_path, *arguments)
    (tmp_path / "parity_tests" / "waivers.toml").write_text("format = 2")
    no_waivers = invoke(tmp_path, *arguments)

    assert [each.exit_code for each in (no_place, no_page, no_waivers)] == [2, 2, 2]
    assert f"{file}: the line {BEGIN} occurs 0 times" in no_place.output
    assert f"{file} cannot be read" in no_page.output
    assert "waivers.toml: format" in no_waivers.output


def test_the_projects_page_says_what_its_waivers_say() -> None:
    result = invoke(REPOSITORY, "--check")

    assert result.exit_code == 0, result.output
