"""Cuts in event streams make no difference, except to a faulty client, which is found."""

import random
from collections.abc import AsyncIterator
from datetime import date
from typing import Any

import httpx
import pytest

from harness.parity.verdict import CaseVerdict
from harness.parity.waivers import Waivers
from harness.scenarios.byte_level import OVER_BYTES, byte_trial, cut_at_random, fits_bytes
from harness.scenarios.trial import Trial
from services.model.event_stream import event_stream

WAIVERS = Waivers(as_of=date(2026, 11, 22))


def chunk(*parts: dict[str, Any], **candidate: Any) -> dict[str, Any]:
    content = {"role": "model", "parts": list(parts)}
    return {"candidates": [{"content": content, "index": 0, **candidate}]}


def document(*steps: dict[str, Any], **keys: Any) -> dict[str, Any]:
    return {
        "cassette": 1,
        "name": "generated/bytes",
        "session": {"model": "gemini-2.5-flash", "approval_mode": "yolo"},
        "files": {"a.txt": "alpha\n"},
        "match": "by_role",
        "script": [{"send": "go"}],
        "model": [*steps, {"text": "Done.", "repeat": 3}],
        **keys,
    }


CALL = {"functionCall": {"name": "read_file", "args": {"file_path": "a.txt"}}}
EVERYTHING = document(
    {"error": {"status": 429, "message": "slow down", "grpc": "RESOURCE_EXHAUSTED"}},
    {
        "stream": [
            chunk({"text": "**Plan** \U0001f469\u200d\U0001f4bb", "thought": True}),
            chunk({"text": "na\u00efve \u2014 line\u2028separator, tab\t, nul \x00 and \r\n"}),
            chunk({**CALL, "thoughtSignature": "c2lnbmVk"}, finishReason="STOP"),
        ]
    },
    {"stream": [chunk({"text": "half"})], "then_error": {"status": 503, "message": "mid-stream"}},
    {"stream": [chunk({"text": "half"})], "then_error": {"message": "read", "code": "ECONNRESET"}},
    {
        "stream": [
            chunk({"text": "the en"}),
            {
                **chunk(
                    {"text": "d", "newer": None},
                    finishReason="STOP",
                    citationMetadata={"citations": [{"uri": "https://example.org/a"}]},
                ),
                "usageMetadata": {"promptTokenCount": 10, "totalTokenCount": 15},
            },
        ],
        "delay_ms": 250,
    },
)


def tried(cuts: int = 1, what: dict[str, Any] = EVERYTHING) -> Trial:
    return byte_trial(what, cuts, "legacy", "adk", WAIVERS)


@pytest.mark.parametrize("cuts", range(4))
@pytest.mark.sampled(2)
def test_cuts_in_the_bytes_make_no_difference(cuts: int) -> None:
    trial = tried(cuts)

    assert trial.result.verdict is CaseVerdict.PARITY, trial.result.to_json()
    assert trial.fingerprint is None
    assert {"event:tool_response", "retry:first"} <= trial.reached
    assert trial.result.rules == {"nulls": 1, "error_events": 1, "resets": 1}


def test_byte_level_finds_a_client_that_splits_lines_at_reads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def torn(self: httpx.Response) -> AsyncIterator[str]:
        async for text in self.aiter_text():
            for line in text.splitlines():
                yield line

    monkeypatch.setattr(httpx.Response, "aiter_lines", torn)

    trial = tried()

    assert trial.result.verdict is CaseVerdict.DIVERGENT
    assert trial.fingerprint is not None
    assert all(found.label.endswith(OVER_BYTES) for found in trial.result.divergences)
    assert trial.result.runtimes == ("legacy", f"legacy{OVER_BYTES}")


def test_byte_level_finds_a_client_that_loses_a_field(monkeypatch: pytest.MonkeyPatch) -> None:
    from services.model import sdk_json

    whole = sdk_json.dumped

    def lossy(*args: Any, **options: Any) -> Any:
        answer = whole(*args, **options)
        for candidate in answer.get("candidates", ()):
            for part in candidate.get("content", {}).get("parts", ()):
                part.pop("thoughtSignature", None)
        return answer

    monkeypatch.setattr(sdk_json, "dumped", lossy)

    assert tried().fingerprint is not None


def test_an_abort_at_a_chunk_is_the_same_over_bytes() -> None:
    stream = [chunk({"text": "one"}), chunk({"text": "two"}), chunk({"text": "three"})]
    during = [{"when": {"chunk": "0:1"}, "do": "abort"}]

    trial = tried(what=document({"stream": stream}, during=during))

    assert trial.fingerprint is None, trial.result.to_json()
    assert "end:aborted" in trial.reached


BEGUN = {"functionCall": {"name": "glob", "willContinue": True}}
LOOP_CHECK = {"role": "utility_loop_detector", "json": {}}


@pytest.mark.parametrize(
    ("steps", "keys"),
    [
        ([{"hang": True}], {}),
        ([{"stream": [chunk({"text": "a"}), {"$sleep": 5}]}], {}),
        ([{"stream": [{"$hang": True}]}], {}),
        ([{"stream": [{"error": {"code": 500, "message": "in the body"}}]}], {}),
        ([{"error": {"message": "connect", "code": "ECONNREFUSED"}}], {}),
        ([{"stream": [chunk(BEGUN)]}], {}),
        ([{"stream": [chunk(BEGUN), chunk({"functionCall": {"name": "glob"}})]}], {}),
        ([{"stream": [chunk(BEGUN), chunk({"functionCall": {}})]}, LOOP_CHECK], {}),
        ([{"error": {"status": 302, "message": "elsewhere"}}], {}),
        ([], {"during": [{"when": {"events": 1}, "do": "abort", "delay_ms": 5}]}),
        ([], {"answers": {"confirmations": ["cancel", {"outcome": "cancel", "delay_ms": 5}]}}),
    ],
)
def test_answers_that_the_stand_in_cannot_serve_do_not_fit(
    steps: list[Any], keys: dict[str, Any]
) -> None:
    assert not fits_bytes(document(*steps, **keys))


def test_servable_answers_fit_bytes() -> None:
    assert fits_bytes(EVERYTHING)
    assert fits_bytes(document({"stream": [chunk(BEGUN), chunk({"functionCall": {}})]}))
    assert fits_bytes(document(LOOP_CHECK))


def test_two_published_cores_are_not_compared_at_byte_level() -> None:
    trial = byte_trial(EVERYTHING, 0, "upstream", "upstream", WAIVERS)

    assert trial.result.verdict is CaseVerdict.INCONCLUSIVE
    assert trial.reached == frozenset()


def test_cuts_fall_inside_characters_line_ends_and_names() -> None:
    step: dict[str, Any] = {"stream": [chunk({"text": "\U0001f469\u00e9"})] * 3}
    inside = {"character": 0, "line end": 0, "data: ": 0, "none": 0}
    for seed in range(200):
        cut = cut_at_random(step, random.Random(seed))
        body = event_stream(step["stream"], cut["line_end"])
        assert all(place > 0 for place in cut["cuts"])
        inside["none"] += not cut["cuts"]
        for place in cut["cuts"]:
            inside["character"] += place < len(body) and 0x80 <= body[place] < 0xC0
            inside["line end"] += body[place - 1 : place + 1] == b"\r\n"
            inside["data: "] += body[place - 2 : place + 2] == b"data"

    assert all(inside.values()), inside


def test_the_same_seed_cuts_at_the_same_bytes() -> None:
    step: dict[str, Any] = {"stream": [chunk({"text": "some words"})]}

    assert cut_at_random(step, random.Random(7)) == cut_at_random(step, random.Random(7))


def test_a_reset_stays_at_the_end_of_the_stream() -> None:
    step: dict[str, Any] = {"stream": [chunk({"text": "some words"})] * 2, "reset_at": 1}

    for seed in range(8):
        cut = cut_at_random(step, random.Random(seed))
        assert cut["reset_at"] == len(event_stream(step["stream"], cut["line_end"]))


def test_answers_that_are_no_streams_are_not_cut() -> None:
    step: dict[str, Any] = {"count_tokens": {"totalTokens": 3}}

    assert cut_at_random(step, random.Random(1)) == step
