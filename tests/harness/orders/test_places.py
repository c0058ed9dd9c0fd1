import pytest

from harness.orders.places import Place, nearness, path_of, path_text

PLACES = [
    Place(path=(), kind="answer", number=3),
    Place(path=(0, 1), kind="answer"),
    Place(path=(0, 1), kind="chunk", number=2, chunk=4),
    Place(path=(0, 1, 2, 0), kind="call"),
    Place(path=(0, 1), kind="call", number=1),
    Place(path=(2, 0), kind="answer", number=1, role="utility_tool"),
]


@pytest.mark.parametrize("place", PLACES, ids=str)
def test_a_place_is_parsed_from_its_text(place: Place) -> None:
    assert Place.parse(str(place)) == place


def test_words_of_places_are_those_of_reports() -> None:
    assert list(map(str, PLACES)) == [
        "main answer 3",
        "0/1 answer 0",
        "0/1 answer 2 chunk 4",
        "0/1/2/0 call",
        "0/1 call 1",
        "2/0 utility_tool answer 1",
    ]


@pytest.mark.parametrize("text", ["", "0/1", "answer 2", "0/1 answer", "0/1 call x", "0/1  call"])
def test_other_words_are_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match="0/1 answer 2"):
        Place.parse(text)


def test_a_thread_is_a_path_and_back() -> None:
    assert [path_text(path_of(thread)) for thread in ("main", "0/1", "3/0/12/1")] == [
        "main",
        "0/1",
        "3/0/12/1",
    ]


def test_numbers_are_sorted_as_numbers() -> None:
    texts = ["10/0 call", "9/0 call", "9/0 answer 10", "9/0 answer 9"]

    places = sorted(map(Place.parse, texts), key=lambda place: place.sort_key)

    assert list(map(str, places)) == ["9/0 answer 9", "9/0 answer 10", "9/0 call", "10/0 call"]


def test_the_work_of_one_child_is_near_each_other() -> None:
    assert nearness((0, 1, 0, 0), (0, 1, 0, 1)) == 1
    assert nearness((0, 1), (0, 1, 2, 0)) == 1
    assert nearness((0, 0), (0, 1)) == 0
    assert nearness((), (0, 1)) == 0
