"""Tools that are not the product's: the model gets them declared, the scheduler runs them."""

from __future__ import annotations

import asyncio
import json

import pytest
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.function_tool import FunctionTool
from google.adk.tools.tool_context import ToolContext
from google.genai import types

from agent_protocol.content import MediaPart
from services.message_bus import ToolCallsUpdate
from services.policy.rules import Decision
from services.tools.contract import ConfirmationOutcome
from tests.runtimes.adk.tool_stage import (
    READ,
    Watching,
    play,
    responses,
    rule,
    shown,
    stock,
)

ALLOWED = [rule("add", Decision.ALLOW), rule("custom", Decision.ALLOW)]


def add(left: int, right: int, tool_context: ToolContext) -> dict:
    """Add two numbers."""
    tool_context.state["sum"] = left + right
    return {"sum": left + right}


class Custom(BaseTool):
    """A tool that returns, or raises, what it is given."""

    def __init__(self, result=None, **more) -> None:
        super().__init__(name="custom", description="Does something.", **more)
        self.result = result
        self.runs = []

    def _get_declaration(self):
        schema = {"type": "object", "properties": {"what": {"type": "string"}}}
        return types.FunctionDeclaration(
            name=self.name, description=self.description, parameters_json_schema=schema
        )

    async def run_async(self, *, args, tool_context):
        self.runs.append((args, tool_context))
        if isinstance(self.result, BaseException):
            raise self.result
        return self.result


class Adding(BasePlugin):
    """Adds tools to each request, as a plugin can."""

    def __init__(self, *tools: BaseTool) -> None:
        super().__init__(name="adding")
        self.tools = list(tools)
        self.declared = set()

    async def before_model_callback(self, *, callback_context, llm_request):
        (typed,) = llm_request.config.tools
        self.declared.add(len(typed.function_declarations))
        llm_request.append_tools(self.tools)


def asking(kit, *calls):
    parts = [kit.call(name, args) for name, args in calls]
    return [[kit.parts_chunk(*parts, finish="STOP")], [kit.text("done", "STOP")]]


SUM = ("add", {"left": 2, "right": 3})
CUSTOM = ("custom", {"what": "x"})


def declared(played, number=0):
    (tools,) = played.model.requests[number].config["tools"]
    return {each["name"]: each for each in tools["functionDeclarations"]}


def test_function_tool_of_the_agent_is_declared_and_run(kit):
    states = []
    played = play(
        kit,
        asking(kit, SUM),
        tools=[add],
        rules=ALLOWED,
        more=lambda played, agent: states.append(dict(agent._session.state)),
    )
    plain = play(kit, [[kit.text("hello", "STOP")]])
    (own,) = declared(played).keys() - declared(plain).keys()
    assert own == "add"
    assert {*declared(plain)} < {*declared(played)}
    assert declared(played)["add"]["description"] == "Add two numbers."
    assert "left" in json.dumps(declared(played)["add"])
    assert "tool_context" not in json.dumps(declared(played)["add"])
    assert responses(played)[0]["response"] == {"sum": 5}
    assert shown(played) == [("add", False, '{"sum":5}')]
    assert states == [{"sum": 5}]


def test_tool_that_a_plugin_adds_is_declared_in_every_request_and_run(kit):
    tool = Custom({"n": 1})
    played = play(kit, asking(kit, CUSTOM), plugins=[Adding(tool)], rules=ALLOWED)
    assert "custom" in declared(played, 0)
    assert list(declared(played, 1)).count("custom") == 1
    assert len(declared(played, 1)) == len(declared(played, 0))
    assert responses(played)[0]["response"] == {"n": 1}
    ((args, context),) = tool.runs
    assert args == {"what": "x"}
    assert context.function_call_id.startswith("custom__")


def test_tool_that_replaces_one_of_the_product_is_declared_once_and_is_the_one_that_runs(kit):
    class Reading(Custom):
        def __init__(self):
            super().__init__({"mine": True})
            self.name = "read_file"

    played = play(kit, asking(kit, ("read_file", READ)), plugins=[Adding(Reading())])
    (tools,) = played.model.requests[0].config["tools"]
    names = [each["name"] for each in tools["functionDeclarations"]]
    assert names.count("read_file") == 1
    assert declared(played)["read_file"]["description"] == "Does something."
    assert responses(played)[0]["response"] == {"mine": True}


def test_policy_that_denies_it_is_obeyed(kit):
    tool = Custom({"n": 1})
    played = play(kit, asking(kit, CUSTOM), tools=[tool], rules=[rule("custom", Decision.DENY)])
    assert tool.runs == []
    assert "denied by policy" in responses(played)[0]["response"]["error"]
    assert shown(played)[0][1] is True


def test_policy_refuses_it_without_a_rule_where_no_user_can_be_asked(kit):
    tool = Custom({"n": 1})
    played = play(kit, asking(kit, CUSTOM), tools=[tool])
    assert tool.runs == []
    assert shown(played)[0][1] is True


@pytest.mark.parametrize(
    ("outcome", "runs"),
    [(ConfirmationOutcome.PROCEED_ONCE, 1), (ConfirmationOutcome.CANCEL, 0)],
)
def test_user_is_asked_where_no_rule_decides(kit, outcome, runs):
    tool = Custom({"n": 1})
    played = play(kit, asking(kit, CUSTOM), tools=[tool], answer=outcome)
    assert played.asked == ["custom"]
    assert len(tool.runs) == runs


def test_answer_always_is_remembered_for_its_name(kit):
    tool = Custom({"n": 1})
    played = play(
        kit,
        [*asking(kit, CUSTOM), *asking(kit, CUSTOM)],
        sends=("one", "two"),
        tools=[tool],
        answer=ConfirmationOutcome.PROCEED_ALWAYS,
    )
    assert played.asked == ["custom"]
    assert len(tool.runs) == 2


def test_scheduler_confirms_in_place_of_adk(kit):
    """ADK's own protocol would answer that a confirmation is needed, and never run the tool."""

    def wipe(what: str) -> dict:
        """Wipe."""
        return {"wiped": what}

    tool = FunctionTool(wipe, require_confirmation=True)
    played = play(
        kit,
        asking(kit, ("wipe", {"what": "x"})),
        tools=[tool],
        answer=ConfirmationOutcome.PROCEED_ONCE,
    )
    assert played.asked == ["wipe"]
    assert responses(played)[0]["response"] == {"wiped": "x"}


def test_exception_of_the_tool_is_the_calls_error_and_reaches_the_callback_as_it_is(kit):
    error = LookupError("no such thing")
    watching = Watching()
    played = play(
        kit, asking(kit, CUSTOM), tools=[Custom(error)], plugins=[watching], rules=ALLOWED
    )
    assert responses(played)[0]["response"] == {"error": "no such thing"}
    assert shown(played)[0][1] is True
    assert watching.seen[1][0] == "error"
    assert watching.seen[1][4] is error


def test_arguments_that_do_not_fit_are_answered_by_adks_own_tool(kit):
    played = play(kit, asking(kit, ("add", {"left": 2})), tools=[add], rules=ALLOWED)
    assert "mandatory input parameters" in responses(played)[0]["response"]["error"]


def test_tool_that_is_long_running_answers_with_what_it_returns_and_the_turn_goes_on(kit):
    tool = Custom({"ticket": 7}, is_long_running=True)
    played = play(kit, asking(kit, CUSTOM), tools=[tool], rules=ALLOWED)
    assert responses(played)[0]["response"] == {"ticket": 7}
    assert played.texts == ["done"]


def test_tool_that_is_long_running_and_returns_nothing_answers_all_the_same(kit):
    tool = Custom(None, is_long_running=True)
    played = play(kit, asking(kit, CUSTOM), tools=[tool], rules=ALLOWED)
    assert responses(played)[0]["response"] == {"result": None}
    assert played.texts == ["done"]


def test_its_output_is_no_markdown_for_clients_of_the_scheduler(kit):
    marked = set()

    def note(update):
        marked.update(call.tool.is_output_markdown for call in update.calls)

    def look(event, agent):
        if event.type == "agent_start":
            agent._config.services.bus.subscribe(ToolCallsUpdate, note)

    play(kit, asking(kit, CUSTOM), tools=[Custom("x")], rules=ALLOWED, on_event=look)
    assert marked == {False}


def test_callbacks_see_what_the_tool_returned(kit):
    result = types.Part(text="hello")
    watching = Watching()
    played = play(
        kit, asking(kit, CUSTOM), tools=[Custom(result)], plugins=[watching], rules=ALLOWED
    )
    assert watching.seen[1][4] is result
    assert responses(played)[0]["response"] == {"result": {"text": "hello"}}


def test_media_that_the_tool_returns_stands_beside_the_response(kit):
    image = types.Part.from_bytes(data=b"\xff\xd8", mime_type="image/jpeg")
    played = play(kit, asking(kit, CUSTOM), tools=[Custom({"seen": 1, "it": image})], rules=ALLOWED)
    (recorded,) = [call for line in played.lines for call in line.get("toolCalls") or ()]
    assert recorded["result"][0]["functionResponse"]["response"] == {"output": '{"seen":1}'}
    assert recorded["result"][1] == {"inlineData": {"mimeType": "image/jpeg", "data": "/9g="}}
    (event,) = [event for event in played.events if event.type == "tool_response"]
    assert event.content == (MediaPart(data="/9g=", mime_type="image/jpeg"),)


def test_abort_ends_the_tool_and_the_stream(kit):
    ended = []

    class Slow(Custom):
        async def run_async(self, *, args, tool_context):
            kit.abort(played_agent[0])
            try:
                for _ in range(100):
                    await asyncio.sleep(0)
            except asyncio.CancelledError:
                ended.append(True)
                raise

    played_agent = []
    watching = Watching()

    def hear(event, agent):
        played_agent[:] = [agent]

    played = play(
        kit,
        asking(kit, CUSTOM)[:1],
        tools=[Slow()],
        plugins=[watching],
        rules=ALLOWED,
        on_event=hear,
    )
    assert ended == [True]
    assert [end[0] for end in played.ends] == ["aborted"]
    assert watching.moments == [("before", "custom")]


def test_batch_has_tools_of_both_kinds_in_the_order_of_the_calls(kit):
    played = play(
        kit,
        asking(kit, SUM, ("read_file", READ), CUSTOM),
        tools=[add, Custom({"n": 1})],
        rules=ALLOWED,
    )
    assert [each["name"] for each in responses(played)] == ["add", "read_file", "custom"]


def test_state_of_parallel_tools_is_merged_into_the_session(kit):
    def one(tool_context: ToolContext) -> dict:
        """One."""
        tool_context.state["shared"] = {"one": 1}
        return {}

    def two(tool_context: ToolContext) -> dict:
        """Two."""
        tool_context.state["shared"] = {**tool_context.state.get("shared", {}), "two": 2}
        return {}

    states = []
    rules = [rule("one", Decision.ALLOW), rule("two", Decision.ALLOW)]
    play(
        kit,
        asking(kit, ("one", {}), ("two", {})),
        tools=[one, two],
        rules=rules,
        more=lambda played, agent: states.append(dict(agent._session.state)),
    )
    calls = [{"functionCall": {"name": name, "args": {}, "id": name}} for name in ("one", "two")]
    _, expected, _ = stock([calls, [{"text": "done"}]], tools=[one, two])
    assert states == [expected] == [{"shared": {"one": 1, "two": 2}}]


RESULTS = {
    "dict": {"n": 1},
    "text": "hello",
    "number": 3,
    "list": [1, "two"],
    "nothing": None,
    "part": types.Part(text="x"),
}


@pytest.mark.parametrize("result", RESULTS.values(), ids=RESULTS)
def test_response_of_a_result_is_stocks(kit, result):
    call = {"functionCall": {"name": "custom", "args": {"what": "x"}, "id": "1"}}
    (expected,), _, _ = stock([[call], [{"text": "done"}]], tools=[Custom(result)])
    played = play(kit, asking(kit, CUSTOM), tools=[Custom(result)], rules=ALLOWED)
    assert responses(played)[0]["response"] == expected["response"]


def test_result_of_an_unknown_kind_becomes_text(kit):
    class Thing:
        def __str__(self) -> str:
            return "a thing"

    played = play(kit, asking(kit, CUSTOM), tools=[Custom({"it": Thing()})], rules=ALLOWED)
    assert responses(played)[0]["response"] == {"it": "a thing"}


def test_shared_declarations_of_the_product_do_not_grow(kit):
    steps = [*asking(kit, CUSTOM), *asking(kit, CUSTOM)]
    adding = Adding(Custom({"n": 1}))
    played = play(kit, steps, sends=("one", "two"), plugins=[adding], rules=ALLOWED)
    assert len({len(declared(played, number)) for number in range(4)}) == 1
    assert len(adding.declared) == 1
