"""What a session used: requests, tokens, tool calls, changed lines.

Source: core `telemetry/uiTelemetry.ts`, `telemetry/tool-call-decision.ts`.
"""

from __future__ import annotations

from typing import Final

from services.message_bus import MessageBus
from services.model.generator import LlmRole
from services.model.metering import CallEnd, ModelCall
from services.scheduler.call_facts import call_metadata, decision_of
from services.scheduler.calls import CallStatus, CompletedToolCall
from services.scheduler.completions import on_completed_calls
from services.wire import JsonObject
from surfaces.headless.failures import error_type

__all__ = ["SessionMetrics"]

_TOKENS: Final = (
    ("prompt", "promptTokenCount"),
    ("candidates", "candidatesTokenCount"),
    ("total", "totalTokenCount"),
    ("cached", "cachedContentTokenCount"),
    ("thoughts", "thoughtsTokenCount"),
    ("tool", "toolUsePromptTokenCount"),
)


class SessionMetrics:
    """Counts, in the shape in which `-o json` shows them. Durations are milliseconds.

    It observes the meter at the model seam (`services.model.metering.ModelCallObserver`).
    """

    def __init__(self) -> None:
        self.models: JsonObject = {}
        self.tools: JsonObject = {
            "totalCalls": 0,
            "totalSuccess": 0,
            "totalFail": 0,
            "totalDurationMs": 0,
            "totalDecisions": _no_decisions(),
            "byName": {},
        }
        self.files: JsonObject = {"totalLinesAdded": 0, "totalLinesRemoved": 0}
        self.last_usage: JsonObject | None = None
        """The token counts of the conversation's last answer, as the model gave them."""

    def watch(self, bus: MessageBus) -> None:
        """Count the tool calls that `bus` announces from now on."""
        on_completed_calls(bus, self._count)

    def stats(self) -> JsonObject:
        """Everything, as `-o json` shows it."""
        return {"models": self.models, "tools": self.tools, "files": self.files}

    def stream_stats(self, duration_ms: int) -> JsonObject:
        """The shorter form of `result` lines."""
        models = {
            name: {
                "total_tokens": model["tokens"]["total"],
                "input_tokens": model["tokens"]["prompt"],
                "output_tokens": model["tokens"]["candidates"],
                "cached": model["tokens"]["cached"],
                "input": model["tokens"]["input"],
            }
            for name, model in self.models.items()
        }
        sums = {
            key: sum(model[key] for model in models.values())
            for key in ("total_tokens", "input_tokens", "output_tokens", "cached", "input")
        }
        return {
            **sums,
            "duration_ms": duration_ms,
            "tool_calls": self.tools["totalCalls"],
            "models": models,
        }

    def call_began(self, call: ModelCall) -> None:
        """Wait for `call_ended`."""

    def call_received(self, call: ModelCall, response: JsonObject) -> None:
        """Wait for `call_ended`."""

    def call_ended(self, call: ModelCall) -> None:
        """Count a model call; one that was given up does not count."""
        model, role = call.model or call.request.model, str(call.request.role)
        if call.end is CallEnd.ANSWERED:
            if call.request.role is LlmRole.MAIN and call.usage:
                self.last_usage = call.usage
            self.answered(model, role, call.duration_ms, call.usage)
        elif call.error is not None:
            self.failed(model, role, call.duration_ms, error_type(call.error))

    def answered(self, model: str, role: str, duration_ms: int, usage: JsonObject | None) -> None:
        """Count a model's answer."""
        for counts in self._model_and_role(model, role):
            api = counts.get("api", counts)
            api["totalRequests"] += 1
            api["totalLatencyMs"] += duration_ms
            tokens = counts["tokens"]
            for ours, wire in _TOKENS:
                tokens[ours] += (usage or {}).get(wire) or 0
            tokens["input"] = max(0, tokens["prompt"] - tokens["cached"])

    def failed(self, model: str, role: str, duration_ms: int, kind: str) -> None:
        """Count a request that failed with an error called `kind`."""
        for counts in self._model_and_role(model, role):
            api = counts.get("api", counts)
            api["totalRequests"] += 1
            api["totalErrors"] += 1
            api["totalLatencyMs"] += duration_ms
        kinds = self.models[model]["api"]["errorsByType"]
        kinds[kind or "UNKNOWN"] = kinds.get(kind or "UNKNOWN", 0) + 1

    def invalid(self, model: str, kind: str) -> None:
        """Count an invalid answer."""
        api = self._model(model)["api"]
        api["totalErrors"] += 1
        api["errorsByType"][kind] = api["errorsByType"].get(kind, 0) + 1

    def _model(self, name: str) -> JsonObject:
        counts: JsonObject = self.models.setdefault(
            name,
            {
                "api": {
                    "totalRequests": 0,
                    "totalErrors": 0,
                    "totalLatencyMs": 0,
                    "errorsByType": {},
                },
                "tokens": _no_tokens(),
                "roles": {},
            },
        )
        return counts

    def _model_and_role(self, name: str, role: str) -> tuple[JsonObject, JsonObject]:
        model = self._model(name)
        of_role: JsonObject = model["roles"].setdefault(
            role,
            {"totalRequests": 0, "totalErrors": 0, "totalLatencyMs": 0, "tokens": _no_tokens()},
        )
        return model, of_role

    def _count(self, call: CompletedToolCall) -> None:
        success = call.status is CallStatus.SUCCESS
        duration = call.duration_ms or 0
        by_name = self.tools["byName"].setdefault(
            call.request.name,
            {"count": 0, "success": 0, "fail": 0, "durationMs": 0, "decisions": _no_decisions()},
        )
        self.tools["totalCalls"] += 1
        self.tools["totalDurationMs"] += duration
        self.tools["totalSuccess" if success else "totalFail"] += 1
        by_name["count"] += 1
        by_name["durationMs"] += duration
        by_name["success" if success else "fail"] += 1
        if call.outcome is not None:
            decision = decision_of(call.outcome)
            self.tools["totalDecisions"][decision] += 1
            by_name["decisions"][decision] += 1
        facts = call_metadata(call)
        self.files["totalLinesAdded"] += facts.get("model_added_lines") or 0
        self.files["totalLinesRemoved"] += facts.get("model_removed_lines") or 0


def _no_tokens() -> JsonObject:
    return dict.fromkeys(
        ("input", "prompt", "candidates", "total", "cached", "thoughts", "tool"), 0
    )


def _no_decisions() -> JsonObject:
    return dict.fromkeys(("accept", "reject", "modify", "auto_accept"), 0)
