import itertools
import random
import re

import pytest

from harness.parity.patterns import PatternProblem, ValuePattern

ATOMS = ["a", "b", ".", r"\d", "[ab]", "[^a]", r"\s", "(?:a|bc)", "(a)", "A", r"\w", "^", "[^b-z]"]
REPEATS = ["", "", "*", "+", "?", "{2}", "{0,2}", "*?", "{1,}"]
LOOKING = ["(?!.*b)", "(?=a)", "(?!ab*)"]


def drawn(rng: random.Random) -> str:
    body = "".join(rng.choice(ATOMS) + rng.choice(REPEATS) for _ in range(rng.randint(1, 5)))
    return (
        ("(?i)" if rng.random() < 0.2 else "")
        + (rng.choice(LOOKING) if rng.random() < 0.2 else "")
        + body
    )


def test_a_pattern_fits_the_same_texts_as_re() -> None:
    rng = random.Random(7)
    texts = ["".join(t) for n in range(4) for t in itertools.product("abA1 \n", repeat=n)]
    patterns = [drawn(rng) for _ in range(300)]

    for pattern in patterns:
        try:
            compiled = re.compile(pattern, re.DOTALL)
        except re.error:
            with pytest.raises(PatternProblem):
                ValuePattern(pattern)
            continue
        fitted = ValuePattern(pattern)
        for text in rng.sample(texts, 60):
            assert fitted.fits(text) == bool(compiled.fullmatch(text)), (pattern, text)


@pytest.mark.parametrize(
    ("pattern", "fits", "fails"),
    [
        ("null", "null", "nul"),
        (r"1\d", "10", "110"),
        (".*", "two\nlines", None),
        ("a$", "a", "a\n"),
        (r"\Aa\Z", "a", "ba"),
        ("(?s)(?!.*X).*tool.*", "a tool", "a tool X"),
        ("(?i)Ünlikely", "üNLIKELY", "unlikely"),
        (r"\ud83d", "\ud83d", "d"),
        ("", "", "a"),
        ("a|", "", "b"),
    ],
)
def test_the_whole_text_must_fit(pattern: str, fits: str, fails: str | None) -> None:
    assert ValuePattern(pattern).fits(fits)
    assert fails is None or not ValuePattern(pattern).fits(fails)


@pytest.mark.parametrize(
    "pattern",
    ["(a+)+b", "(a|a)*b", "(a|aa)+b", "(.*)*b", "a?" * 25 + "a" * 25 + "b", ".*" * 40 + "b"],
)
def test_an_exponential_pattern_takes_linear_time(pattern: str) -> None:
    """With `re` each of these takes exponential time and would exceed the time limit of a test."""
    assert not ValuePattern(pattern).fits("a" * 1100 + "!")
    assert ValuePattern(pattern).fits("a" * 50 + "b") is True


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("(", "not a regular expression"),
        ("[", "not a regular expression"),
        (r"(a)\1", "not supported"),
        ("(?<=a)b", "not supported"),
        ("b(?=a)", "not supported"),
        ("a++", "not supported"),
        (r"\bfoo", "word boundaries"),
        ("(?m)^a", "flags"),
        ("(?a)a", "flags"),
        ("x(?i:a)", "flags belong at the beginning"),
        ("a{2000}", "too large"),
        ("(?:a{40}){40}", "too large"),
        ("(((){999}){999}){999}", "too large"),
        ("(" * 900 + ")" * 900, "nested too deeply"),
        ("a" * 2001, "longer than 2000"),
    ],
)
def test_what_is_not_run_is_refused(pattern: str, words: str) -> None:
    with pytest.raises(PatternProblem, match=words):
        ValuePattern(pattern)
