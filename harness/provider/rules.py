"""The catalogue of provider rules, with severity and evidence.

The evidence is a recording of the API's answer, the API's documentation, or `unproven`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Final

from harness.codec import Coded
from services.wire import JsonObject

__all__ = ["RULES", "ProviderFinding", "ProviderRule", "Severity"]


class Severity(StrEnum):
    """The effect of breaking a rule."""

    ERROR = "error"
    """The API refuses the request."""
    WARNING = "warning"
    """The API accepts it, but a correct program does not send it."""


@dataclass(frozen=True, slots=True)
class ProviderRule:
    """One requirement of the API on a request."""

    severity: Severity
    id: str
    says: str
    """The requirement, one sentence."""
    evidence: str
    """`recording: …`, `documentation: …`, or `unproven` with an argument."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderFinding(Coded):
    """One place of one request that breaks a rule."""

    rule: str
    """The rule's id, a key of `RULES`."""
    path: str
    """Where in the request: `contents[3].parts[0]`, `config.tools[0]…`."""
    message: str
    """What is wrong, without the values."""

    @property
    def severity(self) -> Severity:
        """Of the rule."""
        return RULES[self.rule].severity

    def __post_init__(self) -> None:
        """Refuse a finding of an unknown rule.

        Raises:
            ValueError: there is no such rule.
        """
        if self.rule not in RULES:
            raise ValueError(f"there is no provider rule {self.rule!r}")

    def to_json(self) -> JsonObject:
        """As written to traces, journals and baselines."""
        return {"rule": self.rule, "severity": self.severity.value, **Coded.to_json(self)}


def _catalogue(*rules: ProviderRule) -> Mapping[str, ProviderRule]:
    return {rule.id: rule for rule in rules}


_error = partial(ProviderRule, Severity.ERROR)
_warning = partial(ProviderRule, Severity.WARNING)

_THINKING_DOCS: Final = "documentation: Gemini API, Thinking, levels and budgets"
_CALLING_DOCS: Final = "documentation: Gemini API, Function calling"

RULES: Final = _catalogue(
    _error(
        "call-unanswered",
        "The turn after a model's function calls answers each of them by name, and no other.",
        f"{_CALLING_DOCS}; all 317 answered turns of the recordings agree",
    ),
    _error(
        "response-uncalled",
        "A function response stands directly after the model turn that called the function.",
        f"{_CALLING_DOCS}; no accepted recording has one anywhere else",
    ),
    _error(
        "content-empty",
        "Every content has at least one part, and every part carries something.",
        "documentation: Gemini API, generateContent, Content.parts; "
        "no accepted recording has an empty one",
    ),
    _error(
        "role-unknown",
        "A content is the user's or the model's.",
        "documentation: Gemini API, generateContent, Content.role",
    ),
    _error(
        "first-not-user",
        "The conversation begins with the user.",
        f"{_CALLING_DOCS}; all 697 accepted recorded requests do",
    ),
    _error(
        "call-unsigned",
        "In the active loop the first call of each model turn carries a thought signature.",
        "documentation: Gemini API, Thought signatures (Gemini 3); "
        "all 121 recorded Gemini 3 turns carry one",
    ),
    _error(
        "schema-refused",
        "A function's declaration has a valid name and a schema in the API's subset.",
        "documentation: Gemini API, FunctionDeclaration and Schema",
    ),
    _error(
        "request-too-large",
        "The contents fit into the model's context window.",
        "documentation: Gemini API, Long context; the size is an estimate",
    ),
    _error(
        "config-of-another-model",
        "Thinking is configured as the addressed model understands it.",
        f"{_THINKING_DOCS}; the recordings send levels to Gemini 3 only",
    ),
    _error(
        "tools-of-another-model",
        "The API's own tools are ones that the addressed model has, and stand beside "
        "declarations of functions only where it takes both.",
        "documentation: Gemini API, Grounding with Google Search, URL context; "
        "the recordings put Google Search beside functions on Gemini 3 only",
    ),
    _warning(
        "call-undeclared",
        "A function that was called is among the declared ones.",
        "recording: openinference, test_generate_content.yaml: the API takes it",
    ),
    _warning(
        "text-empty",
        "A text part has text.",
        "recording: llm-gemini, test_tools_with_gemini_3_thought_signatures.yaml: the API takes it",
    ),
    _warning(
        "role-repeated",
        "The user's and the model's contents take turns.",
        "recording: 68 accepted requests have neighbours of one role",
    ),
)
"""Every rule by its id."""
