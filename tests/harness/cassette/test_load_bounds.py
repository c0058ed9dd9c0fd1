"""Files that are no documents, or larger than a cassette may be."""

from __future__ import annotations

import os

import pytest

from harness.cassette.load import load_cassette
from harness.errors import CassetteFormatError
from tests.harness.cassette.loading import SMALL, load, refused, write


def test_bad_yaml_is_reported_with_its_line(tmp_path):
    error = refused(tmp_path, SMALL + "note: a: b\n")
    assert "line 6" in error.problem


def test_bad_json_is_reported_with_its_line(tmp_path):
    error = refused(tmp_path, '{\n"cassette": 1,,\n}', "f/c.json")
    assert "line 2" in error.problem
    assert "not JSON" in error.problem


@pytest.mark.parametrize("version", ["2", "'1'", "true", "null"])
def test_another_version_names_the_versions_that_are_read(tmp_path, version):
    error = refused(tmp_path, SMALL.replace("cassette: 1", f"cassette: {version}"))
    assert error.key == "cassette"
    assert "(1)" in error.problem


def test_a_duplicate_key_is_refused_in_yaml_and_json(tmp_path):
    assert refused(tmp_path, SMALL + "model: []\n").key == "model"
    nested = SMALL.replace("{model: m}", "{model: m, model: n}")
    assert refused(tmp_path, nested).key == "session.model"
    assert "twice" in refused(tmp_path, '{"cassette": 1, "cassette": 1}', "f/c.json").problem


@pytest.mark.parametrize(
    "text",
    [
        SMALL.replace("[{text: hi}]", "[&a {text: hi}, *a]"),
        SMALL.replace("name: f/c", "name: &n f/c"),
        "&a [*a]",
    ],
)
def test_anchors_and_aliases_are_refused(tmp_path, text):
    error = refused(tmp_path, text)
    assert "anchors and aliases" in error.problem
    assert "line " in error.problem


@pytest.mark.parametrize("tag", ["!!python/object/apply:os.system [ls]", "!x y", "!!binary AA=="])
def test_tags_are_refused(tmp_path, tag):
    error = refused(tmp_path, SMALL.replace("send: x", f"send: {tag}"))
    assert "not allowed" in error.problem
    assert error.key == "script[0].send"


def test_a_second_document_is_refused(tmp_path):
    assert "second document" in refused(tmp_path, SMALL + "---\na: 1\n").problem


@pytest.mark.parametrize("text", ["", "  \n", "\ufeff"])
def test_an_empty_file_is_refused(tmp_path, text):
    assert "empty" in refused(tmp_path, text).problem


@pytest.mark.parametrize("text", ["just text", "[1, 2]", "version: 1\ninteractions: []", "null"])
def test_what_is_no_cassette_is_refused(tmp_path, text):
    error = refused(tmp_path, text)
    assert error.key == "cassette"
    assert "is not a cassette" in error.problem


def test_text_that_is_not_utf8_is_refused(tmp_path):
    error = refused(tmp_path, SMALL.encode() + b"# \xff\n")
    assert f"byte {len(SMALL) + 2} is 0xff" in error.problem


def test_a_control_character_is_refused(tmp_path):
    assert "not YAML" in refused(tmp_path, SMALL + "note: \x00\n").problem


def test_a_number_that_json_does_not_have_is_refused(tmp_path):
    assert refused(tmp_path, SMALL.replace("send: x", "send: .nan")).key == "script[0].send"
    assert (
        refused(tmp_path, SMALL.replace("send: x", "send: " + "9" * 5000)).key == "script[0].send"
    )
    for tagged in ('!!int ""', "!!int x", "!!bool x", "!!float x"):
        assert (
            refused(tmp_path, SMALL.replace("send: x", f"send: {tagged}")).key == "script[0].send"
        )
    text = SMALL.replace("hi}", "hi, delay_ms: .inf}")
    assert refused(tmp_path, text).key == "model[0].delay_ms"
    assert "NaN" in refused(tmp_path, '{"cassette": NaN}', "f/c.json").problem


def test_half_a_surrogate_pair_is_refused(tmp_path):
    text = '{"cassette": 1, "name": "f/c", "script": [{"send": "\\ud800"}], "model": []}'
    assert refused(tmp_path, text, "f/c.json").key == "script[0].send"


def test_a_list_as_a_key_is_refused(tmp_path):
    assert "key must be text" in refused(tmp_path, SMALL + "? [a]\n: b\n").problem


def test_a_file_of_100_mb_is_refused_unread(tmp_path):
    path = write(tmp_path, SMALL)
    os.truncate(path, 100 * 1024 * 1024)
    with pytest.raises(CassetteFormatError, match="larger than 64 MB"):
        load_cassette(path)


def test_what_is_no_regular_file_is_refused(tmp_path):
    path = tmp_path / "pipe.yaml"
    os.mkfifo(path)
    with pytest.raises(CassetteFormatError, match="not a regular file"):
        load_cassette(path)


@pytest.mark.parametrize(
    "text",
    [
        SMALL.replace("{text: hi}", "{text: {$repeat: {text: 0123456789, times: 10000000}}}"),
        SMALL.replace("{text: hi}", "{text: {$lines: {count: 10000000}}}"),
        SMALL.replace("{text: hi}", "{text: {$lines: {count: 1000, pad: 100000}}}"),
        SMALL + "files: {a: {$repeat: {text: '', sep: 0123456789, times: 10000000}}}",
        SMALL + "files: {a: {$repeat: {text: <WS>, times: 1000000}}}",
        SMALL.replace("{text: hi}", "{text: {$repeat: {text: x, times: 100000}}, repeat: 1000}"),
        SMALL.replace(
            "{text: hi}",
            "{json: [{$times: 1000, item: [{$times: 1000, item: [{$times: 1000, item: 1}]}]}]}",
        ),
        SMALL.replace("{text: hi}", "{json: [{$times: 3000000, item: ''}]}"),
    ],
)
def test_what_expands_to_too_much_is_refused_before_it_is_built(tmp_path, text):
    assert "expands to" in refused(tmp_path, text).problem


@pytest.mark.parametrize(
    "text",
    [
        SMALL.replace("{text: hi}", "{text: hi, repeat: 10001}"),
        SMALL.replace("{text: hi}", "{$times: 101, item: {text: hi, repeat: 100}}"),
        SMALL.replace("{send: x}", "{$times: 20000, item: {send: x}}"),
    ],
)
def test_too_many_steps_are_refused(tmp_path, text):
    error = refused(tmp_path, text)
    assert error.key in ("model", "script")
    assert "more than 10,000" in error.problem


def test_ten_thousand_steps_are_not_too_many(tmp_path):
    text = SMALL.replace("{text: hi}", "{$times: 100, item: {text: hi <I>, repeat: 100}}")
    steps = load(tmp_path, text).steps
    assert len(steps) == 10_000
    assert steps[-1].chunks[0]["candidates"][0]["content"]["parts"] == [{"text": "hi 99"}]


@pytest.mark.parametrize("name", ["f/c.yaml", "f/c.json"])
@pytest.mark.parametrize("brackets", ["[]", "{}"])
def test_what_is_nested_too_deep_is_refused(tmp_path, name, brackets):
    opening = brackets[0] if brackets == "[]" else '{"a":'
    text = opening * 100_000 + "1" + brackets[1] * 100_000
    assert "deeper than 64" in refused(tmp_path, text, name).problem


def test_sixty_four_levels_are_not_too_deep(tmp_path):
    args = "[" * 60 + "]" * 60
    assert load(tmp_path, SMALL.replace("{text: hi}", f"{{json: {args}}}")).steps
    args = "[" * 62 + "]" * 62
    assert "deeper" in refused(tmp_path, SMALL.replace("{text: hi}", f"{{json: {args}}}")).problem


def test_too_many_values_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("harness.cassette.document.MAX_VALUES", 100)
    many = "[" + "1," * 200 + "1]"
    assert "more than 100 values" in refused(tmp_path, f"a: {many}").problem
    assert "more than 100 values" in refused(tmp_path, many, "f/c.json").problem
