"""Answers of every form that a client may send."""

from __future__ import annotations

import json
from typing import Any

import pytest

from services.tools.ask_user import AskUserInvocation
from services.tools.contract import ConfirmationOutcome, ToolResult
from tests.services.tools.conftest import Bench

QUESTIONS = [
    {"question": "Which?", "header": "Db", "type": "text"},
    {"question": "Why?", "header": "Why", "type": "text"},
]


async def answered(bench: Bench, answers: Any) -> ToolResult:
    call = bench.build("ask_user", questions=QUESTIONS)
    assert isinstance(call, AskUserInvocation)
    call.answered(ConfirmationOutcome.PROCEED_ONCE, {"answers": answers})
    return await bench.execute(call)


@pytest.mark.parametrize(
    ("index", "category"),
    [
        ("0", "Db"),
        ("01", "Why"),
        (" 1", "Why"),
        ("1.5", "Why"),
        ("-1", "Q-1"),
        ("2", "Q2"),
        ("x", "Qx"),
        ("", "Q"),
        ("9" * 20, f"Q{'9' * 20}"),
    ],
)
async def test_an_index_is_read_as_upstream_reads_it(
    bench: Bench, index: str, category: str
) -> None:
    result = await answered(bench, {index: "a"})

    assert result.return_display == f"**User answered:**\n  {category} → a"


async def test_answers_are_shown_in_the_order_of_their_questions(bench: Bench) -> None:
    result = await answered(bench, {"1": "b", "0": "a\nc"})

    assert result.return_display == "**User answered:**\n  Db → a\n       c\n  Why → b"
    assert result.llm_content == '{"answers":{"0":"a\\nc","1":"b"}}'


@pytest.mark.parametrize("answers", [True, 7, 1.5, [], "", {}])
async def test_answers_without_entries_are_an_empty_submission(bench: Bench, answers: Any) -> None:
    result = await answered(bench, answers)

    assert result.return_display == "User submitted without answering questions."
    assert json.loads(str(result.llm_content)) == {"answers": answers}
    assert result.data is not None
    assert result.data["ask_user"]["empty_submission"] is True


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        (None, "Cannot convert undefined or null to object"),
        ({"0": None}, "Cannot read properties of null (reading 'split')"),
        ({"0": 5}, "answer.split is not a function"),
        ([["a"]], "answer.split is not a function"),
    ],
)
async def test_an_answer_that_cannot_be_shown_fails_the_call(
    bench: Bench, answers: Any, message: str
) -> None:
    with pytest.raises(TypeError) as caught:
        await answered(bench, answers)

    assert str(caught.value) == message


async def test_a_list_and_a_text_are_read_by_their_places(bench: Bench) -> None:
    assert (await answered(bench, ["a", "b"])).return_display == (
        "**User answered:**\n  Db → a\n  Why → b"
    )
    assert (await answered(bench, "ab")).return_display == (
        "**User answered:**\n  Db → a\n  Why → b"
    )
