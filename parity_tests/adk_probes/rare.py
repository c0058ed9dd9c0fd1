"""What ADK code of others sees of rare moments in the runtime: stated, as in `within`."""

from __future__ import annotations

from typing import Final

from google.adk.tools.function_tool import FunctionTool

from parity_tests.adk_probes.guests import Answering
from parity_tests.adk_probes.moments import (
    Afterwards,
    Compressing,
    ErrorsOfTools,
    FailingResponse,
    Held,
    InFront,
    Late,
    Renewing,
    Saving,
    Silent,
    SorryCode,
    Texts,
    Transcribing,
    Uncallable,
    Unwatching,
    Updates,
    Visits,
    Warned,
    before_again,
    changed_recording,
    leave,
    namesakes,
    note_folders,
    second_agent,
    weighing_flow,
)
from parity_tests.adk_probes.probe import OVER, Operation, calls, chunk, text
from parity_tests.adk_probes.stated import Within, unwatched
from parity_tests.adk_probes.tooling import OnlyAdding
from parity_tests.adk_probes.within import READ, called
from services.model.errors import ApiError

__all__ = ["RARE"]

_LONG: Final = "\n".join(map(str, range(3000)))
_MANY: Final = {"promptTokenCount": 50_000}
_NO_TOOL: Final = (
    "llm_request.config.tools cannot be sent: it holds a builtin_function_or_method; use "
    "llm_request.append_tools, or a google.genai.types.Tool"
)
_TWO_PARTS: Final = '"hallo"}, {"text": "you"}'
_TRANSCRIBED: Final = Held()
_COMPRESSED: Final = Held()

RARE: Final = (
    Within(
        probe=unwatched("afterwards", lambda: [Afterwards()], (text("one"),)),
        notes=[["no send is under way"]],
    ),
    Within(
        probe=unwatched("silent", lambda: [Silent()], (text("one"),)),
        notes=[[False, False], [0]],
    ),
    Within(
        probe=unwatched(
            "response-failed",
            lambda: [FailingResponse()],
            (READ, text("one")),
            messages=("hello", Operation(changed_recording("hello", "hallo")), "again"),
        ),
        # What clients have not seen is not on record.
        contents=[[]],
    ),
    Within(
        probe=unwatched(
            "second-agent",
            lambda: [Visits()],
            (text("one"), text("two"), text("three")),
            messages=("hello", Operation(second_agent), Operation(note_folders), "again"),
        ),
        notes=[["", ["text"]], ["1", *[["text"]] * 3], ["", *[["text"]] * 6]],
    ),
    Within(
        probe=unwatched("uncallable", lambda: [Uncallable()], ()),
        result=[["error", _NO_TOOL, None], ["end", "failed"]],
    ),
    Within(
        probe=unwatched(
            "no-tools",
            tuple,
            (text("one"),),
            settings={"core_tools": ("nothing",), "skills_support": False},
        ),
        # As the published core has it.
        config={"tools": [{"functionDeclarations": []}]},
    ),
    Within(
        probe=unwatched("renewing", lambda: [Renewing()], (text("one"),)),
        tools=["read_file", "read_later"],
    ),
    Within(
        probe=unwatched("in-front", lambda: [InFront()], (text("one"),)),
        notes=[[["probe", "text"], ["user", "text"]]],
        session=[("probe", ["text"]), ("user", ["text"]), ("gemini_cli_agent", ["text"])],
    ),
    Within(
        probe=unwatched(
            "saving",
            lambda: [Saving()],
            (text("one"), text("two"), text("three")),
            messages=("hello", "again", Operation(before_again), "and then"),
        ),
        # The rewind leaves an event of its own, for the artifact.
        notes=[[None, 1], ["hello", 4], ["hello", 5]],
    ),
    Within(
        probe=unwatched(
            "errors-of-tools",
            lambda: [ErrorsOfTools()],
            (
                [chunk(called("a.txt", "c1"), called("none.txt", "c1"))],
                calls(("fly", {"to": "the moon"})),
                text("done"),
            ),
        ),
        notes=[
            ["read_file", "Read one file a", {"file_path": "none.txt"}, "file_not_found"],
            ["fly", "Tool not found", {"to": "the moon"}, "tool_not_registered"],
        ],
    ),
    Within(
        probe=unwatched(
            "updates",
            lambda: [Updates(), OnlyAdding(FunctionTool(leave))],
            (calls(("leave", {"to": ""})), text("done")),
        ),
        notes=[["leave", False]] * 2,
    ),
    Within(
        probe=unwatched(
            "without-effect",
            lambda: [Warned(), OnlyAdding(FunctionTool(leave))],
            (calls(("leave", {"to": "b"})), calls(("leave", {"to": ""})), text("done")),
        ),
        notes=[["actions of tools that have no effect here: transfer_to_agent"]],
        state={"left": ""},
    ),
    Within(
        probe=unwatched(
            "aborted-before-calls",
            lambda: [Unwatching()],
            ([chunk(called("a.txt", "c1"), usageMetadata=_MANY)],),
            aborts_at=("usage", 1),
        ),
        notes=[],
    ),
    Within(
        probe=unwatched("sorry-code", lambda: [SorryCode()], (ApiError(400, "no"),)),
        notes=[["SORRY", True]],
        result=[["error", "sorry: no", "SORRY"], ["end", "completed"]],
    ),
    Within(
        probe=unwatched(
            "answered-and-goes-on",
            lambda: [Answering()],
            (text("one"),),
            settings={"skip_next_speaker_check": False},
        ),
        # Another model judges an answer of a plugin as it judges one of the model.
        result=[
            *(["text", "from a cache"], ["usage", "gemini-2.5-flash", 5, 2, None], ["text", "one"]),
            *(["error", str(OVER), None], ["end", "failed"]),
        ],
    ),
    Within(
        probe=unwatched(
            "weighing-flow",
            tuple,
            (text("one"), text("two")),
            messages=("hello", "again"),
            arrange_flow=weighing_flow,
        ),
        tools=["read_file", "activate_skill", "weigh"],
    ),
    Within(
        probe=unwatched(
            "transcribing",
            lambda: [Transcribing(_TRANSCRIBED)],
            (READ, text("one")),
            messages=(_TRANSCRIBED.taken, "hello"),
        ),
        notes=[[["model", ["functionCall"]]]],
    ),
    Within(
        probe=unwatched(
            "compressing",
            lambda: [Compressing(_COMPRESSED)],
            (
                text("one"),
                text(_LONG),
                [chunk({"text": "hm"}, usageMetadata=_MANY)],
                READ,
                text("x"),
            ),
            messages=(_COMPRESSED.taken, "hello", "again", "and then", "at last"),
        ),
        notes=[
            [None, 1, None],
            [None, 1, None, None, 2, None],
            [None, 1, None, None, 2, None, None, 3, None],
            [1, 2, None, None, None, 3, None, None, 4, None, None, None],
        ],
    ),
    Within(
        probe=unwatched(
            "changed-recording",
            lambda: [Texts()],
            (text("one"), text("two")),
            messages=("hello", Operation(changed_recording('"hello"}', _TWO_PARTS)), "again"),
        ),
        notes=[
            [["user", ["hello"]]],
            [["user", ["hallo", "you"]], ["model", ["one"]], ["user", ["again"]]],
        ],
    ),
    Within(
        probe=unwatched(
            "namesakes",
            lambda: [Late()],
            (text("one"),),
            messages=("hello", Operation(namesakes)),
        ),
        notes=[["user"]],
    ),
)
