from types import SimpleNamespace
from typing import Any, cast

import pytest

from harness.orders.shared import (
    ANSWERS,
    MODE,
    MODEL,
    PROCESSES,
    SCRIPT,
    WORKSPACE,
    Touches,
    apart,
)
from services.tools.contract import Tool, ToolKind

Call = tuple[Tool, Any]


def tool_call(kind: ToolKind, name: str = "some_tool", **args: Any) -> Call:
    return cast("Tool", SimpleNamespace(name=name, kind=kind)), args


def trace(*calls: tuple[str, Call]) -> Any:
    touches = Touches("/ws")
    for who, each in calls:
        touches.tool(*each, who)
    return touches.trace


READ_X = tool_call(ToolKind.READ, file_path="x.txt")
WRITE_X = tool_call(ToolKind.EDIT, file_path="/ws/x.txt")
WRITE_Y = tool_call(ToolKind.EDIT, file_path="y.txt")
LIST = tool_call(ToolKind.SEARCH, dir_path=".")
SHELL = tool_call(ToolKind.EXECUTE, command="make")


@pytest.mark.parametrize(
    ("one", "other", "shared"),
    [
        (READ_X, READ_X, ()),
        (READ_X, WRITE_Y, ()),
        (WRITE_X, WRITE_Y, ()),
        (READ_X, WRITE_X, ("the file x.txt",)),
        (WRITE_X, WRITE_X, ("the file x.txt",)),
        (LIST, WRITE_Y, (WORKSPACE,)),
        (LIST, READ_X, ()),
        (SHELL, SHELL, (PROCESSES, WORKSPACE)),
        (SHELL, READ_X, (WORKSPACE,)),
        (
            tool_call(ToolKind.OTHER, "write_todos"),
            tool_call(ToolKind.OTHER, "write_todos"),
            ("the state of write_todos",),
        ),
        (tool_call(ToolKind.AGENT), tool_call(ToolKind.FETCH), ()),
        (
            tool_call(ToolKind.OTHER, "complete_task"),
            tool_call(ToolKind.OTHER, "complete_task"),
            (),
        ),
    ],
)
def test_two_calls_share_what_one_of_them_may_change(
    one: Call, other: Call, shared: tuple[str, ...]
) -> None:
    first = trace(("0/0 call", one), ("0/1 call", other))
    second = trace(("0/1 call", other), ("0/0 call", one))

    assert apart(first, second) == shared
    assert apart(first, first) == ()


def test_the_order_of_readers_between_two_writes_does_not_matter() -> None:
    def readers(*who: str) -> Any:
        touches = Touches()
        touches.write(MODEL, "0/0 answer 1")
        for each in who:
            touches.read(MODEL, each)
        return touches.trace

    assert (
        apart(readers("0/1 answer 0", "0/2 answer 0"), readers("0/2 answer 0", "0/1 answer 0"))
        == ()
    )
    assert apart(readers("0/1 answer 0"), readers()) == (MODEL,)


def test_where_arguments_are_not_known_a_file_is_any_file() -> None:
    unknown = (WRITE_X[0], None)

    one = trace(("0/0 call", unknown), ("0/1 call", unknown))
    other = trace(("0/1 call", unknown), ("0/0 call", unknown))

    assert apart(one, other) == (WORKSPACE,)


@pytest.mark.parametrize("what", [MODE, ANSWERS])
def test_a_call_depends_on_mode_and_answers(what: str) -> None:
    before, after = Touches(), Touches()
    before.write(what, "main")
    before.tool(*READ_X, "0/0 call")
    after.tool(*READ_X, "0/0 call")
    after.write(what, "main")

    assert apart(before.trace, after.trace) == (what,)


def test_the_script_is_shared_if_a_place_got_another_answer() -> None:
    def script(**answers: str) -> Any:
        touches = Touches()
        touches.whole(SCRIPT, answers)
        return touches.trace

    assert apart(script(a="1", b="2"), script(a="2", b="1")) == (SCRIPT,)
    assert apart(script(a="1"), script(a="1", b="2")) == ()
