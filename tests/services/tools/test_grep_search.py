from __future__ import annotations

import pytest

from agent_protocol.events import TextDisplay, ToolDisplay
from services import outside_patterns
from services.tools.js_regex import JsRegexError, compile_js


async def test_one_match_is_shown_with_fifty_lines_around(bench):
    bench.write("a.txt", "".join(f"line {n}\n" for n in range(1, 121)).replace("70", "seventy"))
    result = await bench.run("grep_search", pattern="SEVENTY")
    lines = result.llm_content.splitlines()
    assert lines[0] == 'Found 1 match for pattern "SEVENTY" in the workspace directory:'
    assert lines[1:4] == ["---", "File: a.txt", "L20- line 20"]
    assert "L70: line seventy" in lines
    assert lines[-2:] == ["L120- line 120", "---"]
    assert result.return_display == {
        "summary": "Found 1 match",
        "matches": [
            {
                "filePath": "a.txt",
                "absolutePath": f"{bench.root}/a.txt",
                "lineNumber": 70,
                "line": "line seventy",
            }
        ],
    }
    assert result.display == ToolDisplay(
        name="SearchText",
        description="'SEVENTY'",
        result_summary="Found 1 match",
        result=TextDisplay(text="\n".join(lines[2:])),
    )


async def test_many_matches_come_bare_by_file(bench):
    bench.write("b/x.py", "def a\ndef b\n")
    bench.write("a.py", "def c\r\nno\r\ndef d  \r\n")
    result = await bench.run("grep_search", pattern=r"^def \w$|def d")
    assert result.llm_content == (
        'Found 4 matches for pattern "^def \\w$|def d" in the workspace directory:\n---\n'
        "File: a.py\nL1: def c\nL3: def d\n---\nFile: b/x.py\nL1: def a\nL2: def b\n---"
    )


async def test_two_matches_get_fifteen_lines_each_without_repeating_any(bench):
    bench.write("a.txt", "".join(f"{n}\n" for n in range(1, 101)).replace("50\n51", "x\nx"))
    lines = (await bench.run("grep_search", pattern="x")).llm_content.splitlines()
    assert lines[3:5] == ["L35- 35", "L36- 36"]
    assert lines[18:20] == ["L50: x", "L51: x"]
    assert lines[-2] == "L66- 66"


async def test_a_reached_limit_is_reported(bench):
    bench.write("a.txt", "x\n" * 9)
    bench.write("b.txt", "x\n" * 9)
    result = await bench.run("grep_search", pattern="x", total_max_matches=4)
    assert result.llm_content.startswith(
        'Found 4 matches for pattern "x" in the workspace directory (results limited to 4 matches '
        "for performance):"
    )
    assert result.display.result_summary == "Found 4 matches (limited)"
    each = await bench.run("grep_search", pattern="x", max_matches_per_file=2)
    assert each.llm_content.count("L2: x") == 2
    assert "L3" not in each.llm_content


async def test_names_only(bench):
    bench.write("b.py", "x\n")
    bench.write("a.py", "x\nx\n")
    bench.write("c.txt", "x\n")
    result = await bench.run(
        "grep_search", pattern="x", names_only=True, include_pattern="*.py", dir_path="."
    )
    assert result.llm_content == (
        'Found 2 files with matches for pattern "x" in path "." (filter: "*.py"):\na.py\nb.py'
    )
    assert result.return_display == {"summary": "Found 2 files", "matches": []}


async def test_nothing_found(bench):
    result = await bench.run("grep_search", pattern="zzz", include_pattern="*.md")
    assert result.llm_content == (
        'No matches found for pattern "zzz" in the workspace directory (filter: "*.md").'
    )
    assert result.return_display["summary"] == "No matches found"


async def test_excluded_lines_binary_files_and_ignored_files_are_left_out(bench):
    bench.git()
    bench.write(".gitignore", "ignored.txt\n")
    bench.write("ignored.txt", "hit\n")
    bench.write("node_modules/m.txt", "hit\n")
    bench.write("bin", b"hit\0\n")
    bench.write("a.txt", "hit one\nhit two\n")
    result = await bench.run("grep_search", pattern="hit", exclude_pattern="TWO")
    assert [match["line"] for match in result.return_display["matches"]] == ["hit one"]


async def test_very_long_lines_are_cut(bench):
    bench.write("a.txt", "x" * 2001)
    result = await bench.run("grep_search", pattern="x")
    assert f"L1: {'x' * 2000}... [truncated]\n" in result.llm_content


@pytest.mark.parametrize(
    ("params", "fault"),
    [
        (
            {"pattern": "("},
            (
                "Invalid regular expression pattern provided: (. Error: Invalid regular "
                "expression: /(/: Unterminated group"
            ),
        ),
        (
            {"pattern": "x", "exclude_pattern": "["},
            (
                "Invalid exclude regular expression pattern provided: [. Error: Invalid regular "
                "expression: /[/: Unterminated character class"
            ),
        ),
        ({"pattern": "x", "total_max_matches": 0}, "params/total_max_matches must be >= 1"),
        ({"pattern": "x", "dir_path": "nope"}, "Path does not exist: {root}/nope"),
        ({"pattern": "x", "dir_path": "a.txt"}, "Path is not a directory: {root}/a.txt"),
    ],
)
def test_wrong_arguments(bench, params, fault):
    bench.write("a.txt")
    assert bench.fault("grep_search", **params) == fault.replace("{root}", str(bench.root))


@pytest.mark.parametrize(
    ("params", "description"),
    [
        ({}, "'x'"),
        ({"include_pattern": "*.py", "dir_path": "src"}, "'x' in *.py within src"),
        ({"dir_path": "."}, "'x' within ./"),
    ],
)
def test_descriptions(bench, params, description):
    bench.write("src/a.py")
    assert bench.build("grep_search", pattern="x", **params).description() == description


async def test_an_aborted_search_returns_what_it_had(bench):
    for number in range(120):
        bench.write(f"{number:03}.txt", "x\n")
    bench.controller.abort()
    result = await bench.run("grep_search", pattern="x", total_max_matches=1000)
    assert result.return_display["summary"] == "Found 49 matches"


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"(?<n>a)\d", "a1"),
        ("a{", "a{"),
        ("a{2}", "aa"),
        (r"\/x", "/x"),
        ("[^]", "\n"),
        (r"\u0041\x42", "AB"),
        ("[[]", "["),
        (r"\j", "j"),
        (r"(?<n>o)\k<n>", "oo"),
        (r"\k<n>", "k<n>"),
        (r"\cJ", "\n"),
        (r"\++[*+]", "++*"),
        ("a$", "a"),
    ],
)
def test_javascripts_patterns_match_as_in_javascript(pattern, text):
    assert compile_js(pattern).search(text)


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("*a", "Nothing to repeat"),
        (")", "Unmatched ')'"),
        ("x{2,1}", "numbers out of order in {} quantifier"),
        ("[z-a]", "Range out of order in character class"),
        ("\\", "\\ at end of pattern"),
        ("(?i)a", "Invalid group"),
        ("(?P<n>a)", "Invalid group"),
        ("(?", "Invalid group"),
        ("a*+", "Nothing to repeat"),
        ("a{2}+", "Nothing to repeat"),
    ],
)
def test_invalid_patterns_have_the_messages_of_javascript(pattern, reason):
    with pytest.raises(JsRegexError) as caught:
        compile_js(pattern)
    assert str(caught.value) == f"Invalid regular expression: /{pattern}/: {reason}"


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("more", "pattern"),
    [
        ({"pattern": "^(a+)+$"}, r"^(a+)+\Z"),
        ({"pattern": "a", "exclude_pattern": "^(a|aa)+$"}, r"^(a|aa)+\Z"),
    ],
)
async def test_a_pattern_that_takes_long_is_an_error(bench, monkeypatch, more, pattern):
    monkeypatch.setattr(outside_patterns, "PATTERN_SECONDS", 0.1)
    bench.write("d/a.txt", "x\n" + "a" * 40_000 + "!\n")
    bench.write("d/b.txt", "a\n")
    result = await bench.run("grep_search", **more)
    said = f"The pattern {pattern} took longer than 0.1 s on d/a.txt; simplify it."
    assert result.error is not None
    assert result.error.message == said
    assert result.llm_content == f"Error during grep search operation: {said}"


def test_a_pattern_that_is_too_large_is_refused_with_the_message_of_javascript(bench):
    said = bench.fault("grep_search", pattern="((a{1000}){1000})")
    assert said.endswith(
        "Error: Invalid regular expression: /((a{1000}){1000})/: Regular expression too large"
    )
