"""Reads `answers`: what the user answers to confirmations and to questions, and when.

Source: the cassette format, "Keys"; the questions: `services/interaction/questions.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from harness.cassette.fields import Fields
from harness.cassette.format import Answers, ConfirmationAnswer, QuestionAnswer
from harness.cassette.problems import FormatProblem, kind_of, suggest
from services.interaction.questions import (
    FallbackIntent,
    LoopChoice,
    NewAgentsChoice,
    TrustChoice,
    ValidationIntent,
)
from services.model.replay.steps import MAX_DELAY_MS
from services.tools.contract import ConfirmationOutcome
from services.wire import Json

__all__ = ["QUESTIONS", "read_answers", "read_delay"]

QUESTIONS: Final[Mapping[str, tuple[str | bool, ...]]] = {
    "fallback": tuple(intent.value for intent in FallbackIntent),
    "validation": tuple(intent.value for intent in ValidationIntent),
    "loop": tuple(choice.value for choice in LoopChoice),
    "trust": tuple(choice.value for choice in TrustChoice),
    "new_agents": tuple(choice.value for choice in NewAgentsChoice),
    "sign_in": (True, False),
}
"""The answers to each kind of question."""

_ANSWER: Final = ("answer", "wrong", "fails", "never", "delay_ms")
_WHAT: Final = _ANSWER[:-1]


def read_answers(value: Json, path: str) -> Answers:
    """Read `answers`."""
    fields = Fields(value, path, ("confirmations", *QUESTIONS))
    confirmations = fields.items("confirmations")
    return Answers(
        confirmations=tuple(
            _read_confirmation(answer, f"{fields.at('confirmations')}[{position}]")
            for position, answer in enumerate(confirmations)
        ),
        questions={
            kind: tuple(
                _read_answer(kind, answer, f"{fields.at(kind)}[{position}]")
                for position, answer in enumerate(fields.items(kind))
            )
            for kind in QUESTIONS
            if fields.items(kind)
        },
    )


def _read_confirmation(value: Json, path: str) -> ConfirmationAnswer:
    if isinstance(value, dict) and "never" in value:
        _only_true(Fields(value, path, ("never",)), "never")
        return ConfirmationAnswer(outcome=ConfirmationOutcome.CANCEL, never=True)
    whole = {"outcome": value} if isinstance(value, str) else value
    fields = Fields(whole, path, ("outcome", "payload", "delay_ms"))
    outcome = fields.choice("outcome", {item.value: item for item in ConfirmationOutcome})
    payload = fields.mapping("payload") if fields.raw("payload") is not None else None
    return ConfirmationAnswer(outcome=outcome, payload=payload, delay_ms=read_delay(fields))


def _read_answer(kind: str, value: Json, path: str) -> QuestionAnswer:
    """Read one answer: a plain value, or a mapping that says how the user answers."""
    if not isinstance(value, dict):
        return QuestionAnswer(value=_known(kind, value, path))
    fields = Fields(value, path, _ANSWER)
    given = [key for key in _WHAT if key in fields]
    if len(given) != 1:
        problem = f"must have one of {', '.join(_WHAT)}"
        raise FormatProblem(path, problem, "write one of these keys")
    if "never" in fields:
        _only_true(fields, "never")
        return QuestionAnswer(never=True)
    delay_ms = read_delay(fields)
    if "fails" in fields:
        return QuestionAnswer(fails=fields.text("fails"), delay_ms=delay_ms)
    if "wrong" in fields:
        return QuestionAnswer(value=fields.raw("wrong"), delay_ms=delay_ms)
    answer = fields.raw("answer")
    known = None if answer is None else _known(kind, answer, fields.at("answer"))
    return QuestionAnswer(value=known, delay_ms=delay_ms)


def _known(kind: str, value: Json, path: str) -> str | bool:
    for known in QUESTIONS[kind]:
        if value == known and isinstance(value, type(known)):
            return known
    choices = [known if isinstance(known, str) else str(known).lower() for known in QUESTIONS[kind]]
    problem = f"{kind_of(value)} is not an answer to this question"
    raise FormatProblem(path, problem, suggest(str(value), choices))


def _only_true(fields: Fields, key: str) -> None:
    if fields.raw(key) is not True:
        problem = f"must be true, not {kind_of(fields.raw(key))}"
        raise FormatProblem(fields.at(key), problem, f"write `{key}: true`")


def read_delay(fields: Fields) -> float:
    """Read `delay_ms`: virtual milliseconds, 0 if absent."""
    delay = fields.raw("delay_ms", 0)
    here = fields.at("delay_ms")
    if not isinstance(delay, (int, float)) or isinstance(delay, bool) or delay < 0:
        problem = f"must be milliseconds, 0 or more, not {kind_of(delay)}"
        raise FormatProblem(here, problem, "write such a number")
    if delay > MAX_DELAY_MS:
        raise FormatProblem(here, f"is longer than {MAX_DELAY_MS:,} ms, thirty years", "wait less")
    return delay
