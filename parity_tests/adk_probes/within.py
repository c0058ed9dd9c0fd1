"""ADK code of others in the runtime, where stock ADK has nothing to compare the runtime with.

Subagents, ids, the runtime's own plugins and commands of the conversation are the product's. Each
check plays a script under the runtime alone, and states what is to be seen of it.
"""

from __future__ import annotations

from typing import Any, Final

from google.adk.tools.function_tool import FunctionTool

from parity_tests.adk_probes.guests import (
    USAGE,
    Aborting,
    Answered,
    Answering,
    AppState,
    Children,
    Citations,
    Copying,
    Endings,
    Equipping,
    Ids,
    Names,
    OtherMessage,
    Partial,
    Quiet,
    Removing,
    Sorry,
    Thinking,
    Unsendable,
    Voice,
    add,
    compress,
    other_model,
    picture,
    picture_and_more,
    reset,
    rewind,
    tokens_are_recorded,
    words,
    words_and_more,
)
from parity_tests.adk_probes.probe import (
    MODEL,
    Again,
    Answer,
    Operation,
    Probe,
    calls,
    chunk,
    text,
    thought,
)
from parity_tests.adk_probes.replacing import BeforeModelCalls, OnEventFailed
from parity_tests.adk_probes.stated import Watched, Within
from parity_tests.adk_probes.tooling import Adding, OnlyAdding
from services.model.errors import ApiError
from services.settings.hooks import read_hooks
from services.wire import JsonObject, Part, js_json

__all__ = ["WITHIN"]


def _probe(name: str, plugins: Any, script: Any, **more: Any) -> Probe:
    fields = {"counted": False, **more}
    return Probe(name=f"within-{name}", row="", plugins=plugins, script=script, **fields)


def _watched(name: str, *script: Answer, **more: Any) -> Watched:
    return Watched(
        probe=Probe(name=f"watched-{name}", row="", plugins=tuple, script=script, **more)
    )


def _hooks(event: str, **said: Any) -> dict[str, Any]:
    """Settings with one hook, which always says the same."""
    hook = {"type": "command", "command": f"echo '{js_json(said)}'"}
    return {"hooks": read_hooks({event: [{"hooks": [hook]}]})}


_WHERE: Final = ["gemini_cli", "user", "gemini_cli_agent", "gcli"]
"""The names of the application, its user and its agent, and of the agent's model until a request is
routed."""
_READ: Final = calls(("read_file", {"file_path": "a.txt"}))
_SPOKEN: Final = {
    "match": {"model": MODEL},
    "modelConfig": {
        "generateContentConfig": {
            "speechConfig": {"voiceConfig": {"prebuiltVoiceConfig": {"voiceName": "Kore"}}}
        }
    },
}
_CHILD: Final = calls(("invoke_agent", {"agent_name": "cli_help", "prompt": "what is new?"}))
_DOCS: Final = calls(("get_internal_docs", {}))
_DONE: Final = calls(("complete_task", {"report": {"answer": "Nothing.", "sources": []}}))
_PLANS: Final = {"core_tools": ("enter_plan_mode", "exit_plan_mode", "read_file")}
_AGENTS: Final = {"core_tools": ("invoke_agent", "read_file")}
_IDS: Final = [f"e-adk-event-1 adk-event-{number}" for number in (2, 3, 5, 7, 9)]
_NO_INSTRUCTION: Final = (
    "llm_request.config.system_instruction cannot be sent: it takes a text, parts, or a "
    "google.genai.types.Content, not int"
)
_TOOLS: Final = ("words", "words_and_more", "picture", "picture_and_more")
_LONG: Final = "\n".join(map(str, range(3000)))
_MANY: Final = {"promptTokenCount": 50_000}
_SOURCES: Final = {
    "citations": [{"uri": "https://example.com/b"}, {"uri": "https://example.com/a"}]
}


def _called(path: str, call_id: str) -> Part:
    return {"functionCall": {"id": call_id, "name": "read_file", "args": {"file_path": path}}}


def _cited(*parts: Part, **more: Any) -> JsonObject:
    made = chunk(*parts, **more)
    made["candidates"][0]["citationMetadata"] = _SOURCES
    return made


WITHIN: Final = (
    Within(
        probe=_probe("names", lambda: [Names()], (_CHILD, _DONE, text("ok")), settings=_AGENTS),
        notes=[
            _WHERE,
            ["max_turns", "token_limit", "loop_detection", "steering", "probe"],
            _WHERE,
            ["max_turns", "max_time", "complete_task", "steering", "probe"],
        ],
    ),
    Within(
        probe=_probe(
            "ids",
            lambda: [Ids()],
            (_READ, text("one"), text("two"), text("three")),
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
        probe=_probe(
            "reset-at-the-end",
            lambda: [Ids()],
            (_READ, text("one")),
            messages=("hello", Operation(reset)),
        ),
        session=[],
        state={},
    ),
    Within(
        probe=_probe(
            "child",
            lambda: [Children()],
            (_CHILD, _DOCS, _DONE, text("ok")),
            settings=_AGENTS,
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
        probe=_probe(
            "confirmed",
            lambda: [OnlyAdding(FunctionTool(add, require_confirmation=True))],
            (calls(("add", {"a": 1, "b": 2}), ("add", {"a": 3, "b": 4})), text("done")),
            shown=('{"sum":3,"confirmed":true}', '{"sum":7,"confirmed":true}'),
        ),
    ),
    Within(
        probe=_probe(
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
        probe=_probe(
            "closed",
            lambda: [Equipping()],
            (_READ, text("one")),
        ),
        notes=[
            *[[["activate_skill", "add", "read_file"]] * 2] * 2,
            *(["toolset closed"], ["plugin closed"]),
        ],
    ),
    Within(
        probe=_probe(
            "child-closed",
            lambda: [Equipping()],
            (_CHILD, _DONE, text("one")),
            settings=_AGENTS,
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
        probe=_probe(
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
        probe=_probe(
            "unanswered-other-message",
            lambda: [OtherMessage()],
            (ApiError(400, "no"), text("two")),
            messages=("hello", "again"),
        ),
        notes=[[["user", ["hello, please"]]], [["user", ["again"]]]],
    ),
    Within(
        probe=_probe(
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
        probe=_probe(
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
        probe=_probe(
            "answered",
            lambda: [Answering()],
            (text("two"),),
            messages=("hello", Operation(tokens_are_recorded), "again"),
        ),
    ),
    Within(
        probe=_probe(
            "names-with-hooks", lambda: [Names()], (text("one"),), settings=_hooks("BeforeModel")
        ),
        notes=[
            _WHERE,
            ["max_turns", "token_limit", "loop_detection", "steering", "hook_bridge", "probe"],
        ],
    ),
    Within(
        probe=_probe(
            "blocked-prompt",
            lambda: [Partial()],
            (),
            settings=_hooks("BeforeAgent", decision="block", reason="not now"),
        ),
        notes=[[True]],
        result=[["error", "not now", "AGENT_EXECUTION_BLOCKED"], ["end", "completed"]],
    ),
    Within(
        probe=_probe(
            "stopped-by-hook",
            lambda: [Adding(FunctionTool(words))],
            (calls(("words", {})),),
            settings=_hooks("AfterTool", **{"continue": False, "stopReason": "enough"}),
        ),
        notes=[["before", "words", "FunctionTool"]],
        result=[
            ["call", "words", {}],
            ["tool", "words", True, [["text", "enough"]]],
            ["end", "completed"],
        ],
    ),
    Within(
        probe=_probe(
            "other-model",
            lambda: [Thinking()],
            (text("one"), text("two")),
            messages=("hello", Operation(other_model), "again"),
        ),
        notes=[["gemini-2.5-flash", 8192, None], ["gemini-3-flash-preview", None, "HIGH"]],
    ),
    Within(
        probe=_probe("one-tool-fewer", lambda: [Removing()], (text("one"),)),
        tools=["read_file"],
    ),
    Within(
        probe=_probe("called", lambda: [BeforeModelCalls()], (text("done"),)),
        result=[
            ["call", "read_file", {"file_path": "a.txt"}],
            *(["tool", "read_file", False, []], ["text", "done"], ["end", "completed"]),
        ],
    ),
    Within(
        probe=_probe("citations", lambda: [Citations()], ([_cited({"text": "one"})],)),
        notes=[[True, "https://example.com/b", "https://example.com/a"]],
    ),
    Within(
        probe=_probe(
            "event-failed",
            lambda: [OnEventFailed()],
            (text("one"),),
            shown=("'status': 'INTERNAL'", "'a plugin frowns'"),
        ),
    ),
    Within(
        probe=_probe("loop", lambda: [Endings()], (*[_READ] * 5, text("done"))),
        notes=[
            *[[None, "call read_file"], [None, "response read_file"]] * 4,
            ["LOOP_DETECTED"],
            [None, "text"],
        ],
    ),
    Within(
        probe=_probe(
            "compression-at-the-end",
            lambda: [Endings()],
            (text("one"), text(_LONG), [chunk({"text": "three"}, usageMetadata=_MANY)]),
            messages=("hello", "again", "and then", Operation(compress)),
        ),
        session=[("user", ["text"]), ("gemini_cli_agent", ["text"])] * 2,
    ),
    Within(
        probe=_probe("aborted", lambda: [Aborting()], (text("one"),)),
        notes=[],
        result=[["end", "aborted"]],
    ),
    Within(
        probe=_probe(
            "answer-blocked",
            lambda: [Answered()],
            (),
            settings=_hooks("BeforeModel", decision="block", reason="not now"),
        ),
        # What the runtime says in place of an answer is no response of the model.
        notes=[],
        result=[["error", "not now", "AGENT_EXECUTION_BLOCKED"], ["end", "completed"]],
    ),
    Within(
        probe=_probe(
            "voice",
            lambda: [Voice()],
            (text("one"), text("two")),
            messages=("hello", "again"),
            settings={"model_configs": {"customOverrides": [_SPOKEN]}},
        ),
        notes=[["Kore"], ["Kore"]],
    ),
    Within(
        probe=_probe(
            "call-before-error",
            lambda: [Sorry()],
            (Again(ApiError(400, "no"), said=_READ),),
        ),
        result=[
            ["call", "read_file", {"file_path": "a.txt"}],
            *(["text", "sorry: no"], ["end", "completed"]),
        ],
    ),
    Within(
        probe=_probe(
            "state-after-rewind",
            lambda: [AppState()],
            (text("one"), text("two")),
            messages=("hello", "again", Operation(rewind)),
        ),
        state={"app:runs": 2},
    ),
    Within(
        probe=_probe("unsendable", lambda: [Unsendable()], ()),
        result=[
            ["error", _NO_INSTRUCTION, None],
            ["end", "failed"],
        ],
    ),
    _watched(
        "deltas",
        [
            chunk(thought("**Look** around"), {"text": "one "}, finish=None),
            chunk(_called("a.txt", "c1"), {"text": "two ", "odd": 1}, finish=None),
            _cited({"text": "three"}, {"executableCode": {"code": "x", "language": "PYTHON"}}),
            chunk(finish=None, usageMetadata=USAGE),
        ],
        [_cited({"text": "four"}, usageMetadata=USAGE)],
        [chunk({"text": "five"}, finish="MAX_TOKENS", usageMetadata={"oddCount": 1})],
        messages=("hello", "again"),
    ),
    _watched(
        "calls",
        [
            chunk(
                _called("none.txt", "c1"), _called("a.txt", "c2"), {"functionCall": {"name": "odd"}}
            )
        ],
        [chunk({"text": ""})],
        text("one"),
        text("two"),
        messages=("hello", "again"),
    ),
    _watched(
        "children",
        calls(*[("invoke_agent", {"agent_name": "cli_help", "prompt": each}) for each in "ab"]),
        *(_DOCS, _DONE, _DONE),
        text("both"),
        settings=_AGENTS,
    ),
    _watched(
        "attempts",
        Again(ApiError(503, "broken"), connected=True),
        [chunk({"text": "one "}, finish=None)],
        text("two"),
        ApiError(400, "no"),
        text("three"),
        messages=("hello", "again", "and then"),
    ),
)
