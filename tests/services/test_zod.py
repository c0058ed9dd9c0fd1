"""One set of shapes, in the words of two versions of Zod."""

import datetime
from typing import Any

import pytest

from services.zod import UNDEFINED, ZOD3, ZOD3_TOML, ZOD4, Zod, issues_of


def said(z: Zod, kind: str, value: Any) -> list[str]:
    shapes = {
        "text": z.text(),
        "texts": z.array(z.text()),
        "record": z.record(z.boolean()),
        "word": z.one_of("on", "off"),
        "literal": z.literal("on"),
        "either": z.union(z.text(), z.boolean()),
    }
    return [issue.message for issue in issues_of(shapes[kind], value)]


@pytest.mark.parametrize(
    ("kind", "value", "three", "four"),
    [
        ("text", 1, "Expected string, received number", "expected string, received number"),
        ("text", UNDEFINED, "Required", "expected string, received undefined"),
        ("texts", ["a", None], "Expected string, received null", "string, received null"),
        ("record", [], "Expected object, received array", "expected record, received array"),
        ("word", "of", "Expected 'on' | 'off', received 'of'", 'expected one of "on"|"off"'),
        ("literal", "of", 'Invalid literal value, expected "on"', 'Invalid input: expected "on"'),
        ("either", 1, "Invalid input", "Invalid input"),
    ],
)
def test_both_versions_find_the_same_and_word_it_their_way(
    kind: str, value: Any, three: str, four: str
) -> None:
    (in_three,), (in_four,) = said(ZOD3, kind, value), said(ZOD4, kind, value)

    assert in_three.endswith(three)
    assert in_four.endswith(four)


def test_a_unions_branch_that_only_breaks_a_rule_is_reported_alone() -> None:
    short = ZOD3.text((lambda text: len(text) < 3, "too long"))
    either = ZOD3.union(ZOD3.number(), ZOD3.mapping({"a": short}), short)

    assert [issue.message for issue in issues_of(either, "long")] == ["too long"]
    (issue,) = issues_of(either, None)
    assert (issue.message, len(issue.branches)) == ("Invalid input", 3)


def test_a_mapping_passes_on_known_keys_in_its_order_and_leaves_none_out_when_loose() -> None:
    fields = {"b": ZOD4.optional(ZOD4.text()), "a": ZOD4.default(ZOD4.text(), "x")}
    value = {"z": 1, "b": "y", "__proto__": 2}

    assert list(ZOD4.mapping(fields)(value, (), []).items()) == [("b", "y"), ("a", "x")]
    assert list(ZOD4.mapping(fields, loose=True)(value, (), [])) == ["b", "a", "z"]
    (issue,) = issues_of(ZOD3.mapping(fields, strict=True), {"c": 1, "d": 2})
    assert issue.message == "Unrecognized key(s) in object: 'c', 'd'"


def test_toml_has_kinds_that_json_has_not() -> None:
    assert ZOD3_TOML.kind_of(2**53) == "bigint"
    assert ZOD3.kind_of(2**53) == "number"
    assert ZOD3_TOML.kind_of(datetime.time(1)) == "date"
