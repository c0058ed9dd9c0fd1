from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.patches import Change, ChangeKind, line_changes, unified_patch

NUMBERS = "".join(f"{n}\n" for n in range(1, 11))
texts = st.lists(st.sampled_from(["a\n", "b\n", "c\n", "a\r\n", "\n", "a\x85", "b"])).map("".join)


def hunks(before: str, after: str, context: int = 3) -> str:
    patch = unified_patch("f", before, after, before_label="O", after_label="M", context=context)
    header = "Index: f\n" + "=" * 67 + "\n--- f\tO\n+++ f\tM\n"
    assert patch.startswith(header)
    return patch.removeprefix(header)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("", "", ""),
        ("a\n", "a\n", ""),
        ("", "x", "@@ -0,0 +1,1 @@\n+x\n\\ No newline at end of file\n"),
        ("a", "", "@@ -1,1 +0,0 @@\n-a\n\\ No newline at end of file\n"),
        ("a\nb\nc\n", "a\nc\nb\n", "@@ -1,3 +1,3 @@\n a\n-b\n c\n+b\n"),
        (NUMBERS[:12], "X" + NUMBERS[1:12], "@@ -1,4 +1,4 @@\n-1\n+X\n 2\n 3\n 4\n"),
        ("a\r\nb\n", "a\nb\n", "@@ -1,2 +1,2 @@\n-a\r\n+a\n b\n"),
        (
            NUMBERS,
            NUMBERS.replace("1\n", "X\n", 1).replace("10\n", "Y\n"),
            "@@ -1,4 +1,4 @@\n-1\n+X\n 2\n 3\n 4\n@@ -7,4 +7,4 @@\n 7\n 8\n 9\n-10\n+Y\n",
        ),
        (
            "1\n2\n3\n4\n5\n6\n7\n8\n9\n",
            "1\nX\n3\n4\n5\n6\n7\n8\nY\n",
            "@@ -1,9 +1,9 @@\n 1\n-2\n+X\n 3\n 4\n 5\n 6\n 7\n 8\n-9\n+Y\n",
        ),
    ],
)
def test_a_patch_is_upstreams_line_for_line(before: str, after: str, expected: str) -> None:
    assert hunks(before, after) == expected


def test_among_equal_edits_removal_comes_before_addition() -> None:
    assert line_changes("a\nb\n", "c\nd\n") == [
        Change(ChangeKind.REMOVED, ("a\n", "b\n")),
        Change(ChangeKind.ADDED, ("c\n", "d\n")),
    ]
    assert line_changes("a\n", "a\na\n") == [
        Change(ChangeKind.KEPT, ("a\n",)),
        Change(ChangeKind.ADDED, ("a\n",)),
    ]


def test_a_patch_without_context_has_the_changed_lines_only() -> None:
    assert hunks("a\nb\nc\n", "a\nx\nc\n", context=0) == "@@ -2,1 +2,1 @@\n-b\n+x\n"


@settings(max_examples=150, deadline=None)
@given(texts, texts)
def test_changes_rebuild_both_texts(before: str, after: str) -> None:
    changes = line_changes(before, after)
    old = [line for change in changes if change.kind != ChangeKind.ADDED for line in change.lines]
    new = [line for change in changes if change.kind != ChangeKind.REMOVED for line in change.lines]
    assert "".join(old) == before
    assert "".join(new) == after
    assert all(change.lines for change in changes)
    kinds = [change.kind for change in changes]
    assert all(one != other for one, other in pairwise(kinds))


@settings(max_examples=60, deadline=None)
@given(texts)
def test_equal_texts_have_no_changes(text: str) -> None:
    assert all(change.kind is ChangeKind.KEPT for change in line_changes(text, text))


@pytest.mark.parametrize(
    ("old", "new", "body"),
    [
        ("a\n", "a\n", ""),
        ("", "x", "@@ -0,0 +1,1 @@\n+x\n\\ No newline at end of file\n"),
        ("alpha\nbeta\n", "changed\n", "@@ -1,2 +1,1 @@\n-alpha\n-beta\n+changed\n"),
        ("a\nb", "a\nb\n", "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n"),
        ("x\n", "", "@@ -1,1 +0,0 @@\n-x\n"),
        # Seen from the library itself: equal furthest points remove first.
        ("a\nb\nc\n", "c\nb\na\n", "@@ -1,3 +1,3 @@\n-a\n-b\n c\n+b\n+a\n"),
        ("a\na\nb\n", "b\na\na\n", "@@ -1,3 +1,3 @@\n+b\n a\n a\n-b\n"),
    ],
)
def test_patches_are_the_librarys(old: str, new: str, body: str) -> None:
    assert hunks(old, new) == body


def test_near_changes_share_a_hunk_and_far_ones_do_not() -> None:
    old = "".join(f"{n}\n" for n in range(20))
    near = old.replace("5\n", "five\n", 1).replace("\n12\n", "\ntwelve\n")
    assert hunks(old, near).count("@@ -") == 1
    far = old.replace("5\n", "five\n", 1).replace("\n13\n", "\nthirteen\n")
    assert hunks(old, far).count("@@ -") == 2
    assert hunks(old, far).startswith(
        "@@ -3,7 +3,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n@@ -11,7"
    )


TEXTS = st.lists(st.sampled_from(["a\n", "b\n", "c\n"]), max_size=12).map("".join)


@given(TEXTS, TEXTS)
def test_an_edit_leads_from_one_text_to_the_other_by_the_fewest_lines(old: str, new: str) -> None:
    changes = line_changes(old, new)
    kept = sum(len(change.lines) for change in changes if change.kind == "same")
    before = "".join(line for each in changes if each.kind != "added" for line in each.lines)
    after = "".join(line for each in changes if each.kind != "removed" for line in each.lines)
    assert (before, after) == (old, new)
    assert kept == longest_common(old.splitlines(), new.splitlines())


def longest_common(left: list[str], right: list[str]) -> int:
    row = [0] * (len(right) + 1)
    for a in left:
        before = 0
        for index, b in enumerate(right, 1):
            best = before + 1 if a == b else max(row[index], row[index - 1])
            before, row[index] = row[index], best
    return row[-1]
