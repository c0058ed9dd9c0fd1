"""Names of spans, attributes and metrics.

`gen_ai.*` and `error.type` are OpenTelemetry's semantic conventions for generative AI
(semantic-conventions-genai); the other names are the published core's (`gemini_cli.*`; core
`telemetry/metrics.ts`, `telemetry/types.ts`).
"""

from __future__ import annotations

from typing import Final

OPERATION: Final = "gen_ai.operation.name"
INVOKE_AGENT: Final = "invoke_agent"
GENERATE_CONTENT: Final = "generate_content"
EXECUTE_TOOL: Final = "execute_tool"

PROVIDER: Final = "gen_ai.provider.name"
CONVERSATION: Final = "gen_ai.conversation.id"
AGENT_NAME: Final = "gen_ai.agent.name"
AGENT_DESCRIPTION: Final = "gen_ai.agent.description"
AGENT: Final = "gemini-cli"
ERROR_TYPE: Final = "error.type"
OTHER_ERROR: Final = "_OTHER"
CANCELLED: Final = "cancelled"

REQUEST_MODEL: Final = "gen_ai.request.model"
REQUEST_STREAM: Final = "gen_ai.request.stream"
REQUEST_NUMBERS: Final = (
    ("temperature", "gen_ai.request.temperature", float),
    ("topP", "gen_ai.request.top_p", float),
    ("topK", "gen_ai.request.top_k", float),
    ("maxOutputTokens", "gen_ai.request.max_tokens", int),
    ("seed", "gen_ai.request.seed", int),
)
"""A request's `config` key, the attribute, and its type."""
OUTPUT_TYPE: Final = "gen_ai.output.type"
OUTPUT_TYPES: Final = {"application/json": "json", "text/plain": "text"}
"""By the requested MIME type; other types keep their name."""
RESPONSE_MODEL: Final = "gen_ai.response.model"
RESPONSE_ID: Final = "gen_ai.response.id"
FINISH_REASONS: Final = "gen_ai.response.finish_reasons"
FIRST_CHUNK: Final = "gen_ai.response.time_to_first_chunk"
INPUT_TOKENS: Final = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS: Final = "gen_ai.usage.output_tokens"
CACHED_TOKENS: Final = "gen_ai.usage.cache_read.input_tokens"
REASONING_TOKENS: Final = "gen_ai.usage.reasoning.output_tokens"
TOKEN_TYPE: Final = "gen_ai.token.type"  # noqa: S105 - tokens that models count

TOOL_NAME: Final = "gen_ai.tool.name"
TOOL_TYPE: Final = "gen_ai.tool.type"
TOOL_CALL_ID: Final = "gen_ai.tool.call.id"

INPUT_MESSAGES: Final = "gen_ai.input.messages"
OUTPUT_MESSAGES: Final = "gen_ai.output.messages"
TOOL_ARGUMENTS: Final = "gen_ai.tool.call.arguments"
TOOL_RESULT: Final = "gen_ai.tool.call.result"

ROLE: Final = "gemini_cli.role"
PROMPT_ID: Final = "gemini_cli.prompt_id"
END_REASON: Final = "gemini_cli.end_reason"
TOOL_STATUS: Final = "gemini_cli.tool.status"
FUNCTION_NAME: Final = "function_name"
FUNCTION_SUCCESS: Final = "success"
FUNCTION_TYPE: Final = "tool_type"
FUNCTION_DECISION: Final = "decision"

RETRY_EVENT: Final = "gemini_cli.network_retry_attempt"
RETRY_ATTEMPT: Final = "gemini_cli.retry.attempt"
RETRY_MAX_ATTEMPTS: Final = "gemini_cli.retry.max_attempts"
RETRY_DELAY_MS: Final = "gemini_cli.retry.delay_ms"
FALLBACK_EVENT: Final = "gemini_cli.fallback"
FALLBACK_MODEL: Final = "gemini_cli.fallback.model"
FAILED_MODEL: Final = "gemini_cli.fallback.failed_model"

METRIC_CALL_DURATION: Final = "gen_ai.client.operation.duration"
METRIC_FIRST_CHUNK: Final = "gen_ai.client.operation.time_to_first_chunk"
METRIC_TOKENS: Final = "gen_ai.client.token.usage"
METRIC_TURN_DURATION: Final = "gen_ai.invoke_agent.duration"
METRIC_TOOL_DURATION: Final = "gen_ai.execute_tool.duration"
METRIC_TOOL_CALLS: Final = "gemini_cli.tool.call.count"
METRIC_RETRIES: Final = "gemini_cli.network_retry.count"
METRIC_FALLBACKS: Final = "gemini_cli.fallback.count"
