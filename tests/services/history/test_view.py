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
    st.one_of(CONTENTS, st.tuples(st.just("truncate"), st.integers(-1, 12)), st.just("look")),
    max_size=25,
)


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
    assert view.contents(signed=True) == whole(history, strip=True, signed=True)
    unsent = coalesce(strip_thoughts(curated_history(history)))
    assert view.curated() == unsent
    assert view.contents(signed=True, sendable=False) == ensure_signatures(unsent)


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
