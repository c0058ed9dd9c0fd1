from harness.scenarios.shrinking.sizes import content_digest, size_of, steps_left_over
from tests.harness.scenarios.shrinking.descending import call, cassette, chunk


def test_a_size_counts_used_answers_and_their_parts() -> None:
    document = cassette(
        model=[
            {"stream": [chunk({"text": "a"}, call()), chunk({"text": "b"})]},
            {"error": {"status": 500, "message": ""}, "repeat": 3},
            {"role": "utility_router", "json": {}},
            {"method": "countTokens", "count_tokens": {"totalTokens": 1}, "repeat": 40},
            {"text": "done", "repeat": 12},
        ],
        unused=[2, *range(46, 57)],
    )

    size = size_of(document)

    assert (size.turns, size.parts) == (4, 5)
    assert str(size) == f"4 model turns, 5 parts, {size.bytes} bytes"


def test_descriptions_do_not_change_the_digest_of_a_scenario() -> None:
    other = {**cassette(), "name": "c/d", "note": "words", "provenance": {}, "unused": [0]}

    assert content_digest(other) == content_digest(cassette())
    assert size_of(other).bytes == size_of(cassette()).bytes
    assert content_digest(cassette(match="by_role")) != content_digest(cassette())


def test_unused_steps_are_counted_by_position() -> None:
    document = cassette(model=[{"text": "a", "repeat": 3}, {"text": "b"}], unused=[1, 2, 3])

    assert steps_left_over(document) == {0: 2, 1: 1}
