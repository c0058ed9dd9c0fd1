"""Markdown in pieces: where it is cut, and that the fragments make no difference."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("textual")

from rich.console import Console

from surfaces.terminal.markdown import MarkdownPieces, Piece, drawn

CODE = "\n".join(f"line_{number} = {number}" for number in range(500))
LINES = ["", "text", "- item", "  more", "1. one", "```", "```py", "~~~", "| a | b |", "|---|---|"]


def pieces(text: str, size: int | None = None) -> list[Piece]:
    cut = MarkdownPieces()
    size = size or len(text) or 1
    found = [
        piece
        for start in range(0, len(text), size)
        for piece in cut.add(text[start : start + size])
    ]
    return [*found, cut.open]


def lines(piece: Piece, width: int = 40) -> list[str]:
    console = Console(width=width)
    rows = console.render_lines(drawn(piece, dark=True), console.options, pad=False)
    texts = ["".join(segment.text for segment in row).rstrip() for row in rows]
    return [text for text in texts if text]


def test_a_blank_line_ends_a_piece_where_a_block_begins() -> None:
    found = pieces("# Title\ntext\n\nmore\n\n    indented\n\nlast\n")
    assert [piece.text for piece in found] == ["# Title\ntext", "more\n\n    indented", "last"]
    assert not any(piece.joined for piece in found)


def test_the_items_of_a_list_stay_together() -> None:
    found = pieces("1. one\n\n2. two\n\n3. three\n")
    assert [piece.joined for piece in found] == [False, True, True]
    assert [lines(piece) for piece in found] == [[" 1 one"], [" 2 two"], [" 3 three"]]


def test_a_blank_line_of_code_ends_nothing() -> None:
    assert len(pieces("```py\na\n\nb\n```\n")) == 1


def test_long_code_is_cut_and_its_lines_keep_their_numbers() -> None:
    found = pieces(f"```py\n{CODE}\n```\nend\n")
    shown = [line for piece in found for line in lines(piece)]
    assert len(found) > 3
    assert shown[:-1] == [f"{f'{n + 1}'.rjust(w)} line_{n} = {n}" for n, w in _widths(found)]
    assert shown[-1] == "end"
    assert all(piece.joined for piece in found[1:])


def _widths(found: list[Piece]) -> list[tuple[int, int]]:
    """The numbers of the lines, and the width of the widest number of their piece."""
    ends = [piece.number - 1 for piece in found[1:]] + [500]
    starts = [piece.number - 1 for piece in found]
    return [
        (number, len(str(end)))
        for start, end in zip(starts, ends, strict=True)
        for number in range(start, end)
    ]


def test_a_second_block_of_code_has_its_own_numbers() -> None:
    found = pieces(f"```\n{CODE}\n```\ntext\n```\nx\n```\n")
    assert lines(found[-1])[-1].strip() == "1 x"


def test_a_long_table_repeats_its_head() -> None:
    rows = "\n".join(f"| {number} | x |" for number in range(300))
    found = pieces(f"| a | b |\n|---|---|\n{rows}\n")
    assert len(found) == 3
    assert all(lines(piece)[0].split() == ["a", "b"] for piece in found)
    assert sum(len(lines(piece)) - 2 for piece in found) == 300


def test_a_line_without_an_end_is_cut() -> None:
    found = pieces("word " * 10_000)
    assert len(found) > 10
    assert all(piece.joined for piece in found[1:])
    assert "".join(piece.text for piece in found).count("word") == 10_000


def test_html_and_addresses_are_shown() -> None:
    (shown,) = lines(Piece("<b>bold</b> [name](http://a.b/c)"), width=60)[:1]
    assert shown == "<b>bold</b> name (http://a.b/c)"


def test_a_line_of_the_text_is_a_line_on_the_screen() -> None:
    assert lines(Piece("one\ntwo")) == ["one", "two"]


@given(st.lists(st.sampled_from(LINES), max_size=40), st.integers(1, 50))
def test_the_fragments_make_no_difference(given: list[str], size: int) -> None:
    text = "\n".join(given)
    assert pieces(text, size) == pieces(text)


@given(st.lists(st.sampled_from([*LINES, CODE]), max_size=12))
def test_no_line_of_the_text_is_lost(given: list[str]) -> None:
    text = "\n".join(given)
    shown = "\n".join(piece.text for piece in pieces(text)).split("\n")
    assert [line for line in text.split("\n") if line.strip()] == [
        line for line in _without_added(shown, text) if line.strip()
    ]


def _without_added(shown: list[str], text: str) -> list[str]:
    """The lines that a cut has not added: a fence or a table's head is written again."""
    wanted, kept = iter(text.split("\n")), []
    expected = [line for line in wanted if line.strip()]
    for line in shown:
        if len(kept) < len(expected) and line.strip() and line == expected[len(kept)]:
            kept.append(line)
    return kept
