import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import metrics, trace

from services.availability.switching import FallbackActivated
from services.settings.telemetry import TelemetrySettings
from services.telemetry.contract import TelemetryError
from services.telemetry.opening import open_telemetry

FALLBACK = FallbackActivated(model="gemini-2.5-flash", failed_model="gemini-2.5-pro")
OTLP = "opentelemetry.exporter"


def test_switched_off_there_is_no_telemetry_and_no_file(rig: Any) -> None:
    with open_telemetry(TelemetrySettings(outfile=str(rig.file)), rig.seams()) as telemetry:
        assert telemetry is None
    assert not rig.file.exists()


def test_switched_off_nothing_of_opentelemetry_is_imported() -> None:
    code = (
        "import sys, services.compose, services.telemetry.opening, surfaces.headless.options;"
        "print([name for name in sys.modules if name.startswith('opentelemetry.sdk')],"
        "'services.telemetry.session' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[] False"


def test_changed_metrics_are_written_when_asked_for(rig: Any) -> None:
    with rig.opened() as telemetry:
        telemetry.export_metrics()
        before = rig.text().count('"scopeMetrics"')
        telemetry.fell_back(FALLBACK)
        for _ in range(2):  # Nothing has changed the second time.
            telemetry.export_metrics()
            assert rig.text().count('"scopeMetrics"') == before + 1
        telemetry.fell_back(FALLBACK)
    assert rig.text().count('"scopeMetrics"') == before + 2


def test_the_global_providers_are_left_alone(rig: Any) -> None:
    before = trace.get_tracer_provider(), metrics.get_meter_provider()
    with rig.opened() as telemetry:
        telemetry.fell_back(FALLBACK)
        assert (trace.get_tracer_provider(), metrics.get_meter_provider()) == before
        with trace.get_tracer("google.adk").start_as_current_span("somebody else's") as other:
            assert not other.is_recording()
    assert rig.spans() == []


def test_ids_of_the_run_are_the_same_with_and_without(rig: Any) -> None:
    from services.ids import CountingIds
    from services.telemetry.providers import SeamIdGenerator

    ids = SeamIdGenerator(rig.ids)
    assert len({ids.generate_span_id() for _ in range(9)}) == 9
    assert 0 < ids.generate_span_id() < 2**64
    assert 0 < ids.generate_trace_id() < 2**128
    assert [rig.ids.uuid(scope) for scope in ("stream", "message")] == [
        CountingIds().uuid(scope) for scope in ("stream", "message")
    ]


def test_a_file_that_cannot_be_written_is_refused_at_once(rig: Any, tmp_path: Path) -> None:
    settings = TelemetrySettings(enabled=True, outfile=str(tmp_path / "no" / "folder"))
    with (
        pytest.raises(TelemetryError, match=r"cannot be written.*telemetry\.outfile"),
        open_telemetry(settings, rig.seams()),
    ):
        pass


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"target": "gcp"}, "telemetry.target: gcp is not built in; write local"),
        (
            {"outfile": None, "otlp_protocol": "grpc"},
            "telemetry.otlpProtocol: grpc is not built in; write http",
        ),
    ],
)
def test_unsupported_settings_are_refused(rig: Any, more: dict[str, Any], message: str) -> None:
    with pytest.raises(TelemetryError, match=message), rig.opened(**more):
        pass


@pytest.mark.skipif(
    importlib.util.find_spec(OTLP) is not None, reason="the extra `otlp` is installed here"
)
def test_sending_without_the_extra_says_what_to_install(rig: Any) -> None:
    with pytest.raises(TelemetryError, match=r"install parity\[otlp\]"), rig.opened(outfile=None):
        pass


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full: only Linux has one")
def test_a_full_disk_is_reported_once_and_the_session_goes_on(
    rig: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with rig.opened(outfile="/dev/full") as telemetry:
        for _ in range(3):
            with_span(telemetry)
    assert caplog.records == []
    assert rig.warnings == [
        "Telemetry stopped: /dev/full cannot be written: No space left on device"
    ]


def test_runs_are_appended(rig: Any) -> None:
    for _ in range(2):
        with rig.opened() as telemetry:
            with_span(telemetry)
    assert len(rig.spans()) == 2


def test_the_resource_says_who_measured_what(rig: Any) -> None:
    with rig.opened() as telemetry:
        with_span(telemetry)
    assert rig.spans()[0]["resource"] == {
        "session.id": "the-session",
        "service.name": "parity",
        "service.version": "unknown",
        "parity.runtime": "legacy",
    }


def test_open_spans_end_as_cancelled_with_the_session(rig: Any) -> None:
    def broken_off() -> None:
        with rig.opened() as telemetry:
            with_span(telemetry)
            rig.clock.advance(7)
            raise KeyError

    with pytest.raises(KeyError):
        broken_off()
    (span,) = rig.spans()
    assert span["attributes"]["error.type"] == "cancelled"
    assert span["ended_ns"] - span["began_ns"] == 7_000_000


def with_span(telemetry: Any) -> None:
    """Begin a model call."""
    from services.abort import AbortController
    from services.clock import VIRTUAL_EPOCH_MS
    from services.model.generator import LlmRole, ModelRequest
    from services.model.metering import ModelCall

    request = ModelRequest(
        model="m", contents=[], role=LlmRole.MAIN, prompt_id="p", signal=AbortController().signal
    )
    call = ModelCall(request=request, streaming=False, began_ms=VIRTUAL_EPOCH_MS)
    telemetry.model_calls[0].call_began(call)
