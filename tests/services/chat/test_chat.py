"""What a chat keeps, forgets and records."""

from __future__ import annotations

import pytest

from services.abort import AbortError
from services.chat import Chat
from services.model.errors import EmptyMessageError
from services.model.parts import Thought
from services.model.stream import AssembledTurn


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


def send(chat, content, prompt_id="p", display=None):
    shown = None if display is None else [{"text": display}]
    return chat.take_request(content, prompt_id=prompt_id, display_content=shown)


CONTEXT = ("environment", user("the folder's files"))


def begun(services):
    chat, recording = Chat(services), services.new_recording()
    recording.initialize()
    chat.begin(recording, [CONTEXT])
    return chat


def test_a_chat_begins_with_its_turns_which_are_recorded(stage):
    def script(services):
        chat = begun(services)
        assert chat.history() == [CONTEXT]
        assert chat.last_prompt_token_count > 0
        assert [list(line) for line in stage.lines][1] == ["$set"]

    stage.run(script)


def test_failure_goes_back_to_before_the_request(stage):
    def script(services):
        chat = begun(services)
        send(chat, user("one"))
        chat.answer(answered({"text": "ok"}, usage={"promptTokenCount": 50}), "m")
        request = send(chat, user("two"))
        chat.fail(request, aborted=False, error=ValueError())
        assert len(chat.view) == 3
        assert chat.last_prompt_token_count == 50
        assert len(stage.lines[-1]["$set"]["messages"]) == 3

    stage.run(script)


@pytest.mark.parametrize("error", [None, AbortError()])
def test_abort_goes_back_to_the_prompts_start(stage, error):
    def script(services):
        chat = begun(services)
        send(chat, user("zero"), "before")
        chat.answer(answered({"text": "ok"}), "m")
        tokens = chat.last_prompt_token_count
        send(chat, user("one"))
        chat.answer(answered(ASK, usage={"promptTokenCount": 99}), "m")
        request = send(chat, tool_response())
        chat.fail(request, aborted=error is None, error=error)
        assert len(chat.view) == 3
        assert chat.last_prompt_token_count == tokens

    stage.run(script)


def test_abort_takes_every_message_of_the_prompt_id(stage):
    def script(services):
        chat = begun(services)
        send(chat, user("one"))
        chat.answer(answered({"text": "ok"}), "m")
        request = send(chat, user("two"))
        chat.fail(request, aborted=True, error=None)
        assert len(chat.view) == 1
        again = send(chat, user("three"))
        assert again.length == 1

    stage.run(script)


def test_fresh_start_forgets_where_the_prompt_began(stage):
    def script(services):
        chat = begun(services)
        for words in ("one", "two"):
            send(chat, user("zero"), "before")
            chat.answer(answered({"text": words}), "m")
        send(chat, user("three"))
        chat.begin(chat.recording, [CONTEXT])
        request = send(chat, user("four"))
        chat.fail(request, aborted=True, error=None)
        assert len(chat.view) == 1

    stage.run(script)


def test_failed_tool_response_stays_and_the_next_message_follows_a_placeholder(stage):
    def script(services):
        chat = begun(services)
        send(chat, user("one"))
        chat.answer(answered(ASK), "m")
        request = send(chat, tool_response())
        assert request.answers_tools
        chat.fail(request, aborted=False, error=ValueError())
        assert len(chat.view) == 4
        again = send(chat, user("two"))
        assert chat.view.raw[4]["parts"][0]["text"].startswith("[The previous response")
        chat.fail(again, aborted=False, error=ValueError())
        assert len(chat.view) == 4

    stage.run(script)


def test_binary_data_becomes_a_turn_of_its_own(stage):
    def script(services):
        chat = begun(services)
        send(chat, user("one"))
        chat.answer(answered(ASK), "m")
        sound = {"inlineData": {"mimeType": "audio/mp3", "data": "AAAA"}}
        content = tool_response(__binary_injection__=[sound])
        send(chat, content)
        cleaned, thought, binary = chat.view.raw[3:]
        assert cleaned["parts"][0]["functionResponse"]["response"] == {"output": "x"}
        assert thought["parts"][0]["thought"] is True
        assert binary["parts"] == [sound]
        assert "__binary_injection__" in content["parts"][0]["functionResponse"]["response"]
        sent = chat.view.contents(signed=True)
        assert [list(part) for part in sent[-1]["parts"]] == [["functionResponse"], ["inlineData"]]

    stage.run(script)


@pytest.mark.parametrize(("display", "kept"), [("shown", True), ("one", False), (None, False)])
def test_display_content_is_recorded_where_it_differs(stage, display, kept):
    def script(services):
        chat = begun(services)
        send(chat, user("one"), display=display)
        message = next(line for line in stage.lines if line.get("type") == "user")
        assert message["content"] == [{"text": "one"}]
        assert ("displayContent" in message) is kept

    stage.run(script)


def test_answer_is_recorded_with_thoughts_and_tokens(stage):
    def script(services):
        chat = begun(services)
        send(chat, user("one"))
        thought = Thought(subject="S", description="D")
        usage = {"promptTokenCount": 4, "totalTokenCount": 6}
        chat.answer(answered({"text": "ok"}, usage=usage, thoughts=[thought]), "m")
        message = next(line for line in stage.lines if line.get("type") == "gemini")
        assert message["thoughts"][0]["subject"] == "S"
        assert message["tokens"]["total"] == 6
        assert message["model"] == "m"
        assert chat.history()[-1][0] == message["id"]

    stage.run(script)


def test_empty_answer_is_recorded_as_a_synthetic_turn(stage):
    def script(services):
        chat = begun(services)
        send(chat, tool_response())
        chat.answer(answered(text=""), "m")
        message = next(line for line in stage.lines if line.get("type") == "gemini")
        assert message["content"] == []
        assert chat.view.raw[-1] == {"role": "model", "parts": []}

    stage.run(script)


def test_shown_history_is_coalesced_for_modern_models_and_raw_for_others(stage):
    def script(services):
        chat = begun(services)
        send(chat, user("one"))
        assert len(chat.shown_history()) == 1
        services.state.set_model("gemini-1.5-pro")
        assert len(chat.shown_history()) == 2

    stage.run(script)


def test_message_without_parts_is_refused_and_leaves_nothing(stage):
    def script(services):
        chat = begun(services)
        with pytest.raises(EmptyMessageError, match="empty array"):
            send(chat, {"role": "user", "parts": []})
        assert len(chat.view) == 1

    stage.run(script)


def test_a_binary_key_without_data_leaves_the_response_and_adds_no_turn(stage):
    def script(services):
        chat = begun(services)
        send(chat, tool_response(__binary_injection__="nothing"))
        (response,) = chat.view.raw[1:]
        assert response["parts"][0]["functionResponse"]["response"] == {"output": "x"}

    stage.run(script)


@pytest.mark.parametrize(("role", "kind"), [("user", "user"), ("model", "gemini")])
def test_a_turn_that_is_added_is_recorded_under_its_id(stage, role, kind):
    def script(services):
        chat = begun(services)
        chat.add_history({"role": role, "parts": [{"text": "added"}]})
        message = next(line for line in stage.lines if line.get("type") == kind)
        assert message["content"] == [{"text": "added"}]
        assert chat.history()[-1][0] == message["id"]

    stage.run(script)


@pytest.mark.parametrize("long", [True, False])
def test_long_outputs_are_masked_in_history_and_recording(stage, long):
    def script(services):
        chat = begun(services)
        size = 400_000 if long else 4
        for number in range(4):
            send(chat, user("go"), prompt_id=str(number))
            chat.answer(
                answered({"functionCall": {**ASK["functionCall"], "id": f"f__{number}"}}), "m"
            )
            answer = {"id": f"f__{number}", "name": "f", "response": {"output": "x\n" * size}}
            send(chat, {"role": "user", "parts": [{"functionResponse": answer}]}, str(number))
            chat.answer(answered({"text": "ok"}), "m")
        generation = chat.generation
        result = chat.mask()
        assert (result is not None) is long
        assert chat.generation == generation + long
        if long:
            recorded = str(stage.lines[-1])
            assert "tool_output_masked" in str(chat.view.raw)
            assert recorded.count("tool_output_masked") >= result.masked_count
            assert chat.mask() is None

    stage.run(script)
