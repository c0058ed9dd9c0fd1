"""Tool callbacks and added tools of a child: the same as a conversation's."""

from __future__ import annotations

import pytest

from runtimes.adk.tool_round import ToolError
from services.model.aliases import ModelAlias
from services.subagents.child import ChildRequest
from services.subagents.definition import AgentPrompt, LocalAgentDefinition, TerminateMode
from tests.runtimes.adk.test_added_tools import ALLOWED, CUSTOM, Adding, Custom
from tests.runtimes.adk.tool_stage import READ, AgentCallbacks, Watching, equip


def raise_child(kit, calls, **equipment):
    """Run a child whose model makes `calls`, then completes; its output, and what was seen."""
    seen = []

    async def script(played, runtime):
        for rule in ALLOWED:
            played.services.policy.add_rule(rule)
        played.services.models.register_runtime_alias(
            "helper-config", ModelAlias(model="gemini-2.5-flash")
        )
        prompt = AgentPrompt(system="You help.", query="${query}")
        definition = LocalAgentDefinition(
            name="helper", description="", prompt=prompt, tools=("read_file",)
        )
        request = ChildRequest(definition=definition, parent_call_id="c", on_activity=seen.append)
        child = runtime._factory.child(request)
        make, states = child._make_agent, []

        def make_equipped(services):
            termination, loop = make(services)
            equip(loop, **equipment)
            states.append(loop._session.state)
            return termination, loop

        child._make_agent = make_equipped
        await child.start({"query": "go"})
        played.output = await child.result()
        played.state = dict(states[0])

    done = kit.parts_chunk(kit.call("complete_task", {"result": "the result"}), finish="STOP")
    parts = [kit.call(name, args) for name, args in calls]
    steps = [[kit.parts_chunk(*parts, finish="STOP")], [done]] if calls else [[done]]
    played = kit.run(script, steps)
    played.activities = [(each.type.value, each.data) for each in seen]
    return played


def answers(played):
    return [
        part["functionResponse"]["response"]
        for part in played.model.requests[-1].contents[-1]["parts"]
        if "functionResponse" in part
    ]


def of_plugin(watching):
    return {"plugins": [watching]}


def of_agent(watching):
    return {"callbacks": AgentCallbacks(watching).fields}


@pytest.mark.parametrize("owner", [of_plugin, of_agent], ids=["plugin", "agent"])
def test_callbacks_of_a_child_see_its_calls_and_change_nothing(kit, owner):
    calls = (("read_file", READ), ("read_file", {"file_path": "gone.txt"}))
    watching = Watching()
    plain, watched = raise_child(kit, calls), raise_child(kit, calls, **owner(watching))
    assert watching.moments == [
        ("before", "read_file"),
        ("before", "read_file"),
        ("after", "read_file"),
        ("error", "read_file"),
        ("before", "complete_task"),
        ("after", "complete_task"),
    ]
    assert isinstance(watching.seen[3][4], ToolError)
    assert watched.output == plain.output
    assert watched.output.terminate_reason is TerminateMode.GOAL
    assert [kind for kind, _ in plain.activities] == [kind for kind, _ in watched.activities]
    assert watched.shapes == plain.shapes


def test_answers_of_callbacks_reach_the_childs_model_and_its_activities(kit):
    def before(tool, args, context, _):
        context.state["asked"] = True
        return {"output": "mine"} if args.get("file_path") == "a.txt" else None

    deltas = []

    class Listening(Watching):
        async def on_event_callback(self, *, invocation_context, event):
            if event.get_function_responses():
                deltas.append(event.actions.state_delta)

    watching = Listening(before=before, error=lambda *_: {"output": "mended"})
    calls = (("read_file", READ), ("read_file", {"file_path": "gone.txt"}))
    played = raise_child(kit, calls, plugins=[watching])
    assert answers(played) == [{"output": "mine"}, {"output": "mended"}]
    ends = [data for kind, data in played.activities if kind == "TOOL_CALL_END"]
    assert [end["output"] for end in ends[:2]] == ["mine", "mended"]
    assert played.state == {"asked": True}
    assert deltas[0] == {"asked": True}


def test_changed_arguments_are_what_the_child_runs(kit):
    watching = Watching(
        before=lambda tool, args, *_: args.update(READ) if tool.name == "read_file" else None
    )
    played = raise_child(kit, [("read_file", {"file_path": "gone.txt"})], plugins=[watching])
    assert answers(played) == [{"output": "alpha\n"}]


def test_task_whose_response_a_callback_replaces_is_completed_all_the_same(kit):
    watching = Watching(after=lambda *_: {"output": "shown"})
    played = raise_child(kit, (), plugins=[watching])
    assert played.output.terminate_reason is TerminateMode.GOAL
    assert played.output.result == "the result"


def test_task_that_a_callback_answers_is_not_completed(kit):
    watching = Watching(before=lambda *_: {"output": "not yet"} if len(watching.seen) < 2 else None)
    done = ("complete_task", {"result": "early"})
    played = raise_child(kit, [done], plugins=[watching])
    assert answers(played) == [{"output": "not yet"}]
    assert played.output.result == "the result"


def test_skip_summarization_does_not_end_a_childs_task(kit):
    def after(tool, args, context, result):
        context.actions.skip_summarization = True

    played = raise_child(kit, [("read_file", READ)], plugins=[Watching(after=after)])
    assert answers(played) == [{"output": "alpha\n"}]
    assert played.output.terminate_reason is TerminateMode.GOAL


def test_tool_that_a_plugin_adds_is_the_childs_too(kit):
    tool = Custom({"n": 1})
    played = raise_child(kit, [CUSTOM], plugins=[Adding(tool)])
    assert answers(played) == [{"n": 1}]
    assert len(tool.runs) == 1


def test_tool_that_is_not_the_childs_stays_unauthorized(kit):
    watching = Watching()
    played = raise_child(kit, [CUSTOM], plugins=[watching])
    assert "Unauthorized tool call" in answers(played)[0]["error"]
    assert watching.moments[0] == ("before", "complete_task")
