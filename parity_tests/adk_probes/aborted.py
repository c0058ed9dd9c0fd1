"""What a plugin sees of runs that the user aborts, with each kind of agent event that there is."""

from __future__ import annotations

from typing import Any, Final

from parity_tests.adk_probes.clients import Items
from parity_tests.adk_probes.guests import USAGE
from parity_tests.adk_probes.onlookers import Ends
from parity_tests.adk_probes.probe import Answer, chunk, text
from parity_tests.adk_probes.stated import Within, hooks, unwatched
from parity_tests.adk_probes.within import READ, called, cited

__all__ = ["ABORTED"]

_SCRIPT: Final[tuple[Answer, ...]] = (
    [
        chunk({"text": "one "}, {"text": "two "}, finish=None),
        cited(called("a.txt", "c1"), called("a.txt", "c2"), usageMetadata=USAGE),
    ],
    text("three"),
    text("four"),
)
_CALL: Final[list[Any]] = ["call", "read_file", {"file_path": "a.txt"}]
_TOOL: Final[list[Any]] = ["tool", "read_file", False, []]
_CITED: Final[list[Any]] = ["citations", "Citations:\nhttps://example.com/a\nhttps://example.com/b"]
_COUNTED: Final[list[Any]] = ["usage", "gemini-2.5-flash", 5, 2, None]
_ABORTED: Final[list[Any]] = ["end", "aborted"]
_TOOLS: Final = [_TOOL, _TOOL]
_THREE: Final[Items] = [["text", "three"], ["end", "completed"]]
_ASKED: Final = ["event", "text", "call read_file", "call read_file"]
_RESPONDED: Final = ["event", "response read_file", "response read_file"]
_SAID: Final = [["event", "text"], ["over"]]


def _aborted(kind: str, number: int, *, result: Items, notes: list[Any], **more: Any) -> Within:
    fields = {"script": _SCRIPT, "messages": ("hello", "again"), **more}
    return Within(
        probe=unwatched(
            f"aborted-at-{kind}-{number}".replace("_", "-"),
            lambda: [Ends()],
            aborts_at=(kind, number),
            **fields,
        ),
        result=result,
        notes=notes,
    )


_FOUND: Final[list[Any]] = ["error", "Loop detected, stopping execution", "LOOP_DETECTED"]
_BLOCKED: Final[list[Any]] = ["error", "not now", "AGENT_EXECUTION_BLOCKED"]
_ANSWER: Final[Items] = [["text", "one two "], _CALL, _CALL, _CITED, _COUNTED]
"""What a client gets of the first answer, in order."""

ABORTED: Final = (
    # Before the model is asked. No later stream of the same prompt announces the model again.
    *(
        _aborted(
            *at,
            result=[
                _ABORTED,
                *_ANSWER[:-1],
                ["usage", "unknown", 5, 2, None],
                *_TOOLS,
                *_THREE,
            ],
            notes=[["error", "AbortError"], _ASKED, _RESPONDED, *_SAID],
        )
        for at in (("message", 1), ("agent_start", 1), ("session_update", 1))
    ),
    # While it answers: nothing of the answer stays.
    *(
        _aborted(
            *(kind, number),
            result=[*_ANSWER[:got], _ABORTED, *_THREE],
            notes=[["over"], *_SAID],
        )
        for kind, number, got in (
            ("message", 2, 1),
            ("tool_request", 1, 2),
            ("tool_request", 2, 3),
            ("message", 3, 4),
        )
    ),
    # After the answer, and before its calls are run.
    _aborted(
        *("usage", 1),
        result=[*_ANSWER, _ABORTED, *_THREE],
        notes=[_ASKED, ["over"], *_SAID],
    ),
    # The results of a batch are emitted together.
    *(
        _aborted(
            *("tool_response", number),
            result=[*_ANSWER, *_TOOLS, _ABORTED, *_THREE],
            notes=[_ASKED, _RESPONDED, ["error", "AbortError"], *_SAID],
        )
        for number in (1, 2)
    ),
    _aborted(
        *("message", 4),
        result=[*_ANSWER, *_TOOLS, _THREE[0], _ABORTED, ["text", "four"], _THREE[1]],
        notes=[_ASKED, _RESPONDED, ["over"], *_SAID],
    ),
    _aborted(
        *("agent_end", 1),
        result=[*_ANSWER, *_TOOLS, *_THREE, ["text", "four"], _THREE[1]],
        notes=[_ASKED, _RESPONDED, *_SAID, *_SAID],
    ),
    _aborted(
        *("error", 1),
        script=(*[READ] * 10, text("three")),
        result=[*[_CALL, _TOOL] * 4, _FOUND, _ABORTED, _FOUND, _THREE[1]],
        notes=[
            *[["event", "call read_file"], ["event", "response read_file"]] * 4,
            *(["event"], ["over"], ["event"], ["over"], ["over"]),
        ],
    ),
    _aborted(
        *("error", 2),
        script=(text("three"),),
        settings=hooks("BeforeModel", decision="block", reason="not now"),
        result=[_BLOCKED, _THREE[1], _BLOCKED, _ABORTED],
        notes=[["event"], ["over"]] * 2,
    ),
)
