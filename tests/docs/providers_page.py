"""The tables of docs/providers.md: what each provider's format cannot carry.

`python -m tests.docs.providers_page` prints them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from services.providers.anthropic import answer_losses as anthropic_answers
from services.providers.anthropic import request_losses as anthropic_requests
from services.providers.losing import described
from services.providers.openai import answer_losses as openai_answers
from services.providers.openai import request_losses as openai_requests

__all__ = ["tables"]

Rule = Callable[..., Any]


def tables() -> dict[str, str]:
    """Return the heading and the table of each kind of message."""
    return {
        "Requests to OpenAI": _table(
            *openai_requests.REQUEST_LOSSES,
            openai_requests.loses_sampling,
            openai_requests.loses_effort,
        ),
        "Answers of OpenAI": _table(*openai_answers.WHOLE_ANSWER_LOSSES),
        "Requests to Anthropic": _table(
            *anthropic_requests.REQUEST_LOSSES,
            anthropic_requests.loses_budget,
            anthropic_requests.loses_no_thinking,
            anthropic_requests.loses_level,
        ),
        "Answers of Anthropic": _table(*anthropic_answers.ANSWER_LOSSES),
    }


def _table(*rules: Rule) -> str:
    return "\n".join(["| rule | what holds |", "| --- | --- |", *_rows(rules)])


def _rows(rules: Iterable[Rule]) -> list[str]:
    return [
        f"| `{rule.__name__}` | {described(rule).replace('|', chr(92) + '|')} |" for rule in rules
    ]


if __name__ == "__main__":
    print("\n\n".join(f"### {title}\n\n{table}" for title, table in tables().items()))  # noqa: T201
