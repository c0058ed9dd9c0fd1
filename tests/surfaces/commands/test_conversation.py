"""Commands that change the conversation, on both runtimes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from services.compression.service import CompressionInfo, CompressionStatus
from services.message_bus import ToolCallsUpdate, ToolConfirmationResponse
from services.rewind import RewindChoice
from services.tools.contract import ConfirmationOutcome
from surfaces.commands import (
    CallTool,
    ConfirmAction,
    Dialog,
    Item,
    ItemKind,
    LoadHistory,
    OpenDialog,
)
from surfaces.commands.builtin.conversation import compression_words
from surfaces.commands.rewinding import rewind_to
from tests.runtimes.kit import Kit
from tests.surfaces.commands.conftest import Desk, Desks


def last_request(desk: Desk) -> list[str]:
    contents = desk.played.model.requests[-1].contents
    texts = [part["text"] for each in contents for part in each["parts"]]
    return [text for text in texts if not text.startswith("<session_context>")]


def test_a_saved_conversation_is_resumed(desks: Desks) -> None:
    async def script(desk: Desk) -> None:
        await desk.say("one")
        saved = await desk.run("/chat save my tag")
        await desk.say("two")
        resumed = await desk.run("/chat resume my tag")
        await desk.say("three")

        assert saved.text == "Conversation checkpoint saved with tag: my tag."
        # The first message stands beside the environment's context, as in the source.
        assert resumed == LoadHistory(
            items=(Item(kind=ItemKind.AGENT, text="first", markdown=True),)
        )
        assert last_request(desk) == ["one", "first", "three"]

    desks.run(script, "first", "second", "third")


def test_saving_again_asks_first(desks: Desks) -> None:
    async def script(desk: Desk) -> None:
        await desk.say("one")
        await desk.run("/resume save tag")
        asked = await desk.run("/resume save tag")
        saved = await desk.run("/resume save tag", confirmed=True)

        assert isinstance(asked, ConfirmAction)
        assert "already exists. Do you want to overwrite it?" in asked.prompt
        assert saved.text == "Conversation checkpoint saved with tag: tag."

    desks.run(script, "first")


def test_a_conversation_that_is_empty_is_not_saved(desk: Desks) -> None:
    async def script(desk: Desk) -> None:
        assert (await desk.run("/chat save tag")).text == "No conversation found to save."
        assert (await desk.run("/chat save")).kind is ItemKind.ERROR

    desk.run(script)


def test_a_tag_with_any_characters_is_listed_and_deleted(desk: Desks) -> None:
    async def script(desk: Desk) -> None:
        await desk.say("one")
        await desk.run("/chat save ../a b%")
        await desk.run("/chat list")
        offered = [each.value for each in await desk.layer.suggestions("/chat delete ..")]
        deleted = await desk.run("/chat delete ../a b%")
        again = await desk.run("/chat delete ../a b%")

        assert "  - ../a b% (" in desk.shown
        assert offered == ["../a b%"]
        assert deleted.text == "Conversation checkpoint '../a b%' has been deleted."
        assert again.text == "Error: No checkpoint found with tag '../a b%'."

    desk.run(script, "first")


def test_a_file_that_is_no_conversation_is_refused(desk: Desks) -> None:
    async def script(desk: Desk) -> None:
        folder = desk.session.services.workspace.project_temp
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "checkpoint-bad.json").write_text('{"history": [{"role": 5}]}')
        (folder / "checkpoint-cut.json").write_text('{"history": [')

        assert "holds no conversation" in (await desk.run("/chat resume bad")).text
        assert "cannot be read" in (await desk.run("/chat resume cut")).text

    desk.run(script)


def test_a_conversation_saved_with_another_sign_in_is_refused(desk: Desks) -> None:
    async def script(desk: Desk) -> None:
        desk.session.auth_type = "oauth-personal"
        await desk.say("one")
        await desk.run("/chat save tag")
        desk.session.auth_type = "gemini-api-key"

        assert "different authentication method (oauth-personal)" in (
            (await desk.run("/chat resume tag")).text
        )

    desk.run(script, "first")


def test_clear_empties_the_conversation(desks: Desks) -> None:
    async def script(desk: Desk) -> None:
        await desk.say("one")

        assert await desk.run("/clear") == LoadHistory()
        await desk.say("two")
        assert last_request(desk) == ["two"]

    desks.run(script, "first", "second")


def test_compress_says_that_nothing_is_there(desks: Desks) -> None:
    async def script(desk: Desk) -> str:
        said: str = (await desk.run("/compact")).text
        return said

    assert desks.run(script) == "Nothing to compress."


@pytest.mark.parametrize(
    ("status", "before", "words"),
    [
        (CompressionStatus.COMPRESSED, 9, "Chat history compressed from 9 to 5 tokens."),
        (
            CompressionStatus.FAILED_INFLATED_TOKEN_COUNT,
            49_999,
            "Compression was not beneficial for this history size.",
        ),
        (
            CompressionStatus.FAILED_INFLATED_TOKEN_COUNT,
            50_000,
            (
                "Chat history compression did not reduce size. This may indicate issues with the "
                "compression prompt."
            ),
        ),
    ],
)
def test_the_outcome_of_a_compression_is_a_sentence(
    status: CompressionStatus, before: int, words: str
) -> None:
    info = CompressionInfo(original_token_count=before, new_token_count=5, status=status)

    assert compression_words(info) == words


def test_rewind_goes_back_to_before_a_message(desks: Desks) -> None:
    async def script(desk: Desk) -> None:
        await desk.say("one")
        await desk.say("two")
        opened = await desk.run("/rewind")
        assert isinstance(opened, OpenDialog)
        points = opened.details["points"]
        done = await rewind_to(desk.session, points[2], RewindChoice.CONVERSATION)
        await desk.say("three")

        assert opened.dialog is Dialog.REWIND
        assert points[0].text.lstrip().startswith("<session_context>")
        assert [(point.text, point.since) for point in points[1:]] == [
            ("one", None),
            ("two", None),
        ]
        assert done == LoadHistory(
            items=(
                Item(kind=ItemKind.USER, text="one"),
                Item(kind=ItemKind.AGENT, text="first", markdown=True),
            ),
            draft="two",
        )
        assert last_request(desk) == ["one", "first", "three"]

    desks.run(script, "first", "second", "third")


def test_copy_takes_the_last_answer(desks: Desks) -> None:
    copied: list[str] = []

    async def copy(text: str) -> None:
        copied.append(text)

    async def script(desk: Desk) -> list[Any]:
        without = await desk.run("/copy")
        await desk.say("one")
        refused = await desk.run("/copy")
        desk.session.copy = copy
        return [without.text, refused.kind, (await desk.run("/copy")).text]

    assert desks.run(script, "first") == [
        "No output in history",
        ItemKind.ERROR,
        "Last output copied to the clipboard",
    ]
    assert copied == ["first"]


def test_the_session_is_exported_and_shared(desks: Desks) -> None:
    async def script(desk: Desk) -> None:
        await desk.say("one")
        exported = await desk.run("/export-session out.json")
        shared = await desk.run("/chat share talk.md")
        refused = await desk.run("/chat share talk.txt")

        session = json.loads((desk.root / "out.json").read_text())
        assert exported.text == f"Successfully exported session to {desk.root / 'out.json'}"
        assert [each["type"] for each in session["messages"]] == ["user", "user", "gemini"]
        assert shared.text == f"Conversation shared to {desk.root / 'talk.md'}"
        assert "one\n\n---\n\n## MODEL \u2728\n\nfirst" in (desk.root / "talk.md").read_text()
        assert refused.text == "Invalid file format. Only .md and .json are supported."

    desks.run(script, "first")


def test_an_export_that_cannot_be_written_says_so(desk: Desks) -> None:
    async def script(desk: Desk) -> None:
        await desk.say("one")

        assert "Failed to export session:" in (await desk.run("/export-session no/such/x")).text
        assert (await desk.run("/export-session")).kind is ItemKind.ERROR

    desk.run(script, "first")


def test_restore_takes_a_file_and_the_conversation_back(desks: Desks) -> None:
    args = {"file_path": "a.txt", "content": "new\n"}
    edit = [Kit.parts_chunk(Kit.call("write_file", args), finish="STOP")]

    async def script(desk: Desk) -> None:
        services = desk.session.services
        assert services.checkpoints is not None
        services.checkpoints.shown = lambda: [{"type": "user", "text": "one", "id": 1}, 5]
        services.bus.subscribe(ToolCallsUpdate, lambda update: allow(desk, update))
        assert (await desk.run("/restore")).text == "No restorable tool calls found."
        await desk.say("one")
        (desk.root / "a.txt").write_text("newer\n")
        (name,) = [each.value for each in await desk.layer.suggestions("/restore ")]
        listed = await desk.run("/restore")
        result = await desk.run(f"/restore {name}.json")
        missing = await desk.run("/restore nope")

        assert listed.text == f"Available tool calls to restore:\n\n{name}"
        assert result == CallTool(
            tool="write_file",
            args=args,
            history=LoadHistory(items=(Item(kind=ItemKind.USER, text="one"),)),
        )
        assert (desk.root / "a.txt").read_text() == "alpha\n"
        assert desk.items[0].text == "Restored project to the state before the tool call."
        assert missing is None
        assert desk.items[1] == Item(kind=ItemKind.ERROR, text="File not found: nope.json")

    desks.run(script, edit, "written", interactive=True, checkpointing=True)


def allow(desk: Desk, update: ToolCallsUpdate) -> None:
    for call in update.calls:
        if call.status == "awaiting_approval" and call.correlation_id is not None:
            desk.session.services.bus.publish(
                ToolConfirmationResponse(
                    correlation_id=call.correlation_id,
                    confirmed=True,
                    outcome=ConfirmationOutcome.PROCEED_ONCE,
                )
            )
