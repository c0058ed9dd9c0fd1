from __future__ import annotations

import tomllib

import pytest

from services.policy.toml_text import toml_text

# Written by the published package's writer from what its reader makes of the left side.
VECTORS = [
    ("a = 12345678\nb = 1.5\nc = -0.0\nd = 10.0", "a = 12_345_678\nb = 1.5\nc = -0.0\nd = 10\n"),
    ("a = [1.5, 2.0]", "a = [ 1.5, 2.0 ]\n"),
    ("a = 1.5e-7", "a = 1.5e-7\n"),
    ('a = \'q"x\'\nb = "it\'s \\"q\\""', 'a = \'q"x\'\nb = "it\'s \\"q\\""\n'),
    ('a = "x\\ny\\"\\"\\""', 'a = """\nx\ny\\"""\\\n"""\n'),
    ("a = []\nb = {}\n'k k' = [[1], [2]]", 'a = [ ]\nb = { }\n"k k" = [ [ 1 ], [ 2 ] ]\n'),
    ("[a]\nb = 1\n[a.c]\nd = 2\n", "[a]\nb = 1\n\n  [a.c]\n  d = 2\n"),
    ("[[a]]\nb = 1\n[[a]]\nc = 2\n", "[[a]]\nb = 1\n\n[[a]]\nc = 2\n"),
    ("a = 1979-05-27T07:32:00Z", "a = 1979-05-27T07:32:00.000Z\n"),
]


@pytest.mark.parametrize(("given", "wanted"), VECTORS)
def test_documents_are_laid_out_as_upstream_does(given: str, wanted: str) -> None:
    assert toml_text(tomllib.loads(given)) == wanted


def test_a_long_array_has_a_line_for_each_item() -> None:
    assert toml_text({"a": ["x" * 40, "y" * 40]}) == (
        f'a = [\n  "{"x" * 40}",\n  "{"y" * 40}"\n]\n'
    )
