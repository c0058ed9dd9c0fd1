"""A session of two hundred prompts, with a resume in the other runtime at half of it."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from harness.canonical import canonical, sha256_hex
from harness.parity.compare import compare_observations
from harness.parity.divergence import ChannelName, Divergence
from harness.replay.observation import Observation, ObservedRequest
from harness.replay.runner import run_cassette
from harness.replay.trace import whole_contents
from parity_tests.long_session import (
    HALF,
    LONG_LOOP_AT,
    OUT_OF_CAPACITY_AT,
    OUT_OF_QUOTA_AT,
    PROMPTS,
    first_half,
    large_outputs,
    second_half,
    whole_session,
)
from runtimes.contract import RuntimeUnavailable
from runtimes.registry import check_runtime

ORDERS = [("legacy", "adk"), ("adk", "legacy"), ("adk", "adk")]


def why_no_core() -> str:
    """Why the core cannot be run here, with the command that mends it; empty if it can."""
    try:
        check_runtime("upstream")
    except RuntimeUnavailable as missing:
        return str(missing)
    return ""


needs_core = pytest.mark.skipif(bool(why_no_core()), reason=why_no_core())


@cache
def whole(runtime: str) -> Observation:
    """The session without a break."""
    return run_cassette(whole_session(), runtime)


@cache
def begun(runtime: str) -> Observation:
    """Its first half."""
    return run_cassette(first_half(), runtime)


@cache
def resumed(first: str, second: str) -> Observation:
    """Its second half in `second`, from the recording that `first` made."""
    return run_cassette(second_half(begun(first)), second)


def outputs(contents: Sequence[dict[str, Any]]) -> Iterator[str]:
    for content in contents:
        for part in content["parts"]:
            if "functionResponse" in part:
                yield part["functionResponse"]["response"].get("output", "")


def models_of_prompts(seen: Observation) -> dict[int, list[str]]:
    """Each prompt's models, in the order in which they were asked."""
    found: dict[int, list[str]] = {}
    for request, contents in zip(seen.requests, whole_contents(seen), strict=True):
        if request.role == "main":
            texts = re.findall(r"Prompt (\d+):", json.dumps(contents))
            found.setdefault(int(texts[-1]), []).append(request.model)
    return found


@pytest.mark.slow
def test_all_that_the_session_is_there_for_happens_in_it() -> None:
    seen = whole("legacy")
    kinds = Counter(event["type"] for event in seen.events)
    roles = Counter(request.role for request in seen.requests)
    kept = list(outputs(seen.transcript))

    assert seen.error is None
    assert seen.notes == []
    assert [e["reason"] for e in seen.events if e["type"] == "agent_end"] == ["completed"] * PROMPTS
    assert kinds["tool_response"] == large_outputs() == 60
    assert all(len(text) > 500 for text in kept)
    assert sum(text.startswith("<tool_output_masked>") for text in kept) > 20
    assert sum("Output too large. Showing first" in text for text in kept) > 10
    assert roles["utility_compressor"] == 2
    assert roles["utility_loop_detector"] > 10


def test_a_long_loop_masks_outputs_of_its_own() -> None:
    seen = whole("adk")
    in_loop = [
        contents
        for request, contents in zip(seen.requests, whole_contents(seen), strict=True)
        if request.role == "main" and f"call-{LONG_LOOP_AT}-" in json.dumps(contents[-1])
    ]
    own = list(outputs(in_loop[-1][-2 * len(in_loop) :]))

    assert len(own) == len(in_loop) > 10
    assert own[0].startswith("<tool_output_masked>")
    assert not own[-1].startswith("<tool_output_masked>")


@pytest.mark.contract("P-078", "P-082")
def test_two_models_give_out_and_others_take_their_place() -> None:
    models = models_of_prompts(whole("legacy"))

    for prompt in (OUT_OF_QUOTA_AT, OUT_OF_CAPACITY_AT):
        asked = models[prompt]
        assert set(models[prompt - 2]) == {asked[0]}
        assert set(models[prompt + 1]) == {asked[-1]} != {asked[0]}
    assert models[HALF] == models[0]


def test_the_runtimes_agree_on_the_session_without_a_break() -> None:
    assert_the_same(whole("legacy"), whole("adk"))


@pytest.mark.slow
def test_they_record_its_first_half_alike() -> None:
    assert_the_same(begun("legacy"), begun("adk"))


@pytest.mark.parametrize(("first", "second"), ORDERS)
@pytest.mark.contract("P-166")
@pytest.mark.slow
def test_a_session_resumed_in_any_runtime_ends_as_in_legacy_alone(first: str, second: str) -> None:
    assert_the_same(resumed("legacy", "legacy"), resumed(first, second))


def assert_the_same(control: Observation, candidate: Observation) -> None:
    """Every channel: requests, events, transcript, recording, …"""
    found = compare_observations(control, candidate)

    assert control.error is candidate.error is None
    assert found.divergences == ()
    assert found.digests[0] == found.digests[1]


@pytest.mark.parametrize("runtime", ["legacy", "adk"])
@pytest.mark.contract("P-168")
@pytest.mark.sampled(2)
def test_a_resume_changes_nothing_that_was_said(runtime: str) -> None:
    """Not the summary, which stands behind the session's context: the core drops both together."""
    assert said(resumed(runtime, runtime))[1:] == said(whole(runtime))[1:]


def said(seen: Observation) -> list[tuple[str, list[str], list[str]]]:
    """Each content's role, texts, and the ids of calls, those of calls answered twice once.

    (A resumed history answers its last call twice where the turn after it is a call too.)
    """
    return [
        (
            content["role"],
            [part["text"] for part in content["parts"] if "text" in part],
            list(dict.fromkeys(call_ids(content["parts"]))),
        )
        for content in seen.transcript
    ]


def call_ids(parts: Sequence[dict[str, Any]]) -> Iterator[str]:
    for part in parts:
        of_call = part.get("functionCall") or part.get("functionResponse")
        if of_call is not None:
            yield of_call["id"]


@needs_core
@pytest.mark.slow
def test_the_published_core_agrees_on_the_session_without_a_break() -> None:
    assert differences_from_core(whole("upstream"), whole("legacy")) == []


@needs_core
@pytest.mark.parametrize("second", ["legacy", "adk"])
@pytest.mark.slow
def test_its_recording_is_resumed_as_it_would_do_it(second: str) -> None:
    assert differences_from_core(resumed("upstream", "upstream"), resumed("upstream", second)) == []


@needs_core
@pytest.mark.slow
def test_it_resumes_our_recording_as_we_do() -> None:
    assert differences_from_core(resumed("legacy", "upstream"), resumed("legacy", "legacy")) == []


def differences_from_core(core: Observation, ours: Observation) -> list[Divergence]:
    """What differs but for declared tools, and for what counted ids of ours and theirs name.

    Recordings hold such ids in every line; what they are resumed to is compared.
    """
    assert core.error is ours.error is None
    found = compare_observations(comparable(core), comparable(ours))
    return [each for each in found.divergences if each.channel is not ChannelName.RECORDING]


_FOLDER = re.compile(r"(tool-outputs/session-)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def comparable(seen: Observation) -> Observation:
    """The run without declared tools and schemas, and one name for all folders of outputs.

    Their name is the session's id, which is a new one after a fallback.
    """
    return replace(
        seen,
        events=renamed(seen.events),
        transcript=renamed(seen.transcript),
        requests=[bare(request) for request in seen.requests],
    )


def bare(request: ObservedRequest) -> ObservedRequest:
    contents = renamed(request.new_contents)
    return replace(
        request,
        tools=(),
        tools_digest=None,
        config={k: v for k, v in request.config.items() if k != "responseJsonSchema"},
        new_contents=tuple(contents),
        digest=sha256_hex(canonical(contents)),
    )


def renamed(values: Sequence[Any]) -> list[Any]:
    found: list[Any] = json.loads(_FOLDER.sub(r"\1<id>", json.dumps(list(values))))
    return found
