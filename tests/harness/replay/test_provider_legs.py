"""Cassettes over another provider: legacy ≡ adk, and both as over Gemini's API.

A sample runs with each change, the family `text` by night.
"""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from harness.cli import parity

SAMPLE = ("text/text", "tools/read_ranges")
PROVIDERS = ("openai", "anthropic")


def exit_code(*words: str) -> int:
    done = CliRunner().invoke(parity, ["run", *words, "--no-keep"], prog_name="parity")
    if done.exit_code:
        pytest.fail(done.output[-4000:])
    return done.exit_code


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_sample_over_a_provider_is_as_over_gemini(provider: str) -> None:
    assert exit_code(*SAMPLE, "--control", "legacy", "--candidate", f"{provider}:adk") == 0


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("provider", PROVIDERS)
def test_the_family_text_agrees_over_a_provider(provider: str) -> None:
    assert exit_code("text", "--provider", provider) == 0
