"""`ProviderCheck`: reads every request of one run as the API would, and keeps what it finds.

A finding is reported at the first request of a lineage that has it: what stays in the history is
not found again at every turn after.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from harness.provider.rules import ProviderFinding
from harness.provider.schemas import declaration_findings
from harness.provider.turns import Conversation, Turn, declared_names
from services.model.generator import ModelRequest
from services.model.limits import token_limit
from services.model.names import is_gemini3_model

__all__ = ["ProviderCheck"]

ToolsFit = Callable[[str, Any], bool]
"""Whether declarations (`config.tools`) are those made for a model, given its name first."""

_THINKS_BY_BUDGET: Final = ("gemini-2.5",)
_NEVER_THINKS: Final = ("gemini-1", "gemini-2.0")


@dataclass(slots=True)
class _Lineage:
    """What is known of the requests of one role on one thread."""

    conversation: Conversation = field(default_factory=Conversation)
    reported: dict[tuple[str, str], int] = field(default_factory=dict)
    """Rule and path to the index of the content at which it was reported."""
    of_config: frozenset[tuple[str, str]] = frozenset()
    """Rule and path of what was wrong with the last request's config."""


class ProviderCheck:
    """The rules applied to the requests of one run, in order. `examine` each."""

    def __init__(self, *, tools_fit: ToolsFit | None = None) -> None:
        """`tools_fit` settles `tools-of-another-model`; without it that rule is not applied."""
        self._lineages: dict[tuple[str, str], _Lineage] = {}
        self._declarations: list[tuple[Any, tuple[ProviderFinding, ...]]] = []
        self._tools_fit = tools_fit

    def examine(self, request: ModelRequest) -> list[ProviderFinding]:
        """What is wrong with `request` and was not wrong with the one before it, in order."""
        lineage = self._lineages.setdefault((str(request.role), request.thread), _Lineage())
        conversation = lineage.conversation
        same = conversation.shared(request.contents)
        lineage.reported = {key: at for key, at in lineage.reported.items() if at < same}
        fresh = conversation.advance(request.contents, same)
        found: list[ProviderFinding] = []
        for at, finding in _of_conversation(conversation, fresh, request):
            key = (finding.rule, finding.path)
            if key not in lineage.reported:
                lineage.reported[key] = at
                found.append(finding)
        of_config = list(self._of_config(request, conversation.tokens))
        found += [one for one in of_config if (one.rule, one.path) not in lineage.of_config]
        lineage.of_config = frozenset((one.rule, one.path) for one in of_config)
        return found

    def _of_config(self, request: ModelRequest, tokens: int) -> Iterator[ProviderFinding]:
        limit = token_limit(request.model)
        if tokens > limit:
            yield _found("request-too-large", "contents", f"are about {tokens} tokens of {limit}")
        yield from _thinking(request.model, request.config.get("thinkingConfig"))
        tools = request.config.get("tools")
        yield from self._of_tools(tools)
        if tools and self._tools_fit is not None and not self._tools_fit(request.model, tools):
            yield _found(
                "tools-of-another-model", "config.tools", f"are not those made for {request.model}"
            )

    def _of_tools(self, tools: Any) -> tuple[ProviderFinding, ...]:
        for known, findings in self._declarations:
            if known is tools or known == tools:
                return findings
        findings = tuple(declaration_findings(tools))
        self._declarations.append((tools, findings))
        return findings


def _of_conversation(
    conversation: Conversation, fresh: int, request: ModelRequest
) -> Iterator[tuple[int, ProviderFinding]]:
    """Each finding with the index of the content from which on it holds."""
    turns = conversation.turns
    if not turns:
        yield 0, _found("content-empty", "contents", "are none")
        return
    if turns[0].role == "model":
        yield 0, _found("first-not-user", "contents[0]", "is the model's")
    declared = declared_names(request.config)
    for index in range(fresh, len(turns)):
        turn = turns[index]
        for finding in turn.findings:
            yield turn.end - 1, finding
        for name in dict.fromkeys(turn.calls):
            if name not in declared:
                yield (
                    turn.end - 1,
                    _found("call-undeclared", f"contents[{turn.first}]", f"calls {name}"),
                )
        yield from _answers(turns[index - 1] if index else None, turn)
    if turns[-1].calls:
        yield turns[-1].end - 1, _unanswered(turns[-1], [])
    if is_gemini3_model(request.model):
        for turn in conversation.unsigned_in_the_active_loop():
            yield turn.end - 1, _found("call-unsigned", str(turn.unsigned), "carries no signature")


def _answers(before: Turn | None, turn: Turn) -> Iterator[tuple[int, ProviderFinding]]:
    called = before.calls if before is not None else []
    at = turn.end - 1
    if before is not None and called and sorted(called) != sorted(turn.responses):
        yield at, _unanswered(before, turn.responses)
    elif turn.responses and not called:
        names = ", ".join(turn.responses)
        yield (
            at,
            _found("response-uncalled", f"contents[{turn.first}]", f"answers {names}, uncalled"),
        )


def _unanswered(turn: Turn, responses: list[str]) -> ProviderFinding:
    answered = ", ".join(responses) or "nothing"
    return _found(
        "call-unanswered",
        f"contents[{turn.first}]",
        f"calls {', '.join(turn.calls)}; what follows answers {answered}",
    )


def _thinking(model: str, config: Any) -> Iterator[ProviderFinding]:
    if not isinstance(config, dict) or not config:
        return
    path = "config.thinkingConfig"
    if model.startswith(_NEVER_THINKS):
        yield _found("config-of-another-model", path, f"is there, and {model} does not think")
    elif model.startswith(_THINKS_BY_BUDGET) and config.get("thinkingLevel") is not None:
        yield _found(
            "config-of-another-model",
            f"{path}.thinkingLevel",
            f"is there, and {model} takes a thinkingBudget",
        )
    elif config.get("thinkingLevel") is not None and config.get("thinkingBudget") is not None:
        yield _found(
            "config-of-another-model", path, "has a thinkingLevel and a thinkingBudget: one of them"
        )


def _found(rule: str, path: str, message: str) -> ProviderFinding:
    return ProviderFinding(rule=rule, path=path, message=message)
