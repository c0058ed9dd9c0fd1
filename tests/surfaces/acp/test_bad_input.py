"""Clients that send what they should not, answer badly, or leave."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.surfaces.acp.conftest import Connect, asked, chooses
from tests.surfaces.headless.conftest import calls, says

WRITE = calls("write_file", file_path="new.txt", content="one\n")
PERMISSION = "session/request_permission"
CANCELLED = {"stopReason": "cancelled"}


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("this is not JSON", -32700),
        ("[" * 100_000, -32700),
        ("[]", -32600),
        ("5", -32600),
        ("{}", -32600),
        ('{"method": 7, "id": 1}', -32600),
        ('{"id": [1], "method": "initialize"}', -32600),
        ('{"id": 3, "error": "none"}', -32600),
    ],
)
async def test_a_line_that_is_no_message_is_answered(
    connect: Connect, line: str, code: int
) -> None:
    async with connect() as peer:
        peer.send_line(line)

        fault = await peer.until(lambda message: message.get("id", 0) is None)
        assert fault["error"]["code"] == code
        assert "result" in await peer.call("initialize", protocolVersion=1)


async def test_unknown_methods_and_wrong_parameters(connect: Connect) -> None:
    async with connect() as peer:
        unknown = await peer.call("session/nope")
        wrong = await peer.call("session/new", cwd=5)
        missing = await peer.call("session/prompt", sessionId="nope", prompt=[])
        relative = await peer.call("session/new", cwd="nowhere", mcpServers=[])
        peer.notify("session/cancel", sessionId="nope")

        assert unknown["error"]["code"] == -32601
        assert wrong["error"]["code"] == -32602
        assert missing["error"] == {
            "code": -32602,
            "message": "Session not found: nope",
            "data": None,
        }
        assert "Directory does not exist" in relative["error"]["data"]["details"]


async def test_requests_with_one_id_are_both_answered(connect: Connect) -> None:
    async with connect() as peer:
        for _ in range(2):
            peer.send_line('{"jsonrpc":"2.0","id":"twice","method":"no/such","params":{}}')
        await peer.call("initialize", protocolVersion=1)

        replies = [message for message in peer.received if message.get("id") == "twice"]
        assert [reply["error"]["code"] for reply in replies] == [-32601, -32601]


async def test_a_new_prompt_cancels_the_one_that_waits_for_the_user(
    connect: Connect, folders: Path, runtime: str
) -> None:
    async with connect(WRITE, says("second"), runtime=runtime) as peer:
        session = await peer.open(folders / "ws")
        first = peer.start_prompt(session, {"type": "text", "text": "one"})
        await peer.until(asked(PERMISSION))

        second = await peer.prompt(session, "two")

        assert (await first)["result"] == CANCELLED
        assert second["result"]["stopReason"] == "end_turn"
        assert peer.texts() == ["second"]
        assert not (folders / "ws/new.txt").exists()


async def test_a_cancel_withdraws_a_permission_request(
    connect: Connect, folders: Path, runtime: str
) -> None:
    async with connect(WRITE, says("after"), runtime=runtime) as peer:
        session = await peer.open(folders / "ws")
        running = peer.start_prompt(session, {"type": "text", "text": "write"})
        request = await peer.until(asked(PERMISSION))
        peer.notify("session/cancel", sessionId=session)
        assert (await running)["result"] == CANCELLED

        # An answer that comes too late changes nothing.
        outcome = '{"outcome":"selected","optionId":"proceed_once"}'
        peer.send_line(f'{{"jsonrpc":"2.0","id":{request["id"]},"result":{{"outcome":{outcome}}}}}')
        await peer.prompt(session, "and now")

        assert not (folders / "ws/new.txt").exists()
        assert peer.texts() == ["after"]


async def test_a_cancel_ends_a_shell_command(connect: Connect, folders: Path, runtime: str) -> None:
    command = calls("run_shell_command", command="touch began; sleep 60; touch ended")
    async with connect(command, runtime=runtime, approval_mode="yolo") as peer:
        session = await peer.open(folders / "ws")
        running = peer.start_prompt(session, {"type": "text", "text": "run"})
        await peer.until(lambda message: bool(peer.updates("tool_call")))
        peer.notify("session/cancel", sessionId=session)

        assert (await running)["result"] == CANCELLED
        assert not (folders / "ws/ended").exists()


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (chooses("proceed_always_server")({}), "'proceed_always_server', which is none"),
        (chooses("bogus")({}), "'bogus', which is none"),
        ({"result": {"outcome": {"outcome": "perhaps"}}}, "no outcome that ACP knows"),
        ({"result": None}, "no outcome that ACP knows"),
        ({"error": {"code": -32603, "message": "client broke"}}, "client broke"),
    ],
)
async def test_an_answer_that_is_no_decision_runs_nothing(
    connect: Connect, folders: Path, reply: Any, words: str
) -> None:
    async with connect(WRITE, says("hm")) as peer:
        peer.answers[PERMISSION] = lambda _: reply
        session = await peer.open(folders / "ws")
        await peer.prompt(session, "write")

        (failed,) = peer.updates("tool_call_update")
        assert failed["status"] == "failed"
        assert words in failed["content"][0]["content"]["text"]
        assert not (folders / "ws/new.txt").exists()
        assert peer.texts() == ["hm"]


async def test_a_client_that_leaves_during_a_question_ends_the_sessions(
    connect: Connect, folders: Path, runtime: str
) -> None:
    async with asyncio.timeout(60), connect(WRITE, runtime=runtime) as peer:
        session = await peer.open(folders / "ws")
        peer.start_prompt(session, {"type": "text", "text": "write"})
        await peer.until(asked(PERMISSION))
    # Leaving `connect` waited for the end of `serve`.
    assert not (folders / "ws/new.txt").exists()


async def test_two_sessions_do_not_disturb_each_other(connect: Connect, folders: Path) -> None:
    (folders / "other").mkdir()
    async with connect(WRITE, says("done")) as peer:
        one, two = await peer.open(folders / "ws"), await peer.open(folders / "other")
        waiting = peer.start_prompt(one, {"type": "text", "text": "write"})
        await peer.until(asked(PERMISSION))
        await peer.call("session/set_mode", sessionId=two, modeId="yolo")
        answered = await peer.prompt(two, "write")

        assert answered["result"]["stopReason"] == "end_turn"
        assert (folders / "other/new.txt").read_text() == "one\n"
        assert not (folders / "ws/new.txt").exists()
        assert not waiting.done()
