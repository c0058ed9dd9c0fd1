"""ADK's tool callbacks around the scheduler's batch: plugins' and the agent's, in stock's order."""

from __future__ import annotations

import json

import pytest
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.tools.function_tool import FunctionTool
from google.adk.tools.tool_context import ToolContext

from runtimes.adk.tool_round import ToolError
from services.message_bus import ToolCallsUpdate
from services.policy.rules import Decision
from services.tools.contract import ConfirmationOutcome, ToolErrorType
from tests.runtimes.adk.tool_stage import (
    READ,
    AgentCallbacks,
    Watching,
    play,
    responses,
    rule,
    shown,
    stock,
)


def asking(kit, *calls):
    """An answer that asks for `calls`, then one that ends."""
    parts = [kit.call(name, args) for name, args in calls]
    return [[kit.parts_chunk(*parts, finish="STOP")], [kit.text("done", "STOP")]]


def of_plugin(watching):
    return {"plugins": [watching]}


def of_agent(watching):
    return {"callbacks": AgentCallbacks(watching).fields}


OWNERS = pytest.mark.parametrize("owner", [of_plugin, of_agent], ids=["plugin", "agent"])


@OWNERS
def test_callbacks_see_each_call_with_a_context_of_its_own(kit, owner):
    watching = Watching()
    played = play(
        kit,
        asking(kit, ("read_file", READ), ("list_directory", {"dir_path": "."})),
        **owner(watching),
    )
    assert watching.moments == [
        ("before", "read_file"),
        ("before", "list_directory"),
        ("after", "read_file"),
        ("after", "list_directory"),
    ]
    first, second = watching.contexts[0], watching.contexts[1]
    assert first is not second
    assert watching.contexts[2:] == [first, second]
    assert first.tool_confirmation is None
    ids = [each["id"] for each in responses(played)]
    assert [seen[3].removeprefix(f"{seen[1]}__") for seen in watching.seen[:2]] == ids
    assert watching.seen[0][2] == READ
    assert watching.seen[2][4] == responses(played)[0]["response"] == {"output": "alpha\n"}


@OWNERS
def test_watching_changes_nothing(kit, owner):
    steps = asking(kit, ("read_file", READ), ("read_file", {"file_path": "gone.txt"}))
    plain, watched = play(kit, steps), play(kit, steps, **owner(Watching()))
    assert [e.type for e in plain.events] == [e.type for e in watched.events]
    assert shown(plain) == shown(watched)
    assert plain.shapes == watched.shapes


@OWNERS
def test_before_tool_answers_in_place_of_the_call_and_the_rest_is_one_batch(kit, owner, tmp_path):
    def before(tool, args, context, _):
        return {"answer": 42} if tool.name == "write_file" else None

    watching = Watching(before=before)
    played = play(
        kit,
        asking(kit, ("write_file", {"file_path": "new.txt", "content": "x"}), ("read_file", READ)),
        rules=[rule("write_file", Decision.ALLOW)],
        **owner(watching),
    )
    assert not (played.services.workspace.root / "new.txt").exists()
    written, read = responses(played)
    assert written["response"] == {"answer": 42}
    assert read["response"] == {"output": "alpha\n"}
    assert shown(played) == [("write_file", False, '{"answer":42}'), shown(played)[1]]
    assert watching.moments[2:] == [("after", "write_file"), ("after", "read_file")]
    assert watching.seen[2][4] == {"answer": 42}
    recorded = [call for line in played.lines for call in line.get("toolCalls") or ()]
    assert recorded[0]["result"][0]["functionResponse"]["response"] == {"answer": 42}


def test_answer_of_before_tool_keeps_the_place_of_its_call(kit):
    played = play(
        kit,
        asking(kit, ("read_file", READ), ("list_directory", {"dir_path": "."})),
        plugins=[Watching(before=lambda tool, *_: {"n": 1} if tool.name[0] == "l" else None)],
    )
    assert [each["name"] for each in responses(played)] == ["read_file", "list_directory"]


@pytest.mark.parametrize(("answer", "schedules"), [({"n": 1}, False), (None, True)])
def test_when_every_call_is_answered_the_scheduler_gets_none(kit, answer, schedules):
    updates = []

    def look(event, agent):
        if event.type == "agent_start":
            agent._config.services.bus.subscribe(ToolCallsUpdate, updates.append)

    plugins = [Watching(before=lambda *_: answer)]
    play(kit, asking(kit, ("read_file", READ)), plugins=plugins, on_event=look)
    assert bool(updates) is schedules


@OWNERS
def test_arguments_changed_in_place_are_what_is_scheduled_and_recorded(kit, owner):
    def before(tool, args, context, _):
        args["file_path"] = "a.txt"

    watching = Watching(before=before)
    played = play(kit, asking(kit, ("read_file", {"file_path": "gone.txt"})), **owner(watching))
    assert responses(played)[0]["response"] == {"output": "alpha\n"}
    assert watching.seen[1][2] == READ
    (request,) = [event for event in played.events if event.type == "tool_request"]
    assert request.args == {"file_path": "gone.txt"}, "emitted before the callbacks ran"
    (recorded,) = [call for line in played.lines for call in line.get("toolCalls") or ()]
    assert recorded["args"] == READ
    history = [part for turn in played.transcript for part in turn["parts"]]
    asked = next(part["functionCall"] for part in history if "functionCall" in part)
    assert asked["args"] == {"file_path": "gone.txt"}


@OWNERS
def test_after_tool_replaces_the_result_everywhere(kit, owner):
    watching = Watching(after=lambda tool, args, context, result: {"output": "[redacted]"})
    played = play(kit, asking(kit, ("read_file", READ)), **owner(watching))
    assert responses(played)[0]["response"] == {"output": "[redacted]"}
    assert shown(played) == [("read_file", False, "[redacted]")]
    everything = json.dumps([played.lines, played.transcript]) + repr(played.events)
    assert "alpha" not in everything


def test_replacement_takes_the_results_data_with_it(kit):
    calls = asking(kit, ("run_shell_command", {"command": "exit 3"}))
    rules = [rule("run_shell_command", Decision.ALLOW)]
    plain = play(kit, calls, rules=rules)
    watching = Watching(after=lambda *_: {"output": "[redacted]"})
    played = play(kit, calls, rules=rules, plugins=[watching])

    def data(seen):
        return next(event.data for event in seen.events if event.type == "tool_response")

    assert data(plain)["exitCode"] == 3
    assert data(played) is None


def test_result_changed_in_place_is_a_replacement(kit):
    def after(tool, args, context, result):
        result["output"] = "changed"

    played = play(kit, asking(kit, ("read_file", READ)), plugins=[Watching(after=after)])
    assert responses(played)[0]["response"] == {"output": "changed"}
    assert shown(played) == [("read_file", False, "changed")]


@OWNERS
def test_error_reaches_on_tool_error_as_an_exception_with_its_type(kit, owner):
    watching = Watching()
    played = play(kit, asking(kit, ("read_file", {"file_path": "gone.txt"})), **owner(watching))
    assert watching.moments == [("before", "read_file"), ("error", "read_file")]
    error = watching.seen[1][4]
    assert isinstance(error, ToolError)
    assert error.error_type is ToolErrorType.FILE_NOT_FOUND
    assert str(error) == responses(played)[0]["response"]["error"]
    assert shown(played)[0][1] is True


@OWNERS
def test_answer_of_on_tool_error_is_a_result_that_after_tool_sees(kit, owner):
    watching = Watching(error=lambda *_: {"output": "try a.txt"})
    played = play(kit, asking(kit, ("read_file", {"file_path": "gone.txt"})), **owner(watching))
    assert watching.moments[1:] == [("error", "read_file"), ("after", "read_file")]
    assert watching.seen[2][4] == {"output": "try a.txt"}
    assert responses(played)[0]["response"] == {"output": "try a.txt"}
    assert shown(played) == [("read_file", False, "try a.txt")]


def test_unknown_tool_reaches_on_tool_error_and_no_after_tool(kit):
    watching = Watching(error=lambda *_: {"known": False})
    played = play(kit, asking(kit, ("made_up", {})), plugins=[watching])
    assert watching.moments == [("before", "made_up"), ("error", "made_up")]
    assert responses(played)[0]["response"] == {"known": False}
    assert watching.seen[1][4].error_type is ToolErrorType.TOOL_NOT_REGISTERED


def test_call_that_the_policy_refuses_reaches_neither(kit):
    watching = Watching()
    played = play(
        kit,
        asking(kit, ("read_file", READ)),
        plugins=[watching],
        rules=[rule("read_file", Decision.DENY, "a.txt")],
    )
    assert watching.moments == [("before", "read_file")]
    assert "denied by policy" in responses(played)[0]["response"]["error"]


def test_call_that_the_user_refuses_reaches_neither(kit):
    watching = Watching()
    write = ("write_file", {"file_path": "b.txt", "content": "x"})
    played = play(kit, asking(kit, write), plugins=[watching], answer=ConfirmationOutcome.CANCEL)
    assert played.asked == ["write_file"]
    assert watching.moments == [("before", "write_file")]


def test_calls_that_an_abort_cancels_reach_neither(kit):
    watching = Watching()

    def before(tool, args, context, _):
        kit.abort(agents[0])

    agents = []

    def hear(event, agent):
        agents[:] = [agent]

    watching.answers["before"] = before
    played = play(kit, asking(kit, ("read_file", READ)), plugins=[watching], on_event=hear)
    assert watching.moments == [("before", "read_file")]
    assert [end[0] for end in played.ends] == ["aborted"]


def test_plugins_come_first_and_the_first_answer_wins(kit):
    order = []

    def saying(name, answer):
        def callback(*_):
            order.append(name)
            return answer

        return callback

    first = Watching("first", before=saying("first", None))
    second = Watching("second", before=saying("second", {"by": "second"}))
    third = Watching("third", before=saying("third", {"by": "third"}))
    own = Watching(before=saying("agent", {"by": "agent"}))
    played = play(
        kit,
        asking(kit, ("read_file", READ)),
        plugins=[first, second, third],
        callbacks=AgentCallbacks(own).fields,
    )
    assert order == ["first", "second"]
    assert responses(played)[0]["response"] == {"by": "second"}


def test_several_callbacks_of_the_agent_stop_at_the_first_answer(kit):
    order = []

    def saying(number, answer):
        def callback(tool, args, tool_context):
            order.append(number)
            return answer

        return callback

    callbacks = [saying(1, None), saying(2, {"by": 2}), saying(3, {"by": 3})]
    played = play(
        kit,
        asking(kit, ("read_file", READ)),
        callbacks={"before_tool_callback": callbacks},
    )
    assert order == [1, 2]
    assert responses(played)[0]["response"] == {"by": 2}


def test_callback_of_the_agent_may_name_its_parameters_as_it_likes(kit):
    seen = []

    def failed(its_tool, its_args, its_context, its_error):
        seen.append((its_tool.name, its_args, type(its_context), str(its_error)))
        return {"output": "mended"}

    gone = {"file_path": "gone.txt"}
    callbacks = {"on_tool_error_callback": failed}
    played = play(kit, asking(kit, ("read_file", gone)), callbacks=callbacks)
    ((name, args, context, error),) = seen
    assert (name, args, context) == ("read_file", gone, ToolContext)
    assert "gone.txt" in error
    assert responses(played)[0]["response"] == {"output": "mended"}


def test_of_two_calls_under_one_id_the_one_that_ran_is_shown_its_result(kit):
    """The scheduler knows calls by their ids; of two with one id it runs the second."""
    parts = [kit.call("read_file", {"file_path": name}, id="x") for name in ("a.txt", "gone.txt")]
    steps = [[kit.parts_chunk(*parts, finish="STOP")], [kit.text("done", "STOP")]]
    watching = Watching()
    play(kit, steps, plugins=[watching])
    assert [(seen[0], seen[2]["file_path"]) for seen in watching.seen] == [
        ("before", "a.txt"),
        ("before", "gone.txt"),
        ("error", "gone.txt"),
    ]


def test_state_is_the_sessions_and_goes_with_the_response_event(kit):
    events = []

    class Listening(Watching):
        async def on_event_callback(self, *, invocation_context, event):
            if event.get_function_responses():
                events.append(event.actions.state_delta)

    def before(tool, args, context, _):
        context.state["calls"] = context.state.get("calls", 0) + 1
        context.state[f"path:{context.function_call_id[-1]}"] = args["file_path"]

    seen = []

    def more(played, agent):
        seen.append(dict(agent._session.state))

    plugin = Listening(before=before)
    calls = (("read_file", READ), ("read_file", {"file_path": "b.txt"}))
    play(
        kit,
        [*asking(kit, *calls), *asking(kit, ("read_file", READ))],
        sends=("one", "two"),
        plugins=[plugin],
        more=more,
    )
    assert events[0]["calls"] == 2
    assert events[1]["calls"] == 3
    assert seen[0]["calls"] == 3


def test_skip_summarization_ends_the_stream_and_keeps_the_response(kit):
    def after(tool, args, context, result):
        context.actions.skip_summarization = True

    (asked, _) = asking(kit, ("read_file", READ))
    played = play(
        kit,
        [asked, [kit.text("again", "STOP")]],
        sends=("one", "two"),
        plugins=[Watching(after=after)],
    )
    assert [end[0] for end in played.ends] == ["completed", "completed"]
    assert len(played.model.requests) == 2
    answered = [shape for shape in played.shapes[1] if "functionResponse" in shape]
    assert len(answered) == 1
    assert [e.type for e in played.events].count("tool_response") == 1


def test_actions_of_other_agents_are_left_out_with_a_warning(kit, caplog):
    def after(tool, args, context, result):
        context.actions.transfer_to_agent = "somebody"
        context.actions.escalate = True

    events = []

    class Listening(Watching):
        async def on_event_callback(self, *, invocation_context, event):
            if event.get_function_responses():
                events.append(event.actions)

    played = play(kit, asking(kit, ("read_file", READ)), plugins=[Listening(after=after)])
    assert events[0].transfer_to_agent is None
    assert events[0].escalate is True
    assert "transfer_to_agent" in caplog.text
    assert played.ends == [("completed", None)]


def test_calls_that_run_after_the_invocation_have_its_context(kit):
    """A loop gives up an answer whose calls clients have seen; they run afterwards."""
    watching = Watching()
    same = [kit.parts_chunk(kit.call("read_file", READ)) for _ in range(6)]
    steps = [same, [kit.text("other", "STOP")]]
    played = play(
        kit, [*steps, [kit.text("end", "STOP")], [kit.text("end", "STOP")]], plugins=[watching]
    )
    assert [moment for moment, _ in watching.moments].count("before") >= 1
    assert all(c.function_call_id for c in watching.contexts)
    assert len({c.invocation_id for c in watching.contexts}) == 1
    assert played.ends[-1][0] == "completed"


def test_without_callbacks_no_context_is_made(kit, monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("a ToolContext was made")

    monkeypatch.setattr("runtimes.adk.tool_round.ToolContext", refuse)

    class Elsewhere(Watching):
        before_tool_callback = BasePlugin.before_tool_callback
        after_tool_callback = BasePlugin.after_tool_callback
        on_tool_error_callback = BasePlugin.on_tool_error_callback

    played = play(kit, asking(kit, ("read_file", READ)), plugins=[Elsewhere()])
    assert responses(played)[0]["response"] == {"output": "alpha\n"}


def test_calls_run_without_the_processor_of_tools(kit):
    def remove(event, agent):
        flow = agent._runner.agent._hosted._llm_flow
        if flow.get_request_processor("agent_tools") is not None:
            flow.remove_request_processor("agent_tools")

    watching = Watching()
    steps = asking(kit, ("read_file", READ))
    played = play(kit, steps, plugins=[watching], on_event=remove)
    assert responses(played)[0]["response"] == {"output": "alpha\n"}
    assert watching.moments == [("before", "read_file"), ("after", "read_file")]


def test_exception_of_a_callback_ends_the_stream_as_failed(kit):
    def before(*_):
        raise LookupError("no such thing")

    played = play(kit, asking(kit, ("read_file", READ))[:1], plugins=[Watching(before=before)])
    assert [end[0] for end in played.ends] == ["failed"]
    assert "no such thing" in repr(played.errors)


def read_file(file_path: str) -> dict:
    """Read."""
    if file_path != "a.txt":
        raise FileNotFoundError(file_path)
    return {"output": "alpha\n"}


EVERYTHING = {
    "observing": {},
    "before": {"before": lambda *_: {"by": "before"}},
    "after": {"after": lambda *_: {"by": "after"}},
    "error": {"error": lambda *_: {"by": "error"}},
    "args": {"before": lambda tool, args, *_: args.update(file_path="a.txt")},
}


@pytest.mark.parametrize(
    ("answers", "path"),
    [
        *((answers, "a.txt") for answers in EVERYTHING.values()),
        # Stock ends the run with an error that no callback answers.
        *((EVERYTHING[name], "gone.txt") for name in ("before", "error")),
        ({**EVERYTHING["error"], **EVERYTHING["after"]}, "gone.txt"),
    ],
    ids=[*EVERYTHING, "before, of an error", "error, of an error", "both, of an error"],
)
@OWNERS
def test_the_moments_and_results_of_one_call_are_those_of_stock(kit, owner, answers, path):
    calls = [{"functionCall": {"name": "read_file", "args": {"file_path": path}, "id": "1"}}]
    theirs, ours = Watching(**answers), Watching(**answers)
    expected, _, _ = stock(
        [calls, [{"text": "done"}]], tools=[FunctionTool(read_file)], **owner(theirs)
    )
    played = play(kit, asking(kit, ("read_file", {"file_path": path})), **owner(ours))
    assert ours.moments == theirs.moments
    assert [seen[2] for seen in ours.seen] == [seen[2] for seen in theirs.seen]
    assert [
        {key: each[key] for key in ("name", "response")} for each in responses(played)
    ] == expected
