from __future__ import annotations

import pytest

from services.shell.words import BadSubstitution, shell_words


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("ls -la 'a b'", ["ls", "-la", "a b"]),
        ('echo "a \\" $HOME b"', ["echo", 'a "  b']),
        ("a&&b>c", ["a", "&&", "b", ">", "c"]),
        ("ls *.txt", ["ls", "*.txt"]),
        ("cat # x", ["cat", ""]),
        ("a\\ b $ c", ["a b", "$", "c"]),
        ("${X}y", ["y"]),
    ],
)
def test_words_are_cut_as_the_heuristics_expect(command: str, words: list[str]) -> None:
    assert [word.text for word in shell_words(command)] == words


@pytest.mark.parametrize("command", ["echo ${", "echo ${}"])
def test_a_bad_substitution_is_said_so(command: str) -> None:
    with pytest.raises(BadSubstitution):
        shell_words(command)
