from collections.abc import Callable
from typing import Any

import pytest

from services.abort import AbortController
from services.loop_detection.detector import LoopType, LoopVerdict
from services.model.generator import LlmRole

TASK = (
    "Please analyze the conversation history to determine the possibility that the conversation "
    "is stuck in a repetitive, non-productive state. Consider the original user request when "
    "evaluating whether repeated tool calls represent legitimate batch work or an actual loop. "
    "Provide your response in the requested JSON format."
)
DOUBLE_CHECKER = "gemini-3-pro-preview"
CALL = {"role": "model", "parts": [{"functionCall": {"name": "glob", "args": {}}}]}
RESPONSE = {"role": "user", "parts": [{"functionResponse": {"name": "glob", "response": {}}}]}
TEXT = {"role": "model", "parts": [{"text": "done"}]}


def sure(confidence: Any, **more: Any) -> dict[str, Any]:
    return {"unproductive_state_confidence": confidence, **more}


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "parts": [{"text": text}]}


async def turns(made: Any, count: int) -> list[int]:
    """The turns, from 1, at which the model was asked; stops at a verdict."""
    asked = []
    for turn in range(1, count + 1):
        before = len(made.model.requests)
        verdict = await made.detector.turn_started(AbortController().signal)
        if len(made.model.requests) > before:
            asked.append(turn)
        if verdict.count:
            break
    return asked


async def test_the_first_question_comes_at_the_thirtieth_turn(
    watched: Callable[..., Any],
) -> None:
    made = watched(sure(0.5), sure(0.5), sure(0.5))

    assert await turns(made, 60) == [30, 40, 50, 60]


@pytest.mark.parametrize(
    ("confidence", "second"),
    [(0, 45), (0.1, 44), (0.25, 43), (0.45, 41), (0.55, 40), (0.85, 37), (0.89, 36), (-1, 55)],
)
async def test_the_next_question_comes_the_sooner_the_more_doubt_there_is(
    watched: Callable[..., Any], confidence: float, second: int
) -> None:
    made = watched(sure(confidence))

    assert await turns(made, second) == [30, second]


@pytest.mark.parametrize("answer", [{}, sure("0.95"), sure(True)])
async def test_an_answer_of_no_use_is_no_loop_and_changes_nothing(
    watched: Callable[..., Any], answer: dict[str, Any]
) -> None:
    made = watched(answer)

    assert await turns(made, 40) == [30, 40]


async def test_a_loop_must_be_confirmed(watched: Callable[..., Any]) -> None:
    made = watched(
        sure(0.9, unproductive_state_analysis="first"),
        sure(0.95, unproductive_state_analysis="second"),
    )
    made.detector.reset("p")

    assert await turns(made, 31) == [30]
    assert [request.config_key for request in made.model.requests] == [
        "loop-detection",
        "loop-detection-double-check",
    ]
    assert made.model.requests[0].contents == made.model.requests[1].contents
    assert made.detector.current() == LoopVerdict(count=1, type=LoopType.LLM, detail="second")


async def test_the_first_verdict_alone_names_the_confirming_model(
    watched: Callable[..., Any],
) -> None:
    made = watched(sure(0.9), sure(0.9))
    signal = AbortController().signal
    verdicts = [await made.detector.turn_started(signal) for _ in range(31)]

    assert verdicts[29] == LoopVerdict(
        count=1, type=LoopType.LLM, detail=None, confirmed_by_model=DOUBLE_CHECKER
    )
    assert verdicts[30] == LoopVerdict(count=1, type=LoopType.LLM)


async def test_a_loop_that_is_not_confirmed_is_none(watched: Callable[..., Any]) -> None:
    made = watched(sure(1), sure(0.85))

    assert await turns(made, 37) == [30, 37]
    assert made.detector.current().count == 0


@pytest.mark.contract("P-118")
async def test_a_double_check_that_fails_is_no_loop(watched: Callable[..., Any]) -> None:
    made = watched(sure(1))

    assert await turns(made, 39) == [30]
    assert made.detector.current().count == 0


async def test_without_the_double_checker_the_first_word_counts(
    watched: Callable[..., Any],
) -> None:
    made = watched(sure(0.9, unproductive_state_analysis=5))
    made.unavailable = {DOUBLE_CHECKER}
    signal = AbortController().signal
    verdicts = [await made.detector.turn_started(signal) for _ in range(30)]

    assert verdicts[-1] == LoopVerdict(
        count=1, type=LoopType.LLM, detail="", confirmed_by_model="gemini-3-flash-preview"
    )


async def test_a_new_prompt_counts_its_own_turns(watched: Callable[..., Any]) -> None:
    made = watched(sure(0.89))
    assert await turns(made, 35) == [30]
    made.detector.reset("q")

    assert await turns(made, 40) == [30, 40]


async def test_what_is_asked(watched: Callable[..., Any]) -> None:
    made = watched()
    made.history = [TEXT, RESPONSE, *[TEXT] * 17, CALL, CALL]
    made.detector.reset("p", "do it")
    await turns(made, 30)

    (request,) = made.model.requests
    assert request.contents == [
        user("<original_user_request>\ndo it\n</original_user_request>"),
        *[TEXT] * 17,
        user(TASK),
    ]
    assert (request.role, request.prompt_id, request.max_attempts) == (
        LlmRole.UTILITY_LOOP_DETECTOR,
        "p",
        2,
    )
    assert request.system_instruction
    assert made.model.schemas[0]["required"] == [
        "unproductive_state_analysis",
        "unproductive_state_confidence",
    ]
    assert made.history[0] is TEXT
    assert len(made.history) == 21


async def test_a_history_that_begins_with_a_call_gets_a_heading(
    watched: Callable[..., Any],
) -> None:
    made = watched()
    made.history = [CALL, RESPONSE]
    await turns(made, 30)

    assert made.model.requests[0].contents == [
        user("Recent conversation history:"),
        CALL,
        RESPONSE,
        user(TASK),
    ]


async def test_without_a_history_the_request_has_the_task_alone(
    watched: Callable[..., Any],
) -> None:
    made = watched()
    made.history = []
    await turns(made, 30)

    assert made.model.requests[0].contents == [user(TASK)]
