from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from harness.cassette.document import parse_document
from harness.cassette.dump import dump_yaml
from harness.cassette.importing import ImportOptions, import_responses
from harness.cassette.load import load_cassette
from harness.cassette.show import abbreviate, show_cassette
from harness.errors import CassetteFormatError, CassetteNotFound
from services.model.replay.steps import StepMethod

RECORDINGS = Path(__file__).parents[3] / ".." / "shared" / "recordings" / "gemini-cli"


def stream(*parts):
    return {
        "method": "generateContentStream",
        "response": [{"candidates": [{"content": {"parts": [part]}}]} for part in parts],
    }


TEXT = stream({"text": "a"}, {"text": "b"})
CALL = stream({"text": "a"}, {"functionCall": {"name": "f", "args": {}}})
GENERATE = {"method": "generateContent", "response": {"candidates": []}}
COUNT = {"method": "countTokens", "response": {"totalTokens": 1}}
EMBED = {"method": "embedContent", "response": {"embeddings": []}}


def record(folder, *lines, name="rec.one.responses"):
    path = folder / name
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def load_imported(folder, document):
    path = folder / f"{document['name']}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(dump_yaml(document), encoding="utf-8")
    return load_cassette(path, folder)


def test_each_stream_without_a_call_gets_a_send(tmp_path):
    imported = import_responses(record(tmp_path, GENERATE, CALL, TEXT, COUNT, EMBED, TEXT, CALL))
    assert imported["name"] == "imported/rec.one"
    assert imported["script"] == [{"send": "(imported 1)"}, {"send": "(imported 2)"}]
    cassette = load_imported(tmp_path, imported)
    assert cassette.match == "by_role"
    assert cassette.provenance.kind == "imported"
    assert cassette.provenance.source == "rec.one.responses"
    assert not cassette.session.interactive
    assert cassette.session.approval_mode == "default"
    assert [step.method for step in cassette.steps] == [
        StepMethod.GENERATE,
        StepMethod.STREAM,
        StepMethod.STREAM,
        StepMethod.COUNT_TOKENS,
        StepMethod.EMBED,
        StepMethod.STREAM,
        StepMethod.STREAM,
    ]


def test_options_say_what_the_file_does_not(tmp_path):
    options = ImportOptions(
        model="g", approval_mode="yolo", interactive=True, name="x/y", phase="C", licence="MIT"
    )
    cassette = load_imported(tmp_path, import_responses(record(tmp_path, TEXT), options))
    assert cassette.name == "x/y"
    assert cassette.session.model == "g"
    assert cassette.session.approval_mode == "yolo"
    assert cassette.session.interactive
    assert cassette.phase == "C"
    assert cassette.provenance.licence == "MIT"


def test_an_empty_recording_gives_a_cassette_without_steps(tmp_path):
    cassette = load_imported(tmp_path, import_responses(record(tmp_path)))
    assert cassette.steps == ()
    assert cassette.script == ()


def test_a_bad_line_is_named(tmp_path):
    path = record(tmp_path, TEXT, {"method": "other"})
    with pytest.raises(CassetteFormatError) as caught:
        import_responses(path)
    assert caught.value.key == "line 2"


def test_an_unreadable_recording_is_reported(tmp_path):
    with pytest.raises(CassetteNotFound):
        import_responses(tmp_path / "no.responses")
    bad = tmp_path / "bad.responses"
    bad.write_bytes(b"\xff")
    with pytest.raises(CassetteFormatError, match="not UTF-8"):
        import_responses(bad)


@pytest.mark.skipif(not RECORDINGS.is_dir(), reason="the shared recordings are not at hand")
def test_every_recorded_file_imports_and_loads_back(tmp_path):
    files = sorted(RECORDINGS.rglob("*.responses"))
    assert len(files) == 58
    for file in files:
        imported = import_responses(file)
        cassette = load_imported(tmp_path, imported)
        lines = [json.loads(line) for line in file.read_text().splitlines() if line.strip()]
        assert len(cassette.steps) == len(lines)
        for step, line in zip(cassette.steps, lines, strict=True):
            answer = list(step.chunks) if step.method is StepMethod.STREAM else step.value
            assert answer == line["response"]


def test_a_cassette_is_shown_with_its_macros_expanded_and_loads_again(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text(
        "cassette: 1\nname: c\nsession: {model: m}\nscript: [{$times: 2, item: {send: s<I>}}]\n"
        "model: [{text: {$repeat: {text: ab, times: 2}}, repeat: 2}]\n"
    )
    cassette = load_cassette(path)
    shown = show_cassette(cassette)
    assert yaml.safe_load(shown)["script"] == [{"send": "s0"}, {"send": "s1"}]
    path.write_text(shown)
    again = load_cassette(path)
    assert again.steps == cassette.steps
    assert again.script == cassette.script


def test_long_texts_are_shown_by_their_ends(tmp_path):
    path = tmp_path / "c.yaml"
    path.write_text(
        "cassette: 1\nname: c\nsession: {model: m}\nscript: []\n"
        "model: [{text: {$repeat: {text: x, times: 99999}}}]\n"
    )
    cassette = load_cassette(path)
    assert len(show_cassette(cassette)) < 3000
    assert "99999 characters, sha256" in " ".join(show_cassette(cassette).split())
    assert "x" * 99999 in show_cassette(cassette, longest=None).replace("\n", "")
    assert abbreviate({"a": ["short"]}) == {"a": ["short"]}


def test_texts_of_several_lines_are_written_as_blocks():
    assert dump_yaml({"a": "one\ntwo\n"}) == "a: |\n  one\n  two\n"


def test_half_a_surrogate_pair_does_not_stop_the_writing():
    assert parse_document(dump_yaml({"a": "x\ud800"})) == {"a": "x?"}


json_values = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(allow_nan=False, allow_infinity=False),
        st.text(st.characters(exclude_categories=["Cs"])),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=3),
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.text("abyn01 :#-'\"\n", max_size=4), json_values, min_size=1, max_size=3))
def test_what_is_written_is_read_back_the_same(document):
    assert parse_document(dump_yaml(document)) == document


@given(json_values)
def test_json_is_read_as_json_and_as_yaml(value):
    text = json.dumps({"a": value}, ensure_ascii=False)
    assert parse_document(text, strict_json=True) == {"a": value}
