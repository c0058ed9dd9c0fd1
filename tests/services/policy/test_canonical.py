from __future__ import annotations

from typing import Any

import pytest

from services.policy.canonical import canonical_arguments


@pytest.mark.parametrize(
    ("args", "text"),
    [
        ({"b": "x", "a": 1}, '{\0"a":1\0,\0"b":"x"\0}'),
        ({}, "{}"),
        (
            {"a": {"d": 1, "c": [1, {"z": None, "y": True}]}},
            '{\0"a":{"c":[1,{"y":true,"z":null}],"d":1}\0}',
        ),
        ({"a": "é\0\n"}, '{\0"a":"é\\u0000\\n"\0}'),
        ({"a": 1.0, "b": 0.5}, '{\0"a":1\0,\0"b":0.5\0}'),
        ([1, {"b": 1, "a": 2}], '[1,{"a":2,"b":1}]'),
        ({"\U0001f600": 1, "\uffff": 2}, '{\0"\U0001f600":1\0,\0"\uffff":2\0}'),
    ],
)
def test_arguments_have_one_text_whatever_their_order(args: Any, text: str) -> None:
    assert canonical_arguments(args) == text


def test_a_cycle_is_cut_and_a_repetition_is_not() -> None:
    shared = {"x": 1}
    args: dict[str, Any] = {"a": shared, "b": shared}
    args["self"] = args

    assert canonical_arguments(args) == (
        '{\0"a":{"x":1}\0,\0"b":{"x":1}\0,\0"self":"[Circular]"\0}'
    )
