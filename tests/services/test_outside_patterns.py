from __future__ import annotations

import re
import warnings

import pytest

from services import outside_patterns
from services.outside_patterns import (
    LONGEST_PATTERN,
    PatternBudget,
    PatternLimit,
    PatternTooLarge,
    compile_outside,
)

LONG = "a" * 50_000 + "!"


@pytest.mark.parametrize(
    "pattern", [r"^(a+)+\Z", r"^(a|a)*\Z", r"(.*a){25}b", r"(?:a?){30}a{30}b", r"(a+)\1+b", "a+b"]
)
def test_a_search_that_takes_long_ends_with_an_error(pattern):
    with pytest.raises(PatternLimit) as stopped:
        compile_outside(pattern).search(LONG, PatternBudget(0.05), where="src/a.txt")
    assert str(stopped.value) == (
        f"The pattern {pattern} took longer than 0.05 s on src/a.txt; simplify it."
    )


def test_a_budget_is_for_all_searches_together():
    budget = PatternBudget(0.05)
    with pytest.raises(PatternLimit):
        compile_outside(r"^(a+)+\Z").search(LONG, budget)
    with pytest.raises(PatternLimit, match=r"longer than 0.05 s on a text of 1 characters"):
        compile_outside("b").search("b", budget)
    assert compile_outside("b").search("b") is not None


def test_a_search_that_needs_much_memory_ends_with_an_error():
    nested = r"((((((((a)|b)|c)|d)|e)|f)|g)|h)*\Z"
    with pytest.raises(PatternLimit, match="needs too much memory"):
        compile_outside(nested).search("a" * 8_000_000 + "!", PatternBudget(60))


@pytest.mark.parametrize(
    "pattern",
    [
        "a" * (LONGEST_PATTERN + 1),
        "((((a{1000}){1000}){1000}){1000})",
        "(?:a{500}){500}",
        "a{4294967294}",
        "a{99999999999}",
        "(" * 3000 + ")" * 3000,
        "[ab]{200001}",
    ],
    ids=lambda pattern: pattern[:20],
)
def test_a_pattern_that_is_too_large_is_refused(pattern):
    with pytest.raises(PatternTooLarge, match="Regular expression too large"):
        compile_outside(pattern)


def test_an_invalid_pattern_raises_the_error_of_re():
    with pytest.raises(re.error, match="unterminated character set"):
        compile_outside("[a")


@pytest.mark.parametrize(
    "pattern",
    [r"\w", r"\W", r"\s", r"\S", r"[\w]", r"[^\w-]", r"[\s-]", r"[^\s]", ".", r"\x41|[\x42]"],
)
def test_classes_are_those_of_re(pattern):
    ours, theirs = compile_outside(pattern), re.compile(pattern)
    for number in [*range(0x250), 0x300, 0x660, 0x1680, 0x2028, 0x3000, 0xFEFF, 0x4E00, 0x1F600]:
        found = ours.fullmatch(chr(number)) is not None
        assert found is (theirs.fullmatch(chr(number)) is not None), hex(number)


@pytest.mark.parametrize(
    ("pattern", "flags", "text"),
    [
        ("ABC", re.IGNORECASE, "xabcx"),
        ("a.b", re.DOTALL, "a\nb"),
        (r"^\w+\Z", re.ASCII, "é"),
        (r"(?P<x>a)(?P=x)", 0, "baab"),
        (r"(?<=a)b(?!c)", 0, "abd"),
        (r"(?>a+)b", 0, "aab"),
        (r"a{2,3}", 0, "baab"),
    ],
)
def test_it_finds_what_re_finds(pattern, flags, text):
    theirs = re.compile(pattern, flags).search(text)
    ours = compile_outside(pattern, int(flags)).search(text)
    assert (ours and ours.span()) == (theirs and theirs.span())


def test_the_limit_without_a_budget_is_that_of_a_call(monkeypatch):
    monkeypatch.setattr(outside_patterns, "PATTERN_SECONDS", 0.05)
    with pytest.raises(PatternLimit, match=r"longer than 0\.05 s"):
        compile_outside(r"^(a+)+\Z").search(LONG)


def test_no_warning_of_python_about_a_pattern_reaches_the_user() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert compile_outside("[--a]").search("-")
