import json

import pytest

from services.wire import js_json, js_json_pretty, js_length, js_slice, js_trim


@pytest.mark.parametrize(("text", "length"), [("abc", 3), ("é", 1), ("😀", 2), ("a😀b", 4)])
def test_length_counts_utf16_units(text: str, length: int) -> None:
    assert js_length(text) == length


@pytest.mark.parametrize(
    ("text", "start", "end", "sliced"),
    [
        ("hello", 1, 3, "el"),
        ("a😀b", 1, 3, "😀"),
        ("a😀b", 3, None, "b"),
        ("a😀b", -1, None, "b"),
        ("a😀b", 2, None, "\ufffdb"),
        ("héllo", 4, 2, ""),
    ],
)
def test_slices_count_utf16_units(text: str, start: int, end: int | None, sliced: str) -> None:
    assert js_slice(text, start, end) == sliced


def test_json_is_compact_and_keeps_order_and_characters() -> None:
    value = {"b": 1.0, "a": ["é", None, True, 0.5]}

    assert js_json(value) == '{"b":1,"a":["é",null,true,0.5]}'


@pytest.mark.parametrize(
    ("parsed", "text"),
    [
        ("1.5e-09", "1.5e-9"),
        ("1.0e-06", "0.000001"),
        ("1e-7", "1e-7"),
        ("0.00012345", "0.00012345"),
        ("1e20", "100000000000000000000"),
        ("123456789012345680000.0", "123456789012345680000"),
        ("1e21", "1e+21"),
        ("-1.25e+30", "-1.25e+30"),
        ("100.0", "100"),
        ("-0.0", "0"),
        ("-0", "0"),
        ("9007199254740992", "9007199254740992"),
        ("9007199254740993", "9007199254740992"),
        ("-9007199254740995", "-9007199254740996"),
        ("1000000000000000000000", "1e+21"),
        ("5e-324", "5e-324"),
        ("1.7976931348623157e308", "1.7976931348623157e+308"),
        ("1e400", "null"),
        ("1" + "0" * 400, "null"),
        ("123.456", "123.456"),
    ],
)
def test_numbers_are_written_as_javascript_writes_them(parsed: str, text: str) -> None:
    value = json.loads(parsed)

    assert js_json(value) == text
    assert js_json({"n": [value]}) == f'{{"n":[{text}]}}'


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("\ud83d", '"\\ud83d"'),
        ("a\ude00\ud83d", '"a\\ude00\\ud83d"'),
        ("\ud83d\ude00", '"\U0001f600"'),
        ("\x00\x1f\x7f\u2028\b", '"\\u0000\\u001f\x7f\u2028\\b"'),
    ],
)
def test_only_half_a_surrogate_pair_is_escaped(text: str, written: str) -> None:
    assert js_json(text) == written
    assert js_json({text: 0.5}) == f"{{{written}:0.5}}"


def test_array_indices_come_first_among_keys() -> None:
    value = {"b": 0, "10": 1, "01": 2, "2": 3, "4294967295": 4, "4294967294": 5, "-1": 6}

    assert js_json(value) == ('{"2":3,"10":1,"4294967294":5,"b":0,"01":2,"4294967295":4,"-1":6}')


def test_pretty_json_is_indented_and_keeps_empty_ones_short() -> None:
    assert js_json_pretty({"a": [], "b": {}, "c": [1.0, {"d": "é"}]}) == (
        '{\n  "a": [],\n  "b": {},\n  "c": [\n    1,\n    {\n      "d": "é"\n    }\n  ]\n}'
    )


@pytest.mark.parametrize("value", [object(), {"a": [0.5, {1}]}])
def test_what_is_no_json_is_refused(value: object) -> None:
    with pytest.raises(TypeError, match="is no JSON"):
        js_json(value)


def test_trim_takes_javascripts_white_space_only() -> None:
    assert js_trim("\ufeff\u00a0 x \u2028") == "x"
    assert js_trim("\x1cx\x85") == "\x1cx\x85"
