"""One chat after another, whether each is an object of its own or all of them are one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from services.abort import AbortController
from services.bundle import Services
from services.chat import Chat, ChatSuccession, SuccessiveChat
from services.compression.service import (
    CompressionInfo,
    CompressionResult,
    CompressionStatus,
)
from services.model.stream import AssembledTurn


class OneAfterAnother(ChatSuccession):
    """Each chat is an object of its own."""

    @property
    def current(self):
        return self._current

    def _open(self, recording, turns):
        self._current = Chat(self._services)
        self._current.begin(recording, turns)


@pytest.fixture(params=[SuccessiveChat, OneAfterAnother])
def begun(request) -> Callable[[Services], ChatSuccession]:
    def begin(services):
        chats = request.param(services)
        chats.start()
        return chats

    return begin


def answer(text, tokens=None):
    return AssembledTurn(
        parts=[{"text": text}],
        response_text=text,
        thoughts=(),
        usage=None if tokens is None else {"promptTokenCount": tokens},
        has_tool_call=False,
        has_thoughts=False,
        finish_reason="STOP",
    )


def say(chats, question, reply, tokens=None):
    content = {"role": "user", "parts": [{"text": question}]}
    chats.current.take_request(content, prompt_id=question)
    chats.current.answer(answer(reply, tokens), "m")


def words(chats):
    """The texts of the history, without the environment's context."""
    texts = [part["text"] for _, turn in chats.current.history() for part in turn["parts"]]
    return [text for text in texts if not text.startswith("<session_context>")]


def test_the_first_chat_begins_with_the_environment_and_the_session_knows_it(stage, begun):
    def script(services):
        chats = begun(services)
        ((turn_id, content),) = chats.current.history()
        assert (turn_id, content) == chats.environment()
        assert services.state.last_prompt_tokens == chats.current.last_prompt_token_count > 0
        assert services.conversation_context.history() == chats.current.shown_history()
        assert services.hooks.transcript() == chats.current.recording.path

    stage.run(script)


def test_a_second_start_begins_another_recording(stage, begun):
    def script(services):
        chats = begun(services)
        say(chats, "one", "a", tokens=900)
        chats.publish_tokens()
        services.clock.advance(60_000)
        chats.start()
        assert words(chats) == []
        assert services.state.last_prompt_tokens < 900
        assert services.hooks.transcript() == chats.current.recording.path
        assert len(stage.files) == 2

    stage.run(script)


@pytest.mark.parametrize(("to", "left"), [(2, ["one", "a"]), ("id", ["one", "a"]), (7, None)])
def test_rewind_goes_back_to_before_a_message(stage, begun, to, left):
    def script(services):
        chats = begun(services)
        say(chats, "one", "a")
        say(chats, "two", "b")
        before = words(chats)
        own = [line["id"] for line in stage.lines if line.get("type") == "user"]
        chats.rewind(own[-1] if to == "id" else to)
        assert words(chats) == (before if left is None else left)
        assert services.state.last_prompt_tokens == chats.current.last_prompt_token_count

    stage.run(script)


def test_resume_of_the_own_recording_keeps_ids_and_file(stage, begun):
    def script(services):
        chats = begun(services)
        say(chats, "one", "a")
        before = chats.current.history()
        services.clock.advance(60_000)
        chats.resume(None)
        assert chats.current.history() == before
        assert len(stage.files) == 1

    stage.run(script)


def test_a_recording_without_the_environment_gets_it_at_its_start(stage, begun, tmp_path):
    def script(services):
        chats = begun(services)
        say(chats, "one", "a")
        kept = [line for line in stage.files[0].read_text().splitlines() if "$set" not in line]
        other = tmp_path / "other.jsonl"
        other.write_text("\n".join(kept) + "\n")
        chats.resume(other)
        assert chats.current.history()[0] == chats.environment()
        assert words(chats) == ["one", "a"]

    stage.run(script)


def test_a_file_that_is_no_recording_cannot_be_resumed(stage, begun, tmp_path):
    def script(services):
        chats, other = begun(services), tmp_path / "other.txt"
        other.write_text("no recording\n")
        with pytest.raises(ValueError, match=r"other\.txt is not a chat recording"):
            chats.resume(other)

    stage.run(script)


def test_a_summary_follows_the_environment_in_the_same_recording(stage, begun):
    async def script(services):
        chats = begun(services)
        say(chats, "one", "a")
        say(chats, "two", " ".join(map(str, range(4000))), tokens=50_000)
        first = chats.current
        services.clock.advance(60_000)
        info = await chats.compress("p", AbortController().signal, force=True)
        assert info.status is CompressionStatus.COMPRESSED
        assert chats.current.history()[0] == chats.environment()
        assert words(chats)[0] == "summary"
        assert (chats.current is first) is isinstance(chats, SuccessiveChat)
        assert len(stage.files) == 1
        assert services.state.last_prompt_tokens == chats.current.last_prompt_token_count < 50_000

    stage.run(script, "draft", "summary")


class Compression:
    """Stands in for the service: makes the history short by cutting outputs."""

    def __init__(self):
        self.chats_started = 0

    def chat_started(self):
        self.chats_started += 1

    async def compress(self, chat, prompt_id, *, model, signal, force):
        info = CompressionInfo(
            original_token_count=9, new_token_count=1, status=CompressionStatus.CONTENT_TRUNCATED
        )
        history = [{"role": "user", "parts": [{"text": "cut"}]}]
        return CompressionResult(info=info, new_history=history)


def test_cut_outputs_take_the_place_of_the_same_chats_history(stage, begun):
    async def script(services):
        services = replace(services, compression=Compression())
        chats = begun(services)
        say(chats, "one", "a", tokens=900)
        first = chats.current
        await chats.compress("p", AbortController().signal)
        assert chats.current is first
        assert words(chats) == ["cut"]
        assert services.state.last_prompt_tokens == chats.current.last_prompt_token_count < 900
        assert services.compression.chats_started == 1
        chats.start()
        assert services.compression.chats_started == 2

    stage.run(script)


def test_a_short_history_is_left_as_it_is(stage, begun):
    async def script(services):
        chats = begun(services)
        say(chats, "one", "a")
        info = await chats.compress("p", AbortController().signal)
        assert info.status is CompressionStatus.NOOP
        assert words(chats) == ["one", "a"]

    stage.run(script)


@pytest.mark.parametrize("sticky", [None, "gemini-2.5-flash-lite"])
def test_the_prompts_model_decides_about_limits_before_the_sessions(stage, begun, sticky):
    def script(services):
        services.state.sequence_model = sticky
        assert begun(services).model_for_limits == (sticky or "gemini-2.5-flash")

    stage.run(script)


def test_declarations_are_made_anew_for_each_chat(stage, begun):
    def script(services):
        chats = begun(services)
        first = chats.declarations.current("gemini-2.5-flash")
        assert chats.declarations.current("gemini-2.5-flash") is first
        chats.start()
        assert chats.declarations.current("gemini-2.5-flash") is not first

    stage.run(script)
