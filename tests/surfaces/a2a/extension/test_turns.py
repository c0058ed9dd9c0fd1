"""Sections 2, 3.2 and appendix A: the updates of a turn, and the user's answers."""

import pytest

from surfaces.a2a.extension.negotiation import EXTENSION_URI
from tests.surfaces.a2a.conftest import Serve, data_of
from tests.surfaces.a2a.extension.client import asked, event_of, folded, played, updates
from tests.surfaces.headless.conftest import calls, chunk, says

WRITE = calls("write_file", file_path="new.txt", content="one\n")
WORKING = ("STATE_CHANGE", "working", False)
UPDATE = ("TOOL_CALL_UPDATE", "working", False)
TEXT = ("TEXT_CONTENT", "working", False)
ASKS = ("STATE_CHANGE", "input-required", True)
COMPLETED = ("STATE_CHANGE", "completed", True)


async def test_appendix_a_example_interaction_flow(serve: Serve) -> None:
    async with serve(WRITE, says("done"), says("more")) as peer:
        first = await played(peer, asked(peer, "go"))
        task = first[0]["id"]
        (pending,) = updates(first)

        assert first[0]["status"]["state"] == "submitted"
        assert folded(first) == [WORKING, UPDATE, ASKS]
        assert pending.status == "PENDING"
        assert pending.confirmation_request is not None

        answer = {"tool_call_id": pending.tool_call_id, "selected_option_id": "proceed_once"}
        second = await played(peer, asked(peer, answer, task=task))

        assert [call.status for call in updates(second)] == ["EXECUTING", "SUCCEEDED"]
        assert folded(second) == [UPDATE, WORKING, TEXT, COMPLETED]
        assert (peer.workspace / "new.txt").read_text() == "one\n"
        third = await played(peer, asked(peer, "again", task=task))
        assert folded(third) == [WORKING, TEXT, COMPLETED]


async def test_3_2_tool_calls_file_edit_details_and_diff(serve: Serve) -> None:
    async with serve(WRITE, says("done")) as peer:
        first = await played(peer, asked(peer, "go"))
        (pending,) = updates(first)
        request = pending.confirmation_request
        assert request is not None
        details = request.file_edit_details

        assert details is not None
        assert (details.file_name, details.old_content, details.new_content) == (
            "new.txt",
            "",
            "one\n",
        )
        assert details.file_path == str(peer.workspace / "new.txt")
        assert "+one" in str(details.formatted_diff)
        assert [option.id for option in request.options] == [
            "proceed_once",
            "proceed_always",
            "cancel",
        ]
        assert pending.input_parameters["content"] == "one\n"

        modified = {
            "toolCallId": pending.tool_call_id,
            "selectedOptionId": "proceed_once",
            "fileDetails": {"newContent": "mine\n"},
        }
        second = await played(peer, asked(peer, modified, task=first[0]["id"]))
        output = updates(second)[-1].output
        assert output is not None
        assert output.diff is not None
        assert output.diff.new_content == "mine\n"
        assert (peer.workspace / "new.txt").read_text() == "mine\n"


async def test_3_2_tool_calls_execute_details_and_live_content(serve: Serve) -> None:
    shell = calls("run_shell_command", command="echo first; echo second", description="d")
    async with serve(shell, says("done")) as peer:
        first = await played(peer, asked(peer, "go"))
        (pending,) = updates(first)
        request = pending.confirmation_request
        assert request is not None
        assert request.execute_details is not None
        assert request.execute_details.command.startswith("echo first")

        answer = {"toolCallId": pending.tool_call_id, "selectedOptionId": "proceed_once"}
        second = await played(peer, asked(peer, answer, task=first[0]["id"]))
        found = updates(second)
        live = [call.live_content for call in found if call.live_content is not None]

        assert live
        assert all(text.startswith("first") for text in live)
        assert {call.input_parameters["command"] for call in found} == {
            request.execute_details.command
        }
        assert found[-1].output is not None
        assert "second" in str(found[-1].output.text)
        history = (await peer.tasks.find(first[0]["id"])).document["history"]
        shown = [part.get("data", {}) for message in history for part in message["parts"]]
        assert not [data for data in shown if "liveContent" in data]


async def test_3_2_tool_calls_a_failed_call_has_error_details(serve: Serve) -> None:
    async with serve(calls("read_file", file_path="none.txt"), says("done")) as peer:
        events = await played(peer, asked(peer, "go"))
        last = updates(events)[-1]

        assert last.status == "FAILED"
        assert last.error is not None
        assert last.error.type == "file_not_found"
        assert last.error.message
        assert folded(events)[-1] == COMPLETED


async def test_3_2_tool_calls_a_rejected_call_is_cancelled(serve: Serve) -> None:
    async with serve(WRITE, says("later")) as peer:
        first = await played(peer, asked(peer, "go"))
        answer = {
            "toolCallId": updates(first)[0].tool_call_id,
            "selectedOptionId": "cancel",
        }
        second = await played(peer, asked(peer, answer, task=first[0]["id"]))

        assert [call.status for call in updates(second)] == ["CANCELLED"]
        assert folded(second)[-1] == COMPLETED
        assert not (peer.workspace / "new.txt").exists()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"toolCallId": "none"}, "No tool call none waits"),
        ({"selectedOptionId": "yes"}, "choose one of proceed_once"),
        ({"selectedOptionId": "proceed_always_server"}, "choose one of proceed_once"),
        ({"selectedOptionId": None}, "ToolCallConfirmation.selectedOptionId"),
        ({"other": 1}, "ToolCallConfirmation.other"),
        ({"fileDetails": {"newContent": "x"}}, "edits no file"),
    ],
)
async def test_3_2_client_to_agent_messages_a_wrong_answer_leaves_the_call_waiting(
    serve: Serve, change: dict[str, object], words: str
) -> None:
    shell = calls("run_shell_command", command="touch first", description="d")
    async with serve(shell, says("done")) as peer:
        first = await played(peer, asked(peer, "go"))
        task = first[0]["id"]
        right = {
            "toolCallId": updates(first)[0].tool_call_id,
            "selectedOptionId": "proceed_once",
        }
        (error,) = await played(peer, asked(peer, {**right, **change}, task=task))
        after = await played(peer, asked(peer, right, task=task))
        (twice,) = await played(peer, asked(peer, right, task=task))

        assert error["code"] == -32602
        assert words in error["message"]
        assert folded(after)[-1] == COMPLETED
        assert twice["code"] == -32602


async def test_3_2_agent_thoughts(serve: Serve) -> None:
    thought = chunk({"text": "**Plan** Look first.", "thought": True}, {"text": "ok"})
    async with serve(thought) as peer:
        events = await played(peer, asked(peer, "go"))
        (found,) = [event for event in events[1:] if event_of(event).kind == "THOUGHT"]

        assert data_of(found) == {"subject": "Plan", "description": "Look first."}


async def test_3_2_event_metadata_an_error_of_the_model(serve: Serve) -> None:
    async with serve() as peer:  # Without a recorded answer, the request to the model fails.
        events = await played(peer, asked(peer, "hi"))
        (refused,) = await played(peer, asked(peer, "x", task=events[0]["id"]))

        assert event_of(events[-2]).error is not None
        assert folded(events)[-1] == ("STATE_CHANGE", "failed", True)
        assert refused["code"] == -32600


async def test_2_a_completed_task_survives_a_restart(serve: Serve) -> None:
    async with serve(says("one")) as peer:
        task = (await played(peer, asked(peer, "hi")))[0]["id"]
    async with serve(says("two")) as peer:
        shown = (await peer.rpc("tasks/get", id=task))["result"]
        events = await played(peer, asked(peer, "more", task=task), EXTENSION_URI)

        assert shown["status"]["state"] == "completed"
        assert folded(events)[-1] == COMPLETED
