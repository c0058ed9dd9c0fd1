"""What the reader of an invocation emits, and what it leaves out after an abort."""

from __future__ import annotations

from typing import Any

import pytest
from google.adk.events.event import Event

from agent_protocol.event_log import EventLog
from runtimes.adk.notes import (
    LOOP_DETECTED,
    Answer,
    Delta,
    Looped,
    Stopped,
    ToolsDone,
)
from runtimes.adk.run import Run
from runtimes.adk.stream import Stream
from services.abort import AbortController, AbortError
from services.model.sdk_contents import WireContent
from services.scheduler.calls import (
    CallStatus,
    CompletedToolCall,
    ToolCallRequest,
    ToolCallResponse,
)

UNREAD: Any = None  # what the reader does not look into
WORDS = Delta(part={"text": "x"})
RESULT = ToolsDone(
    (
        CompletedToolCall(
            status=CallStatus.SUCCESS,
            request=ToolCallRequest(call_id="1", name="f", args={}, prompt_id="p"),
            response=ToolCallResponse(call_id="1", response_parts=()),
        ),
    )
)


def event(note: Any, *, partial: bool = True, **fields: Any) -> Event:
    content = None if note is None else WireContent.bare(note)
    return Event(author="a", invocation_id="i", content=content, partial=partial, **fields)


def looped(strikes: int) -> Event:
    return event(Looped(strikes), error_code=LOOP_DETECTED)


def read(kit, *events: Event, aborted: bool = False) -> tuple[Any, list[str], Run]:
    """Read events; what the last one returned or raised, the kinds that were emitted, the run."""

    async def go() -> tuple[Any, list[str], Run]:
        async with kit.services() as played:
            log, controller = EventLog(), AbortController()
            stream = Stream(played.services, log)
            run = Run(prompt_id="p", signal=controller.signal)
            if aborted:
                controller.abort()
            returned: Any = None
            try:
                for each in events:
                    returned = stream.read(each, run)
            except AbortError as error:
                returned = type(error)
            return returned, [each.type for each in log.events], run

    return kit.in_loop(go)


@pytest.mark.parametrize(
    ("seen", "aborted", "expected"),
    [
        (event(WORDS), False, (True, ["message"])),
        (event(WORDS), True, (AbortError, [])),
        (event(Answer(UNREAD, "m"), partial=False), True, (True, [])),
        (event(RESULT, partial=False), True, (True, ["tool_response"])),
        (event(Stopped(reason="failed"), partial=False), False, (False, ["agent_end"])),
        (event(Stopped(reason="failed"), partial=False), True, (AbortError, [])),
        (
            event(Stopped(reason="max_turns", whatever_happens=True), partial=False),
            True,
            (False, ["agent_end"]),
        ),
    ],
)
def test_abort_ends_the_reading_but_of_results_and_the_own_limit(kit, seen, aborted, expected):
    assert read(kit, seen, aborted=aborted)[:2] == expected


@pytest.mark.parametrize(
    ("strikes", "aborted", "emitted"),
    [(1, False, []), (2, False, ["error"]), (2, True, [])],
)
def test_second_loop_is_emitted_once_unless_the_user_has_aborted(kit, strikes, aborted, emitted):
    goes_on, kinds, run = read(kit, looped(strikes), aborted=aborted)
    assert (goes_on, kinds, run.step.loop_emitted) == (True, emitted, bool(emitted))


def test_abort_after_the_citations_leaves_the_usage_out(kit):
    last = event(Delta(citations=("a",), finish_reason="STOP", usage={"promptTokenCount": 1}))

    async def go() -> list[str]:
        async with kit.services() as played:
            log, controller = EventLog(), AbortController()
            log.subscribe(lambda _: controller.abort())
            run = Run(prompt_id="p", signal=controller.signal)
            with pytest.raises(AbortError):
                Stream(played.services, log).read(last, run)
            return [each.type for each in log.events]

    assert kit.in_loop(go) == ["message"]
