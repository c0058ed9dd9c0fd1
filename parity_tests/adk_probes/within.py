"""ADK code of others in the runtime, where stock ADK has nothing to compare the runtime with.

Subagents, ids, the runtime's own plugins and commands of the conversation are the product's. Each
check plays a script under the runtime alone, and states what is to be seen of it.
"""

from __future__ import annotations

from typing import Any, Final

from google.adk.tools.function_tool import FunctionTool

from parity_tests.adk_probes.guests import (
    Aborting,
    Answered,
    Calls,
    Children,
    Citations,
    EmptyTool,
    Endings,
    Equipping,
    Names,
    Partial,
    Removing,
    Report,
    Reporting,
    Sorry,
    Thinking,
    Unsendable,
    Voice,
    add,
    other_model,
    picture,
    picture_and_more,
    read_file,
    words,
    words_and_more,
)
from parity_tests.adk_probes.onlookers import AbortedLoop, Emptying, Processing
from parity_tests.adk_probes.probe import (
    MODEL,
    Again,
    Operation,
    calls,
    chunk,
    text,
)
from parity_tests.adk_probes.replacing import (
    BeforeModelCalls,
    BeforeTool,
    OnEventFailed,
)
from parity_tests.adk_probes.stated import Within, hooks, unwatched
from parity_tests.adk_probes.tooling import Adding, OnlyAdding
from services.model.errors import ApiError
from services.wire import JsonObject, Part

__all__ = ["AGENTS", "CHILD", "DOCS", "DONE", "READ", "WITHIN", "called", "cited"]


_WHERE: Final = ["gemini_cli", "user", "gemini_cli_agent", "gcli", 1_000_000_000, ""]
"""The names of the application, its user and its agent, and of the agent's model until a request is
routed; how often the model may be asked; and the number of a session beside the first."""
READ: Final = calls(("read_file", {"file_path": "a.txt"}))
_SPOKEN: Final = {
    "match": {"model": MODEL},
    "modelConfig": {
        "generateContentConfig": {
            "speechConfig": {"voiceConfig": {"prebuiltVoiceConfig": {"voiceName": "Kore"}}}
        }
    },
}
_ASKED: Final = {"agent_name": "cli_help", "prompt": "what is new?"}
CHILD: Final = calls(("invoke_agent", _ASKED))
DOCS: Final = calls(("get_internal_docs", {}))
_REPORT: Final = {"report": {"answer": "Nothing.", "sources": []}}
DONE: Final = calls(("complete_task", _REPORT))
_PLANS: Final = {"core_tools": ("enter_plan_mode", "exit_plan_mode", "read_file")}
AGENTS: Final = {"core_tools": ("invoke_agent", "read_file")}
_NO_INSTRUCTION: Final = (
    "llm_request.config.system_instruction cannot be sent: it takes a text, parts, or a "
    "google.genai.types.Content, not int"
)
_READING: Final[list[list[Any]]] = [
    ["text", "hm"],
    ["call", "read_file", {"file_path": "a.txt"}],
    ["tool", "read_file", False, []],
]
_TOOLS: Final = ("words", "words_and_more", "picture", "picture_and_more")
_SOURCES: Final = {
    "citations": [{"uri": "https://example.com/b"}, {"uri": "https://example.com/a"}]
}


def called(path: str, call_id: str) -> Part:
    return {"functionCall": {"id": call_id, "name": "read_file", "args": {"file_path": path}}}


def cited(*parts: Part, **more: Any) -> JsonObject:
    made = chunk(*parts, **more)
    made["candidates"][0]["citationMetadata"] = _SOURCES
    return made


WITHIN: Final = (
    Within(
        probe=unwatched("names", lambda: [Names()], (CHILD, DONE, text("ok")), settings=AGENTS),
        notes=[
            _WHERE,
            ["max_turns", "token_limit", "loop_detection", "steering", "probe"],
            _WHERE,
            ["max_turns", "max_time", "complete_task", "steering", "probe"],
        ],
    ),
    Within(
        probe=unwatched(
            "child",
            lambda: [Children()],
            (CHILD, DOCS, DONE, text("ok")),
            settings=AGENTS,
            shown=("Nothing.",),
        ),
        notes=[
            ["asks", ["text"], ["activate_skill", "invoke_agent", "read_file"]],
            ["answers", ["invoke_agent"]],
            ["asks", ["text"], ["complete_task", "get_internal_docs"]],
            ["answers", ["get_internal_docs"]],
            ["after", "get_internal_docs", "get_internal_docs__c1"],
            # A child goes on after a result that is not to be summarised.
            ["asks", ["response get_internal_docs"], ["complete_task", "get_internal_docs"]],
            ["answers", ["complete_task"]],
            ["after", "complete_task", "complete_task__c1"],
            ["after", "invoke_agent", "invoke_agent__c1"],
            ["asks", ["response invoke_agent"], ["activate_skill", "invoke_agent", "read_file"]],
            ["answers", []],
        ],
    ),
    Within(
        probe=unwatched(
            "confirmed",
            lambda: [OnlyAdding(FunctionTool(add, require_confirmation=True))],
            (calls(("add", {"a": 1, "b": 2}), ("add", {"a": 3, "b": 4})), text("done")),
            shown=('{"sum":3,"confirmed":true}', '{"sum":7,"confirmed":true}'),
        ),
    ),
    Within(
        probe=unwatched(
            "displays",
            lambda: [
                OnlyAdding(*map(FunctionTool, (words, words_and_more, picture, picture_and_more)))
            ],
            (calls(*((name, {}) for name in _TOOLS)), text("done")),
            shown=(
                "'text': 'nothing but words'",
                """'text': '{"output":"some words","more":1}'""",
                "'text': ''",
                """'text': '{"of":"dots"}'""",
            ),
        ),
        result=[
            *(["call", name, {}] for name in _TOOLS),
            *(["tool", name, False, []] for name in _TOOLS[:2]),
            *(["tool", name, False, [["media", "image/png", "ZG90cw=="]]] for name in _TOOLS[2:]),
            *(["text", "done"], ["end", "completed"]),
        ],
    ),
    Within(
        probe=unwatched(
            "plan-mode",
            lambda: [Equipping()],
            (calls(("enter_plan_mode", {})), text("one")),
            settings=_PLANS,
        ),
        notes=[
            [["activate_skill", "add", "enter_plan_mode", "read_file"]] * 2,
            [["add", "exit_plan_mode", "read_file"]] * 2,
            *(["toolset closed"], ["plugin closed"]),
        ],
    ),
    Within(
        probe=unwatched(
            "names-with-hooks", lambda: [Names()], (text("one"),), settings=hooks("BeforeModel")
        ),
        notes=[
            _WHERE,
            ["max_turns", "token_limit", "loop_detection", "steering", "hook_bridge", "probe"],
        ],
    ),
    Within(
        probe=unwatched(
            "blocked-prompt",
            lambda: [Partial()],
            (),
            settings=hooks("BeforeAgent", decision="block", reason="not now"),
        ),
        notes=[[True]],
        result=[["error", "not now", "AGENT_EXECUTION_BLOCKED"], ["end", "completed"]],
    ),
    Within(
        probe=unwatched(
            "stopped-by-hook",
            lambda: [Adding(FunctionTool(words))],
            (calls(("words", {})),),
            settings=hooks("AfterTool", **{"continue": False, "stopReason": "enough"}),
        ),
        notes=[["before", "words", "FunctionTool"]],
        result=[
            ["call", "words", {}],
            ["tool", "words", True, [["text", "enough"]]],
            ["end", "completed"],
        ],
    ),
    Within(
        probe=unwatched(
            "other-model",
            lambda: [Thinking()],
            (text("one"), text("two")),
            messages=("hello", Operation(other_model), "again"),
        ),
        notes=[["gemini-2.5-flash", 8192, None], ["gemini-3-flash-preview", None, "HIGH"]],
    ),
    Within(
        probe=unwatched("empty-tool", lambda: [EmptyTool()], (text("one"),)),
        tools=[],
        result=[["text", "one"], ["end", "completed"]],
    ),
    Within(
        probe=unwatched("schema-class", lambda: [Reporting()], (text("{}"),)),
        config={"responseJsonSchema": Report.model_json_schema(), "responseSchema": None},
    ),
    Within(
        probe=unwatched("one-tool-fewer", lambda: [Removing()], (text("one"),)),
        tools=["read_file"],
    ),
    Within(
        probe=unwatched("called", lambda: [BeforeModelCalls()], (text("done"),)),
        result=[
            ["call", "read_file", {"file_path": "a.txt"}],
            *(["tool", "read_file", False, []], ["text", "done"], ["end", "completed"]),
        ],
    ),
    Within(
        probe=unwatched("citations", lambda: [Citations()], ([cited({"text": "one"})],)),
        notes=[[True, "https://example.com/b", "https://example.com/a"]],
    ),
    Within(
        probe=unwatched(
            "event-failed",
            lambda: [OnEventFailed()],
            (text("one"),),
            shown=("'status': 'INTERNAL'", "'a plugin frowns'"),
        ),
    ),
    Within(
        probe=unwatched("loop", lambda: [Endings()], (*[READ] * 5, text("done"))),
        notes=[
            *[[None, "call read_file"], [None, "response read_file"]] * 4,
            ["LOOP_DETECTED"],
            [None, "text"],
        ],
    ),
    Within(
        probe=unwatched(
            "loop-aborted",
            lambda: [AbortedLoop(5)],
            (*[[chunk({"text": "hm"}, called("a.txt", "c1"))]] * 5, text("one")),
            messages=("hello", "again"),
        ),
        # The invocation comes to its end, although the user has aborted when the loop is found.
        notes=[["LOOP_DETECTED", None], *[["the run is over"]] * 2],
        result=[
            *_READING * 4,
            *(["text", "hm"], ["end", "aborted"], ["text", "one"], ["end", "completed"]),
        ],
    ),
    Within(
        probe=unwatched(
            "processor-of-the-agent",
            lambda: [Processing()],
            (READ, text("one"), text("two")),
            messages=("hello", "again"),
        ),
        notes=[
            [MODEL, ["text"], ["text"]],
            [MODEL, ["text"], ["call read_file"], ["response read_file"]],
            [MODEL, ["text"], ["call read_file"], ["response read_file"], ["text"], ["text"]],
        ],
    ),
    Within(
        probe=unwatched(
            "nothing-to-send",
            lambda: [Emptying()],
            (),
        ),
        notes=[[["text"]]],
        result=[["error", "there is nothing to send", None], ["end", "failed"]],
    ),
    Within(
        probe=unwatched("aborted", lambda: [Aborting()], (text("one"),)),
        notes=[],
        result=[["end", "aborted"]],
    ),
    Within(
        probe=unwatched(
            "answer-blocked",
            lambda: [Answered()],
            (),
            settings=hooks("BeforeModel", decision="block", reason="not now"),
        ),
        # What the runtime says in place of an answer is no response of the model.
        notes=[],
        result=[["error", "not now", "AGENT_EXECUTION_BLOCKED"], ["end", "completed"]],
    ),
    Within(
        probe=unwatched(
            "voice",
            lambda: [Voice()],
            (text("one"), text("two")),
            messages=("hello", "again"),
            settings={"model_configs": {"customOverrides": [_SPOKEN]}},
        ),
        notes=[["Kore"], ["Kore"]],
    ),
    Within(
        probe=unwatched(
            "call-before-error",
            lambda: [Sorry()],
            (Again(ApiError(400, "no"), said=READ),),
        ),
        result=[
            ["call", "read_file", {"file_path": "a.txt"}],
            *(["text", "sorry: no"], ["end", "completed"]),
        ],
    ),
    Within(
        probe=unwatched(
            "child-attempts",
            lambda: [Calls()],
            (
                CHILD,
                Again(ApiError(503, "broken"), said=[chunk(called("a.txt", "c1"))]),
                *(text("hm"), DONE, text("ok")),
            ),
            settings=AGENTS,
        ),
        notes=[
            [["invoke_agent__c1", "invoke_agent", _ASKED]],
            [["read_file__c1", "read_file", {"file_path": "a.txt"}]],
            [["complete_task__c1", "complete_task", _REPORT]],
            [],
        ],
    ),
    Within(
        probe=unwatched(
            "result-blocked",
            lambda: [Adding(FunctionTool(words))],
            (calls(("words", {})), text("done")),
            settings=hooks("AfterTool", decision="block", reason="no words"),
        ),
        notes=[
            ["before", "words", "FunctionTool"],
            ["error", "words", "ToolError", "no words"],
        ],
    ),
    Within(
        probe=unwatched(
            "answered-instead",
            lambda: [BeforeTool()],
            (READ, text("done")),
            shown=("'display': {'name': 'ReadFile', 'result': {'type': 'text', 'text': 'never",),
        ),
    ),
    Within(
        probe=unwatched(
            "tool-instead",
            lambda: [OnlyAdding(FunctionTool(read_file)), BeforeTool()],
            (READ, text("done")),
            shown=("'display': {'name': 'read_file'",),
        ),
    ),
    Within(
        probe=unwatched("unsendable", lambda: [Unsendable()], ()),
        result=[
            ["error", _NO_INSTRUCTION, None],
            ["end", "failed"],
        ],
    ),
)
