"""The plugins that google-adk ships, as they are."""

from __future__ import annotations

import inspect
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import yaml
from google.adk.evaluation._retry_options_utils import EnsureRetryOptionsPlugin
from google.adk.evaluation.request_intercepter_plugin import _RequestIntercepterPlugin
from google.adk.plugins import (
    DebugLoggingPlugin,
    ForceEscalationPlugin,
    LoggingPlugin,
    ModelConsultObservabilityPlugin,
    ReflectAndRetryModelPlugin,
    ReflectAndRetryToolPlugin,
    ToolCallIntegrityPlugin,
)
from google.adk.plugins.auto_tracing_helpers import WRAPPED_ATTR
from google.adk.plugins.auto_tracing_plugin import AutoTracingPlugin
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.plugins.context_filter_plugin import ContextFilterPlugin
from google.adk.plugins.global_instruction_plugin import GlobalInstructionPlugin
from google.adk.plugins.multimodal_tool_results_plugin import MultimodalToolResultsPlugin
from google.adk.plugins.save_files_as_artifacts_plugin import SaveFilesAsArtifactsPlugin
from google.adk.tools.environment_simulation.environment_simulation_config import (
    EnvironmentSimulationConfig,
    InjectionConfig,
    ToolSimulationConfig,
)
from google.adk.tools.environment_simulation.environment_simulation_engine import (
    EnvironmentSimulationEngine,
)
from google.adk.tools.environment_simulation.environment_simulation_plugin import (
    EnvironmentSimulationPlugin,
)
from google.adk.tools.function_tool import FunctionTool
from google.adk.tools.model_consult._observability_plugin import ModelConsultReport
from google.genai import types
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from parity_tests.adk_probes.probe import Probe, calls, chunk, text

__all__ = ["GROUP", "LEFT_OUT", "PROBES"]

GROUP: Final = "Plugins that google-adk ships"

LEFT_OUT: Final = {
    "BigQueryAgentAnalyticsPlugin": "It writes to BigQuery.",
    "ModelArmorPlugin": "It calls Google Cloud's Model Armor.",
    "RecordingsPlugin": "It belongs to `adk conformance`, which hosts the agent itself.",
    "ReplayPlugin": "It belongs to `adk conformance`, which hosts the agent itself.",
}
"""What 2.13 ships besides, and why it is not probed."""

_CALL: Final = calls(("read_file", {"file_path": "a.txt"}))
_FAILS: Final = calls(("read_file", {"file_path": "none.txt"}))
_TURNS: Final = (_CALL, text("it is alpha"))
_USAGE: Final = {"promptTokenCount": 5, "candidatesTokenCount": 2, "totalTokenCount": 7}
_COLOUR: Final = re.compile(r"\x1b\[[0-9;]*m")
_PIXEL: Final = "R0lGODlhAQABAAAAACwAAAAAAQABAAA="
_PICTURE: Final = {"inlineData": {"data": _PIXEL, "mimeType": "image/gif"}}


def _headings(_: Sequence[BasePlugin], printed: str) -> list[Any]:
    """How often the logging plugin printed each heading; of deltas there may be any number."""
    lines = [_COLOUR.sub("", line).partition("] ")[2] for line in printed.splitlines()]
    headings = Counter(line for line in lines if line and not line.startswith(" "))
    assert headings, "the plugin printed nothing"
    return sorted(
        [heading, count]
        for heading, count in headings.items()
        if not heading.endswith(("EVENT YIELDED", "LLM RESPONSE"))
    )


def _debug_logging() -> list[BasePlugin]:
    folder = Path(tempfile.mkdtemp())
    return [DebugLoggingPlugin(output_path=str(folder / "debug.yaml"))]


def _entries(plugins: Sequence[BasePlugin], _: str) -> list[Any]:
    """The kinds of entries in the debug plugin's file, whose folder goes; deltas are left out."""
    (plugin,) = plugins
    assert isinstance(plugin, DebugLoggingPlugin)
    file = plugin._output_path
    runs = list(yaml.safe_load_all(file.read_text()))
    file.unlink()
    file.parent.rmdir()
    return [
        [entry["entry_type"] for entry in run["entries"] if not entry["data"].get("partial")]
        for run in runs
    ]


def picture() -> list[types.Part]:
    """Takes a picture."""
    return [types.Part(text="a picture of the sea")]


class Adding(BasePlugin):
    """Adds a tool that returns parts."""

    def __init__(self) -> None:
        super().__init__("adding")

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        llm_request.append_tools([FunctionTool(picture)])


_SPANS: Final = InMemorySpanExporter()


def _auto_tracing() -> list[BasePlugin]:
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(_SPANS))
    return [AutoTracingPlugin(tracer=provider.get_tracer("probe"))]


def _traced(_: Sequence[BasePlugin], __: str) -> list[Any]:
    """Whether functions were traced; takes the tracing out of them again."""
    spans = len(_SPANS.get_finished_spans())
    _SPANS.clear()
    # The plugin wraps what was loaded when it ran: packages of others, such as google.genai, too.
    for module in list(sys.modules.values()):
        for owner in (module, *filter(inspect.isclass, list(vars(module).values()))):
            for name, function in list(vars(owner).items()):
                inner = getattr(function, "__func__", function)
                if getattr(inner, WRAPPED_ATTR, False):
                    plain = inner.__wrapped__
                    setattr(owner, name, staticmethod(plain) if inner is not function else plain)
    return ["spans", spans > 0]


class Reports:
    """Collects the reports of `ModelConsultObservabilityPlugin`, by run."""

    def __init__(self) -> None:
        self._reports: list[ModelConsultReport] = []

    def plugins(self) -> list[BasePlugin]:
        self._reports = []
        return [ModelConsultObservabilityPlugin(on_report=self._reports.append)]

    def notes(self, _: Sequence[BasePlugin], __: str) -> list[Any]:
        found: list[Any] = []
        for each in self._reports:
            stats = each.stats.to_dict()
            kept = {name: value for name, value in stats.items() if not name.endswith("_ms")}
            found.append([each.agent_name, each.error_type, kept])
        return found


_REPORTS: Final = Reports()


def _simulation() -> list[BasePlugin]:
    """Answers a call with a response that is injected, without a model."""
    answer = InjectionConfig(injected_response={"output": "simulated"})
    tool = ToolSimulationConfig(tool_name="read_file", injection_configs=[answer])
    config = EnvironmentSimulationConfig(tool_simulation_configs=[tool])
    return [EnvironmentSimulationPlugin(EnvironmentSimulationEngine(config))]


def _probe(name: str, row: str, plugins: Any, script: Any = _TURNS, **more: Any) -> Probe:
    return Probe(
        name=f"ship-{name}",
        row=f"`{row}`",
        plugins=plugins if callable(plugins) else lambda: list(plugins),
        script=script,
        **more,
    )


PROBES: Final = (
    _probe("logging", "LoggingPlugin", lambda: [LoggingPlugin()], notes_of=_headings),
    _probe("debug-logging", "DebugLoggingPlugin", _debug_logging, notes_of=_entries),
    _probe(
        "global-instruction",
        "GlobalInstructionPlugin",
        lambda: [GlobalInstructionPlugin("You speak in rhymes.")],
    ),
    _probe(
        "context-filter",
        "ContextFilterPlugin",
        lambda: [ContextFilterPlugin(num_invocations_to_keep=1)],
        (*_TURNS, *_TURNS),
        messages=("hello", "again"),
    ),
    _probe(
        "reflect-retry-tool",
        "ReflectAndRetryToolPlugin",
        lambda: [ReflectAndRetryToolPlugin(max_retries=2)],
        (_FAILS, _CALL, text("it is alpha")),
    ),
    _probe(
        "reflect-retry-model",
        "ReflectAndRetryModelPlugin",
        lambda: [ReflectAndRetryModelPlugin()],
        (calls(("adk_handle_model_error", {})), text("sorry")),
        in_place=True,
    ),
    _probe(
        "tool-call-integrity",
        "ToolCallIntegrityPlugin",
        lambda: [ToolCallIntegrityPlugin(b"a secret")],
        (*_TURNS, *_TURNS),
        messages=("hello", "again"),
    ),
    _probe(
        "save-files",
        "SaveFilesAsArtifactsPlugin",
        lambda: [SaveFilesAsArtifactsPlugin()],
        (text("a pixel"), text("still there")),
        messages=([{"text": "look"}, _PICTURE], "again"),
    ),
    _probe(
        "multimodal-results",
        "MultimodalToolResultsPlugin",
        lambda: [Adding(), MultimodalToolResultsPlugin()],
        (calls(("picture", {})), text("the sea")),
    ),
    _probe("auto-tracing", "AutoTracingPlugin", _auto_tracing, notes_of=_traced),
    _probe("simulation", "EnvironmentSimulationPlugin", _simulation),
    _probe(
        "request-intercepter",
        "_RequestIntercepterPlugin",
        lambda: [_RequestIntercepterPlugin("intercepter")],
    ),
    _probe(
        "retry-options",
        "EnsureRetryOptionsPlugin",
        lambda: [EnsureRetryOptionsPlugin("retry_options")],
    ),
    _probe(
        "force-escalation",
        "ForceEscalationPlugin",
        lambda: [ForceEscalationPlugin(tool_name="read_file")],
        ([chunk({"text": "no need"})], text("still none")),
        messages=("hello", "again"),
    ),
    _probe(
        "consult-observability",
        "ModelConsultObservabilityPlugin",
        _REPORTS.plugins,
        ([chunk({"text": "hm"}, usageMetadata=_USAGE)],),
        notes_of=_REPORTS.notes,
    ),
)
