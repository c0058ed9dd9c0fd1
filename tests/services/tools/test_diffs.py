from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.tools.diffs import create_patch, diff_context, diff_lines, diff_stat

HEAD = f"Index: f\n{'=' * 67}\n--- f\tA\n+++ f\tB\n"


def patch(old: str, new: str, context: int = 3) -> str:
    return create_patch("f", old, new, "A", "B", context).removeprefix(HEAD)


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
def test_patches_are_the_librarys(old, new, body):
    assert patch(old, new) == body


def test_near_changes_share_a_hunk_and_far_ones_do_not():
    old = "".join(f"{n}\n" for n in range(20))
    near = old.replace("5\n", "five\n", 1).replace("\n12\n", "\ntwelve\n")
    assert patch(old, near).count("@@ -") == 1
    far = old.replace("5\n", "five\n", 1).replace("\n13\n", "\nthirteen\n")
    assert patch(old, far).count("@@ -") == 2
    assert patch(old, far).startswith(
        "@@ -3,7 +3,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n@@ -11,7"
    )


def test_statistics_count_lines_and_utf16_units_of_model_and_user():
    assert diff_stat("a\n", "b\n😀\n", "b\n") == {
        "model_added_lines": 2,
        "model_removed_lines": 1,
        "model_added_chars": 3,
        "model_removed_chars": 1,
        "user_added_lines": 0,
        "user_removed_lines": 1,
        "user_added_chars": 0,
        "user_removed_chars": 2,
    }


def test_context_is_the_whole_text_for_new_and_for_equal_files():
    assert diff_context("", "a\nb") == "a\nb"
    assert diff_context("a\n", "a\n") == "a\n"


def test_context_marks_every_gap():
    old = "".join(f"{n}\n" for n in range(40))
    new = old.replace("\n10\n", "\nten\n").replace("\n30\n", "\n")
    assert diff_context(old, new, 1) == "...\n9\nten\n11\n...\n29\n31\n..."


TEXTS = st.lists(st.sampled_from(["a\n", "b\n", "c\n"]), max_size=12).map("".join)


@given(TEXTS, TEXTS)
def test_an_edit_leads_from_one_text_to_the_other_by_the_fewest_lines(old, new):
    changes = diff_lines(old, new)
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
