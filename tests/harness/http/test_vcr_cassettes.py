"""What the loader mends, what it skips, and what it refuses."""

import base64
import gzip
import json

import pytest
import yaml

from harness.errors import CassetteFormatError
from harness.http import recorded_yaml
from harness.http.events import parse_event_stream
from harness.http.exchanges import HttpRecording, SkippedRecording
from harness.http.vcr_cassettes import load_recording
from services.model.replay.steps import StepMethod
from tests.harness.http.recordings import has_tool_loop, is_streamed, is_translated

API = "https://generativelanguage.googleapis.com/v1beta"
STREAM = f"{API}/models/gemini-2.5-flash:streamGenerateContent?alt=sse"
WHOLE = f"{API}/models/gemini-2.5-flash:generateContent"


def said(text="hi", **part):
    return {"candidates": [{"content": {"role": "model", "parts": [{"text": text, **part}]}}]}


def events(*chunks):
    return "".join(f"data: {json.dumps(chunk)}\r\n\r\n" for chunk in chunks)


def asked(text="question"):
    return {"contents": [{"role": "user", "parts": [{"text": text}]}]}


def interaction(uri=STREAM, body=None, status=200, method="POST", request=None, **response):
    if body is None:
        body = events(said())
    return {
        "request": {
            "method": method,
            "uri": uri,
            "body": json.dumps(request or asked()),
            "headers": {},
        },
        "response": {
            "status": {"code": status, "message": "OK"},
            "headers": {},
            "body": {"string": body},
            **response,
        },
    }


@pytest.fixture
def load(tmp_path):
    def write(*interactions, text=None, name="r.yaml"):
        file = tmp_path / name
        document = {"version": 1, "interactions": list(interactions)}
        file.write_text(yaml.safe_dump(document) if text is None else text, "utf-8")
        return load_recording(file)

    return write


def test_a_stream_is_kept_as_it_was_recorded(load):
    recording = load(interaction(body=events(said("a"), said("b"))))
    (exchange,) = recording.exchanges
    assert exchange.method is StepMethod.STREAM
    assert exchange.body.decode() == events(said("a"), said("b"))
    assert (is_translated(exchange), is_streamed(recording), recording.model) == (
        False,
        True,
        "gemini-2.5-flash",
    )


def test_a_whole_answer_becomes_a_stream_of_one_event(load):
    recording = load(interaction(uri=WHOLE, body=json.dumps(said("ü"), indent=2)))
    (exchange,) = recording.exchanges
    assert (is_translated(exchange), is_streamed(recording)) == (True, False)
    assert parse_event_stream(exchange.body) == [said("ü")]
    assert exchange.body.endswith(b"\r\n\r\n")


def test_decoded_bodies_are_encoded_again(load):
    item = interaction(uri=WHOLE)
    del item["response"]["body"], item["request"]["body"]
    item["response"]["parsed_body"] = said()
    item["request"]["parsed_body"] = asked("decoded")
    recording = load(item)
    assert recording.exchanges[0].chunks == (said(),)
    assert recording.sends() == ("decoded",)


def test_characters_that_the_client_takes_for_line_ends_are_escaped(load):
    text = json.dumps(said("a\u2028b"), ensure_ascii=False)
    recording = load(interaction(body=f"data: {text}\r\n\r\n"))
    assert recording.exchanges[0].chunks == (said("a\u2028b"),)
    assert b"a\\u2028b" in recording.exchanges[0].body


def test_compressed_bodies_lower_case_methods_and_missing_headers_are_mended(load):
    item = interaction(method="post", body=gzip.compress(events(said()).encode()))
    item["response"]["headers"] = {"content-encoding": ["gzip"], "content-length": ["7"]}
    del item["request"]["headers"]
    assert load(item).exchanges[0].chunks == (said(),)


def test_responses_of_old_versions_lie_flat(load):
    item = interaction()
    item["response"] = {"status_code": 200, "headers": {}, "content": events(said())}
    assert load(item).exchanges[0].chunks == (said(),)


@pytest.mark.parametrize(
    ("signature", "mended"),
    [
        ("c2ln", "c2ln"),
        ("+/+/", "+/+/"),
        ("-_-_", "-_-_"),
        ("signature_REDACTED_10", base64.b64encode(b"signature_REDACTED_10").decode()),
        ("ab+/cd==", base64.b64encode(b"ab+/cd==").decode()),
    ],
)
def test_a_signature_that_is_no_base64_is_encoded(load, signature, mended):
    recording = load(interaction(body=events(said(thoughtSignature=signature))))
    (chunk,) = parse_event_stream(recording.exchanges[0].body)
    assert chunk["candidates"][0]["content"]["parts"][0]["thoughtSignature"] == mended


@pytest.mark.parametrize(
    ("uri", "reason"),
    [
        ("https://example.com/models/m:generateContent", "other host: example.com"),
        ("https://evil-generativelanguage.googleapis.com/models/m:generateContent", "other host"),
        (f"{API}/interactions", "Interactions API"),
        (f"{API}/files/abc", "not a model call: files"),
        (f"{API}/models/m:batchEmbedContents", "not a model call: batchEmbedContents"),
        (f"{API}/models", "not a model call: models"),
        ("https://[broken/x", "incomplete exchange: the address is none"),
    ],
)
def test_what_is_no_model_call_is_skipped_with_its_reason(load, uri, reason):
    skipped = load(interaction(uri=uri))
    assert isinstance(skipped, SkippedRecording)
    assert skipped.reason.startswith(reason)


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        (interaction(uri=STREAM.removesuffix("?alt=sse"), body="[{}]"), "not an event stream"),
        (interaction(body=""), "the event stream is empty"),
        (interaction(body="data: {broken\r\n\r\n"), "the answer is not JSON"),
        (interaction(uri=WHOLE, body="[1]"), "the answer is not a JSON object"),
        (interaction(method="GET"), "not a model call: GET"),
        (interaction(status="200"), "incomplete exchange: no status"),
        (interaction(body=7), "incomplete exchange: the body is neither text nor bytes"),
        (interaction(body=b"\x1f\x8bxx"), "the compressed body is damaged"),
        ({"request": {}}, "incomplete exchange: no `response`"),
        ({"request": {}, "response": {"status": {"code": 200}}}, "no `method`"),
        (None, "incomplete exchange: no `request`"),
    ],
)
def test_what_the_client_cannot_read_is_skipped_with_its_reason(load, item, reason):
    skipped = load(item)
    assert isinstance(skipped, SkippedRecording)
    assert reason in skipped.reason


def test_the_rest_of_a_file_is_kept_and_says_what_is_missing(load):
    other = interaction(uri="https://oauth2.googleapis.com/token")
    recording = load(other, interaction(), {"request": {}})
    assert isinstance(recording, HttpRecording)
    assert [exchange.index for exchange in recording.exchanges] == [1]
    assert recording.skipped == (
        "other host: oauth2.googleapis.com",
        "incomplete exchange: no `response`",
    )


def test_errors_keep_their_status_and_body(load):
    error = {"error": {"code": 429, "message": "slow", "status": "RESOURCE_EXHAUSTED"}}
    recording = load(interaction(status=429, body=json.dumps(error)), interaction())
    first = recording.exchanges[0]
    assert (first.status, json.loads(first.body), first.chunks) == (429, error, ())
    assert recording.sends() == ("question",)


def test_a_user_speaks_after_each_answer_that_asks_for_nothing(load):
    call = {"candidates": [{"content": {"parts": [{"functionCall": {"name": "f"}}]}}]}
    result = {"functionResponse": {"name": "f", "response": {}}}
    answered = {"contents": [*asked("one")["contents"], {"role": "user", "parts": [result]}]}
    recording = load(
        interaction(body=events(call), request=asked("one")),
        interaction(body=events(said()), request=answered),
        interaction(body=events(said()), request=asked("two")),
        interaction(body=events(said()), request={"contents": []}),
    )
    assert recording.sends() == ("one", "two", "(recorded 2)")
    assert has_tool_loop(recording)
    assert recording.document()["script"][1] == {"send": "two"}


def test_httpmock_documents_are_read(load):
    when = {
        "path": "/v1beta/models/m:streamGenerateContent",
        "method": "POST",
        "query_param": [{"name": "alt", "value": "sse"}, {"name": "key", "value": "[REDACTED]"}],
        "body": json.dumps(asked("mocked")),
    }
    document = yaml.safe_dump({"when": when, "then": {"status": 200, "body": events(said())}})
    recording = load(text=f"{document}---\n{document}")
    assert (recording.format, len(recording.exchanges), recording.model) == ("httpmock", 2, "m")
    assert recording.sends() == ("mocked", "mocked")


def test_rubys_recordings_are_read(load):
    item = interaction(method="post", body=events(said()).encode())
    item["request"]["body"] = {"encoding": "UTF-8", "string": json.dumps(asked("ruby"))}
    text = yaml.safe_dump({"http_interactions": [item], "recorded_with": "VCR"})
    recording = load(text=text.replace("!!binary", "!binary"), name="r.yml")
    assert (recording.format, recording.sends()) == ("ruby-vcr", ("ruby",))
    assert recording.exchanges[0].chunks == (said(),)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("a.responses", "no HTTP: use `parity import`"),
        ("a.json", "no HTTP exchange"),
        ("a.chunks.txt", "no HTTP exchange"),
    ],
)
def test_answers_without_http_are_skipped_by_their_name(load, name, reason):
    assert reason in load(text="{}", name=name).reason


@pytest.mark.parametrize("text", ["", "[]", "a: 1", "interactions: 7", "- 1"])
def test_other_yaml_is_no_recording(load, text):
    assert load(text=text).reason == "is no recording of a known format"


def test_a_tag_that_would_build_an_object_is_refused(load):
    with pytest.raises(CassetteFormatError, match="not plain YAML"):
        load(text="interactions:\n- !!python/object/apply:os.getcwd []\n")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: [", "not plain YAML: line 2"),
        ("[" * 70 + "]" * 70, "nested deeper than 64 levels"),
        ("a: &x [*x]", "the alias `x` refers to itself"),
        ("a: &x 1\nb: *y", "line 2: the alias `y` stands for nothing"),
    ],
)
def test_a_damaged_or_hostile_file_is_one_clear_error(load, text, problem):
    with pytest.raises(CassetteFormatError, match=problem):
        load(text=text)


def test_aliases_are_read_but_count_as_what_they_stand_for(load):
    shared = "&h {a: [1]}"
    assert load(text=f"interactions: []\nx: {shared}\ny: *h\n").reason == "holds no model call"
    lines = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    with pytest.raises(CassetteFormatError, match="holds more than 1,000,000 values"):
        load(text="\n".join(lines))


def test_a_long_text_counts_as_often_as_it_is_named(load, monkeypatch):
    monkeypatch.setattr(recorded_yaml, "MAX_BYTES", 1 << 20)
    text = "a: &a " + "x" * 10_000 + "\nb: [" + ", ".join(["*a"] * 200) + "]\n"
    with pytest.raises(CassetteFormatError, match="holds more than 1 million characters of text"):
        load(text=text)


@pytest.mark.parametrize(
    "value",
    [
        "1" + ":1" * 300,
        "1" + ":1" * 190 + ".5",
        "0x" + "f" * 500,
        "9" * 5_000,
        "!!int ''",
        "!!float ''",
        "!!bool 3",
        "!!timestamp x",
        "!!binary \u00e9",
        "2026-99-99",
        "!!omap 3",
    ],
)
def test_a_value_that_is_none_is_one_clear_error(load, value):
    with pytest.raises(CassetteFormatError, match="not plain YAML"):
        load(text=f"a: {value}\n")


def test_the_name_of_an_alias_is_not_quoted_without_end(load):
    with pytest.raises(CassetteFormatError) as caught:
        load(text="a: *" + "k" * 100_000 + "\n")
    assert len(str(caught.value)) < 1_000


def test_an_answer_nested_too_deep_is_skipped(load):
    deep = '{"a":' * 200 + "1" + "}" * 200
    assert load(interaction(WHOLE, deep)).reason == "the answer is nested deeper than 64 levels"


def test_the_bodies_of_a_file_cannot_grow_without_bounds_together(load, monkeypatch):
    monkeypatch.setattr("harness.http.formats._MAX_BODIES", 1 << 20)
    bomb = gzip.compress(b"x" * (1 << 20))
    skipped = load(interaction(WHOLE, bomb), interaction(WHOLE, bomb))
    assert skipped.details == (
        "the answer is not JSON",
        "incomplete exchange: the bodies before it come to more than 1 MB",
    )


def test_a_large_file_is_refused_before_it_is_parsed(load, monkeypatch):
    monkeypatch.setattr(recorded_yaml, "MAX_BYTES", 1 << 20)
    with pytest.raises(CassetteFormatError, match="larger than 1 MB"):
        load(text="a: " + "x" * (1 << 20))


def test_a_compressed_body_cannot_grow_without_bounds(load, monkeypatch):
    monkeypatch.setattr("harness.http.formats._MAX_BODY", 1 << 20)
    bomb = gzip.compress(b"x" * (2 << 20))
    assert "larger than 1 MB" in load(interaction(body=bomb)).reason


def test_only_line_ends_of_the_format_end_a_line():
    chunk = said("a\u2028b\u0085c\u000bd")
    text = f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n: comment\n\ndata: {{}}"
    assert parse_event_stream(text.encode()) == [chunk, {}]
