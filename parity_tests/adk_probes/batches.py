"""Batches of calls with callbacks and tools of others: values, refusals, ids, aborts and media."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any, Final

from google.adk.tools.base_tool import BaseTool
from google.adk.tools.function_tool import FunctionTool
from google.adk.tools.tool_context import ToolContext
from pydantic import BaseModel, Field

from parity_tests.adk_probes.guests import picture_and_more
from parity_tests.adk_probes.probe import calls, chunk, text
from parity_tests.adk_probes.stated import Within, hooks, unwatched
from parity_tests.adk_probes.tooling import Adding, Mending, OnlyAdding, Weighing, remember
from parity_tests.adk_probes.within import called
from services.wire import Content, Part

__all__ = ["BATCHES"]


class Place(BaseModel):
    """An object with a JSON form."""

    house_number: int = Field(alias="houseNumber")
    street: str | None = None


def values() -> dict[str, Any]:
    """Returns values of many types."""
    return {
        "none": None,
        "bytes": b"ab",
        "number": float("nan"),
        "path": PurePosixPath("a/b"),
        "set": {1},
        "place": Place(houseNumber=3),
        "list": [None, {"x": None}],
    }


def listing() -> list[Any]:
    """Returns a list."""
    return ["a", None, 1.5]


def both(tool_context: ToolContext) -> dict[str, Any]:
    """Sets two kinds of state, and skips the summary."""
    tool_context.state["temp:both"] = True
    tool_context.state["app:both"] = tool_context.function_call_id
    tool_context.actions.skip_summarization = True
    return {"output": "both"}


class Cancelling(Adding):
    """Aborts the send as a user does, before the calls are run."""

    async def before_tool_callback(self, *, tool: Any, tool_args: Any, tool_context: Any) -> None:
        await super().before_tool_callback(
            tool=tool, tool_args=tool_args, tool_context=tool_context
        )
        tool_context._invocation_context.agent.model._parts.link.run.signal._abort(None)


class Picturing(Adding):
    """Answers with media in place of a call, of a result and of an error; leaves one as it is."""

    async def before_tool_callback(self, *, tool: Any, tool_args: Any, tool_context: Any) -> Any:
        return picture_and_more() if tool_context.function_call_id == "weigh__c1" else None

    async def after_tool_callback(
        self, *, tool: Any, tool_args: Any, tool_context: Any, result: Any
    ) -> Any:
        self.note("after", tool_context.function_call_id, sorted(result))
        return (
            picture_and_more() if tool_context.function_call_id == "read_file__c2" else dict(result)
        )

    async def on_tool_error_callback(
        self, *, tool: Any, tool_args: Any, tool_context: Any, error: Exception
    ) -> Any:
        return picture_and_more()


def _weighing() -> list[BaseTool]:
    return [Weighing()]


def _answer(call_id: str, name: str, response: Any) -> Part:
    return {"functionResponse": {"id": call_id, "name": name, "response": response}}


def _asking(*parts: Part) -> Content:
    return {"role": "model", "parts": [{**parts[0], "thoughtSignature": _SIGNED}, *parts[1:]]}


_SIGNED: Final = "skip_thought_signature_validator"
_OURS: Final[tuple[str, Any]] = ("read_file", {"file_path": "a.txt"})
_FAILS: Final[tuple[str, Any]] = ("read_file", {"file_path": "none.txt"})
_APPLE: Final[tuple[str, Any]] = ("weigh", {"thing": "an apple"})
_TWO: Final[list[list[Any]]] = [["call", *_OURS], ["call", *_APPLE]]
_DONE: Final[list[list[Any]]] = [["text", "done"], ["end", "completed"]]
_REFUSED: Final = "Tool execution blocked: no"
_DOTS: Final = {"inlineData": {"mimeType": "image/png", "data": "ZG90cw=="}}
_OF_DOTS: Final = {"output": '{"of":"dots"}'}
_SHOWN: Final = ["tool", "read_file", False, [["media", "image/png", "ZG90cw=="]]]


def _call(call_id: str, name: str, args: Any) -> Part:
    return {"functionCall": {"name": name, "args": args, "id": call_id}}


BATCHES: Final = (
    Within(
        probe=unwatched(
            "values",
            lambda: [OnlyAdding(FunctionTool(values), FunctionTool(listing))],
            (calls(("values", {}), ("listing", {})), text("done")),
        ),
        contents=[
            [
                _asking(_call("c1", "values", {}), _call("c2", "listing", {})),
                {
                    "role": "user",
                    "parts": [
                        _answer(
                            "c1",
                            "values",
                            {
                                "none": None,
                                "bytes": "YWI=",
                                "number": None,
                                "path": "a/b",
                                "set": [1],
                                "place": {"houseNumber": 3},
                                "list": [None, {"x": None}],
                            },
                        ),
                        _answer("c2", "listing", {"result": ["a", None, 1.5]}),
                    ],
                },
            ]
        ],
    ),
    Within(
        probe=unwatched(
            "denied",
            lambda: [Mending(*_weighing())],
            (calls(_OURS, _APPLE), text("done")),
            settings=hooks("BeforeTool", decision="block", reason="no"),
        ),
        # Nothing failed that a callback could mend.
        notes=[["before", "read_file", ""], ["before", "weigh", "Weighing"]],
        result=[
            *_TWO,
            *(["tool", name, True, [["text", _REFUSED]]] for name in ("read_file", "weigh")),
            *_DONE,
        ],
    ),
    Within(
        probe=unwatched(
            "one-id",
            lambda: [Adding(*_weighing())],
            ([chunk(called("a.txt", "c1"), called("none.txt", "c1"))], text("done")),
        ),
        notes=[
            *[["before", "read_file", ""]] * 2,
            ["error", "read_file", "", "File not found: <RUN>/ws/none.txt"],
        ],
    ),
    Within(
        probe=unwatched(
            "cancelled",
            lambda: [Cancelling(*_weighing())],
            (calls(_OURS, _APPLE), text("done"), text("done")),
            messages=("hello", "again"),
        ),
        notes=[["before", "read_file", ""], ["before", "weigh", "Weighing"]],
        result=[*_TWO, ["end", "aborted"], *_DONE],
    ),
    Within(
        probe=unwatched(
            "pictures",
            lambda: [Picturing(*_weighing())],
            (calls(_APPLE, _OURS, _FAILS, _OURS), text("done")),
            # What a callback leaves as it is keeps the product's own display.
            shown=("'display': {'name': 'ReadFile'",),
        ),
        notes=[
            ["after", "weigh__c1", ["image", "of"]],
            ["after", "read_file__c2", ["output"]],
            ["after", "read_file__c3", ["image", "of"]],
            ["after", "read_file__c4", ["output"]],
        ],
        result=[
            *(["call", *each] for each in (_APPLE, _OURS, _FAILS, _OURS)),
            ["tool", "weigh", *_SHOWN[2:]],
            *(_SHOWN, _SHOWN, ["tool", "read_file", False, []]),
            *_DONE,
        ],
        contents=[
            [
                _asking(
                    _call("c1", *_APPLE),
                    *(_call(f"c{n}", *each) for n, each in enumerate((_OURS, _FAILS, _OURS), 2)),
                ),
                {
                    "role": "user",
                    "parts": [
                        *(_answer("c1", "weigh", _OF_DOTS), _DOTS),
                        *(_answer("c2", "read_file", _OF_DOTS), _DOTS),
                        *(_answer("c3", "read_file", _OF_DOTS), _DOTS),
                        _answer("c4", "read_file", {"output": "alpha\n"}),
                    ],
                },
            ]
        ],
    ),
    Within(
        probe=unwatched(
            "two-states",
            lambda: [OnlyAdding(FunctionTool(remember), FunctionTool(both))],
            (
                calls(("remember", {"words": "one"}), ("remember", {"words": "two"})),
                calls(("remember", {"words": "three"}), ("both", {})),
            ),
        ),
        state={"remembered": ["one", "two", "three"], "app:both": "both__c2"},
        session=[
            ("user", ["text"]),
            ("gemini_cli_agent", ["call remember", "call remember"]),
            ("gemini_cli_agent", ["response remember", "response remember"]),
            ("gemini_cli_agent", ["call remember", "call both"]),
            ("gemini_cli_agent", ["response remember", "response both"]),
        ],
        result=[
            *(["call", "remember", {"words": each}] for each in ("one", "two")),
            *[["tool", "remember", False, []]] * 2,
            *(["call", "remember", {"words": "three"}], ["call", "both", {}]),
            *(["tool", each, False, []] for each in ("remember", "both")),
            ["end", "completed"],
        ],
    ),
)
