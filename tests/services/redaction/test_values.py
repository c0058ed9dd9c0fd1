from typing import Any

import pytest

from services.redaction import (
    MASK,
    Redactor,
    SecretKind,
    is_masked,
    redacted,
    redacted_value,
    secrets_in_value,
)
from tests.services.redaction.specimens import GOOGLE, PEM, SECRETS

EVERY = pytest.mark.parametrize("name", SECRETS)


def chunk(*texts: str, thought: bool = False) -> dict[str, Any]:
    parts = [{"text": text, "thought": True} if thought else {"text": text} for text in texts]
    return {"candidates": [{"content": {"role": "model", "parts": parts}, "index": 0}]}


def delta(text: str, kind: str = "text", **more: Any) -> dict[str, Any]:
    key = "text" if kind == "text" else "thought"
    content = [{"type": kind, key: text}]
    return {"type": "message", "role": "agent", "content": content, **more}


def texts(value: Any) -> str:
    if isinstance(value, str):
        return value
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return "".join(map(texts, items))


def cut(name: str, *places: int) -> list[str]:
    """The text with a secret, in pieces that end at places in the secret."""
    _, frame, secret = SECRETS[name]
    text = frame.format(secret)
    ends = [text.index(secret) + place for place in places]
    return [text[a:b] for a, b in zip([0, *ends], [*ends, len(text)], strict=True)]


@EVERY
def test_it_is_found_wherever_it_stands(name: str) -> None:
    _, frame, secret = SECRETS[name]
    text = frame.format(secret)
    value = {"a": [1, None, {"b": text}], text: True, "c": "clean"}

    clean = redacted_value(value)

    masked = redacted(text)
    assert clean == {"a": [1, None, {"b": masked}], masked: True, "c": "clean"}
    assert value["c"] is clean["c"]


@EVERY
def test_chunks_of_a_model_s_stream_are_one_text(name: str) -> None:
    pieces = cut(name, 2, 5)
    stream = [chunk(piece) for piece in pieces]
    stream.insert(1, {"usageMetadata": {"totalTokenCount": 3}})

    clean = redacted_value({"model": [{"stream": stream}]})["model"][0]["stream"]

    assert texts(clean).replace("model", "") == redacted("".join(pieces))
    assert [len(texts(each)) for each in clean] == [len(texts(each)) for each in stream]


@EVERY
def test_deltas_of_a_message_are_one_text(name: str) -> None:
    pieces = cut(name, 3)
    one, two = pieces
    events = [delta(one), {"type": "usage"}, delta("thinking", "thought"), delta(two)]

    clean = redacted_value(events)

    texts = clean[0]["content"][0]["text"] + clean[3]["content"][0]["text"]
    assert texts == redacted(one + two)
    assert clean[1:3] == events[1:3]


def test_thoughts_and_texts_are_streams_of_their_own() -> None:
    parts = [{"text": GOOGLE[:9]}, {"text": "hm", "thought": True}, {"text": GOOGLE[9:]}]
    half = [{"text": GOOGLE[:9]}, {"text": GOOGLE[9:], "thought": True}]

    clean: Any = redacted_value(parts)

    assert clean[0]["text"] + clean[2]["text"] == redacted(GOOGLE)
    assert clean[1] == parts[1]
    assert redacted_value(half) is half


def test_pieces_with_other_events_between_are_not_one_text() -> None:
    events = [delta(GOOGLE[:9]), {"type": "tool_request", "name": "x"}, delta(GOOGLE[9:])]

    assert redacted_value(events) is events


def test_subagents_that_talk_at_once_do_not_hide_a_secret() -> None:
    one, two = GOOGLE[:20], GOOGLE[20:]
    events = [delta(one, threadId="a"), delta("so, ", threadId="b"), delta(two, threadId="a")]

    clean = redacted_value(events)

    assert clean[1] == events[1]
    assert GOOGLE[:9] not in texts(clean)
    assert texts(clean[2]) == texts(events[2]).replace(two, "x" * len(two))


def test_signatures_and_media_stay_by_their_field() -> None:
    value = {
        "parts": [
            {"text": "x", "thoughtSignature": GOOGLE},
            {"inlineData": {"mimeType": "image/png", "data": GOOGLE}},
            {"type": "media", "mime_type": "image/png", "data": GOOGLE},
            {"type": "thought", "thought": "x", "thought_signature": GOOGLE},
        ],
        "files": {"a.bin": {"base64": GOOGLE}},
    }

    assert redacted_value(value) is value
    assert redacted_value({**value, "data": GOOGLE})["data"] == redacted(GOOGLE)


@pytest.mark.parametrize(
    "value",
    [
        {"apiKey": "9f8e7d6c5b4a39281706"},
        {"headers": {"X-Goog-Api-Key": ["9f8e7d6c5b4a39281706"]}},
        {"query": [{"name": "key", "value": "9f8e7d6c5b4a39281706"}]},
        {"client_secret": "9f8e7d6c5b4a39281706", "client_id": "x"},
    ],
)
def test_a_value_is_searched_together_with_the_key_that_labels_it(value: Any) -> None:
    assert "9f8e7d6c5b4a39281706" not in str(redacted_value(value))
    assert MASK in str(redacted_value(value))


@pytest.mark.parametrize(
    "value",
    [
        {"key": "value", "api_key": None, "apiKey": "GEMINI_API_KEY", "token": "abc123def456"},
        {"fingerprint": "0b4e28ba2fa1", "key": "model[3].stream", "digests": ["e3b0c442" * 8]},
        [{"name": "read_file", "value": "abc123def456"}],
        {"authorization": "Bearer <token>"},
        {"k": ["AIza", "SyD3mO_k3Y-4bcdEfghIjklMnopQrstUvw12"]},
    ],
)
def test_an_ordinary_value_comes_back_as_the_same_object(value: Any) -> None:
    assert redacted_value(value) is value


def test_keys_that_become_alike_stay_apart() -> None:
    changes = {"/home/karla/a": "1", "/home/maria/a": "2", "/home/xxxxx/a": "3"}

    clean = redacted_value(changes)

    assert sorted(clean.values()) == ["1", "2", "3"]
    assert "karla" not in str(clean)
    assert "maria" not in str(clean)


def test_tuples_stay_tuples_and_strings_are_values_too() -> None:
    assert redacted_value((GOOGLE, 1)) == (redacted(GOOGLE), 1)
    assert redacted_value(GOOGLE) == redacted(GOOGLE)
    assert redacted_value(None) is None


def test_a_located_secret_has_its_place_and_kind_alone() -> None:
    value = {
        "model": [{"stream": [chunk("no"), chunk(GOOGLE[:9]), chunk(GOOGLE[9:])]}],
        "files": {"/home/karla/x": PEM},
    }

    found = list(secrets_in_value(value, Redactor()))

    assert [(each.place, each.kind, each.in_key) for each in found] == [
        (
            "model[0].stream[1].candidates[0].content.parts[0].text",
            SecretKind.GOOGLE_KEY,
            False,
        ),
        ("files./home/karla/x", SecretKind.HOME, True),
        ("files./home/karla/x", SecretKind.PEM, False),
    ]
    assert list(secrets_in_value(redacted_value(value), Redactor())) == []
    assert is_masked(redacted(GOOGLE))
