from collections.abc import Callable
from typing import Any

import pytest

from services.abort import AbortController
from services.loop_detection.detector import (
    LoopDetector,
    LoopType,
    LoopVerdict,
    loop_feedback,
)

SENTENCE = "This sentence is fifty characters long, I promise! "
NO_LOOP = LoopVerdict()
READ = ("read_file", {"file_path": "é.txt"})
READ_DETAIL = 'Repeated tool call: read_file with arguments {"file_path":"é.txt"}'


@pytest.fixture
def detector(watched: Callable[..., Any]) -> LoopDetector:
    made: LoopDetector = watched().detector
    return made


def chant(detector: LoopDetector) -> LoopVerdict:
    for _ in range(20):
        verdict = detector.add_text(SENTENCE)
        if verdict.count:
            return verdict
    return NO_LOOP


def call(detector: LoopDetector, times: int) -> LoopVerdict:
    verdict = NO_LOOP
    for _ in range(times):
        verdict = detector.add_tool_call(*READ)
    return verdict


def test_the_verdict_on_a_repeated_call_has_its_arguments(detector: LoopDetector) -> None:
    assert call(detector, 4) == NO_LOOP
    assert call(detector, 1) == LoopVerdict(count=1, type=LoopType.TOOL_CALLS, detail=READ_DETAIL)


def test_the_verdict_on_chanting_has_an_excerpt(detector: LoopDetector) -> None:
    assert chant(detector) == LoopVerdict(
        count=1,
        type=LoopType.CONTENT,
        detail='Repeating content detected: "rs long, I promise! This sentence is fifty '
        'characters long, I promise!..."',
    )


def test_a_verdict_stands_whatever_comes(detector: LoopDetector) -> None:
    verdict = call(detector, 5)

    assert detector.current() == verdict
    assert detector.add_text("Something else.") == verdict
    assert detector.add_tool_call("glob", {}) == verdict


async def test_a_verdict_ends_the_next_turn_before_it_begins(detector: LoopDetector) -> None:
    verdict = call(detector, 5)

    assert await detector.turn_started(AbortController().signal) == verdict


def test_after_a_warning_the_same_call_counts_again_at_once(detector: LoopDetector) -> None:
    call(detector, 5)
    detector.clear_detection()

    assert detector.current() == NO_LOOP
    assert call(detector, 1).count == 2


def test_after_a_warning_another_call_gives_a_real_second_chance(detector: LoopDetector) -> None:
    call(detector, 5)
    detector.clear_detection()
    detector.add_tool_call("glob", {})

    assert call(detector, 4) == NO_LOOP
    assert call(detector, 1).count == 2


def test_after_a_warning_for_chanting_any_plain_text_is_the_second(detector: LoopDetector) -> None:
    chant(detector)
    detector.clear_detection()

    assert detector.add_text("recovered").count == 2


@pytest.mark.parametrize("text", ["\n* a list\n", "# Heading\n", "```"])
def test_after_a_warning_for_chanting_structure_is_no_second(
    detector: LoopDetector, text: str
) -> None:
    chant(detector)
    detector.clear_detection()

    assert detector.add_text(text) == NO_LOOP


def test_a_call_separates_the_texts_around_it(detector: LoopDetector) -> None:
    for _ in range(9):
        detector.add_text(SENTENCE)
    detector.add_tool_call("glob", {})

    assert detector.add_text(SENTENCE) == NO_LOOP


def test_a_new_prompt_starts_anew(detector: LoopDetector) -> None:
    call(detector, 5)
    detector.reset("another")

    assert detector.current() == NO_LOOP
    assert call(detector, 4) == NO_LOOP
    assert call(detector, 1).count == 1


def test_a_new_prompt_has_said_nothing_yet(detector: LoopDetector) -> None:
    for _ in range(9):
        detector.add_text(SENTENCE)
    detector.reset("another")

    assert detector.add_text(SENTENCE) == NO_LOOP


async def test_switched_off_by_the_setting_nothing_is_found(watched: Callable[..., Any]) -> None:
    made = watched(disabled=True)

    assert call(made.detector, 9) == NO_LOOP
    assert chant(made.detector) == NO_LOOP
    for _ in range(40):
        assert await made.detector.turn_started(AbortController().signal) == NO_LOOP
    assert made.model.requests == []


def test_switched_off_for_the_session_what_was_found_is_forgotten(detector: LoopDetector) -> None:
    call(detector, 5)
    detector.disable_for_session()

    assert detector.current() == NO_LOOP
    detector.reset("another")
    assert call(detector, 9) == NO_LOOP


@pytest.mark.parametrize("detail", [None, ""])
def test_feedback_without_a_detail_has_general_words(detail: str | None) -> None:
    assert loop_feedback(detail) == (
        "System: Potential loop detected. Details: Repetitive patterns identified. Please take a "
        "step back and confirm you're making forward progress. If not, take a step back, analyze "
        "your previous actions and rethink how you're approaching the problem. Avoid repeating "
        "the same tool calls or responses without new results."
    )


def test_feedback_names_the_detail() -> None:
    assert loop_feedback("X").startswith("System: Potential loop detected. Details: X. Please")


def test_a_delta_counts_with_its_first_loop_and_without_its_thoughts(
    detector: LoopDetector,
) -> None:
    read = {"functionCall": {"name": READ[0], "args": READ[1]}}
    thoughts = [{"text": SENTENCE, "thought": True}] * 20

    assert detector.add_parts([*thoughts, {"text": "a"}, read, read, read, read]) == NO_LOOP
    assert detector.add_parts([read, {"text": "more"}]).detail == READ_DETAIL
