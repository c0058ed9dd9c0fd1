"""Commands that give a conversation another history."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol, cast

import pytest

from runtimes.contract import (
    ConversationCommands,
    RestoresCheckpoints,
    Runtime,
    TakesEditsBack,
)
from services.message_bus import ToolCallsUpdate, ToolConfirmationResponse
from services.state import ApprovalMode, CoreEvent, SessionUpdated, UserFeedback
from services.tools.contract import ConfirmationOutcome
from services.wire import JsonObject
from tests.runtimes.kit import Kit, Played


class Engine(Runtime, ConversationCommands, Protocol):
    """A runtime that has the commands."""


Command = Callable[[Played, Engine], Awaitable[None]]


def talk(kit: Kit, *between: Command, steps: Sequence[Any], **options: Any) -> Played:
    """Send a message before, between and after the commands."""

    async def script(played: Played, runtime: Runtime) -> None:
        assert isinstance(runtime, ConversationCommands)
        agent = runtime.agent()
        kit.listen(agent, played)
        for number, command in enumerate((*between, None)):
            await agent.send(kit.message(f"message {number}"))
            await runtime.settled()
            if command is not None:
                await command(played, cast("Engine", runtime))

    return kit.run(script, steps, **options)


def last_words(played: Played) -> Any:
    return [
        part["text"]
        for content in played.model.requests[-1].contents
        for part in content["parts"]
        if not part["text"].startswith("<session_context>")
    ]


def answers(kit: Kit, *words: str) -> list[list[JsonObject]]:
    return [[kit.text(word, "STOP")] for word in words]


async def nothing(played: Played, runtime: Engine) -> None:
    pass


@pytest.mark.parametrize("to", [2, "id"])
def test_rewind_goes_back_to_before_a_message(kit: Kit, to: int | str) -> None:
    async def rewind(played: Played, runtime: Engine) -> None:
        own = [line for line in played.lines if line.get("type") == "user"]
        await runtime.rewind(own[1]["id"] if to == "id" else to)

    played = talk(kit, nothing, rewind, steps=answers(kit, "a", "b", "c"))
    assert last_words(played) == ["message 0", "a", "message 2"]
    assert sum("$rewindTo" in line for line in played.lines) == 1
    assert played.ends == [("completed", None)] * 3


def test_rewind_to_what_is_not_there_changes_nothing(kit: Kit) -> None:
    async def rewind(played: Played, runtime: Engine) -> None:
        await runtime.rewind(7)

    played = talk(kit, rewind, steps=answers(kit, "a", "b"))
    assert last_words(played) == ["message 0", "a", "message 1"]


def test_resume_of_the_own_recording_goes_on_in_the_same_file(kit: Kit) -> None:
    async def resume(played: Played, runtime: Engine) -> None:
        before = runtime.transcript()
        await runtime.resume(None)
        assert runtime.transcript() == before

    played = talk(kit, resume, steps=answers(kit, "a", "b"))
    assert last_words(played) == ["message 0", "a", "message 1"]
    chats = played.services.workspace.project_temp / "chats"
    assert len(list(chats.glob("*.jsonl"))) == 1


def test_resume_of_something_else_is_refused(kit: Kit) -> None:
    async def resume(played: Played, runtime: Engine) -> None:
        other = played.services.workspace.root / "other.txt"
        other.write_text("no recording\n")
        with pytest.raises(ValueError, match="is not a chat recording"):
            await runtime.resume(other)

    talk(kit, resume, steps=answers(kit, "a", "b"))


def test_compress_summarises_in_the_same_file(kit: Kit) -> None:
    async def compress(played: Played, runtime: Engine) -> None:
        await runtime.compress()

    long = " ".join(map(str, range(4000)))
    steps = [
        [kit.text("a", "STOP")],
        [kit.text(long, "STOP", usageMetadata={"promptTokenCount": 50_000})],
        kit.text("draft", "STOP"),
        kit.text("summary", "STOP"),
        [kit.text("c", "STOP")],
    ]
    played = talk(kit, nothing, compress, steps=steps)
    assert [r.prompt_id for r in played.model.utility] == [
        "compress-1767225600002",
        "compress-1767225600002-verify",
    ]
    assert "summary" in last_words(played)
    assert last_words(played)[-1] == "message 2"
    chats = played.services.workspace.project_temp / "chats"
    assert len(list(chats.glob("*.jsonl"))) == 1


def test_hint_does_not_reach_the_main_agent_of_a_session_that_is_not_interactive(kit: Kit) -> None:
    async def hint(played: Played, runtime: Engine) -> None:
        runtime.hint("look left", "user_steering")

    assert "look left" not in str(talk(kit, hint, steps=answers(kit, "a", "b")).transcript)


def test_the_clients_hear_that_the_conversation_went_back(kit: Kit) -> None:
    heard: list[CoreEvent] = []

    async def rewind(played: Played, runtime: Engine) -> None:
        played.services.events.subscribe(heard.append)
        await runtime.rewind(1)

    played = talk(kit, rewind, steps=answers(kit, "a", "b"))
    assert heard == [SessionUpdated(model=played.services.state.active_model)]


def asked_edit(kit: Kit, number: int) -> list[list[JsonObject]]:
    args = {"file_path": "a.txt", "content": f"{number}\n"}
    asked = kit.parts_chunk(kit.call("write_file", args), finish="STOP")
    return [[asked], [kit.text("written", "STOP")]]


def test_a_restored_checkpoint_goes_on_from_before_the_edit(kit: Kit) -> None:
    async def allow(played: Played, runtime: Engine) -> None:
        played.services.bus.subscribe(ToolCallsUpdate, lambda update: _allow(played, update))

    async def restore(played: Played, runtime: Engine) -> None:
        assert isinstance(runtime, RestoresCheckpoints)
        root = played.services.workspace.root
        assert (root / "a.txt").read_text() == "2\n"
        restored = await runtime.restore(1)
        assert restored.tool_call == {
            "name": "write_file",
            "args": {"file_path": "a.txt", "content": "2\n"},
        }
        assert (root / "a.txt").read_text() == "1\n"

    async def nothing_saved(played: Played, runtime: Engine) -> None:
        assert isinstance(runtime, RestoresCheckpoints)
        (message,) = (await runtime.restore("x")).messages
        assert message.message == "File not found: x.json"

    played = talk(
        kit,
        allow,
        nothing,
        restore,
        nothing_saved,
        steps=[
            *answers(kit, "a"),
            *asked_edit(kit, 1),
            *asked_edit(kit, 2),
            *answers(kit, "b", "c"),
        ],
        interactive=True,
        checkpointing=True,
    )
    said = [
        part["text"]
        for content in played.model.requests[-1].contents
        for part in content["parts"]
        if "text" in part and not part["text"].startswith("<session_context>")
    ]
    assert said == [
        "message 0",
        "a",
        "message 1",
        "written",
        "message 2",
        "message 3",
        "b",
        "message 4",
    ]


def _allow(played: Played, update: ToolCallsUpdate) -> None:
    for call in update.calls:
        if call.status == "awaiting_approval" and call.correlation_id is not None:
            played.services.bus.publish(
                ToolConfirmationResponse(
                    correlation_id=call.correlation_id,
                    confirmed=True,
                    outcome=ConfirmationOutcome.PROCEED_ONCE,
                )
            )


def test_restore_says_that_checkpoints_are_switched_off(kit: Kit) -> None:
    async def restore(played: Played, runtime: Engine) -> None:
        assert isinstance(runtime, RestoresCheckpoints)
        with pytest.raises(ValueError, match="Checkpointing is not enabled"):
            await runtime.restore(0)

    talk(kit, restore, steps=answers(kit, "a", "b"))


def test_edits_are_taken_back_and_conflicts_reported(kit: Kit) -> None:
    heard: list[CoreEvent] = []

    async def revert(played: Played, runtime: Engine) -> None:
        assert isinstance(runtime, TakesEditsBack)
        file = played.services.workspace.root / "a.txt"
        assert file.read_text() == "1\n"
        played.services.events.subscribe(heard.append)
        await runtime.revert(1)
        assert file.read_text() == "alpha\n"
        await runtime.revert(1)
        assert file.read_text() == "alpha\n"

    played = talk(
        kit,
        revert,
        steps=[*asked_edit(kit, 1), *answers(kit, "b")],
        approval_mode=ApprovalMode.YOLO,
    )
    assert [event.message[:12] for event in heard if isinstance(event, UserFeedback)] == [
        "Smart revert"
    ]
    assert sum("$rewindTo" in line for line in played.lines) == 0
