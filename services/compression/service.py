"""`ChatCompressionService`: replaces the old part of a conversation by a summary of it.

A model writes the summary, and is then asked for what it left out. Source: core
`context/chatCompressionService.ts`; `core/client.ts` `tryCompressChat` for failed attempts. The
runtime applies the result:

- `COMPRESSED`: a new chat on the environment's context and `new_history`, on the same recording;
- `CONTENT_TRUNCATED`: the same chat with its history replaced by `new_history`;
- anything else: nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from enum import IntEnum
from typing import Final, Protocol

from services.abort import AbortSignal
from services.compression.budget import OutputTruncation, split_point
from services.compression.prompt import (
    ACKNOWLEDGEMENT,
    SNAPSHOT_TAG,
    VERIFY_REQUEST,
    summary_instruction,
    summary_request,
)
from services.hooks.system import HookSystem
from services.model.generator import LlmRole
from services.model.limits import token_limit
from services.model.names import (
    BASE_FLASH,
    BASE_FLASH_LITE,
    DEFAULT_PRO,
    LATEST_FLASH,
    LATEST_FLASH_LITE,
    LEGACY_FLASH,
    PREVIEW_3_1_PRO,
    PREVIEW_FLASH,
    PREVIEW_PRO,
)
from services.model.parts import response_text
from services.model.tokens import estimate_tokens, request_token_count
from services.model.utility import UtilityModel, UtilityRequest
from services.session import Session
from services.settings.hooks import HookEvent
from services.wire import Content, JsonObject, Part, js_trim

__all__ = [
    "ChatCompressionService",
    "CompressibleChat",
    "CompressionInfo",
    "CompressionResult",
    "CompressionStatus",
    "compression_config_key",
]

_DEFAULT_THRESHOLD: Final = 0.5
_PRESERVED: Final = 0.3
_CONFIG_KEYS: Final = {
    **dict.fromkeys((PREVIEW_PRO, PREVIEW_3_1_PRO), "chat-compression-3-pro"),
    **dict.fromkeys(
        (PREVIEW_FLASH, BASE_FLASH, LATEST_FLASH, LEGACY_FLASH), "chat-compression-3-flash"
    ),
    **dict.fromkeys(
        # `none` is what the preview flash-lite was renamed to.
        ("none", BASE_FLASH_LITE, LATEST_FLASH_LITE),
        "chat-compression-3.1-flash-lite",
    ),
    "gemini-2.5-flash-lite": "chat-compression-2.5-flash-lite",
    DEFAULT_PRO: "chat-compression-2.5-pro",
    "gemini-2.5-flash": "chat-compression-2.5-flash",
}


class CompressionStatus(IntEnum):
    """The outcome of an attempt; the wire's numbers. Source: core `core/turn.ts`."""

    COMPRESSED = 1
    FAILED_INFLATED_TOKEN_COUNT = 2
    FAILED_TOKEN_COUNT_ERROR = 3
    FAILED_EMPTY_SUMMARY = 4
    NOOP = 5
    CONTENT_TRUNCATED = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressionInfo:
    """An attempt in numbers of tokens, for clients."""

    original_token_count: int
    new_token_count: int
    status: CompressionStatus

    def as_json(self) -> JsonObject:
        """The wire's form."""
        return {
            "originalTokenCount": self.original_token_count,
            "newTokenCount": self.new_token_count,
            "compressionStatus": int(self.status),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressionResult:
    """An attempt, and the chat's new history if it changes.

    After `COMPRESSED`, that history lacks the environment's context.
    """

    info: CompressionInfo
    new_history: list[Content] | None = None


class CompressibleChat(Protocol):
    """A conversation as it is compressed."""

    @property
    def last_prompt_token_count(self) -> int:
        """How many tokens the last request had, by the model's own count where it gave one."""
        ...

    def curated_history(self) -> Sequence[Content]:
        """The turns that are fit to be sent, coalesced, without thoughts, oldest first."""
        ...


class ChatCompressionService:
    """One per conversation: it remembers a failed attempt in the current chat."""

    def __init__(
        self,
        session: Session,
        *,
        model: UtilityModel,
        session_context: Callable[[], Content],
        max_chars: Callable[[], int],
        hooks: HookSystem | None,
    ) -> None:
        """Prepare to compress.

        Args:
            session: The session; its content generator counts tokens where the history has media.
            model: Writes the summary.
            session_context: The first turn of a new chat, which counts as a part of the history.
            max_chars: The length that tool outputs are cut to.
            hooks: The session's hooks.
        """
        self._model = model
        self._generator = session.content_generator
        self._truncation = OutputTruncation(
            project_temp=session.workspace.project_temp, max_chars=max_chars
        )
        self._session_context = session_context
        self._threshold = session.settings.compression_threshold or _DEFAULT_THRESHOLD
        self._state = session.state
        # Without a hook, a short history needs no look at its contents.
        fires = hooks is not None and hooks.has_hooks(HookEvent.PRE_COMPRESS)
        self._hooks = hooks if fires else None
        self.has_failed_attempt = False
        """A summary was longer than what it summed up. From then on, only outputs are cut."""

    def for_agent(self) -> ChatCompressionService:
        """A service for another conversation, an agent's, with a memory of its own."""
        other = copy(self)
        other.has_failed_attempt = False
        return other

    def chat_started(self) -> None:
        """A new chat begins (a reset, a resume, a compression): nothing has failed in it."""
        self.has_failed_attempt = False

    async def compress(
        self,
        chat: CompressibleChat,
        prompt_id: str,
        *,
        model: str,
        signal: AbortSignal,
        force: bool = False,
    ) -> CompressionResult:
        """Make the conversation shorter, if it is long enough or `force` says so.

        Args:
            chat: The conversation, without the request about to be made.
            prompt_id: Goes into the requests.
            model: The concrete model that the next request is expected to go to.
            signal: Ends the requests.
            force: The user asked for it: compress whatever the length, also after a failure.

        Raises:
            ModelError: no summary could be got.
            AbortError: the signal was aborted.
        """
        count = chat.last_prompt_token_count
        too_short = not force and count < self._threshold * token_limit(model)
        if too_short and self._hooks is None:
            return _result(CompressionStatus.NOOP, count)
        history = chat.curated_history()
        if not history:
            return _result(CompressionStatus.NOOP, 0)
        if self._hooks is not None:
            await self._hooks.pre_compress(forced=force)
        if too_short:
            return _result(CompressionStatus.NOOP, count)
        shortened = self._truncation.truncate(history)
        if self.has_failed_attempt and not force:
            return _truncated(shortened, count)
        split = split_point(shortened, 1 - _PRESERVED)
        if split == 0:
            return _result(CompressionStatus.NOOP, count)
        whole = history[:split]
        fits = estimate_tokens(_parts(whole)) < token_limit(model)
        summary = await self._summarise(
            whole if fits else shortened[:split], prompt_id, compression_config_key(model), signal
        )
        if not summary:
            self._logged(count, count)
            return _result(CompressionStatus.FAILED_EMPTY_SUMMARY, count)
        return await self._judged(
            [*_turns(summary), *shortened[split:]], count, model, signal, prompt_id, force
        )

    async def _judged(
        self,
        history: list[Content],
        before: int,
        model: str,
        signal: AbortSignal,
        prompt_id: str,
        force: bool,
    ) -> CompressionResult:
        """The outcome of a summary, which counts only if it is shorter."""
        parts = _parts([self._session_context(), *history])
        after = await request_token_count(parts, self._generator, model, signal, prompt_id)
        self._logged(before, after)
        if after > before:
            self.has_failed_attempt = self.has_failed_attempt or not force
            return _result(CompressionStatus.FAILED_INFLATED_TOKEN_COUNT, before, after)
        self.has_failed_attempt = False
        return _result(CompressionStatus.COMPRESSED, before, after, history)

    def _logged(self, before: int, after: int) -> None:
        """Source: core `telemetry/types.ts` (`makeChatCompressionEvent`)."""
        body = f"Chat compression (Saved {before - after} tokens)"
        self._state.log("chat_compression", body, {"tokens_before": before, "tokens_after": after})

    async def _summarise(
        self, history: Sequence[Content], prompt_id: str, config_key: str, signal: AbortSignal
    ) -> str:
        async def ask(contents: list[Content], prompt_id: str) -> str:
            response = await self._model.generate_content(
                UtilityRequest(
                    config_key=config_key,
                    contents=contents,
                    role=LlmRole.UTILITY_COMPRESSOR,
                    prompt_id=prompt_id,
                    signal=signal,
                    system_instruction=summary_instruction(self._state.approved_plan),
                )
            )
            return response_text(response) or ""

        request = summary_request(continues=_has_snapshot(history))
        summary = await ask([*history, _turn("user", request)], prompt_id)
        verified = await ask(
            [*history, _turn("model", summary), _turn("user", VERIFY_REQUEST)],
            f"{prompt_id}-verify",
        )
        return js_trim(verified) or js_trim(summary)


def compression_config_key(model: str) -> str:
    """The model configuration that summarises conversations with `model`."""
    return _CONFIG_KEYS.get(model, "chat-compression-default")


def _result(
    status: CompressionStatus,
    before: int,
    after: int | None = None,
    history: list[Content] | None = None,
) -> CompressionResult:
    info = CompressionInfo(
        original_token_count=before,
        new_token_count=before if after is None else after,
        status=status,
    )
    return CompressionResult(info=info, new_history=history)


def _truncated(history: list[Content], before: int) -> CompressionResult:
    after = estimate_tokens(_parts(history))
    if after < before:
        return _result(CompressionStatus.CONTENT_TRUNCATED, before, after, history)
    return _result(CompressionStatus.NOOP, before)


def _turns(summary: str) -> list[Content]:
    return [_turn("user", summary), _turn("model", ACKNOWLEDGEMENT)]


def _turn(role: str, text: str) -> Content:
    return {"role": role, "parts": [{"text": text}]}


def _parts(history: Sequence[Content]) -> list[Part]:
    return [part for content in history for part in content.get("parts") or ()]


def _has_snapshot(history: Sequence[Content]) -> bool:
    return any(SNAPSHOT_TAG in (part.get("text") or "") for part in _parts(history))
