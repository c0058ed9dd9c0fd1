import pytest

from services.settings import SettingError, settings_from_file, settings_from_parameters
from services.settings.telemetry import TelemetryOverrides, TelemetrySettings, resolved

NOTHING = TelemetryOverrides()


def test_telemetry_and_what_is_said_in_spans_are_off_unless_asked_for() -> None:
    settings = settings_from_file({}).telemetry
    assert settings == TelemetrySettings()
    assert (settings.enabled, settings.log_prompts, settings.traces) == (False, True, False)


def test_the_environment_switches_traces() -> None:
    variables = {"GEMINI_TELEMETRY_TRACES_ENABLED": "1"}
    assert resolved(TelemetrySettings(), variables, NOTHING).traces


@pytest.mark.parametrize("read", [settings_from_file, settings_from_parameters])
def test_the_block_is_read(read: object) -> None:
    block = {
        "enabled": True,
        "target": "gcp",
        "otlpEndpoint": "http://there",
        "otlpProtocol": "grpc",
        "logPrompts": True,
        "outfile": "t.jsonl",
        "useCollector": False,
    }
    assert callable(read)
    assert read({"telemetry": block}).telemetry == TelemetrySettings(
        enabled=True,
        target="gcp",
        otlp_endpoint="http://there",
        otlp_protocol="grpc",
        log_prompts=True,
        outfile="t.jsonl",
    )


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        ("enabled", "yes", "true or false"),
        ("target", "mars", "one of local, gcp"),
        ("otlpProtocol", 4, "one of grpc, http"),
        ("outfile", 1, "a text"),
    ],
)
def test_a_value_without_meaning_is_refused(key: str, value: object, expected: str) -> None:
    with pytest.raises(SettingError, match=f"telemetry.{key}: {expected} expected"):
        settings_from_file({"telemetry": {key: value}})


def test_the_environment_stands_above_the_settings() -> None:
    variables = {
        "GEMINI_TELEMETRY_ENABLED": "1",
        "GEMINI_TELEMETRY_LOG_PROMPTS": "false",
        "GEMINI_TELEMETRY_TARGET": "gcp",
        "GEMINI_TELEMETRY_OTLP_PROTOCOL": "grpc",
        "OTEL_EXPORTER_OTLP_ENDPOINT": "http://general",
        "GEMINI_TELEMETRY_OUTFILE": "env.jsonl",
    }
    settings = TelemetrySettings(log_prompts=True, outfile="file.jsonl")
    assert resolved(settings, variables, NOTHING) == TelemetrySettings(
        enabled=True,
        target="gcp",
        otlp_endpoint="http://general",
        otlp_protocol="grpc",
        log_prompts=False,
        outfile="env.jsonl",
    )
    own = {**variables, "GEMINI_TELEMETRY_OTLP_ENDPOINT": "http://own"}
    assert resolved(settings, own, NOTHING).otlp_endpoint == "http://own"


def test_the_command_line_stands_above_both() -> None:
    variables = {"GEMINI_TELEMETRY_ENABLED": "true", "GEMINI_TELEMETRY_OUTFILE": "env.jsonl"}
    overrides = TelemetryOverrides(enabled=False, outfile="here.jsonl")
    settings = resolved(TelemetrySettings(enabled=True), variables, overrides)
    assert (settings.enabled, settings.outfile) == (False, "here.jsonl")


def test_a_variable_without_meaning_is_refused() -> None:
    with pytest.raises(ValueError, match="GEMINI_TELEMETRY_TARGET is 'mars'; write one of local"):
        resolved(TelemetrySettings(), {"GEMINI_TELEMETRY_TARGET": "mars"}, NOTHING)
