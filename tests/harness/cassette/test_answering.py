"""Answers to confirmations and questions, as cassettes write them."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from harness.cassette.answering import QUESTIONS, read_answers
from harness.cassette.format import QuestionAnswer
from harness.cassette.problems import FormatProblem
from services.interaction.interaction import Handlers


def test_a_cassette_can_answer_every_kind_of_question() -> None:
    assert set(QUESTIONS) == {field.name for field in fields(Handlers)}


@pytest.mark.parametrize(
    ("kind", "written", "read"),
    [
        ("fallback", "stop", QuestionAnswer(value="stop")),
        ("fallback", {"answer": None}, QuestionAnswer()),
        ("loop", {"answer": "keep", "delay_ms": 5}, QuestionAnswer(value="keep", delay_ms=5)),
        ("loop", {"wrong": ["x"], "delay_ms": 1}, QuestionAnswer(value=["x"], delay_ms=1)),
        ("trust", {"fails": "closed"}, QuestionAnswer(fails="closed")),
        ("sign_in", True, QuestionAnswer(value=True)),
        ("sign_in", {"answer": False}, QuestionAnswer(value=False)),
        ("new_agents", {"never": True}, QuestionAnswer(never=True)),
    ],
)
def test_an_answer_is_read(kind: str, written: Any, read: QuestionAnswer) -> None:
    assert read_answers({kind: [written]}, "answers").questions == {kind: (read,)}


def test_a_confirmation_may_have_no_answer() -> None:
    (never,) = read_answers({"confirmations": [{"never": True}]}, "answers").confirmations
    assert never.never


@pytest.mark.parametrize(
    ("written", "place", "problem"),
    [
        ({"loop": ["stop"]}, "answers.loop[0]", "not an answer"),
        ({"sign_in": [1]}, "answers.sign_in[0]", "not an answer"),
        ({"loop": [{"answer": "stop"}]}, "answers.loop[0].answer", "not an answer"),
        ({"loop": [{}]}, "answers.loop[0]", "must have one of"),
        ({"loop": [{"answer": "keep", "never": True}]}, "answers.loop[0]", "must have one of"),
        ({"loop": [{"never": False}]}, "answers.loop[0].never", "must be true"),
        ({"loop": [{"fails": 1}]}, "answers.loop[0].fails", "must be text"),
        ({"loop": [{"answer": "keep", "delay_ms": -1}]}, "answers.loop[0].delay_ms", "0 or more"),
        ({"loop": "keep"}, "answers.loop", "must be a list"),
        ({"lop": []}, "answers.lop", "unknown key"),
        ({"confirmations": [{"never": 1}]}, "answers.confirmations[0].never", "must be true"),
        (
            {"confirmations": [{"never": True, "delay_ms": 1}]},
            "answers.confirmations[0].delay_ms",
            "unknown key",
        ),
    ],
)
def test_a_mistake_is_named_with_its_place(written: Any, place: str, problem: str) -> None:
    with pytest.raises(FormatProblem) as raised:
        read_answers(written, "answers")
    assert raised.value.key == place
    assert problem in raised.value.problem
