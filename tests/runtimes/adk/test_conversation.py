"""What a conversation keeps, forgets and records."""

from __future__ import annotations

import pytest

from runtimes.adk.conversation import Conversation
from services.abort import AbortError
from services.model.errors import EmptyMessageError
from services.model.stream import AssembledTurn, Thought


def answered(*parts, text="ok", usage=None, thoughts=()) -> AssembledTurn:
    calls = any("functionCall" in part for part in parts)
    return AssembledTurn(
        parts=list(parts),
        response_text=text,
        thoughts=tuple(thoughts),
        usage=usage,
        has_tool_call=calls,
        has_thoughts=bool(thoughts),
        finish_reason="STOP",
    )


def user(words: str):
    return {"role": "user", "parts": [{"text": words}]}


def tool_response(**response):
    answer = {"id": "f__1", "name": "f", "response": {"output": "x", **response}}
    return {"role": "user", "parts": [{"functionResponse": answer}]}


ASK = {"functionCall": {"id": "f__1", "name": "f", "args": {}}}


def send(conversation, content, prompt_id="p", display=None):
    return conversation.send(content, prompt_id=prompt_id, model="m", display_content=display)


def converse(kit, script, **options):
    async def go():
        async with kit.services([], **options) as played:
            conversation = Conversation(played.services)
            conversation.start()
            script(conversation, played)

    kit.in_loop(go)


def test_it_starts_with_the_environments_context(kit):
    def script(conversation, played):
        (turn,) = conversation.history()
        assert turn[1]["parts"][0]["text"].startswith("<session_context>")
        assert conversation.last_prompt_token_count > 0
        assert [list(line) for line in played.lines][1] == ["$set"]

    converse(kit, script)


def test_failure_goes_back_to_before_the_request(kit):
    def script(conversation, played):
        send(conversation, user("one"))
        conversation.answer(answered({"text": "ok"}, usage={"promptTokenCount": 50}), "m")
        request = send(conversation, user("two"))
        conversation.fail(request, aborted=False, error=ValueError())
        assert len(conversation.view) == 3
        assert conversation.last_prompt_token_count == 50
        assert len(played.lines[-1]["$set"]["messages"]) == 3

    converse(kit, script)


@pytest.mark.parametrize("error", [None, AbortError()])
def test_abort_goes_back_to_the_prompts_start(kit, error):
    def script(conversation, played):
        send(conversation, user("zero"), "before")
        conversation.answer(answered({"text": "ok"}), "m")
        tokens = conversation.last_prompt_token_count
        send(conversation, user("one"))
        conversation.answer(answered(ASK, usage={"promptTokenCount": 99}), "m")
        request = send(conversation, tool_response())
        conversation.fail(request, aborted=error is None, error=error)
        assert len(conversation.view) == 3
        assert conversation.last_prompt_token_count == tokens

    converse(kit, script)


def test_abort_takes_every_message_of_the_prompt_id(kit):
    def script(conversation, played):
        send(conversation, user("one"))
        conversation.answer(answered({"text": "ok"}), "m")
        request = send(conversation, user("two"))
        conversation.fail(request, aborted=True, error=None)
        assert len(conversation.view) == 1
        again = send(conversation, user("three"))
        assert again.length == 1

    converse(kit, script)


def test_fresh_start_forgets_where_the_prompt_began(kit):
    def script(conversation, played):
        for words in ("one", "two"):
            send(conversation, user("zero"), "before")
            conversation.answer(answered({"text": words}), "m")
        send(conversation, user("three"))
        conversation.start()
        request = send(conversation, user("four"))
        conversation.fail(request, aborted=True, error=None)
        assert len(conversation.view) == 1

    converse(kit, script)


def test_failed_tool_response_stays_and_the_next_message_follows_a_placeholder(kit):
    def script(conversation, played):
        send(conversation, user("one"))
        conversation.answer(answered(ASK), "m")
        request = send(conversation, tool_response())
        assert request.answers_tools
        conversation.fail(request, aborted=False, error=ValueError())
        assert len(conversation.view) == 4
        again = send(conversation, user("two"))
        assert conversation.view.raw[4]["parts"][0]["text"].startswith("[The previous response")
        conversation.fail(again, aborted=False, error=ValueError())
        assert len(conversation.view) == 4

    converse(kit, script)


def test_binary_data_becomes_a_turn_of_its_own(kit):
    def script(conversation, played):
        send(conversation, user("one"))
        conversation.answer(answered(ASK), "m")
        sound = {"inlineData": {"mimeType": "audio/mp3", "data": "AAAA"}}
        content = tool_response(__binary_injection__=[sound])
        send(conversation, content)
        cleaned, thought, binary = conversation.view.raw[3:]
        assert cleaned["parts"][0]["functionResponse"]["response"] == {"output": "x"}
        assert thought["parts"][0]["thought"] is True
        assert binary["parts"] == [sound]
        assert "__binary_injection__" in content["parts"][0]["functionResponse"]["response"]
        sent = conversation.view.contents(signed=True)
        assert [list(part) for part in sent[-1]["parts"]] == [["functionResponse"], ["inlineData"]]

    converse(kit, script)


@pytest.mark.parametrize(("display", "kept"), [("shown", True), ("one", False), (None, False)])
def test_display_content_is_recorded_where_it_differs(kit, display, kept):
    def script(conversation, played):
        send(conversation, user("one"), display=display)
        message = next(line for line in played.lines if line.get("type") == "user")
        assert message["content"] == [{"text": "one"}]
        assert ("displayContent" in message) is kept

    converse(kit, script)


def test_answer_is_recorded_with_thoughts_and_tokens(kit):
    def script(conversation, played):
        send(conversation, user("one"))
        thought = Thought(subject="S", description="D")
        usage = {"promptTokenCount": 4, "totalTokenCount": 6}
        conversation.answer(answered({"text": "ok"}, usage=usage, thoughts=[thought]), "m")
        message = next(line for line in played.lines if line.get("type") == "gemini")
        assert message["thoughts"][0]["subject"] == "S"
        assert message["tokens"]["total"] == 6
        assert message["model"] == "m"
        assert conversation.history()[-1][0] == message["id"]

    converse(kit, script)


def test_empty_answer_is_recorded_as_a_synthetic_turn(kit):
    def script(conversation, played):
        send(conversation, tool_response())
        conversation.answer(answered(text=""), "m")
        message = next(line for line in played.lines if line.get("type") == "gemini")
        assert message["content"] == []
        assert conversation.view.raw[-1] == {"role": "model", "parts": []}

    converse(kit, script)


def test_shown_history_is_coalesced_for_modern_models_and_raw_for_others(kit):
    def script(conversation, played):
        send(conversation, user("one"))
        assert len(conversation.shown_history()) == 1
        played.services.state.set_model("gemini-1.5-pro")
        conversation.match_configured_model()
        assert len(conversation.shown_history()) == 2

    converse(kit, script)


def test_message_without_parts_is_refused_and_leaves_nothing(kit):
    def script(conversation, played):
        with pytest.raises(EmptyMessageError, match="empty array"):
            send(conversation, {"role": "user", "parts": []})
        assert len(conversation.view) == 1

    converse(kit, script)
