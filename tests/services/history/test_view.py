from hypothesis import given
from hypothesis import strategies as st

from services.history.transforms import (
    SYNTHETIC_THOUGHT_SIGNATURE,
    coalesce,
    curated_history,
    ensure_signatures,
    strip_call_id_prefixes,
    strip_thoughts,
)
from services.history.view import RequestView
from services.wire import Content

PARTS = st.sampled_from(
    [
        {"text": "words"},
        {"text": ""},
        {"text": "hm", "thought": True},
        {},
        {"functionCall": {"name": "t", "args": {}, "id": "t__1"}},
        {"functionCall": {"name": "t", "args": {}, "id": "t__2"}, "thoughtSignature": "s"},
        {"functionResponse": {"name": "t", "response": {"output": "x"}, "id": "t__1"}},
        {"text": "", "thoughtSignature": "s"},
    ]
)
CONTENTS = st.builds(
    lambda role, parts: {"role": role, "parts": parts},
    st.sampled_from(["user", "model"]),
    st.lists(PARTS, max_size=3),
)
EDITS = st.lists(
    st.one_of(
        CONTENTS,
        st.tuples(st.just("truncate"), st.integers(-1, 12)),
        st.just("look"),
        st.lists(st.tuples(st.integers(0, 12), CONTENTS), max_size=3),
    ),
    max_size=25,
)


def edited(view: RequestView, changes: list[tuple[int, Content]]) -> list[Content]:
    """The view's history as it is shown, with other contents at some places."""
    other = view.whole()
    for index, content in changes:
        other[index : index + 1] = [content]
    return other


def whole(history: list[Content], *, strip: bool, signed: bool) -> list[Content]:
    kept = curated_history(history)
    if strip:
        kept = strip_thoughts(kept)
    kept = coalesce(kept)
    if signed:
        kept = ensure_signatures(kept)
    return strip_call_id_prefixes(kept)


@given(EDITS, st.booleans())
def test_view_equals_the_pure_transformations_after_any_edits(
    edits: list[object], strip: bool
) -> None:
    view = RequestView(strip_thoughts=strip)
    history: list[Content] = []
    for edit in edits:
        if isinstance(edit, dict):
            view.append(edit)
            history.append(edit)
        elif isinstance(edit, tuple):
            length = edit[1]
            view.truncate(length)
            if 0 <= length < len(history):
                del history[length:]
        elif isinstance(edit, list):
            history = edited(view, edit)
            view.replace(history)
        for signed in (True, False):
            assert view.contents(signed=signed) == whole(history, strip=strip, signed=signed)
    assert list(view.raw) == history


@given(EDITS)
def test_asking_only_at_the_end_gives_the_same(edits: list[object]) -> None:
    view = RequestView()
    history: list[Content] = []
    for edit in edits:
        if isinstance(edit, dict):
            view.append(edit)
            history.append(edit)
        elif edit == "look":
            view.contents(signed=True)
        elif isinstance(edit, tuple):
            view.truncate(edit[1])
            if 0 <= edit[1] < len(history):
                del history[edit[1] :]
        elif isinstance(edit, list):
            history = edited(view, edit)
            view.replace(history)
        assert view.whole() == coalesce(strip_thoughts(history))
    assert view.contents(signed=True) == whole(history, strip=True, signed=True)
    unsent = coalesce(strip_thoughts(curated_history(history)))
    assert view.curated() == unsent


def user(text: str) -> Content:
    return {"role": "user", "parts": [{"text": text}]}


def call(call_id: str) -> Content:
    part = {"functionCall": {"name": "t", "args": {}, "id": f"t__{call_id}"}}
    return {"role": "model", "parts": [part]}


def test_signatures_leave_a_loop_that_a_new_prompt_ended() -> None:
    view = RequestView([user("one"), call("a")])
    assert view.contents(signed=True)[1]["parts"][0]["thoughtSignature"] == (
        SYNTHETIC_THOUGHT_SIGNATURE
    )

    view.append(user("two"))

    assert "thoughtSignature" not in view.contents(signed=True)[1]["parts"][0]


def test_settled_turns_are_the_same_objects_in_every_request() -> None:
    view = RequestView([user("one"), call("a"), user("two")])
    before = view.contents(signed=True)

    view.append({"role": "model", "parts": [{"text": "answer"}]})
    view.append(user("three"))

    assert all(old is new for old, new in zip(before, view.contents(signed=True), strict=False))


def test_turns_before_the_first_other_one_are_not_transformed_again() -> None:
    turns = [user("one"), call("a"), user("two"), call("b"), user("three")]
    view = RequestView(turns)
    before, raw = view.contents(signed=True), view.raw

    view.replace([*turns[:3], call("c"), user("three")])

    assert all(old is new for old, new in zip(before[:3], view.contents(signed=True), strict=False))
    assert view.contents(signed=True)[3]["parts"][0]["functionCall"]["id"] == "c"
    assert view.raw is not raw


def test_another_rule_for_thoughts_changes_all_turns() -> None:
    thinking = {"role": "model", "parts": [{"text": "hm", "thought": True}, {"text": "a"}]}
    view = RequestView([user("one"), thinking, user("two")], strip_thoughts=False)
    assert view.whole()[1] == thinking

    view.set_strip_thoughts(True)

    assert view.contents(signed=False)[1]["parts"] == [{"text": "a"}]
    assert view.whole()[1]["parts"] == [{"text": "a"}]
