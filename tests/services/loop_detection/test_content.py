"""The vectors were taken from the published core."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.loop_detection.content import ContentLoops

SENTENCE = "This sentence is fifty characters long, I promise! "


def unlike(length: int) -> str:
    """Text that repeats nothing."""
    return "".join(chr(0x3400 + n) for n in range(length))


def first_loop(fragments: list[str]) -> int | None:
    """How many fragments it takes, or None."""
    loops = ContentLoops()
    return next((n for n, text in enumerate(fragments, start=1) if loops.add(text)), None)


@pytest.mark.parametrize(
    ("fragments", "events"),
    [
        ([SENTENCE] * 30, 10),
        (["twenty-six characters here "[:26]] * 30, 11),
        (["x" * 50] * 30, 2),
        (["x" * 59], 1),
        (["x" * 58], None),
        (["- an item that is rather long, as items of lists go, is it\n"] * 30, 10),
        (["* an item that is rather long, as items of lists go, is it\n"] * 30, None),
        (["+ an item that is rather long, as items of lists go, is it\n"] * 30, None),
        (["12. an item that is rather long, as items of lists go, isn't\n"] * 30, None),
        (["# a heading that is rather long, as headings go, it really is\n"] * 30, None),
        (["> a quote that is rather long, as such quotes go, it really is\n"] * 30, None),
        (["| a | row that is rather long, as rows of tables go, isn't it |\n"] * 30, None),
        (["\n \r\n\t-- rather long and repeated, but it begins with a rule \n"] * 30, 10),
        (["\n \r\n\t+++ rather long and repeated, but it begins with a rule \n"] * 30, None),
        (["AAAABBBBCCCC1234"] * 60, None),
        (["aaaabbbbcccc1234"] * 60, 13),
        (["─" * 50] * 60, None),
        (["=" * 100], None),
        (["é" * 50] * 30, 2),
        (["😀" * 25] * 30, 2),
        ([SENTENCE * 100], 1),
        (["x" * 200 + "\u2028 1. " + "y" * 100], 1),
    ],
)
def test_when_chanting_is_noticed(fragments: list[str], events: int | None) -> None:
    assert first_loop(fragments) == events


@pytest.mark.contract("P-119")
def test_a_common_beginning_is_no_loop_while_what_follows_differs() -> None:
    beginning = "The following file was read and is quite all right: "
    lines = [f"{beginning}{'abcdefghijklmnop'[n] * 9}; " for n in range(16)]

    assert first_loop(lines) is None


def test_up_to_five_different_ways_on_are_a_loop() -> None:
    beginning = "The following file was read and is quite all right: "
    lines = [f"{beginning}{'abcde'[n % 5] * 9}; " for n in range(30)]

    assert first_loop(lines) == 10


def test_far_apart_is_no_loop() -> None:
    assert first_loop([SENTENCE[:50] + unlike(200)] * 20) == 10
    assert first_loop([SENTENCE[:50] + unlike(201)] * 20) is None


def test_code_is_not_looked_at() -> None:
    assert first_loop(["```\n", *[SENTENCE] * 30]) is None
    assert first_loop(["```\n", *[SENTENCE] * 30, "```\n", *[SENTENCE] * 10]) == 42


def test_an_open_fence_outlives_what_is_cleared() -> None:
    loops = ContentLoops()
    loops.add("```\n")
    loops.clear()

    assert not any(loops.add(SENTENCE) for _ in range(30))


def test_structure_in_between_forgets_what_came_before_but_counts_itself() -> None:
    assert first_loop([*[SENTENCE] * 9, "\n# Next\n", *[SENTENCE] * 10]) == 20
    assert first_loop([*[SENTENCE] * 9, "-----", *[SENTENCE] * 9]) is None


def test_a_found_chunk_is_found_again_by_the_next_text_whatever_it_says() -> None:
    loops = ContentLoops()
    while not loops.add(SENTENCE):
        pass

    assert loops.add("Something else.")
    assert not loops.add("\n# A heading\n")


def test_the_excerpt_shows_what_came_before_too() -> None:
    loops = ContentLoops()
    loops.add("Ahem. ")
    while not loops.add(SENTENCE):
        pass

    expected = "ers long, I promise! This sentence is fifty characters long, I promise"
    assert loops.excerpt() == expected


def test_the_excerpt_of_half_a_pair_is_text() -> None:
    loops = ContentLoops()
    fragments = ["beta gamma, 😀" * 40]
    assert any(map(loops.add, fragments))

    loops.excerpt().encode()


def test_only_the_end_of_a_long_fragment_counts() -> None:
    assert first_loop([SENTENCE * 20 + unlike(3900)]) == 1
    assert first_loop([SENTENCE * 20 + unlike(5000)]) is None


def test_text_that_left_the_window_does_not_count() -> None:
    assert first_loop([*[SENTENCE] * 9, SENTENCE + unlike(4400)]) == 10
    assert first_loop([*[SENTENCE] * 9, SENTENCE + unlike(4949)]) is None


def test_a_long_answer_takes_no_more_memory_than_its_window() -> None:
    sizes = []
    loops = ContentLoops()
    for block in range(4):
        for n in range(60):
            loops.add("".join(chr(0x3400 + block * 6000 + n * 100 + m) for m in range(100)))
        sizes.append(len(pickle.dumps(loops)))

    assert max(sizes) < 1.1 * sizes[0]


def test_the_window_forgets_its_beginning() -> None:
    loops = ContentLoops()
    for _ in range(9):
        assert not loops.add(SENTENCE)
    loops.add(unlike(4990))

    assert [loops.add(SENTENCE) for _ in range(10)] == [False] * 9 + [True]


@given(st.text(alphabet="ab1 -|#é😀\n", max_size=300), st.integers(1, 7))
def test_how_text_is_cut_does_not_matter_without_structure(text: str, size: int) -> None:
    plain = "".join(c for c in text if c in "abé😀 ")
    pieces = [plain[i : i + size] for i in range(0, len(plain), size)]
    whole = ContentLoops()

    assert (first_loop(pieces) is not None) == (bool(plain) and whole.add(plain))


def test_an_excerpt_that_begins_within_a_pair_keeps_its_half() -> None:
    loops = ContentLoops()

    assert loops.add(("📦🪵🚚🏭📋🔖" * 4 + "📦🪵x") * 10)
    assert loops.excerpt().startswith("\udccb🔖")
