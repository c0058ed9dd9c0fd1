"""Runs a scripted call under `Retry` in virtual time."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from services.abort import AbortController
from services.clock import VIRTUAL_EPOCH_MS, VirtualClock, virtual_loop
from services.ids import FixedRandom
from services.model.errors import ApiError
from services.model.retry import Retry

RPC = "type.googleapis.com/google.rpc."


def quota(delay: str | None = None) -> ApiError:
    details = None if delay is None else [{"@type": RPC + "RetryInfo", "retryDelay": delay}]
    return ApiError.from_parts(429, "slow", details=details)


def capacity(delay: str | None = None) -> ApiError:
    info = {"@type": RPC + "ErrorInfo", "reason": "MODEL_CAPACITY_EXHAUSTED"}
    retry = [] if delay is None else [{"@type": RPC + "RetryInfo", "retryDelay": delay}]
    return ApiError.from_parts(429, "full", details=[info, *retry])


def server_error() -> ApiError:
    return ApiError.from_parts(500, "internal")


def validation() -> ApiError:
    info = {
        "@type": RPC + "ErrorInfo",
        "reason": "VALIDATION_REQUIRED",
        "domain": "cloudcode-pa.googleapis.com",
    }
    return ApiError.from_parts(403, "verify", details=[info])


@dataclass
class Outcome:
    """The outcome of a retried call. The last of `answers` repeats."""

    answers: list[Any]
    result: Any = None
    error: Exception | None = None
    calls: int = 0
    waits: list[float] = field(default_factory=list)
    observed: list[tuple[int, str]] = field(default_factory=list)
    elapsed_ms: int = 0


def run(
    *answers: Any,
    rng: float = 0.5,
    abort_after: float | None = None,
    controller: AbortController | None = None,
    rejected: Callable[[Any], bool] = lambda _: False,
    **options: Any,
) -> Outcome:
    outcome = Outcome(list(answers))
    clock = VirtualClock()
    controller = controller or AbortController()

    async def call() -> Any:
        answer = outcome.answers[min(outcome.calls, len(outcome.answers) - 1)]
        outcome.calls += 1
        if isinstance(answer, Exception):
            raise answer
        return answer

    def observe(attempt: int, error: Exception, delay_ms: float) -> None:
        outcome.observed.append((attempt, str(error)))
        outcome.waits.append(delay_ms)

    async def aborter(delay_ms: float) -> None:
        await clock.sleep(delay_ms)
        controller.abort()

    async def main() -> None:
        tasks = [] if abort_after is None else [asyncio.create_task(aborter(abort_after))]
        try:
            retry = Retry(
                clock=clock,
                rng=FixedRandom(rng),
                signal=controller.signal,
                on_retry=observe,
                **options,
            )
            outcome.result = await retry.run(call, should_retry_on_content=rejected)
        except Exception as error:
            outcome.error = error
        for task in tasks:
            task.cancel()

    with asyncio.Runner(loop_factory=virtual_loop) as runner:
        runner.run(main())
    outcome.elapsed_ms = clock.now_ms() - VIRTUAL_EPOCH_MS
    return outcome


def answering(*answers: Any) -> tuple[list[tuple[Any, ...]], Callable[..., Awaitable[Any]]]:
    """The arguments of each call, and a handler that returns or raises `answers` in turn."""
    asked: list[tuple[Any, ...]] = []
    replies: Iterator[Any] = iter(answers)

    async def handler(*arguments: Any) -> Any:
        asked.append(arguments)
        reply = next(replies)
        if isinstance(reply, Exception):
            raise reply
        return reply

    return asked, handler
