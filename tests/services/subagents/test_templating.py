from __future__ import annotations

import pytest

from services.subagents.templating import MissingInputs, fill_template


def test_every_place_is_filled_once() -> None:
    assert fill_template("${a}-${b}-${a}", {"a": "${b}", "b": 2.0}) == "${b}-2-${b}"


def test_text_that_is_not_a_placeholder_stays() -> None:
    text = "$a {a} ${a-b} ${ä} ${}"

    assert fill_template(text, {}) == text


def test_missing_inputs_are_named_once_each() -> None:
    with pytest.raises(MissingInputs) as caught:
        fill_template("${y} ${x} ${y} ${a}", {"a": 1, "b": 2})

    assert str(caught.value) == (
        "Template validation failed: Missing required input parameters: y, x. "
        "Available inputs: a, b"
    )


def test_values_are_written_as_javascript_writes_them() -> None:
    values = {"t": True, "n": None, "l": [1, None, ["x"]], "o": {"a": 1}}

    assert fill_template("${t} ${n} ${l} ${o}", values) == "true null 1,,x [object Object]"
