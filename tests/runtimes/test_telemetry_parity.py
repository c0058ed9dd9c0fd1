"""Telemetry shows nowhere in what a runtime does, and is the same in both."""

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from harness.cassette.format import Cassette
from harness.cassette.load import load_cassette
from harness.replay.runner import run_cassette
from harness.replay.trace import trace_json
from services.ids import CountingIds
from services.settings.telemetry import TelemetrySettings
from services.telemetry.providers import SeamIdGenerator
from tests import outfiles

CORPUS = Path(__file__).parents[2] / "cassettes"
RUNTIMES = ("legacy", "adk")
NAMES = (
    "abort/at_tool_request",
    "abort/during_batch",
    "abort/in_429_wait",
    "abort/mid_stream",
    "compression/first_fails",
    "errors/connect_then_midstream",
    "errors/429_exhausted",
    "fallback/capacity_twice",
    "fallback/lite_in_tool_loop",
    "invalid_stream/thinking_only_then_ok",
    "loops/argument_forms",
    "masking/once_only",
    "mcp/dies_once",
    "next_speaker/model_twice",
    "resume/self_after_tools",
    "routing/auto",
    "subagent/reads_and_completes",
    "subagent_threads/aborted_ten",
    "text/text",
    "tools/many_rounds",
    "tools/parallel_mixed",
    "tools/policy_denied",
    "tools/search_retries",
    "truncation/two_at_once",
)


def cassette(name: str) -> Cassette:
    return load_cassette(CORPUS / f"{name}.yaml", CORPUS)


def measured(name: str, runtime: str, file: Path, *, content: bool = False) -> str:
    settings = TelemetrySettings(
        enabled=True, outfile=str(file), log_prompts=content, traces=content
    )
    return trace_json(run_cassette(cassette(name), runtime, telemetry=settings))


@cache
def unmeasured(name: str, runtime: str) -> str:
    return trace_json(run_cassette(cassette(name), runtime))


def read(file: Path) -> tuple[list[Any], list[Any], dict[str, Any]]:
    """A file's spans, the records of its log, and its metrics."""
    # What was said names the run's own folders.
    text = re.sub(r"parity_\w{8}", "parity-folder", file.read_text("utf-8"))
    spans = [{**span, "resource": None} for span in outfiles.spans(text)]
    records = [{**record, "resource": None} for record in outfiles.records(text)]
    return spans, records, outfiles.metrics(text)


def in_order(spans: list[Any]) -> list[Any]:
    """The spans as they began: a replay counts their ids, and files have them as they ended.

    What ends at one and the same virtual moment may do so in any order: commands are real
    processes, and an aborted answer is let go of before or after its turn's `agent_end`.
    """
    ids = SeamIdGenerator(CountingIds())
    counted = [f"{ids.generate_span_id():016x}" for _ in spans]
    return sorted(spans, key=lambda span: counted.index(span["spanId"]))


def in_any_order(records: list[Any]) -> list[Any]:
    """The records sorted: commands that run side by side are real processes."""
    return sorted(records, key=json.dumps)


@pytest.mark.parametrize("content", [False, True])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.sampled(7)
def test_traces_are_the_same_on_or_off_and_spans_in_both_runtimes(
    name: str, content: bool, tmp_path: Path
) -> None:
    seen = {}
    for runtime in RUNTIMES:
        file = tmp_path / f"{runtime}.jsonl"
        assert measured(name, runtime, file, content=content) == unmeasured(name, runtime)
        seen[runtime] = read(file)
    legacy, adk = (seen[runtime] for runtime in RUNTIMES)
    assert legacy[0]
    assert in_order(legacy[0]) == in_order(adk[0])
    assert in_any_order(legacy[1]) == in_any_order(adk[1])
    assert legacy[2] == adk[2]
    kinds = {span["name"].partition(" ")[0] for span in legacy[0]}
    assert kinds <= {"invoke_agent", "generate_content", "execute_tool"}


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_two_runs_give_the_same_file(runtime: str, tmp_path: Path) -> None:
    files = [tmp_path / "first", tmp_path / "second"]
    for file in files:
        measured("tools/parallel_mixed", runtime, file)
    assert files[0].read_bytes() == files[1].read_bytes()


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_a_model_request_of_a_tool_is_a_child_of_the_tool(runtime: str, tmp_path: Path) -> None:
    measured("tools/search_retries", runtime, tmp_path / "spans")
    spans, _, _ = read(tmp_path / "spans")
    (tool,) = (span for span in spans if span["name"] == "execute_tool google_web_search")
    asked = [span for span in spans if span.get("parentSpanId") == tool["spanId"]]
    assert {span["name"].partition(" ")[0] for span in asked} == {"generate_content"}
    assert [event["name"] for event in tool["events"]] == ["gemini_cli.network_retry_attempt"] * (
        len(asked) - 1
    )


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_fallbacks_are_seen(runtime: str, tmp_path: Path) -> None:
    measured("fallback/lite_in_tool_loop", runtime, tmp_path / "spans")
    spans, _, metrics = read(tmp_path / "spans")
    events = [event["name"] for span in spans for event in span["events"]]
    assert "gemini_cli.fallback" in events
    assert "gemini_cli.fallback.count" in metrics


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize(
    ("name", "logged"),
    [
        ("compression/auto_at_half", "chat_compression"),
        ("errors/connect_then_midstream", "network_retry_attempt"),
        ("fallback/lite_in_tool_loop", "flash_fallback"),
        ("invalid_stream/thinking_only_then_ok", "chat.content_retry"),
        ("invalid_stream/thinking_only_exhausted", "chat.content_retry_failure"),
        ("loops/argument_forms", "loop_detected"),
        ("masking/once_only", "tool_output_masking"),
        ("next_speaker/model_twice", "next_speaker_check"),
        ("routing/auto", "model_routing"),
        ("subagent/reads_and_completes", "agent.start"),
        ("subagent/reads_and_completes", "agent.finish"),
        ("truncation/two_at_once", "tool_output_truncated"),
    ],
)
def test_what_happens_is_logged(name: str, logged: str, runtime: str, tmp_path: Path) -> None:
    measured(name, runtime, tmp_path / "log")
    _, records, _ = read(tmp_path / "log")
    assert f"gemini_cli.{logged}" in {one["attributes"]["event.name"] for one in records}
