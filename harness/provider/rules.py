"""The catalogue of provider rules: what each forbids, how grave that is, and how we know.

A rule without evidence is worth little, so each names its own: a recording in which the API said
so, the API's documentation, or `unproven`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from harness.codec import Coded
from services.wire import JsonObject

__all__ = ["RULES", "ProviderFinding", "ProviderRule", "Severity"]


class Severity(StrEnum):
    """What comes of breaking a rule."""

    ERROR = "error"
    """The API refuses the request."""
    WARNING = "warning"
    """The API takes it, but a program that means well does not send it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderRule:
    """One thing that the API asks of a request."""

    id: str
    severity: Severity
    says: str
    """What a request must be like, one sentence."""
    evidence: str
    """`recording: …`, `documentation: …`, or `unproven` with what speaks for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderFinding(Coded):
    """One place of one request that breaks a rule."""

    rule: str
    """The rule's id, a key of `RULES`."""
    path: str
    """Where in the request: `contents[3].parts[0]`, `config.tools[0]…`."""
    message: str
    """What is there, in words, without the values themselves."""

    @property
    def severity(self) -> Severity:
        """Of the rule."""
        return RULES[self.rule].severity

    def __post_init__(self) -> None:
        """Refuse a finding of a rule that is not known.

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


_THINKING_DOCS: Final = "documentation: Gemini API, Thinking, levels and budgets"
_CALLING_DOCS: Final = "documentation: Gemini API, Function calling"

RULES: Final = _catalogue(
    ProviderRule(
        id="call-unanswered",
        severity=Severity.ERROR,
        says="The turn after a model's function calls answers each of them by name, and no other.",
        evidence=f"{_CALLING_DOCS}; all 317 answered turns of the recordings agree",
    ),
    ProviderRule(
        id="response-uncalled",
        severity=Severity.ERROR,
        says="A function response stands directly after the model turn that called the function.",
        evidence=f"{_CALLING_DOCS}; no accepted recording has one anywhere else",
    ),
    ProviderRule(
        id="content-empty",
        severity=Severity.ERROR,
        says="Every content has at least one part, and every part carries something.",
        evidence="documentation: Gemini API, generateContent, Content.parts; "
        "no accepted recording has an empty one",
    ),
    ProviderRule(
        id="role-unknown",
        severity=Severity.ERROR,
        says="A content is the user's or the model's.",
        evidence="documentation: Gemini API, generateContent, Content.role",
    ),
    ProviderRule(
        id="first-not-user",
        severity=Severity.ERROR,
        says="The conversation begins with the user.",
        evidence=f"{_CALLING_DOCS}; all 697 accepted recorded requests do",
    ),
    ProviderRule(
        id="call-unsigned",
        severity=Severity.ERROR,
        says="In the active loop the first call of each model turn carries a thought signature.",
        evidence="documentation: Gemini API, Thought signatures (Gemini 3); "
        "all 121 recorded Gemini 3 turns carry one",
    ),
    ProviderRule(
        id="schema-refused",
        severity=Severity.ERROR,
        says="A function's declaration has a valid name and a schema in the API's subset.",
        evidence="documentation: Gemini API, FunctionDeclaration and Schema",
    ),
    ProviderRule(
        id="request-too-large",
        severity=Severity.ERROR,
        says="The contents fit into the model's context window.",
        evidence="documentation: Gemini API, Long context; the size is an estimate",
    ),
    ProviderRule(
        id="config-of-another-model",
        severity=Severity.ERROR,
        says="Thinking is configured as the addressed model understands it.",
        evidence=f"{_THINKING_DOCS}; the recordings send levels to Gemini 3 only",
    ),
    ProviderRule(
        id="tools-of-another-model",
        severity=Severity.ERROR,
        says="The API's own tools are ones that the addressed model has, and stand beside "
        "declarations of functions only where it takes both.",
        evidence="documentation: Gemini API, Grounding with Google Search, URL context; "
        "the recordings put Google Search beside functions on Gemini 3 only",
    ),
    ProviderRule(
        id="call-undeclared",
        severity=Severity.WARNING,
        says="A function that was called is among the declared ones.",
        evidence="recording: openinference, test_generate_content.yaml: the API takes it",
    ),
    ProviderRule(
        id="text-empty",
        severity=Severity.WARNING,
        says="A text part has text.",
        evidence="recording: llm-gemini, test_tools_with_gemini_3_thought_signatures.yaml: "
        "the API takes it",
    ),
    ProviderRule(
        id="role-repeated",
        severity=Severity.WARNING,
        says="The user's and the model's contents take turns.",
        evidence="recording: 68 accepted requests have neighbours of one role",
    ),
)
"""Every rule by its id."""
