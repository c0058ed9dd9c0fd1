"""Redaction against secrets in the spellings in which they occur, disguised ones included."""

import json
import logging
from typing import Any

import pytest

from services.redaction import Redactor, redacted, redacted_value, secrets_in, secrets_in_value
from services.redaction.patterns import suspicious
from tests.security.secret_spellings import CLEAN, FRAMES, HEX, PLACED, PROVIDERS, made

SHOWN = 6
"""So many characters of a secret in a row are a piece of it."""
RED = "\x1b[31m"
RESET = "\x1b[0m"


def pieces(secret: str) -> list[str]:
    if len(secret) <= SHOWN:
        return [secret]
    return [secret[at : at + SHOWN] for at in range(len(secret) - SHOWN + 1)]


def assert_masked(text: str, secret: str) -> None:
    """Nothing of the secret is left, and all of the rest is; what is masked stays so."""
    clean = redacted(text)
    start = text.index(secret)
    end = start + len(secret)
    assert [piece for piece in pieces(secret) if piece in clean[start:end]] == []
    assert clean[:start] + clean[end:] == text[:start] + text[end:]
    assert len(clean.encode()) == len(text.encode())
    assert redacted(clean) is clean


def test_the_tables_are_as_long_as_they_should_be() -> None:
    assert len(PROVIDERS) + len(PLACED) >= 80
    assert len(set(CLEAN)) == len(CLEAN) >= 60


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("name", PROVIDERS)
def test_a_token_is_known_by_its_form_wherever_it_stands(name: str, frame: str) -> None:
    secret = PROVIDERS[name]

    assert_masked(FRAMES[frame].format(secret), secret)


@pytest.mark.parametrize("name", PLACED)
def test_a_secret_is_known_by_the_place_where_it_stands(name: str) -> None:
    frame, secret = PLACED[name]

    assert_masked(frame.format(secret), secret)


@pytest.mark.parametrize("text", CLEAN)
def test_a_text_that_only_looks_like_a_secret_is_returned_as_the_same_object(text: str) -> None:
    assert redacted(text) is text
    value = {"parts": [{"text": text}], "list": [text, "b"]}
    assert redacted_value(value) is value


@pytest.mark.parametrize("code", [RED, RESET, "\\u001b[1m", "\u200b", "\u2060\u200d", "\ufeff"])
@pytest.mark.parametrize("name", PROVIDERS)
def test_what_a_screen_does_not_show_hides_no_token_and_stays(name: str, code: str) -> None:
    secret = PROVIDERS[name]
    cuts = (2, len(secret) // 2)
    parts = [secret[: cuts[0]], secret[cuts[0] : cuts[1]], secret[cuts[1] :]]
    text = f"a {code.join(parts)}{code} b"

    clean = redacted(text)

    assert clean.split(code)[0] == "a xx"
    assert clean.split(code)[3:] == [" b"]
    assert [len(part) for part in clean.split(code)] == [len(part) for part in text.split(code)]
    assert [piece for part in parts for piece in pieces(part) if piece in clean[2:]] == []
    assert redacted(clean) is clean


@pytest.mark.parametrize("name", PROVIDERS)
def test_a_percent_encoded_token_is_masked_whole(name: str) -> None:
    secret = PROVIDERS[name]
    escaped = "".join(f"%{ord(c):02x}" if not c.isalnum() else c for c in secret)
    every = "".join(f"%{ord(c):02X}" for c in secret)

    for spelling in (escaped, every):
        assert_masked(f"https://x.example/%3Fq%3D{spelling}%26b", spelling)


@pytest.mark.parametrize(
    ("value", "secret"),
    [
        ({"password": "tr0ub4dor and 3"}, "tr0ub4dor and 3"),
        ({"db": {"passphrase": "corr3ct horse"}}, "corr3ct horse"),
        ({"client_secret": made(24)}, made(24)),
        ({"headers": {"X-Auth-Token": [made(30, HEX)]}}, made(30, HEX)),
        ({"Cookie": f"sid={made(32)}; lang=en"}, made(32)),
        ([{"name": "api-token", "value": made(24)}], made(24)),
    ],
)
def test_a_value_is_a_secret_by_its_key(value: Any, secret: str) -> None:
    clean = json.dumps(redacted_value(value))

    assert secret not in clean
    assert len(clean) == len(json.dumps(value))
    assert list(secrets_in_value(value, Redactor())) != []
    assert list(secrets_in_value(json.loads(clean), Redactor())) == []


@pytest.mark.parametrize("name", PROVIDERS)
def test_a_token_spread_over_a_stream_in_colours_is_masked_in_each_piece(name: str) -> None:
    secret = PROVIDERS[name]
    half = len(secret) // 2
    texts = [f"see {RED}{secret[:half]}", f"{secret[half:]}{RESET} there"]
    stream = [{"candidates": [{"content": {"parts": [{"text": text}]}}]} for text in texts]

    clean = redacted_value(stream)

    shown = [step["candidates"][0]["content"]["parts"][0]["text"] for step in clean]
    assert [len(text) for text in shown] == [len(text) for text in texts]
    assert shown[0].startswith(f"see {RED}")
    assert shown[1].endswith(f"{RESET} there")
    assert [piece for piece in pieces(secret) if piece in "".join(shown)] == []


@pytest.mark.parametrize("name", [*PLACED, *PROVIDERS])
def test_the_quick_look_never_says_no_where_a_secret_stands(name: str) -> None:
    frame, secret = PLACED.get(name) or ("{}", PROVIDERS[name])
    text = frame.format(secret)

    assert suspicious(text)
    assert secrets_in(text) == Redactor().narrowed(f"x\n{text}\ny").secrets_in(text)


HOSTILE = {
    **{
        f"{word!r}": word
        for word in (
            *(
                "password=",
                "password='",
                "password: \"'",
                "--password ",
                "pwd",
                "key1=key1=",
                "key ",
            ),
            *(
                "token=token1",
                "secret\\\\\\",
                "authorization: ",
                "authorization:response=",
                "basic ",
            ),
            *("cookie=", "cookie a=", "set-cookie: a=b;", "?token=", "?a.a.a.a_sig=", "&code=a1"),
            *("://", "://a:b", "://:a", "://aaaaaaaaaaaaaaaaaaaaaaaa", "curl ", "curl -u a:"),
            *("mysql ", "mysql -p", "sshpass -p ", "login a password ", "machine login "),
            *(
                "\x1b[",
                "\x1b[31",
                "\x1b]",
                "\x1b]8;;",
                "\x1b",
                "\u200b",
                "a\u200b",
                "%",
                "%4",
                "%41",
            ),
            *(
                "\\u001b[",
                "\\x41",
                "\\u0041",
                "&amp;",
                "%25%",
                "\\",
                "\\\\n",
                "Private-Lines: 1\nAAAA",
            ),
            *(
                "SG.",
                "SG.aaaaaaaaaaaaaaaaaaaaaa.",
                "glpat-",
                "sha256~",
                "eyJ-",
                "dp.pt.",
                ":AA",
                "Q~",
            ),
            *(
                "a1Q~",
                ".atlasv1.",
                "aaaaaaaaaaaaaa.atlasv1.",
                "-us1",
                "key-0",
                "SK0",
                "pypi-Ag",
                "fm2_",
            ),
            *(
                "-----BEGIN A-----",
                "-----BEGIN A-----\nAAAAAAAAAAAAAAAAAAAA",
                "a_a_a_",
                "a/a/a/",
                "a1.",
            ),
        )
    },
    "one name after which everything stands": "password=" + "a1-" * 100_000,
    "one quoted value": 'password="' + "a1-" * 100_000,
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.sampled(20)
def test_a_text_made_to_be_slow_is_read_in_proportion_to_its_length(name: str) -> None:
    piece = HOSTILE[name]
    text = (piece * (500_000 // len(piece) + 1))[:500_000]

    # In quadratic time this would take an hour, and the test's own limit ends it.
    assert len(redacted(text)) == len(text)


def test_a_log_record_is_masked_in_colours(caplog: pytest.LogCaptureFixture) -> None:
    from services.redaction.logs import SecretsMasked

    secret = PROVIDERS["github personal"]
    record = logging.LogRecord("x", 20, "f", 1, "%s", (f"{RED}{secret}{RESET}",), None)

    assert secret not in SecretsMasked("%(message)s").format(record)
