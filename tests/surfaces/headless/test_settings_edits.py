"""Settings that a surface writes: what the user wrote around them stays."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.json_comments import without_comments
from surfaces.headless.settings_edits import (
    save_setting,
    with_setting_text,
    without_setting_text,
)

FILE = """{
  // who answers
  "model": {
    "name": "auto" // the router decides
  },
  "ui": { "theme": "Default" } /* the last one */
}
"""


@pytest.mark.parametrize(
    ("before", "key", "value", "after"),
    [
        ("", "model.name", "x", '{\n  "model": {\n    "name": "x"\n  }\n}\n'),
        ("{}", "a", 1, '{\n  "a": 1\n}'),
        ("// mine\n", "a", 1, '// mine\n{\n  "a": 1\n}\n'),
        (FILE, "model.name", "pro", FILE.replace('"auto"', '"pro"')),
        (
            FILE,
            "model.maxSessionTurns",
            5,
            FILE.replace(
                '"auto" // the router decides',
                '"auto", // the router decides\n    "maxSessionTurns": 5',
            ),
        ),
        (FILE, "ui.hideTips", True, FILE.replace('"Default"', '"Default", "hideTips": true')),
        (
            FILE,
            "ide.enabled",
            True,
            FILE.replace(
                "} /* the last one */",
                '}, /* the last one */\n  "ide": {\n    "enabled": true\n  }',
            ),
        ),
        ('{"ui": "text"}', "ui.theme", "x", '{"ui": {\n  "theme": "x"\n}}'),
        ('{\r\n\t"a": 1\r\n}', "b", 2, '{\r\n\t"a": 1,\r\n\t"b": 2\r\n}'),
    ],
)
def test_a_value_is_written_and_the_rest_stays(
    before: str, key: str, value: Any, after: str
) -> None:
    assert with_setting_text(before, key, value) == after


@pytest.mark.parametrize(
    ("before", "key", "after"),
    [
        (FILE, "ui.theme", FILE.replace('{ "theme": "Default" }', "{ }")),
        (FILE, "no.such", FILE),
        (FILE, "model.name.deeper", FILE),
        ('{"a": 1, "b": 2}', "a", '{"b": 2}'),
        ('{"a": 1, "b": 2}', "b", '{"a": 1}'),
        ('{\n  "a": 1, // one\n  "b": 2\n}', "b", '{\n  "a": 1 // one\n}'),
    ],
)
def test_a_setting_is_removed_and_the_rest_stays(before: str, key: str, after: str) -> None:
    assert without_setting_text(before, key) == after


_NAMES = st.sampled_from(["a", "b", "c"])
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_NAMES, inner, max_size=3),
    max_leaves=8,
)


@given(
    document=st.dictionaries(_NAMES, _VALUES),
    path=st.lists(_NAMES, min_size=1, max_size=3),
    value=_VALUES,
    indent=st.sampled_from([None, 0, 2, "\t"]),
)
def test_only_the_named_setting_changes(
    document: Any, path: list[str], value: Any, indent: Any
) -> None:
    text = json.dumps(document, indent=indent)
    changed = json.loads(with_setting_text(text, ".".join(path), value))

    expected = json.loads(text)
    place = expected
    for name in path[:-1]:
        if not isinstance(place.get(name), dict):
            place[name] = {}
        place = place[name]
    place[path[-1]] = value
    assert changed == expected
    removed = json.loads(without_setting_text(json.dumps(changed, indent=indent), ".".join(path)))
    del place[path[-1]]
    assert removed == expected


def test_the_file_keeps_its_mode_and_a_link_stays_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "dotfiles.json", tmp_path / "settings.json"
    real.write_text(FILE)
    real.chmod(0o640)
    link.symlink_to(real)

    save_setting(link, "model.name", "gemini-2.5-pro")

    assert link.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o640
    assert json.loads(without_comments(real.read_text()))["model"]["name"] == "gemini-2.5-pro"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["dotfiles.json", "settings.json"]


@pytest.mark.parametrize("text", ["{", "[]", '{"model": {"maxSessionTurns": "many"}}'])
def test_a_file_that_cannot_be_used_is_named_and_stays(tmp_path: Path, text: str) -> None:
    file = tmp_path / "settings.json"
    file.write_text(text)

    with pytest.raises(ValueError, match="settings"):
        save_setting(file, "ide.enabled", True)

    assert file.read_text() == text


def test_a_missing_file_is_created_for_its_owner_alone(tmp_path: Path) -> None:
    file = tmp_path / ".gemini" / "settings.json"

    save_setting(file, "ide.enabled", True)

    assert json.loads(file.read_text()) == {"ide": {"enabled": True}}
    assert file.stat().st_mode & 0o777 == 0o600
