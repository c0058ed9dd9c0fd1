from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from services.history.prefix import PerContent, shared_prefix, shared_stack
from services.model.tokens import estimate_tokens
from services.recording.conversion import ensure_stable_tool_ids
from services.recording.known_history import KnownHistory
from services.wire import Content

PARTS = st.sampled_from(
    [
        {"text": "seven c"},
        {"text": "\u00e9"},
        {"functionCall": {"name": "t", "args": {}}},
        {"functionCall": {"name": "t", "args": {}, "id": "t__1"}},
        {"functionResponse": {"name": "t", "response": {"output": "x"}}},
        {"functionResponse": {"name": "t", "response": {"output": "x"}, "id": "t__1"}},
    ]
)
CONTENTS = st.builds(
    lambda role, parts: {"role": role, "parts": parts},
    st.sampled_from(["user", "model"]),
    st.lists(PARTS, max_size=3),
)
HISTORIES = st.lists(st.tuples(st.integers(0, 8), st.lists(CONTENTS, max_size=5)), max_size=6)


@given(HISTORIES)
def test_known_values_equal_those_of_a_full_computation(
    changes: list[tuple[int, list[Content]]],
) -> None:
    known = KnownHistory()
    contents: list[Content] = []
    for kept, others in changes:
        turns = [(f"turn-{i}", c) for i, c in enumerate([*contents[:kept], *others])]

        stable = known.stable(turns)

        assert stable == ensure_stable_tool_ids(turns)
        contents = [content for _, content in stable]
        parts = [part for content in contents for part in content["parts"]]
        assert known.tokens(contents) == estimate_tokens(parts)


def test_only_contents_after_the_first_other_one_are_looked_at_again() -> None:
    asked: list[str] = []
    values = PerContent(lambda content: asked.append(content["role"]))
    first, second, third = {"role": "a"}, {"role": "b"}, {"role": "c"}
    values.of([first, second])
    values.of([first, {"role": "x"}, third])
    values.of([first])

    assert asked == ["a", "b", "x", "c"]


def test_equal_contents_are_not_the_same() -> None:
    one = {"role": "user"}

    assert shared_prefix([one, {"role": "b"}], [one, {"role": "b"}, one]) == 1
    assert shared_prefix([one], [one, one]) == 1
    assert shared_prefix([], [one]) == 0


def test_end_of_a_history_that_grows_and_shrinks_there_is_found() -> None:
    one, two, three = {"role": "a"}, {"role": "b"}, {"role": "c"}

    assert shared_stack([one, two], [one, two, three]) == 2
    assert shared_stack([one, two, three], [one]) == 1
    assert shared_stack([one, two], [one, three]) == 1
    assert shared_stack([one], [{"role": "a"}]) == 0
    assert shared_stack([], [one]) == 0
