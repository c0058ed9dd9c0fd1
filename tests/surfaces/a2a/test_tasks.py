"""Tasks of the published dialect: turns, confirmations, cancellation, restarts."""

from pathlib import Path

import pytest

from tests.surfaces.a2a.conftest import Serve, data_of, kinds
from tests.surfaces.headless.conftest import calls, chunk, says

WRITE = calls("write_file", file_path="new.txt", content="one\n")


def waiting_call(events) -> str:
    """The id of the call that the last confirmation is about."""
    asked = [
        event
        for event in events
        if event.get("metadata", {}).get("coderAgent", {}).get("kind") == "tool-call-confirmation"
    ]
    return data_of(asked[-1])["request"]["callId"]


async def test_a_turn_ends_input_required_and_the_task_goes_on(serve: Serve) -> None:
    async with serve(says("one"), says("two")) as peer:
        first = await peer.say("hi")
        task = first[0]["id"]
        second = await peer.say("more", task=task)
        shown = (await peer.rpc("tasks/get", id=task, historyLength=1))["result"]

        assert first[0]["status"]["state"] == "submitted"
        assert kinds(first) == [
            ("state-change", "working"),
            ("text-content", "working"),
            ("state-change", "input-required"),
        ]
        assert kinds(second) == kinds(first)
        assert first[-1]["final"] is True
        assert shown["history"][0]["parts"] == [{"kind": "text", "text": "two"}]


async def test_a_confirmed_call_runs(serve: Serve) -> None:
    async with serve(WRITE, says("done")) as peer:
        first = await peer.say("go")
        assert kinds(first)[-1] == ("state-change", "input-required")
        assert not (peer.workspace / "new.txt").exists()

        answer = {"callId": waiting_call(first), "outcome": "proceed_once"}
        second = await peer.say(answer, task=first[0]["id"])

        assert (peer.workspace / "new.txt").read_text() == "one\n"
        updates = [event for event in second if kinds([event])[0][0] == "tool-call-update"]
        assert data_of(updates[-1])["status"] == "success"
        assert second[-1]["final"] is True


async def test_two_calls_are_confirmed_one_after_the_other(serve: Serve) -> None:
    wanted = [
        {"id": name, "name": "write_file", "args": {"file_path": f"{name}.txt", "content": name}}
        for name in ("a", "b")
    ]
    two = chunk(*({"functionCall": call} for call in wanted))
    async with serve(two, says("done")) as peer:
        events = await peer.say("go")
        task = events[0]["id"]
        for _ in range(2):
            answer = {"callId": waiting_call(events), "outcome": "proceed_once"}
            events = await peer.say(answer, task=task)

        assert (peer.workspace / "a.txt").read_text() == "a"
        assert (peer.workspace / "b.txt").read_text() == "b"
        assert kinds(events)[-1] == ("state-change", "input-required")


async def test_the_user_edits_the_content(serve: Serve) -> None:
    async with serve(WRITE, says("done")) as peer:
        first = await peer.say("go")
        await peer.say(
            {"callId": waiting_call(first), "outcome": "proceed_once", "newContent": "mine\n"},
            task=first[0]["id"],
        )

        assert (peer.workspace / "new.txt").read_text() == "mine\n"


async def test_a_refused_call_ends_the_turn_without_another_answer(serve: Serve) -> None:
    async with serve(WRITE, says("later")) as peer:
        first = await peer.say("go")
        answer = {"callId": waiting_call(first), "outcome": "cancel"}
        second = await peer.say(answer, task=first[0]["id"])
        third = await peer.say("go on", task=first[0]["id"])

        assert ("text-content", "working") not in kinds(second)
        assert data_of(second[-2])["status"] == "cancelled"
        assert third[-2]["status"]["message"]["parts"] == [{"kind": "text", "text": "later"}]


async def test_a_text_takes_the_place_of_the_approval(serve: Serve) -> None:
    async with serve(WRITE, says("other")) as peer:
        first = await peer.say("go")
        second = await peer.say("something else", task=first[0]["id"])
        late = await peer.say(
            {"callId": waiting_call(first), "outcome": "proceed_once"}, task=first[0]["id"]
        )

        assert kinds(second) == [
            ("state-change", "working"),
            ("text-content", "working"),
            ("state-change", "input-required"),
        ]
        assert kinds(late) == [("state-change", "input-required")]
        assert not (peer.workspace / "new.txt").exists()


async def test_auto_execute_asks_nothing(serve: Serve) -> None:
    async with serve(WRITE, says("done")) as peer:
        message = peer.message("go", autoExecute=True)
        events = [each["result"] for each in await peer.stream("message/stream", message=message)]

        assert "tool-call-confirmation" not in [kind for kind, _ in kinds(events)]
        assert (peer.workspace / "new.txt").exists()


@pytest.mark.parametrize("why", ["folder", "settings"])
async def test_auto_execute_is_no_way_around_the_user(
    serve: Serve, folders: Path, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    if why == "folder":
        monkeypatch.setenv("GEMINI_CLI_TRUST_WORKSPACE", "false")
    else:
        file = folders / "home" / ".gemini" / "settings.json"
        file.write_text('{"security": {"disableYoloMode": true}}')
    async with serve(WRITE) as peer:
        message = peer.message("go", autoExecute=True)
        events = [each["result"] for each in await peer.stream("message/stream", message=message)]

        assert "tool-call-confirmation" in [kind for kind, _ in kinds(events)]
        assert not (peer.workspace / "new.txt").exists()


async def test_a_model_that_fails_fails_the_task(serve: Serve) -> None:
    async with serve() as peer:  # Without a recorded answer, the request to the model fails.
        events = await peer.say("hi")
        refused = await peer.stream(
            "message/stream", message=peer.message("x", task=events[0]["id"])
        )

        assert kinds(events)[-1] == ("state-change", "failed")
        assert events[-2]["metadata"]["error"].startswith("[API Error: ")
        text = events[-1]["status"]["message"]["parts"][0]["text"]
        assert text.startswith("LLM stream error: ")
        assert refused[0]["error"]["code"] == -32600


async def test_a_cancelled_task_takes_no_message(serve: Serve) -> None:
    async with serve(WRITE) as peer:
        task = (await peer.say("go"))[0]["id"]
        cancelled = await peer.rpc("tasks/cancel", id=task)
        again = await peer.rpc("tasks/cancel", id=task)
        refused = await peer.stream("message/stream", message=peer.message("x", task=task))

        assert cancelled["result"]["status"]["state"] == "canceled"
        assert again["error"] == {"code": -32002, "message": f"Task not cancelable: {task}"}
        assert refused[0]["error"]["code"] == -32600
        assert not (peer.workspace / "new.txt").exists()


async def test_a_task_is_the_same_after_a_restart(serve: Serve) -> None:
    async with serve(says("one")) as peer:
        task = (await peer.say("hi"))[0]["id"]
        before = (await peer.rpc("tasks/get", id=task, historyLength=9))["result"]
    async with serve(says("two")) as peer:
        after = (await peer.rpc("tasks/get", id=task, historyLength=9))["result"]
        events = await peer.say("more", task=task)

        assert after == before
        assert events[-2]["status"]["message"]["parts"] == [{"kind": "text", "text": "two"}]


async def test_a_restart_says_that_a_waiting_call_was_not_run(serve: Serve) -> None:
    async with serve(WRITE) as peer:
        first = await peer.say("go")
    async with serve(says("again")) as peer:
        shown = (await peer.rpc("tasks/get", id=first[0]["id"]))["result"]

        text = shown["status"]["message"]["parts"][0]["text"]
        assert shown["status"]["state"] == "input-required"
        assert waiting_call(first) in text
        assert not (peer.workspace / "new.txt").exists()


async def test_send_waits_for_the_end_of_the_turn(serve: Serve) -> None:
    async with serve(says("one")) as peer:
        answer = await peer.rpc("message/send", message=peer.message("hi"))

        assert answer["result"]["status"]["state"] == "input-required"
        assert [each["role"] for each in answer["result"]["history"]] == ["user", "agent"]


async def test_resubscribing_to_an_idle_task_shows_it(serve: Serve) -> None:
    async with serve(says("one")) as peer:
        task = (await peer.say("hi"))[0]["id"]
        shown = await peer.stream("tasks/resubscribe", id=task)

        assert [each["result"]["kind"] for each in shown] == ["task"]
        assert shown[0]["result"]["status"]["state"] == "input-required"
