"""Recorded HTTP traffic through the real client into both runtimes: they do the same with it."""

from pathlib import Path

import pytest

from harness.cassette.find import find_cassettes, recorded_name
from harness.http.case import is_recording, load_found, load_http_case
from harness.replay.runner import run_cassette
from harness.replay.trace import to_trace
from tests.harness.http.recordings import has_tool_loop, is_streamed

ROOT = Path(__file__).parents[3]
OURS = sorted((ROOT / "cassettes" / "http").glob("*.yaml"))
SHARED = ROOT / ".." / "shared" / "recordings"
STREAMED_LOOPS = (
    "pydantic-ai/models/cassettes/test_google/test_google_model_iter_stream.yaml",
    (
        "pydantic-ai/models/cassettes/test_google/"
        "test_google_streaming_tool_call_thought_signature.yaml"
    ),
    "rig/agent_tools/streaming_multi_turn_executes_tools_via_builtin_driver.yaml",
    "rig/reasoning_tool_roundtrip/streaming.yaml",
    "rig/multi_turn_streaming/manual_multi_turn_streaming_loop.yaml",
    (
        "ruby-llm/chat_function_calling_gemini_gemini-2_5-flash"
        "_can_use_tools_with_multi-turn_streaming_conversations.yml"
    ),
)
OTHERS = (
    "crewai/llms/google/test_google_streaming_returns_usage_metrics.yaml",
    "newrelic-adk/mlmodel_gemini/cassette/19-streamGenerateContent-400-generativelanguage.yaml",
    "openinference/google-adk/test_instrumentor/test_google_adk_instrumentor_multi_tool_call.yaml",
    (
        "ruby-llm/chat_real_error_scenarios_gemini_gemini-2_5-flash"
        "_handles_context_length_exceeded_errors.yml"
    ),
    "rig/agent_run_streamed/streamed_repair_continues_the_same_stream.yaml",
    "rig/streaming_tools/streaming_tools_smoke.yaml",
)


@pytest.fixture
def traces():
    """Both runtimes' traces of a recording, without what must differ."""

    def run(file):
        case = load_http_case(file)
        found = []
        for name in ("legacy", "adk"):
            trace = to_trace(run_cassette(case.cassette, name, model=case.model))
            assert trace.pop("runtime") == name
            found.append(trace)
        return case.recording, *found

    return run


def test_recordings_and_scenarios_are_distinguished():
    assert all(is_recording(file) for file in OURS)
    assert not is_recording(ROOT / "cassettes" / "text" / "text.yaml")
    assert not is_recording(ROOT / "absent.yaml")


def test_a_recording_is_called_by_its_path_below_the_root(tmp_path):
    """Tests of two modules may have one name."""
    file = tmp_path / "shop" / "test_order[tea].yaml"
    file.parent.mkdir()
    file.write_text(OURS[0].read_text("utf-8"), "utf-8")
    (found,) = find_cassettes([tmp_path])

    assert load_found(found).name == "http/shop/test_order_tea" == recorded_name(found.name)
    assert load_http_case(file).name == "http/test_order_tea"


@pytest.mark.parametrize("file", OURS, ids=lambda file: file.stem)
def test_our_cassettes_run_alike(traces, file):
    recording, legacy, adk = traces(file)
    assert legacy == adk
    assert not legacy.get("error")
    assert not legacy.get("notes")
    assert not legacy.get("unusedSteps")
    assert len(legacy["requests"]) == len(recording.exchanges)


@pytest.mark.skipif(not SHARED.is_dir(), reason="no real recordings at hand")
@pytest.mark.parametrize("name", STREAMED_LOOPS + OTHERS, ids=lambda name: Path(name).stem[:50])
def test_real_recordings_run_alike(traces, name):
    recording, legacy, adk = traces(SHARED / name)
    assert legacy == adk
    assert not legacy.get("error")
    assert not legacy.get("unusedSteps")
    assert len(legacy["requests"]) >= len(recording.exchanges)
    assert legacy["events"][-1]["type"] == "agent_end"
    if name in STREAMED_LOOPS:
        assert is_streamed(recording)
        assert has_tool_loop(recording)
        kinds = [event["type"] for event in legacy["events"]]
        assert kinds.count("tool_request") >= 1
        assert kinds.count("tool_request") == kinds.count("tool_response")
