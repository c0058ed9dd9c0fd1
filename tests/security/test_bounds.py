"""Text from a model, a server, a cassette or a file neither stops a run nor fills its memory.

Without a bound these tests hang or are killed: the time limit is their guard.
"""

from __future__ import annotations

import itertools
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from services import outside_patterns
from services.edit_distance import nearest_names
from services.hooks.planning import Subject, make_plan
from services.model.stream import visible_text
from services.outside_patterns import PatternLimit
from services.patches import line_changes
from services.policy.patterns import _has_nested_quantifier, compile_pattern, is_safe_pattern
from services.policy.rules import Decision, PolicyCall, PolicyRule, rule_matches
from services.settings.hooks import CommandHook, HookDefinition
from services.state import ApprovalMode
from services.threads import ThreadPaths
from services.tools.edit_strategies import replace_text
from services.tools.globbing import (
    MOST_ALTERNATIVES,
    GlobBudget,
    GlobTooLarge,
    expand_braces,
    find_files,
    path_pattern,
)
from services.tools.grep_report import Match, report
from services.tools.ignore import FileDiscovery
from services.tools.memory_imports import MOST_IMPORTED_BYTES, MOST_IMPORTS, with_imports
from services.tools.schema import ParameterSchema

pytestmark = pytest.mark.timeout(60)

LONG = "a" * 40_000 + "!"
PATTERN = "^(a+)+$"


@pytest.fixture(autouse=True)
def _little_time(monkeypatch):
    monkeypatch.setattr(outside_patterns, "PATTERN_SECONDS", 0.1)


def call(**args: Any) -> PolicyCall:
    text = f'{{"x":"{args["x"]}"}}'
    return PolicyCall(
        names=["t"], args=args, canonical=text, mode=ApprovalMode.DEFAULT, interactive=False
    )


@pytest.mark.parametrize(
    ("decision", "matches"),
    [(Decision.ALLOW, False), (Decision.ASK_USER, True), (Decision.DENY, True)],
)
def test_a_rule_that_cannot_be_judged_in_time_does_not_allow(decision, matches):
    pattern = compile_pattern('"(a+)+"')
    rule = PolicyRule(tool_name="t", decision=decision, args_pattern=pattern)
    assert rule_matches(rule, call(x=LONG)) is matches


@pytest.mark.parametrize(
    ("pattern", "safe"),
    [(r"\(*" * 680, True), (r"\(*" * 680 + "(a+)+", False), ("(a+)+", False), ("a" * 2049, False)],
    ids=lambda value: str(value)[:9],
)
def test_the_check_of_a_pattern_ends(pattern, safe):
    assert is_safe_pattern(pattern) is safe


def test_the_check_finds_what_the_expression_of_the_core_finds():
    expression = re.compile("\\([^)]*[*+?{][^\n\r]*\\)[*+?{]")
    for letters in itertools.product("(a)*\n", repeat=7):
        text = "".join(letters)
        found = _has_nested_quantifier(text)
        assert found is (expression.search(text) is not None), text


@pytest.mark.parametrize("matcher", ["(a+)+$", "(a|aa)+$", "[" + r"\a" * 60])
def test_a_hook_whose_matcher_takes_long_runs(matcher):
    definition = HookDefinition(
        event="BeforeTool", hooks=(CommandHook(command="true"),), matcher=matcher
    )
    plan = make_plan([definition] * 20, frozenset(), Subject(tool=LONG))
    assert bool(plan.hooks) is not matcher.startswith("[")


FOREIGN = {"type": "string", "pattern": PATTERN}
DRAFT = "http://json-schema.org/draft-07/schema#"


@pytest.mark.parametrize(
    ("schema", "arguments"),
    [
        ({"properties": {"x": FOREIGN}}, {"x": LONG}),
        ({"patternProperties": {PATTERN: {}}}, {LONG: 1}),
        ({"patternProperties": {PATTERN: {}}, "additionalProperties": False}, {LONG: 1}),
        ({"propertyNames": FOREIGN}, {LONG: 1}),
        ({"properties": {"x": {"$schema": DRAFT, **FOREIGN}}}, {"x": LONG}),
        (
            {"$schema": DRAFT, "properties": {"x": {"$ref": "#"}, "y": FOREIGN}},
            {"x": {"y": LONG}},
        ),
        (
            {
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "$ref": "#/enum/0",
                "enum": [{"$schema": DRAFT, "properties": {"x": FOREIGN}}],
            },
            {"x": LONG},
        ),
    ],
)
def test_a_pattern_of_a_schema_ends_in_time(schema, arguments):
    fault = ParameterSchema(schema).fault(arguments)
    assert fault is not None
    assert fault.startswith(r"params cannot be checked: The pattern ^(a+)+\Z took longer than 0.1")


def references(count: int, keyword: str) -> dict[str, Any]:
    """A schema of `count` definitions: each means the next one twice."""
    definitions: dict[str, Any] = {
        f"d{n}": {keyword: [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(count)
    }
    definitions[f"d{count}"] = {"type": "string"}
    return {"$defs": definitions, "properties": {"x": {"$ref": "#/$defs/d0"}}}


@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf"])
@pytest.mark.sampled(3)
def test_references_that_double_end(keyword):
    schema = references(60, keyword)
    value = "x" if keyword == "allOf" else 1
    fault = ParameterSchema(schema).fault({"x": value})
    assert fault is not None
    assert "takes more than 100000 steps" in fault


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"},
    ],
)
def test_references_in_a_circle_end(schema):
    fault = ParameterSchema(schema).fault({})
    assert fault == "params cannot be checked: schema or arguments are nested too deeply"


def test_a_deep_schema_is_refused():
    schema: dict[str, Any] = {}
    for _ in range(5000):
        schema = {"properties": {"x": schema}}
    with pytest.raises(ValueError, match="nested too deeply"):
        ParameterSchema(schema)


def test_a_large_choice_ends():
    schema = {"properties": {"x": {"items": {"enum": list(range(50_000))}}}}
    fault = ParameterSchema(schema).fault({"x": ["x", *range(50_000)] * 10})
    assert fault is not None


def test_unique_items_are_found_out_quickly():
    schema = {"properties": {"x": {"uniqueItems": True}}}
    items = [{"n": n} for n in range(50_000)]
    assert ParameterSchema(schema).fault({"x": items}) is None
    assert ParameterSchema(schema).fault({"x": [1, True, 0, False, "1"]}) is None
    fault = ParameterSchema(schema).fault({"x": [*items, {"n": 1.0}]})
    assert fault == "params/x must NOT have duplicate items"


@pytest.mark.parametrize(
    "reference", ["http://127.0.0.1:9/x", "https://a.invalid/x", "file:///etc/passwd", "ftp://a/x"]
)
def test_a_schema_fetches_nothing(reference):
    seen: list[str] = []
    watching = True

    def watch(event: str, args: tuple[Any, ...]) -> None:
        if watching and (event.startswith(("socket.", "urllib.")) or "/etc/passwd" in str(args)):
            seen.append(event)

    sys.addaudithook(watch)
    schema = ParameterSchema({"properties": {"x": {"$ref": reference}}})
    with pytest.raises(Exception, match="Unresolvable"):
        schema.fault({"x": 1})
    watching = False
    assert seen == []


@pytest.mark.parametrize(
    "glob",
    [
        "{a,b}" * 25,
        "{1..100}" * 3,
        "{1..999999999}",
        "{a,}" * 400,
        "{a," * 400 + "b" + "}" * 400,
        "!(a)" * 40,
        "+(" * 40,
        "x" * 5000,
    ],
    ids=lambda glob: glob[:12],
)
def test_a_glob_that_stands_for_much_is_refused(glob, tmp_path):
    for reading in (expand_braces, path_pattern, lambda each: files_found(tmp_path, each)):
        with pytest.raises(GlobTooLarge, match=r"The (braces of the )?glob (pattern|has)"):
            reading(glob)


def test_braces_up_to_the_limit_are_expanded():
    assert len(expand_braces(f"{{1..{MOST_ALTERNATIVES}}}")) == MOST_ALTERNATIVES
    assert expand_braces("{" * 4000) == ["{" * 4000]


def files_found(root: Path, glob: str, budget: GlobBudget | None = None) -> list[str]:
    return find_files(root, glob, literal=False, budget=budget or GlobBudget())


def deep_tree(root: Path, depth: int = 24) -> Path:
    folder = root
    for _ in range(depth):
        folder /= "a"
    folder.mkdir(parents=True)
    (folder / f"{'a' * 80}.txt").write_text("x\n")
    return folder / f"{'a' * 80}.txt"


@pytest.mark.parametrize("glob", ["**/" * 30 + "*.txt", "**/a/" * 10 + "**/*.txt"])
def test_folders_in_a_glob_are_walked_once(glob, tmp_path):
    file = deep_tree(tmp_path)
    assert files_found(tmp_path, glob) == [str(file)]
    assert path_pattern("**/" * 30 + "*.txt").fullmatch("a/" * 24 + "b.txt")


def test_a_name_in_a_glob_is_matched_in_time(tmp_path):
    deep_tree(tmp_path)
    assert files_found(tmp_path, "**/" + "*a" * 20 + "*[bc]") == []
    with pytest.raises(PatternLimit):
        files_found(tmp_path, "**/" + "+(a|aa)" * 3 + "[bc]")


def test_a_glob_does_not_search_the_machine(tmp_path):
    deep_tree(tmp_path, 60)
    with pytest.raises(GlobTooLarge, match="looks at more than"):
        files_found(tmp_path, "**/*", GlobBudget(entries_left=50))


@pytest.mark.parametrize("file", [".gitignore", ".geminiignore"])
@pytest.mark.parametrize("line", ["*a" * 20 + "*[bc]", "**/*a*" * 15 + "/[bc]"])
def test_a_line_of_an_ignore_file_ends_in_time(file, line, tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / file).write_text(line)
    assert not FileDiscovery(tmp_path).hides(f"{'a' * 30}/" * 3 + "a" * 60)


def test_an_ignore_file_of_many_lines_is_read_in_part(tmp_path):
    (tmp_path / ".git").mkdir()
    lines = [f"x*{number}" for number in range(2_000)]
    (tmp_path / ".gitignore").write_text("\n".join([*lines, *["y"] * 10_000, "z"]))
    discovery = FileDiscovery(tmp_path)
    assert discovery.hides("a/b/c/d/e/f/g/y")
    assert not discovery.hides("z")


def test_what_is_no_pattern_in_an_ignore_file_hides_nothing(tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("[z-a]\na\\\nb\n")
    discovery = FileDiscovery(tmp_path)
    assert discovery.hides("b")
    assert not discovery.hides("c")


def test_imports_of_memory_files_are_bounded(tmp_path):
    for level in range(6):
        text = "".join(f"@./m{level + 1}_{n}.md\n" for n in range(10))
        for number in range(10):
            (tmp_path / f"m{level}_{number}.md").write_text(text)
    imported = with_imports("".join(f"@./m0_{n}.md\n" for n in range(10)), tmp_path)
    assert imported.count("<!-- Imported from: ") <= MOST_IMPORTS
    assert imported.count(f" - More than {MOST_IMPORTS} imports -->") == 1


def test_the_size_of_imports_is_bounded(tmp_path):
    (tmp_path / "large.md").write_text("x" * (MOST_IMPORTED_BYTES // 3))
    imported = with_imports("@./large.md\n" * 500, tmp_path)
    assert imported.count("<!-- Imported from: ") == 3
    assert imported.count(f" - Imports of more than {MOST_IMPORTED_BYTES} bytes -->") == 1
    assert len(imported) < 2 * MOST_IMPORTED_BYTES


@pytest.mark.parametrize(
    "text", ["`" * 100_000 + "a", "".join("`" * n + "a" for n in range(900, 0, -1))]
)
def test_code_of_a_memory_file_is_found_quickly(text, tmp_path):
    assert with_imports(f"{text} @./none.md", tmp_path).startswith(text)


def test_the_places_of_many_calls_are_found_quickly():
    threads = ThreadPaths()
    threads.turn_begins("main")
    count = 20_000
    parts = [{"functionCall": {"id": f"c{n}", "name": "t"}} for n in range(count)]
    parts += [{"functionCall": {"name": "t"}} for _ in range(count)]
    threads.chunk("main", {"candidates": [{"content": {"parts": parts}}]})
    for number in range(count):
        threads.call(f"c{number}", "t", None)
    for number in range(count):
        threads.call(f"made{number}", "t", None)
    assert threads.of_call("c19999") == "0/19999"
    assert threads.of_call("made19999") == "0/39999"


def test_an_id_of_a_call_may_be_anything():
    threads = ThreadPaths()
    threads.turn_begins("main")
    parts = [{"functionCall": {"id": wrong, "name": "t"}} for wrong in ([], {}, 1)]
    threads.chunk("main", {"candidates": [{"content": {"parts": parts}}]})
    threads.call("t__1", "t", None)
    assert threads.of_call("t__1") == "0/2"


@pytest.mark.parametrize(
    ("text", "old"),
    [
        ("a b c\n" * 200_000, "a b c\n" * 2_000 + "zz"),
        (" " * 200_000 + "x", "( " * 3_000 + "b"),
        ("a\n" + " " * 300_000 + "b\n", "no such text"),
    ],
    ids=["lines", "tokens", "spaces"],
)
def test_what_an_edit_does_not_find_is_not_searched_for_long(text, old):
    assert replace_text(text, old, "y", allow_multiple=False).occurrences == 0


def test_the_lines_of_an_edit_are_found_without_overlaps():
    made = replace_text("  a\n  b\n  a\n  b\na", "a\nb", "x", allow_multiple=False)
    assert (made.text, made.occurrences) == ("  x\n  x\na", 2)


@pytest.mark.slow
def test_texts_with_little_in_common_are_compared_in_bounded_time():
    old = "".join(f"{number * 7919 % 3}\n" for number in range(20_000))
    new = "".join(f"{number * number % 11 % 4}\n" for number in range(20_000))
    changes = line_changes(old, new)
    assert "".join("".join(each.lines) for each in changes if each.kind != "added") == old
    assert "".join("".join(each.lines) for each in changes if each.kind != "removed") == new


def test_comments_of_an_answer_are_taken_out_in_linear_time():
    assert visible_text("<!--" * 200_000) == "<!--" * 200_000
    assert visible_text("<!-" * 30 + "<!---->" + "-x-->" * 30) == ""
    assert visible_text("<!-" * 20_000 + "<!---->" + "-x-->" * 20_000)


def test_a_long_unknown_name_is_compared_in_part():
    names = [f"tool_{number}" for number in range(50)]
    assert nearest_names("x" * 1_000_000, names).startswith(" Did you mean one of: ")


def test_a_line_of_spaces_is_shown_quickly():
    found = Match("a.txt", "/a.txt", 1, "x" + " " * 300_000 + "y")
    content, _ = report([found, found, found, found], {"pattern": "x"}, "here", 100)
    assert content.count("[truncated]") == 4
