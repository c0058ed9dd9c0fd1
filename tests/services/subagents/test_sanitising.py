"""What is taken out of texts and arguments, rule by rule as in the core."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from services.subagents.sanitising import sanitise_arguments, sanitise_text
from services.wire import js_json
from tests.runtimes.upstream.stand_ins import needs_core
from tests.services.subagents.core_twin import from_core

PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----"
KEYS = (
    "password", "PWD", "apikey", "api_key", "API-KEY", "api%5Fkey", "api%2dkey", "access_token",
    "authorization", "client_id", "x_token_y", "--secret", "bearer", "Cookie", "harmless",
    "pa\u017f\u017fword", "to\u212aen",
)  # fmt: skip
FORMS = (
    "{k}=value", "{k}: value and more", "{k} = 'a b' rest", '"{k}": "a \\" b", next', "{k}%3Avalue",
    "'{k}':1", "\"{k}': 1", "{k} abcdefgh", "{k} abcdefg", "{k}: Bearer abcdefghij",
    "{k} : bearer  abcdefghij!", "say {k}=one two three=4", "{k}=one <two> three", "{k}=\n\tnext",
    "{k}\u00a0abcdefghij", "{k}\u0085abcdefghij", "{k}=a\ufeffb c:d", "{k}=", "{k}:",
    "{k}='unended value here", "a{k}b=c", "{k}\x1cabcdefghij",
)  # fmt: skip
TEXTS = [
    "",
    "nothing to hide",
    PEM,
    f"before {PEM} between {PEM} after",
    "-----BEGIN X----- no end",
    "-----BEGIN no dashes",
    "-----BEGIN A----- x -----END A",
    f"-----BEGIN A----- {PEM}",
    "-----BEGIN-----END-----BEGIN A-----x-----END A-----",
    "/home/u/.ssh/id_rsa.pem and C:\\keys\\My.KEY",
    "see ./a.key, /a b/c.p12 /d.pfx/x.pem9 /e.KEYS",
    "password=a token=b secret: c d auth=e",
    "Authorization: Bearer abc.def-ghi/jkl=",
    "\U0001f600 password=\U0001f600 x",
    "half a pair \ud83d password=x",
    *(form.format(k=key) for form, key in product(FORMS, KEYS)),
]
VALUES: list[Any] = [
    None, True, 3, 1.5, "password=x", [], {}, ["token abcdefghij", {"pwd": 1}],
    {"10": 1, "a": {"Api-Key": {"deep": 1}, "ok": "secret=1"}, "2": [1]},
    {"api%5fkey": 1, "api%5": "password=x", "%E0%A4%A": "x", "to%6ben": 2, "%ff_token": 3},
    {"tokens": 4, "author": "me", "key": PEM, "session_identity": 1, "TOKEN": None},
]  # fmt: skip


@needs_core
def test_texts_and_arguments_come_out_as_in_the_core() -> None:
    (theirs,) = from_core([{"kind": "sanitise", "texts": TEXTS, "values": VALUES}])
    mine = [js_json(sanitise_text(text)) for text in TEXTS]
    mine += [js_json(sanitise_arguments(value)) for value in VALUES]
    for given, my, their in zip([*TEXTS, *VALUES], mine, theirs, strict=True):
        assert my == their, given


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("password: hunter2", "password: [REDACTED]"),
        ("--api-key abcdefghij", "--api-key [REDACTED]"),
        (f"key {PEM}.", "key [REDACTED_PEM]."),
        ("cat /a/b.pem", "cat /path/to/[REDACTED].key"),
    ],
)
def test_each_kind_of_secret_is_taken_out(text: str, left: str) -> None:
    assert sanitise_text(text) == left


@pytest.mark.parametrize("path", ["/a" * 50_000, "/" * 100_000, "/a//b\\c.ke" * 10_000])
def test_a_long_path_is_scanned_once(path: str) -> None:
    assert sanitise_text(path) == path
    assert sanitise_text(f"{path}x/k.PEM").endswith("/path/to/[REDACTED].key")


def test_arguments_keep_their_shape() -> None:
    given = {"path": "a.txt", "headers": {"Cookie": ["x"]}, "many": [{"pwd": 1}, 2]}
    assert sanitise_arguments(given) == {
        "path": "a.txt",
        "headers": {"Cookie": "[REDACTED]"},
        "many": [{"pwd": "[REDACTED]"}, 2],
    }
