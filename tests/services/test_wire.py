import pytest

from services.wire import js_json, js_length, js_slice, js_trim


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


def test_trim_takes_javascripts_white_space_only() -> None:
    assert js_trim("\ufeff\u00a0 x \u2028") == "x"
    assert js_trim("\x1cx\x85") == "\x1cx\x85"
