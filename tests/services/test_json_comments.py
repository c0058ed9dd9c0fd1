from __future__ import annotations

import pytest

from services.json_comments import without_comments


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ('{"a": 1} // b', '{"a": 1}     '),
        ('{/* a\nb */"a": 1}', '{    \n    "a": 1}'),
        ('{"a": "// no /* comment */"}', '{"a": "// no /* comment */"}'),
        ('{"a\\"// b": 1}', '{"a\\"// b": 1}'),
        ("/* open", "       "),
    ],
)
def test_comments_become_blanks(text: str, plain: str) -> None:
    assert without_comments(text) == plain
