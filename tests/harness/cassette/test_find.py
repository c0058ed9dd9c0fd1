from __future__ import annotations

import pytest

from harness.cassette.find import find_cassettes, name_filter
from harness.cassette.load import load_cassette
from harness.errors import CassetteNotFound, UsageError

TEXT = "cassette: 1\nname: {name}\nphase: {phase}\nsession: {{model: m}}\nscript: []\nmodel: []\n"


def corpus(folder, *names, phase="A"):
    for name in names:
        path = folder / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(TEXT.format(name=name, phase=phase))
    return folder


def names(files):
    return [file.name for file in files]


def test_folders_are_searched_and_sorted(tmp_path):
    corpus(tmp_path, "b/x", "a/y", "a/deep/z")
    (tmp_path / "a/readme.md").write_text("no")
    (tmp_path / "a/w.yml").write_text(TEXT.format(name="a/w", phase="A"))
    (tmp_path / "a/v.json").write_text('{"cassette":1,"phase":"B","name":"a/v"}')
    assert names(find_cassettes([tmp_path])) == ["a/deep/z", "a/v", "a/w", "a/y", "b/x"]


def test_a_file_and_a_subfolder_give_the_same_name_as_the_whole(tmp_path):
    corpus(tmp_path, "a/x")
    for path in (tmp_path, tmp_path / "a", tmp_path / "a" / "x.yaml"):
        (file,) = find_cassettes([path])
        assert file.name == "a/x"
        assert file.root == tmp_path
        assert load_cassette(file.path, file.root).name == "a/x"


def test_a_file_named_twice_counts_once(tmp_path):
    corpus(tmp_path, "a/x", "a/y")
    found = find_cassettes([tmp_path / "a" / "y.yaml", tmp_path])
    assert names(found) == ["a/y", "a/x"]


def test_recorded_http_traffic_and_hidden_folders_are_left_out(tmp_path):
    corpus(tmp_path, "a/x", "http/y", ".git/z", "a/http/kept")
    assert names(find_cassettes([tmp_path])) == ["a/http/kept", "a/x"]


def test_a_file_that_cannot_be_read_as_a_cassette_is_found_all_the_same(tmp_path):
    corpus(tmp_path, "a/x")
    (tmp_path / "a" / "bad.yaml").write_text("{")
    assert names(find_cassettes([tmp_path], phase="A")) == ["a/bad", "a/x"]


def test_a_folder_without_cassettes_is_refused(tmp_path):
    (tmp_path / "readme.md").write_text("no")
    with pytest.raises(CassetteNotFound, match="holds no cassettes"):
        find_cassettes([tmp_path])


def test_a_path_that_does_not_exist_is_refused(tmp_path):
    with pytest.raises(CassetteNotFound, match="does not exist"):
        find_cassettes([tmp_path / "no"])


def test_the_phase_filters(tmp_path):
    corpus(tmp_path, "a/x")
    corpus(tmp_path, "b/y", phase="'C'")
    (tmp_path / "b" / "j.json").write_text('{"cassette":1,"phase":"B","name":"b/j"}')
    assert names(find_cassettes([tmp_path], phase="C")) == ["b/y"]
    assert names(find_cassettes([tmp_path], phase="B")) == ["b/j"]


def test_the_expression_filters(tmp_path):
    corpus(tmp_path, "a/x", "b/y", "b/x")
    assert names(find_cassettes([tmp_path], "x and not a/")) == ["b/x"]


@pytest.mark.parametrize(
    ("expr", "fits", "fits_not"),
    [
        ("read", "tools/READ_file", "tools/write"),
        ("a and b", "a/b", "a/c"),
        ("a or b and c", "a/x", "b/x"),
        ("(a or b) and c", "b/c", "a/x"),
        ("not not a", "a", "b"),
        ("not (a or b)", "c", "b"),
    ],
)
def test_an_expression_keeps_the_names_that_fit(expr, fits, fits_not):
    test = name_filter(expr)
    assert test(fits)
    assert not test(fits_not)


@pytest.mark.parametrize("expr", ["", "a b", "(a", "a)", "and", "a or", "not", "()"])
def test_an_expression_that_cannot_be_read_is_wrong_usage(expr):
    with pytest.raises(UsageError) as caught:
        name_filter(expr)
    assert caught.value.exit_code == 2
    assert caught.value.mend
