from __future__ import annotations

from services.tools.diffs import diff_context, diff_stat


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
