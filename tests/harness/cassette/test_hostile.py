"""Hostile files are refused in few words, before they take much memory or time."""

import json
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.cassette.load import load_cassette
from harness.errors import CassetteFormatError

HEAD = "cassette: 1\nname: x\nsession: {model: m}\nscript: [{send: x}]\n"
PLAIN = f"{HEAD}model: [{{text: ok}}]\n"
MB = 1 << 20

Load = Callable[..., Any]


@pytest.fixture
def load(tmp_path: Path) -> Load:
    def load(text: str, suffix: str = "yaml") -> Any:
        file = tmp_path / f"x.{suffix}"
        file.write_text(text, "utf-8")
        return load_cassette(file)

    return load


@pytest.fixture
def refused(load: Load) -> Callable[..., str]:
    """Loads what must be refused; the words for it."""

    def refused(text: str, suffix: str = "yaml") -> str:
        with pytest.raises(CassetteFormatError) as caught:
            load(text, suffix)
        said = str(caught.value)
        said.encode()
        assert len(said) < 2_000
        assert "\n" not in said
        return said

    return refused


@pytest.fixture
def peak() -> Iterator[Callable[[], int]]:
    """The most memory that Python's objects took since the test began, in bytes."""
    tracemalloc.start()
    yield lambda: tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()


def model(step: str) -> str:
    return f"{HEAD}model:\n- {step}\n- text: ok\n"


def test_copies_of_nothing_are_nothing(load: Load, peak: Callable[[], int]) -> None:
    cassette = load(model('text: {$repeat: {text: "", times: 1000000000}}'))

    assert cassette.steps[0].chunks[0]["candidates"][0]["content"]["parts"] == [{"text": ""}]
    assert peak() < MB


@pytest.mark.parametrize("text", ["text: a, sep: ''", "text: '', sep: a"])
def test_a_repeated_text_costs_little_more_than_itself(
    load: Load, peak: Callable[[], int], text: str
) -> None:
    load(model(f"text: {{$repeat: {{{text}, times: 2000000}}}}"))

    assert peak() < 8 * MB


def test_many_short_lines_cost_little_more_than_their_text(
    load: Load, peak: Callable[[], int]
) -> None:
    load(model("text: {$lines: {count: 100000}}"))

    assert peak() < 5 * MB


def test_the_padding_of_no_lines_is_not_made(load: Load, peak: Callable[[], int]) -> None:
    load(model("text: {$lines: {count: 0, pad: 1000000000}}"))

    assert peak() < MB


def test_a_step_that_is_never_repeated_is_still_measured(
    refused: Callable[..., str], peak: Callable[[], int]
) -> None:
    said = refused(model("{repeat: 0, text: {$repeat: {text: a, times: 1000000000}}}"))

    assert "more than 64 MB" in said
    assert peak() < MB


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ("unused: [{$times: 1000000, item: 0}]", "unused: expands to 1,000,000 items"),
        ("contract: [{$times: 1000000, item: a}]", "contract: expands to 1,000,000 items"),
        (
            "answers: {confirmations: [{$times: 1000000, item: cancel}]}",
            "answers.confirmations: expands to 1,000,000 items",
        ),
        (
            "resume: {records: [{$times: 500000, item: {a: {$set: 1}}}]}",
            "expands to 1,500,013 values, more than 1,000,000",
        ),
        (
            "files: {a: {base64: {$repeat: {text: QUFB, times: 100000000}}}}",
            "expands to 400,000,068 bytes, more than 64 MB",
        ),
    ],
)
def test_long_lists_and_texts_are_refused_unbuilt(
    refused: Callable[..., str], peak: Callable[[], int], keys: str, words: str
) -> None:
    assert words in refused(f"{PLAIN}{keys}\n")
    assert peak() < MB


def test_times_inside_times_is_multiplied(
    refused: Callable[..., str], peak: Callable[[], int]
) -> None:
    nested = "1"
    for _ in range(4):
        nested = f"[{{$times: 1000, item: {nested}}}]"
    call = f"{{functionCall: {{name: f, args: {{a: {nested}}}}}}}"

    said = refused(model(f"stream: [{{candidates: [{{content: {{parts: [{call}]}}}}]}}]"))

    assert "more than 64 MB" in said
    assert peak() < MB


def test_ten_thousand_files_are_enough(refused: Callable[..., str]) -> None:
    files = "".join(f"  f{number}: ''\n" for number in range(10_001))

    assert "files: names 10,001 files, more than 10,000" in refused(f"{PLAIN}files:\n{files}")


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("a" * 256, "has a name in it that is longer than 255 bytes"),
        ("\u00e9" * 128, "has a name in it that is longer than 255 bytes"),
        ("a/" * 1000 + "b", "is longer than 2000 bytes"),
    ],
)
def test_a_path_that_no_file_system_holds_is_refused(
    refused: Callable[..., str], path: str, words: str
) -> None:
    document = {"cassette": 1, "name": "x", "session": {"model": "m"}, "script": [], "model": []}

    assert words in refused(json.dumps({**document, "files": {path: ""}}), "json")


@pytest.mark.parametrize(
    "number",
    [
        "9" * 500,
        "9" * 350,
        "0x" + "f" * 500,
        "0b" + "1" * 2_000,
        "0" + "7" * 500,
        "1" + ":1" * 300,
        "1" + ":1" * 190 + ".5",
        "1.0e+400",
        "!!int ''",
        "!!float .",
        "!!bool 3",
    ],
)
def test_a_number_beyond_a_double_is_refused_in_yaml(
    refused: Callable[..., str], number: str
) -> None:
    assert "cassette: line 1: " in refused(f"cassette: {number}\n")


@pytest.mark.parametrize("number", ["9" * 5_000, "9" * 350, "1e400", "-1e400", "NaN"])
def test_a_number_beyond_a_double_is_refused_in_json(
    refused: Callable[..., str], number: str
) -> None:
    assert "is not a JSON number" in refused(f'{{"cassette": {number}}}', "json")


@pytest.mark.parametrize(
    ("keys", "key"),
    [
        ("model: [{text: a, delay_ms: 1.0e+13}]", "model[0].delay_ms"),
        ("model: [{stream: [{$sleep: 1.0e+13}]}]", "model[0].stream[0].$sleep"),
        (
            "model: []\nduring: [{when: {events: 1}, delay_ms: 1.0e+13, do: abort}]",
            "during[0].delay_ms",
        ),
    ],
)
def test_a_wait_beyond_all_dates_is_refused(
    refused: Callable[..., str], keys: str, key: str
) -> None:
    assert f"{key}: is longer than 1,000,000,000,000 ms" in refused(f"{HEAD}{keys}\n")


def test_an_unclosed_string_full_of_quotes_is_refused_at_once(refused: Callable[..., str]) -> None:
    # Looked through again from each of its quotes, it would take hours.
    assert "not JSON" in refused('{"' + '\\"' * 1_000_000, "json")


def test_a_long_string_takes_no_memory_to_skip(
    refused: Callable[..., str], peak: Callable[[], int]
) -> None:
    refused(json.dumps({"cassette": 1, "note": "a" * MB}), "json")

    assert peak() < 16 * MB


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"k" * MB: 1}),
        json.dumps({"cassette": 1, "k" * MB: 1}),
        json.dumps({"cassette": "k" * MB}),
        json.dumps({"cassette": 1, "script": [], "model": [], "session": {}, "name": "k" * MB}),
        '{"cassette": ' + "9" * MB + "}",
    ],
)
def test_a_message_is_short_whatever_it_quotes(
    refused: Callable[..., str], peak: Callable[[], int], text: str
) -> None:
    refused(text, "json")

    assert peak() < 32 * MB


@pytest.mark.parametrize(
    "more", ['"\\ud800": 1', '"files": {"\\ud800": "x"}', '"note": "\\udfff"', '"match": "\\ud800"']
)
def test_half_a_character_is_refused_in_words_that_can_be_printed(
    refused: Callable[..., str], more: str
) -> None:
    text = '{"cassette": 1, "name": "x", "session": {"model": "m"}, "script": [], "model": []'

    refused(f"{text}, {more}}}", "json")


@pytest.mark.parametrize(
    "text", ["[" * 100_000, "- " * 100_000, "{a: " * 100_000, "? " * 100_000, '{"a":' * 100_000]
)
def test_what_is_nested_without_end_is_refused_at_its_beginning(
    refused: Callable[..., str], text: str
) -> None:
    refused(text)
