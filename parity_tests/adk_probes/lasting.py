"""What others see of what lasts in the runtime: the session, its ids and state, toolsets."""

from __future__ import annotations

from typing import Final

from google.adk.tools.function_tool import FunctionTool

from parity_tests.adk_probes.guests import (
    Answering,
    AppState,
    BetweenMasked,
    Copying,
    Endings,
    Equipping,
    Ids,
    OtherMessage,
    Placing,
    Quiet,
    Times,
    compress,
    pause,
    reset,
    rewind,
    tokens_are_recorded,
)
from parity_tests.adk_probes.onlookers import AtTheEnd, Listing, Unread
from parity_tests.adk_probes.probe import Operation, calls, chunk, text, thought
from parity_tests.adk_probes.replacing import OnEventWhole
from parity_tests.adk_probes.stated import Within, hooks, unwatched
from parity_tests.adk_probes.tooling import OnlyAdding, finish
from parity_tests.adk_probes.within import AGENTS, CHILD, DONE, READ
from services.model.errors import ApiError

__all__ = ["LASTING"]

_IDS: Final = [f"e-adk-event-1 adk-event-{number}" for number in (2, 3, 5, 7, 9)]
_MASKING: Final = {"masking_protection_tokens": 100, "masking_min_prunable_tokens": 100}
_LONG: Final = "\n".join(map(str, range(3000)))
_MANY: Final = {"promptTokenCount": 50_000}
_READ: Final = [["text"], ["call read_file"], ["response read_file"]]

LASTING: Final = (
    Within(
        probe=unwatched(
            "ids",
            lambda: [Ids()],
            (READ, text("one"), text("two"), text("three")),
            messages=("hello", "again", Operation(rewind), "and then"),
        ),
        notes=[
            _IDS[:2],
            _IDS[:4],
            [*_IDS, "e-adk-event-11 adk-event-12", "e-adk-event-11 adk-event-13"],
            # The rewind to the first message leaves an event of its own, for the state.
            [
                "e-adk-event-16 adk-event-17",
                "e-adk-event-18 adk-event-19",
                "e-adk-event-18 adk-event-20",
            ],
        ],
        state={"seen": True},
    ),
    Within(
        probe=unwatched(
            "reset-at-the-end",
            lambda: [Ids()],
            (READ, text("one")),
            messages=("hello", Operation(reset)),
        ),
        session=[],
        state={},
    ),
    Within(
        probe=unwatched(
            "closed",
            lambda: [Equipping()],
            (READ, text("one")),
        ),
        notes=[
            *[[["activate_skill", "add", "read_file"]] * 2] * 2,
            *(["toolset closed"], ["plugin closed"]),
        ],
    ),
    Within(
        probe=unwatched(
            "child-closed",
            lambda: [Equipping()],
            (CHILD, DONE, text("one")),
            settings=AGENTS,
        ),
        notes=[
            [["activate_skill", "add", "invoke_agent", "read_file"]] * 2,
            [["add", "complete_task", "get_internal_docs"]] * 2,
            ["toolset closed"],
            [["activate_skill", "add", "invoke_agent", "read_file"]] * 2,
            *(["toolset closed"], ["plugin closed"]),
        ],
    ),
    Within(
        probe=unwatched(
            "unanswered-other-message",
            lambda: [OtherMessage()],
            (ApiError(400, "no"), text("two")),
            messages=("hello", "again"),
        ),
        notes=[[["user", ["hello, please"]]], [["user", ["again"]]]],
    ),
    Within(
        probe=unwatched(
            "quiet",
            lambda: [Quiet()],
            (
                [chunk(thought("hm"), {"text": "one "}, finish=None), chunk({"text": "two"})],
                text("x"),
            ),
            messages=("hello", "again"),
        ),
        result=[["end", "completed"], ["end", "completed"]],
        session=[("user", ["text"]), ("gemini_cli_agent", ["text"])] * 2,
    ),
    Within(
        probe=unwatched(
            "contents-copied",
            lambda: [Copying()],
            ([chunk({"text": "one", "thoughtSignature": "c2lnbmVk"})], text("two")),
            messages=("hello", "again"),
        ),
        contents=[
            [
                {"role": "model", "parts": [{"text": "one", "thoughtSignature": "c2lnbmVk"}]},
                {"role": "user", "parts": [{"text": "again"}]},
            ]
        ],
    ),
    Within(
        probe=unwatched(
            "answered",
            lambda: [Answering()],
            (text("two"),),
            messages=("hello", Operation(tokens_are_recorded), "again"),
        ),
    ),
    Within(
        probe=unwatched(
            "compression-at-the-end",
            lambda: [Endings()],
            (text("one"), text(_LONG), [chunk({"text": "three"}, usageMetadata=_MANY)]),
            messages=("hello", "again", "and then", Operation(compress)),
        ),
        session=[("user", ["text"]), ("gemini_cli_agent", ["text"])] * 2,
    ),
    Within(
        probe=unwatched(
            "between-masked",
            lambda: [BetweenMasked()],
            (READ, READ, text("two"), text("three")),
            messages=("hello", "again", "and then", "at last"),
            files={"a.txt": _LONG},
            settings=_MASKING,
        ),
        notes=[[False], [True, False], [True, True]],
    ),
    Within(
        probe=unwatched(
            "answered-otherwise",
            lambda: [Answering(), OnEventWhole("other")],
            (text("two"),),
            messages=("hello", "again"),
        ),
        contents=[
            [
                {"role": "model", "parts": [{"text": "as a plugin has it"}]},
                {"role": "user", "parts": [{"text": "again"}]},
            ]
        ],
    ),
    Within(
        probe=unwatched(
            "state-after-rewind",
            lambda: [AppState()],
            (text("one"), text("two")),
            messages=("hello", "again", Operation(rewind)),
        ),
        state={"app:runs": 2},
    ),
    Within(
        probe=unwatched(
            "times",
            lambda: [Times()],
            (text("one"), text(_LONG), [chunk({"text": "three"}, usageMetadata=_MANY)], text("x")),
            messages=("hello", "again", "and then", Operation(compress), "at last"),
        ),
        notes=[[0, 1, 3, 3, 2, 2, 3, 3]],
    ),
    Within(
        probe=unwatched(
            "times-after-rewind",
            lambda: [Times()],
            tuple(map(text, ("one", "two", "three", "four"))),
            messages=("hello", "again", Operation(rewind), Operation(pause), "and then", "at last"),
        ),
        notes=[[2, 1002, 1002, 1003, 1003]],
    ),
    Within(
        probe=unwatched(
            "places",
            lambda: [Placing()],
            (text("one"), text("two")),
            messages=("hello", "again"),
        ),
        notes=[[""], ["", "flow/answer", ""]],
    ),
    Within(
        probe=unwatched(
            "stopped-at-the-end",
            lambda: [AtTheEnd()],
            (READ, text("one")),
            messages=("hello", "again"),
            settings=hooks("AfterTool", **{"continue": False, "stopReason": "enough"}),
        ),
        # The result of a call that a hook stopped is never sent, so that it is no event.
        notes=[
            [0, ["text"], ["call read_file"]],
            [2, ["text"], ["call read_file"], ["text"], ["text"]],
        ],
    ),
    Within(
        probe=unwatched(
            "finished-at-the-end",
            lambda: [AtTheEnd(), OnlyAdding(FunctionTool(finish))],
            (calls(("finish", {})), text("one")),
            messages=("hello", "again"),
        ),
        notes=[
            [0, ["text"], ["call finish"], ["response finish"]],
            [2, ["text"], ["call finish"], ["response finish"], ["text"], ["text"]],
        ],
    ),
    Within(
        probe=unwatched(
            "unread",
            lambda: [Unread()],
            (READ, text("one"), READ, text("two"), text("three")),
            messages=("hello", "again", "and then"),
        ),
        # A settled event is made when it is read, and neither ADK nor the runtime reads one.
        notes=[[0, 1], [2, 3], [4, 5], [6, 7], [8, 9]],
    ),
    Within(
        probe=unwatched(
            "listing",
            lambda: [Listing()],
            (READ, text("one"), READ, text("two")),
            messages=("hello", "again"),
        ),
        notes=[
            _READ[:1],
            _READ,
            [*_READ, ["text"], ["text"]],
            [*_READ, ["text"], *_READ],
        ],
        session=[
            ("user", ["text"]),
            *(("gemini_cli_agent", kinds) for kinds in (*_READ[1:], ["text"])),
        ]
        * 2,
    ),
)
