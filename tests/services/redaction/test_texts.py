import logging
from itertools import pairwise

import pytest

from services.redaction import (
    MASK,
    Redactor,
    is_masked,
    redacted,
    secrets_in,
    without_credentials,
)
from services.redaction.logs import SecretsMasked
from tests.services.redaction.specimens import GOOGLE, JWT, PEM, SECRETS

EVERY = pytest.mark.parametrize("name", SECRETS)

CLEAN = [
    "",
    "The key of the matter is a token of trust; bearer tokens, basic procedures, secret sauce.",
    "HTTP uses the header Authorization: Bearer <token>, or Authorization: Basic auth.",
    "Authorization: Bearer $TOKEN; Authorization: Bearer ${TOKEN}; Bearer {token}",
    "Bearer YOUR_TOKEN_1, Bearer my-token-2",
    'WWW-Authenticate: Bearer realm="https://accounts.google.com/"',
    "api_key=os.environ['GEMINI_API_KEY'], apiKey: process.env.GEMINI_API_KEY,",
    "api_key = settings.api_key2; client_secret=get_secret_v2(); api_key='your-api-key-1'",
    "api_key=xxxxxxxxxxxxxxxxxxxx, api_key=********************, ?key=value, &key=[REDACTED]",
    'totalTokenCount: 1234, "access_token": null, maxOutputTokens=65535',
    ".sk-spinner-chasing-dots-container-wide { color: red } sk-learn sk-0",
    "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "0b4e28ba-2fa1-41d2-883f-0016d3cca427 read_file_1767225600001_0 P-014 s0-12 CRYPTO",
    "iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4AKIAxokxAKIAEYBAAIA" * 20,
    "CpsBAY89a1sfkXeYjPOxwOBaLNTXmWY8yoBk_ktF1NXk2NKsRVByR0grf5TqMKE0JtGGAx4vzR6vQeyJNLUEK",
    "the flag -----BEGIN PRIVATE KEY----- marks a key, -----END PRIVATE KEY----- ends it",
    "-----BEGIN PRIVATE KEY-----",
    "/home/user/a /home/username/b /root/c /Users/you/d C:\\Users\\Public\\e /home/runner/work",
    "/home/user1/x /home/notes.md https://example.org/home/karlotta/ src/home/karlotta/x",
    "<WS>/home/karlotta/x /home/ /homes/karlotta/x",
    "/Users/123/groups GET /Users/{id}/ /home/$USER/ /home/<name>/x ~/x",
    "x = 1//0 or y//z; 1//2; http://localhost:8080/a@b; git@github.com:a/b; a:b@c",
    "postgres://user:$PASSWORD@db/x https://{user}:{pw}@host/",
    "ghp_ github_pat_ AKIA AIza sk- xoxb- ya29. eyJ 1//0",
    "AKIAIOSFODNN7EXAMPLEAKIAIOSFODNN7EXAMPLE in base64 runs on",
    "e.g. eyJhbGciOiJIUzI1NiJ9 alone is a header",
]


@EVERY
def test_a_secret_is_found_masked_and_nothing_else_is_touched(name: str) -> None:
    kind, frame, secret = SECRETS[name]
    text = f"before ünï {frame.format(secret)} after \N{MATHEMATICAL FRAKTUR CAPITAL U}"

    clean = redacted(text)

    start = text.index(secret)
    assert [(found.start, found.end, found.kind) for found in secrets_in(text)] == [
        (start, start + len(secret), kind)
    ]
    assert clean == text[:start] + clean[start : start + len(secret)] + text[start + len(secret) :]
    assert is_masked(clean[start : start + len(secret)].replace("\n", ""))


@EVERY
def test_lengths_stay_in_characters_bytes_and_lines(name: str) -> None:
    _, frame, secret = SECRETS[name]
    text = frame.format(secret)

    clean = redacted(text)

    assert len(clean) == len(text)
    assert len(clean.encode()) == len(text.encode())
    assert len(clean.encode("utf-16")) == len(text.encode("utf-16"))
    assert clean.count("\n") == text.count("\n")


@EVERY
def test_what_is_masked_is_clean(name: str) -> None:
    _, frame, secret = SECRETS[name]
    clean = redacted(frame.format(secret))

    assert secrets_in(clean) == []
    assert redacted(clean) is clean


@EVERY
@pytest.mark.parametrize("size", [1, 3, 7])
def test_a_secret_spread_over_chunks_is_masked_in_all_of_them(name: str, size: int) -> None:
    _, frame, secret = SECRETS[name]
    text = f"a b {frame.format(secret)} c d"
    chunks = [text[at : at + size] for at in range(0, len(text), size)]

    clean = Redactor().chunks(chunks)

    assert [len(chunk) for chunk in clean] == [len(chunk) for chunk in chunks]
    assert "".join(clean) == redacted(text)


@pytest.mark.parametrize("text", CLEAN)
def test_ordinary_text_comes_back_as_the_same_object(text: str) -> None:
    assert secrets_in(text) == []
    assert redacted(text) is text
    chunks = [text, "\n"]
    assert Redactor().chunks(chunks) is chunks


def test_a_mask_says_that_it_is_one() -> None:
    assert redacted(f"key {GOOGLE}") == f"key {MASK}{'x' * (len(GOOGLE) - len(MASK))}"
    assert redacted("see /home/karla/x") == "see /home/xxxxx/x"


def test_every_secret_of_a_text_is_found_in_order() -> None:
    text = " ".join(frame.format(secret) for _, frame, secret in SECRETS.values())

    found = secrets_in(text)

    assert len(found) >= len(SECRETS) - 1  # `key=sk-…` may count as one or the other
    assert found == sorted(found)
    assert all(one.end <= other.start for one, other in pairwise(found))
    assert not [name for name, (_, _, secret) in SECRETS.items() if secret in redacted(text)]


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        (PEM.replace("\n", "\\n"), True),
        (PEM[: PEM.index("-----END")], True),
        (f'{{"key": "{GOOGLE}"}}', True),
        (f'{{\\"Authorization\\": \\"Bearer {JWT}\\"}}', True),
        (PEM.replace("RSA PRIVATE KEY", "CERTIFICATE"), True),
    ],
)
def test_secrets_are_found_in_other_writings(text: str, clean: bool) -> None:
    assert (redacted(text) != text) is clean
    for line in PEM.splitlines()[1:3]:
        assert line not in redacted(text)


def test_known_values_are_secrets_however_they_look() -> None:
    redactor = Redactor({"sesame", "open sesame"})

    assert redactor.text("say open sesame, sesame") == f"say {MASK}xxx, xxxxxx"
    assert redactor.chunks(["say ses", "ame"]) == ["say xxx", "xxx"]
    plain = "say nothing"
    assert redactor.text(plain) is plain


def test_without_credentials_keeps_home_paths() -> None:
    text = f"/home/karlotta/x.yaml: {GOOGLE}"

    assert without_credentials(text) == f"/home/karlotta/x.yaml: {redacted(GOOGLE)}"


def test_log_records_are_masked_with_their_tracebacks() -> None:
    def fail() -> None:
        raise ValueError(f"no such key: {GOOGLE}")

    with pytest.raises(ValueError, match="no such key") as raised:
        fail()
    record = logging.LogRecord(
        "x", logging.ERROR, "f", 1, "%s", (GOOGLE,), (ValueError, raised.value, raised.tb)
    )
    text = SecretsMasked(logging.BASIC_FORMAT).format(record)

    assert GOOGLE not in text
    assert text.count(MASK) == 2
    assert "fail" in text


HOSTILE = {
    "eyJ-runs": "eyJ-",
    "eyJ": "eyJ",
    "AIza": "AIza",
    "sk": "sk-",
    "1//0": "1//0",
    "begin": "-----BEGIN RSA PRIVATE KEY-----\n",
    "pem-lines": "-----BEGIN A-----\nAAAAAAAAAAAAAAAAAAAA\n",
    "bearer": "bearer ",
    "authorization": "authorization: ",
    "api": "api_key=",
    "api-quotes": "api_key'\"\\",
    "urls": "://a:",
    "homes": "/home/",
    "users": "C:\\Users\\",
    "spaces": "authorization    ",
    "query": "?key=",
    "dots": "ya29.a.",
}


@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.sampled(17)
def test_a_text_made_to_be_slow_is_read_in_the_time_that_reading_takes(piece: str) -> None:
    text = piece * (500_000 // len(piece))

    # In quadratic time this would take an hour, and the test's own limit ends it.
    assert len(redacted(text)) == len(text)
