"""The limits of a conversation: turns of a send, requests of a session, the context window."""

from __future__ import annotations

from typing import Any

import pytest

from services.abort import AbortController
from services.chat import ContextRoom, SessionTurns, TurnLimit
from services.model.limits import token_limit


def test_each_send_has_the_full_limit_of_turns() -> None:
    limit = TurnLimit(1)

    assert limit.turn_started() is None
    assert limit.exhausted is True
    assert limit.turn_started() == {"code": "MAX_TURNS_EXCEEDED", "maxTurns": 1, "turnCount": 1}
    limit.send_started()
    assert limit.turn_started() is None


@pytest.mark.parametrize(("limit", "turn", "request_"), [(0, False, True), (-1, True, True)])
def test_zero_allows_no_turn_of_a_send_and_any_request(
    limit: int, turn: bool, request_: bool
) -> None:
    turns = TurnLimit(limit)

    assert (turns.turn_started() is None, turns.request_started() is None) == (turn, request_)


def test_agents_of_a_session_share_its_requests() -> None:
    session = SessionTurns()
    first, second = TurnLimit(2, session), TurnLimit(2, session)

    assert [first.request_started(), second.request_started()] == [None, None]
    assert first.request_started() == {"code": "MAX_TURNS_EXCEEDED"}


@pytest.mark.parametrize(
    ("room", "error"),
    [(3, None), (2, "Context window will overflow (estimated: 3, remaining: 2)")],
)
async def test_a_request_may_fill_the_window(room: int, error: str | None) -> None:
    unasked: Any = None  # text is estimated without a model
    measured, signal = ContextRoom(unasked), AbortController().signal
    measured.room_measured("m", token_limit("m") - room)

    assert await measured.request_measured([{"text": "x" * 12}], signal, "p") == error
