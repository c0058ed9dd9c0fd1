"""What a session used: requests, tokens, tool calls, changed lines.

Source: core `telemetry/uiTelemetry.ts`, `core/loggingContentGenerator.ts`,
`telemetry/tool-call-decision.ts`.
"""

from __future__ import annotations

from contextlib import aclosing
from typing import Any, Final

from services.abort import AbortError
from services.clock import Clock
from services.message_bus import MessageBus, ToolCallsUpdate
from services.model.generator import ChunkStream, ContentGenerator, EmbedRequest, ModelRequest
from services.scheduler.calls import CallStatus, CompletedToolCall
from services.scheduler.states import ToolCall
from services.tools.contract import ConfirmationOutcome
from services.wire import JsonObject
from surfaces.headless.failures import error_type

__all__ = ["MeteredContentGenerator", "SessionMetrics"]

_TOKENS: Final = (
    ("prompt", "promptTokenCount"),
    ("candidates", "candidatesTokenCount"),
    ("total", "totalTokenCount"),
    ("cached", "cachedContentTokenCount"),
    ("thoughts", "thoughtsTokenCount"),
    ("tool", "toolUsePromptTokenCount"),
)
_DECISIONS: Final = {
    ConfirmationOutcome.PROCEED_ONCE: "accept",
    ConfirmationOutcome.PROCEED_ALWAYS: "auto_accept",
    ConfirmationOutcome.PROCEED_ALWAYS_SERVER: "auto_accept",
    ConfirmationOutcome.PROCEED_ALWAYS_TOOL: "auto_accept",
    ConfirmationOutcome.MODIFY_WITH_EDITOR: "modify",
}


class SessionMetrics:
    """Counts, in the shape in which `-o json` shows them. Durations are milliseconds."""

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
        self._seen: dict[int, object] = {}
        """Requests of the calls that were counted, by identity: ids of calls come again."""

    def watch(self, bus: MessageBus) -> None:
        """Count the tool calls that `bus` tells of from now on."""
        bus.subscribe(ToolCallsUpdate, self._update)

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
        """Count an answer that came, and was none."""
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

    def _update(self, update: ToolCallsUpdate) -> None:
        for call in update.calls:
            if not isinstance(call, ToolCall) or not call.status.terminal:
                continue
            # The request is the one thing that a call keeps from its end to its last notice.
            if id(call.request) not in self._seen:
                self._seen[id(call.request)] = call.request
                self._count(call.completed())

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
            decision = _DECISIONS.get(call.outcome, "reject")
            self.tools["totalDecisions"][decision] += 1
            by_name["decisions"][decision] += 1
        if success:
            facts = _line_counts(call)
            self.files["totalLinesAdded"] += facts.get("model_added_lines") or 0
            self.files["totalLinesRemoved"] += facts.get("model_removed_lines") or 0


class MeteredContentGenerator:
    """Passes everything through and counts it. Embeddings and token counts are not counted.

    Args:
        inner: who answers.
        metrics: where it is counted.
        clock: what durations are taken from.
    """

    def __init__(self, inner: ContentGenerator, metrics: SessionMetrics, clock: Clock) -> None:
        self._inner = inner
        self._metrics = metrics
        self._clock = clock

    async def generate_content(self, request: ModelRequest) -> JsonObject:
        """Ask, and count the answer."""
        began = self._clock.now_ms()
        try:
            response = await self._inner.generate_content(request)
        except Exception as error:
            self._failed(request.model, request, began, error)
            raise
        model = response.get("modelVersion") or request.model
        self._answered(model, request, began, response.get("usageMetadata"))
        return response

    async def generate_content_stream(self, request: ModelRequest) -> ChunkStream:
        """Connect; the answer is counted when it has been read to its end."""
        began = self._clock.now_ms()
        try:
            stream = await self._inner.generate_content_stream(request)
        except Exception as error:
            self._failed(request.model, request, began, error)
            raise
        return self._counted(stream, request, began)

    async def _counted(self, stream: ChunkStream, request: ModelRequest, began: int) -> ChunkStream:
        model: str | None = None
        usage: JsonObject | None = None
        try:
            async with aclosing(stream):
                async for chunk in stream:
                    model = model if model is not None else chunk.get("modelVersion") or ""
                    usage = chunk.get("usageMetadata") or usage
                    yield chunk
        except Exception as error:
            self._failed(model or request.model, request, began, error)
            raise
        self._answered(model or request.model, request, began, usage)

    async def count_tokens(self, request: ModelRequest) -> JsonObject:
        """Pass through."""
        return await self._inner.count_tokens(request)

    async def embed_content(self, request: EmbedRequest) -> JsonObject:
        """Pass through."""
        return await self._inner.embed_content(request)

    def _answered(self, model: str, request: ModelRequest, began: int, usage: Any) -> None:
        took = self._clock.now_ms() - began
        self._metrics.answered(model, str(request.role), took, usage)

    def _failed(self, model: str, request: ModelRequest, began: int, error: Exception) -> None:
        if not isinstance(error, AbortError):
            took = self._clock.now_ms() - began
            self._metrics.failed(model, str(request.role), took, error_type(error))


def _line_counts(call: CompletedToolCall) -> JsonObject:
    display = call.response.result_display
    facts: JsonObject = {}
    if isinstance(display, dict) and "fileDiff" in display:
        facts.update(display.get("diffStat") or {})
    facts.update(call.response.data or {})
    return facts


def _no_tokens() -> JsonObject:
    return dict.fromkeys(
        ("input", "prompt", "candidates", "total", "cached", "thoughts", "tool"), 0
    )


def _no_decisions() -> JsonObject:
    return dict.fromkeys(("accept", "reject", "modify", "auto_accept"), 0)
