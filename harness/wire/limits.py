"""Which cassettes cannot be played over a provider, and why."""

from __future__ import annotations

from collections.abc import Iterator

from harness.cassette.format import Cassette
from services.model.generator import LlmRole
from services.model.replay.steps import ModelStep, StepMethod
from services.providers.provider import Provider

__all__ = ["refusal"]


def refusal(cassette: Cassette, provider: Provider) -> str | None:
    """Return why a session over `provider` cannot have the answers of `cassette`, as a sentence."""
    if provider is Provider.GEMINI:
        return None
    return next(_refusals(cassette.steps, provider), None)


def _refusals(steps: tuple[ModelStep, ...], provider: Provider) -> Iterator[str]:
    for step in steps:
        if step.role is LlmRole.UTILITY_TOOL:
            yield f"{provider} has no counterpart of the web tools of the Gemini API"
        if step.method is StepMethod.EMBED and provider is Provider.ANTHROPIC:
            yield "anthropic has no embeddings"
