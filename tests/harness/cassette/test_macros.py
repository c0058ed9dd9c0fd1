from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.cassette.macros import expand, expanded_length, measure
from harness.cassette.problems import FormatProblem


def test_repeat_joins_copies_of_a_text():
    assert expand({"$repeat": {"text": "ab", "times": 3, "sep": "-"}}) == "ab-ab-ab"
    assert expand({"$repeat": {"text": "ab", "times": 0}}) == ""


def test_lines_count_from_one_end_with_a_newline_and_pad_with_dots():
    assert expand({"$lines": {"count": 2, "prefix": "l ", "pad": 3}}) == "l 1...\nl 2...\n"
    assert expand({"$lines": {"count": 0}}) == ""


def test_lines_are_those_that_the_published_core_was_shown():
    text = expand({"$lines": {"count": 300, "prefix": "distinct answer line number "}})
    assert len(text) == 9492
    assert hashlib.sha256(text.encode()).hexdigest().startswith("756076c2c773")


def test_times_makes_items_and_numbers_them():
    items = [{"$times": 2, "item": {"a": ["<I>", {"b": "x<I>"}]}}, "<I>"]
    assert expand(items) == [{"a": ["0", {"b": "x0"}]}, {"a": ["1", {"b": "x1"}]}, "<I>"]


def test_an_inner_times_has_its_own_index():
    items = [{"$times": 2, "item": ["<I>", {"$times": 2, "item": "i<I>"}]}]
    assert expand(items) == [["0", "i0", "i1"], ["1", "i0", "i1"]]


def test_macros_in_a_times_item_take_its_index():
    items = [{"$times": 2, "item": {"$repeat": {"text": "<I>", "times": 2}}}]
    assert expand(items) == ["00", "11"]


@pytest.mark.parametrize(
    "tree",
    [
        {"resume": {"records": [{"$set": {"a": 1}}, {"$rewindTo": "x"}]}},
        {"functionCall": {"args": {"$schema": "x"}}},
        {"json": {"$ref": "#"}},
        {"settings": {"$schema": "x", "a": {"$b": 1, "$repeat": 2}}},
        {"stream": [{"$hang": True}, {"$sleep": 3}]},
    ],
)
def test_dollar_keys_are_data_where_data_stands(tree):
    measure(tree)
    assert expand(tree) == tree


def test_macros_work_inside_data():
    tree = {
        "json": {"a": {"$repeat": {"text": "x", "times": 2}}},
        "args": [{"$times": 2, "item": 1}],
    }
    assert expand(tree) == {"json": {"a": "xx"}, "args": [1, 1]}


@pytest.mark.parametrize(
    ("tree", "key", "words"),
    [
        ({"a": {"$repaet": {}}}, "a.$repaet", "did you mean $repeat?"),
        ({"a": [{"$foo": 1}]}, "a[0].$foo", "unknown macro"),
        ({"a": {"$hang": True}}, "a.$hang", "unknown macro"),
        ({"a": {"$repeat": {"text": "x", "times": 1}, "b": 1}}, "a.$repeat", "stands beside b"),
        ({"a": {"$repeat": "x"}}, "a.$repeat", "takes a mapping"),
        ({"a": {"$repeat": {"text": "x"}}}, "a.$repeat.times", "is missing"),
        ({"a": {"$repeat": {"text": 1, "times": 1}}}, "a.$repeat.text", "must be text"),
        ({"a": {"$repeat": {"text": "", "times": -1}}}, "a.$repeat.times", "whole number"),
        ({"a": {"$repeat": {"text": "", "times": True}}}, "a.$repeat.times", "whole number"),
        ({"a": {"$repeat": {"text": "", "times": 10**4000}}}, "a.$repeat.times", "whole number"),
        ({"a": {"$lines": {"count": 1, "sep": ""}}}, "a.$lines.sep", "unknown key"),
        ({"a": {"$times": 2, "item": 1}}, "a.$times", "is not an item of a list"),
        ({"a": {"$times": 2}}, "a.$times", "is not an item of a list"),
        ({"a": [{"$times": 2}]}, "a[0].$times", "goes with `item`"),
        ({"a": [{"$times": 2, "item": 1, "b": 2}]}, "a[0].$times", "goes with `item`"),
        ({"a": [{"$times": "2", "item": 1}]}, "a[0].$times", "whole number"),
        ({"a": [{"$times": 2, "item": {"$x": 1}}]}, "a[0].item.$x", "unknown macro"),
    ],
)
def test_a_wrong_macro_is_named_with_its_key(tree, key, words):
    with pytest.raises(FormatProblem) as caught:
        measure(tree)
    assert caught.value.key == key
    assert words in str(caught.value)


texts = st.text(max_size=5)
counts = st.integers(0, 12)
macros = st.one_of(
    texts,
    st.integers(),
    st.booleans(),
    st.fixed_dictionaries(
        {"$repeat": st.fixed_dictionaries({"text": texts, "times": counts, "sep": texts})}
    ),
    st.fixed_dictionaries(
        {"$lines": st.fixed_dictionaries({"count": counts, "prefix": texts, "pad": counts})}
    ),
)
trees = st.recursive(
    macros,
    lambda inner: st.one_of(
        st.lists(
            st.one_of(inner, st.fixed_dictionaries({"$times": st.integers(0, 3), "item": inner})),
            max_size=3,
        ),
        st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    ),
    max_leaves=8,
)


def built(node):
    if isinstance(node, str):
        return len(node.encode()), 1
    if isinstance(node, dict):
        node = [*node, *node.values()]
        keys = len(node) // 2
    else:
        keys = 0
    if not isinstance(node, list):
        return 0, 1
    sizes = [built(item) for item in node]
    return sum(size for size, _ in sizes), 1 + sum(count for _, count in sizes) - keys


@given(trees)
def test_what_is_measured_is_never_less_than_what_is_built(tree):
    size = measure(tree)
    text_bytes, values = built(expand(tree))
    assert size.bytes >= text_bytes
    assert size.values >= values


@given(st.lists(st.one_of(macros, st.fixed_dictionaries({"$times": counts, "item": st.just({})}))))
def test_expanded_length_is_the_length_after_expansion(items):
    assert expanded_length(items) == len(expand(items))
