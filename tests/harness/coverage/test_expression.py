import pytest

from harness.coverage.expression import ProbeProblem, parse_probes


@pytest.mark.parametrize(
    ("text", "reached", "holds"),
    [
        ("end:aborted", {"end:aborted"}, True),
        ("end:aborted", {"end:completed"}, False),
        ("end:aborted", set(), False),
        ("retry:*", {"retry:429"}, True),
        ("retry:*", {"retries:429"}, False),
        ("retry:5*", {"retry:429", "retry:503"}, True),
        ("a:b and c:d", {"a:b"}, False),
        ("a:b and c:d", {"a:b", "c:d"}, True),
        ("a:b or c:d", {"c:d"}, True),
        ("a:b and c:d or e:f", {"e:f"}, True),
        ("a:b and c:d or e:f", {"a:b"}, False),
        ("e:f or a:b and c:d", {"a:b", "c:d"}, True),
        ("order:and.or", {"order:and.or"}, True),
        ("a:[x].y", {"a:zzy"}, False),
    ],
)
def test_and_binds_tighter_than_or_and_a_star_stands_for_any_text(
    text: str, reached: set[str], holds: bool
) -> None:
    assert parse_probes(text).holds(reached) is holds


@pytest.mark.parametrize("text", ["", "  ", "and a:b", "a:b and", "a:b or or c:d", "or", "a:b c:d"])
def test_what_is_no_expression_is_refused(text: str) -> None:
    with pytest.raises(ProbeProblem):
        parse_probes(text)


def test_it_is_written_as_it_is_read() -> None:
    assert str(parse_probes(" a:b  and c:* or  d:e ")) == "a:b and c:* or d:e"
