"""`ProviderCheck` applies the rules of the API to every request of one run.

It reports a finding at the first request of a lineage that has it, not at the later ones that
repeat it in their history.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final

from harness.provider.rules import ProviderFinding
from harness.provider.schemas import declaration_findings
from harness.provider.turns import Conversation, Turn, declared_names
from services.model.generator import ModelRequest
from services.model.limits import token_limit
from services.model.names import is_gemini3_model

__all__ = ["ProviderCheck"]

_THINKS_BY_BUDGET: Final = ("gemini-2.5",)
_NEVER_THINKS: Final = ("gemini-1", "gemini-2.0")
_SEARCHES_BY_RETRIEVAL: Final = ("gemini-1",)
_BEFORE_BOTH: Final = ("gemini-1", "gemini-2")
_GROUNDING: Final = ("googleSearch", "urlContext")


@dataclass(slots=True)
class _Lineage:
    """The state of the requests of one role on one thread."""

    conversation: Conversation = field(default_factory=Conversation)
    reported: dict[tuple[str, str], int] = field(default_factory=dict)
    """Rule and path to the index of the content at which it was reported."""
    signed_since: int | None = None
    """The first turn whose signatures were checked; `None` if the model needs none."""
    of_config: frozenset[tuple[str, str]] = frozenset()
    """Rule and path of each finding in the last request's config."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tools:
    """One value of `config.tools`, read."""

    value: Any
    names: frozenset[str]
    """Of the declared functions."""
    builtin: frozenset[str]
    """The API's own tools, by their keys: `googleSearch`."""
    findings: tuple[ProviderFinding, ...]
    """Findings in the declarations that hold for every model."""


class ProviderCheck:
    """The rules applied to the requests of one run, in order. `examine` each."""

    def __init__(self) -> None:
        self._lineages: dict[tuple[str, str], _Lineage] = {}
        self._tools: list[_Tools] = []

    def examine(self, request: ModelRequest) -> list[ProviderFinding]:
        """The findings of `request` that the request before it did not have, in order."""
        lineage = self._lineages.setdefault((str(request.role), request.thread), _Lineage())
        conversation = lineage.conversation
        same = conversation.shared(request.contents)
        if same < conversation.length:
            lineage.reported = {key: at for key, at in lineage.reported.items() if at < same}
        fresh = conversation.advance(request.contents, same)
        found: list[ProviderFinding] = []
        tools = self._known(request.config.get("tools"))
        for at, finding in chain(
            _of_conversation(conversation, fresh, tools.names),
            _of_signatures(lineage, fresh, request.model),
        ):
            key = (finding.rule, finding.path)
            if key not in lineage.reported:
                lineage.reported[key] = at
                found.append(finding)
        of_config = list(_of_config(request, tools, conversation.tokens))
        found += [one for one in of_config if (one.rule, one.path) not in lineage.of_config]
        lineage.of_config = frozenset((one.rule, one.path) for one in of_config)
        return found

    def _known(self, value: Any) -> _Tools:
        """`config.tools`, read once for each of the few values in a run."""
        for known in self._tools:
            if known.value is value or known.value == value:
                return known
        tools = _Tools(
            value=value,
            names=frozenset(declared_names({"tools": value})),
            builtin=frozenset(
                key for tool in value or () for key in tool if key != "functionDeclarations"
            ),
            findings=tuple(declaration_findings(value)),
        )
        self._tools.append(tools)
        return tools


def _of_config(request: ModelRequest, tools: _Tools, tokens: int) -> Iterator[ProviderFinding]:
    limit = token_limit(request.model)
    if tokens > limit:
        yield _found("request-too-large", "contents", f"are about {tokens} tokens of {limit}")
    yield from _thinking(request.model, request.config.get("thinkingConfig"))
    yield from tools.findings
    yield from _own_tools(request.model, tools)


def _of_conversation(
    conversation: Conversation, fresh: int, declared: Set[str]
) -> Iterator[tuple[int, ProviderFinding]]:
    """Each finding with the index of the first content that has it."""
    turns = conversation.turns
    if not turns:
        yield 0, _found("content-empty", "contents", "are none")
        return
    if turns[0].role == "model":
        yield 0, _found("first-not-user", "contents[0]", "is the model's")
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


def _of_signatures(
    lineage: _Lineage, fresh: int, model: str
) -> Iterator[tuple[int, ProviderFinding]]:
    """Calls without signatures in turns that were not checked before."""
    if not is_gemini3_model(model):
        lineage.signed_since = None
        return
    conversation, looked = lineage.conversation, lineage.signed_since
    lineage.signed_since = loop = conversation.loop
    first = loop if looked is None or loop < looked else max(loop, fresh)
    for turn in conversation.unsigned_since(first):
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


def _own_tools(model: str, tools: _Tools) -> Iterator[ProviderFinding]:
    rule, path = "tools-of-another-model", "config.tools"
    if "googleSearchRetrieval" in tools.builtin and not model.startswith(_SEARCHES_BY_RETRIEVAL):
        yield _found(rule, path, f"search by googleSearchRetrieval, which {model} does not have")
    if model.startswith(_BEFORE_BOTH) and tools.names:
        for own in _GROUNDING:
            if own in tools.builtin:
                words = f"hold {own} beside functions, and {model} takes one of them"
                yield _found(rule, path, words)


def _found(rule: str, path: str, message: str) -> ProviderFinding:
    return ProviderFinding(rule=rule, path=path, message=message)
