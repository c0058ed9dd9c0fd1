"""What ADK's model callbacks, of plugins and of the agent, make of an answer."""

from __future__ import annotations

import pytest
from google.adk.events.event import Event
from google.adk.models.llm_response import LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.genai import types

from services.model.errors import ApiError

NAMES = ("before_model_callback", "after_model_callback", "on_model_error_callback")
REFUSED = ApiError.from_parts(400, "bad")


@pytest.fixture(params=["plugin", "agent"])
def callback(request, hosted):
    """Has a function called as one of ADK's model callbacks, by a plugin and by the agent."""

    def arrange(name, function):
        if request.param == "agent":
            hosted(prepare=lambda agent: setattr(agent, name, function))
            return

        async def method(self, **given):
            return function(**given)

        hosted(type("Calls", (BasePlugin,), {name: method})(name="calls"))

    return arrange


def content(*parts):
    return types.Content(role="model", parts=list(parts))


def text(words):
    return types.Part(text=words)


def glob(pattern="*.txt", **more):
    return types.Part(
        function_call=types.FunctionCall(name="glob", args={"pattern": pattern}, **more)
    )


def once(answer):
    """Answers the first time, and leaves the rest to the model."""
    left = [answer]
    return lambda **_: left.pop() if left else None


def recorded(played):
    return [
        (line["type"], line["content"])
        for line in played.lines
        if line.get("type") in ("user", "gemini")
    ]


def test_on_model_error_gets_the_models_own_error_and_its_answer_is_the_turn(kit, callback):
    seen = []

    def spare(callback_context, llm_request, error):
        seen.append((error, llm_request.model))
        return LlmResponse(content=content(text("spare")))

    callback("on_model_error_callback", spare)

    async def script(played, runtime):
        agent = runtime.agent()
        kit.listen(agent, played)
        for words in ("one", "again"):
            await agent.send(kit.message(words))
            await runtime.settled()
        before = runtime.transcript()
        await runtime.resume(None)
        assert runtime.transcript() == before

    played = kit.run(script, [REFUSED, [kit.text("two", "STOP")]])
    assert seen == [(REFUSED, "gemini-2.5-flash")]
    assert played.texts == ["spare", "two"]
    assert played.errors == []
    assert [each["parts"][-1]["text"] for each in played.transcript] == [
        "one",
        "spare",
        "again",
        "two",
    ]
    assert kit.shape(played.model.requests[1].contents[1]) == "model:text"
    assert played.ends == [("completed", None)] * 2


def test_answer_in_place_of_a_failed_tool_round_finds_its_results_in_history_once(kit, callback):
    callback("on_model_error_callback", lambda **_: LlmResponse(content=content(text("spare"))))
    asked = kit.parts_chunk(kit.call("glob", {"pattern": "*"}), finish="STOP")
    played = kit.play([[asked], REFUSED])
    assert [kit.shape(each) for each in played.transcript] == [
        "user:text+text",
        "model:functionCall",
        "user:functionResponse",
        "model:text",
    ]


def test_error_that_no_callback_replaces_ends_as_without_one(kit, callback):
    plain = kit.play([REFUSED])
    callback("on_model_error_callback", lambda **_: None)
    played = kit.play([REFUSED])
    assert played.kinds == plain.kinds
    assert [error.message for error in played.errors] == [e.message for e in plain.errors]
    assert len(played.transcript) == 1


def test_callbacks_never_get_the_abort(kit, callback):
    seen = []
    callback("on_model_error_callback", lambda error, **_: seen.append(error))

    def abort(event, agent):
        if event.type == "message" and event.role == "agent":
            kit.abort(agent)

    played = kit.play([[kit.text("one"), kit.HANG]], on_event=abort)
    assert seen == []
    assert played.ends == [("aborted", None)]


@pytest.mark.parametrize("name", ["before_model_callback", "on_model_error_callback"])
def test_calls_of_an_answer_in_the_models_place_are_run(kit, callback, name):
    callback(name, once(LlmResponse(content=content(text("look"), glob()))))
    failures = [REFUSED] if name == "on_model_error_callback" else []
    played = kit.play([*failures, [kit.text("done", "STOP")]])
    (asked,) = [event for event in played.events if event.type == "tool_request"]
    (response,) = [event for event in played.events if event.type == "tool_response"]
    assert asked.request_id == response.request_id
    assert asked.request_id.startswith("glob__")
    last = played.model.requests[-1].contents
    assert "a.txt" in str(last[-1])
    assert [kit.shape(each) for each in last[-2:]] == [
        "model:text+functionCall",
        "user:functionResponse",
    ]
    assert last[-2]["parts"][1]["functionCall"]["id"] in asked.request_id
    assert played.texts == ["look", "done"]


def test_before_models_answer_is_the_turn_and_the_model_is_not_asked(kit, callback):
    usage = types.GenerateContentResponseUsageMetadata(prompt_token_count=9)
    answer = LlmResponse(
        content=content(types.Part(text="**Hm** well", thought=True), text("instead")),
        usage_metadata=usage,
        finish_reason=types.FinishReason.MAX_TOKENS,
    )
    callback("before_model_callback", once(answer))
    played = kit.play([[kit.text("two", "STOP")]], "one", "again")
    assert len(played.model.requests) == 1
    assert played.texts == ["instead", "two"]
    assert [event.input_tokens for event in played.events if event.type == "usage"] == [9]
    assert played.transcript[1] == {"role": "model", "parts": [{"text": "instead"}]}
    assert [said for _, said in recorded(played)][1] == "instead"
    assert played.ends[0] == ("max_budget", None)
    assert played.ends[1] == ("completed", None)


def test_empty_answer_ends_the_run_and_the_turn_stays(kit, callback):
    callback("before_model_callback", once(LlmResponse()))
    played = kit.play([[kit.text("two", "STOP")]], "one", "again")
    assert played.texts == ["two"]
    assert len(played.model.requests) == 1
    assert played.ends == [("completed", None)] * 2
    assert [kit.shape(each) for each in played.transcript] == [
        "user:text+text+text",
        "model:text",
    ]


def test_error_code_of_an_answer_in_the_models_place_is_reported(kit, callback):
    callback("before_model_callback", once(LlmResponse(error_code="NO", error_message="not now")))
    played = kit.play([])
    (error,) = played.errors
    assert (error.message, error.fatal, error.meta) == ("not now", False, {"code": "NO"})
    assert len(played.transcript) == 1
    assert played.transcript[0]["parts"][-1] == {"text": "hello"}


def shout_in_place(llm_response, **_):
    for part in llm_response.content.parts:
        part.text = part.text and part.text.upper()


def shout_anew(llm_response, **_):
    parts = [types.Part(text=part.text.upper()) for part in llm_response.content.parts if part.text]
    return LlmResponse(content=types.Content(role="model", parts=parts)) if parts else None


@pytest.mark.parametrize("shout", [shout_in_place, shout_anew])
def test_changed_texts_are_what_clients_history_and_recording_get(kit, callback, shout):
    callback("after_model_callback", shout)
    signed = kit.parts_chunk({"text": "hel", "thoughtSignature": "c2ln"})
    played = kit.play([[signed, kit.text("lo", "STOP", usageMetadata={"promptTokenCount": 3})]])
    assert played.texts == ["HEL", "LO"]
    (part,) = played.transcript[1]["parts"]
    assert part["text"] == "HELLO"
    assert part.get("thoughtSignature") == ("c2ln" if shout is shout_in_place else None)
    assert recorded(played)[1] == ("gemini", "HELLO")
    assert [event.input_tokens for event in played.events if event.type == "usage"] == [3]
    assert played.ends == [("completed", None)]


def test_unchanged_answer_is_the_models_own(kit, callback):
    seen = []
    callback("after_model_callback", lambda llm_response, **_: seen.append(llm_response.partial))
    signed = {"text": "hello", "thoughtSignature": "%%%", "newField": 1}
    played = kit.play([[kit.parts_chunk(signed, finish="STOP")]])
    assert played.transcript[1]["parts"] == [signed]
    assert seen == [True, None]


ASKS = {"pattern": "*.txt"}


def answers(kit):
    asked = kit.parts_chunk({"text": "look"}, kit.call("glob", ASKS, id="1"), finish="STOP")
    return [[asked], [kit.text("done", "STOP")]]


def whole(change):
    return lambda llm_response, **_: None if llm_response.partial else change(llm_response)


def test_call_that_is_taken_out_of_an_answer_is_not_run(kit, callback):
    def without(response):
        if response.content.parts[-1].function_call:
            return LlmResponse(content=content(text("look")))
        return None

    callback("after_model_callback", whole(without))
    played = kit.play(answers(kit)[:1])
    assert "tool_response" not in played.kinds
    assert played.transcript[1] == {"role": "model", "parts": [{"text": "look"}]}
    assert played.texts == ["look"]
    assert len(played.model.requests) == 1


def test_changed_arguments_are_what_is_run_and_kept(kit, callback):
    def change(response):
        for part in response.content.parts:
            if part.function_call:
                part.function_call.args["pattern"] = "*.none"

    callback("after_model_callback", whole(change))
    played = kit.play(answers(kit))
    assert "No files" in str(played.transcript[2])
    call = played.transcript[1]["parts"][1]["functionCall"]
    assert call == {"name": "glob", "args": {"pattern": "*.none"}, "id": "glob__1"}


def test_call_that_is_put_into_an_answer_is_reported_and_run(kit, callback):
    def add(response):
        if response.content.parts[-1].function_call:
            return LlmResponse(content=content(*response.content.parts, glob("*.other")))
        return None

    callback("after_model_callback", whole(add))
    played = kit.play(answers(kit))
    asked = [event.request_id for event in played.events if event.type == "tool_request"]
    assert asked == [e.request_id for e in played.events if e.type == "tool_response"]
    assert len(asked) == len(set(asked)) == 2
    assert played.texts == ["look", "done"]


def test_answer_that_is_taken_away_leaves_the_turn_alone(kit, callback):
    callback("after_model_callback", whole(lambda _: LlmResponse(error_code="NO")))
    played = kit.play(answers(kit)[:1])
    assert [error.meta["code"] for error in played.errors] == ["NO"]
    assert "tool_response" not in played.kinds
    assert [kit.shape(each) for each in played.transcript] == ["user:text+text"]


def test_words_of_hooks_are_no_responses_that_callbacks_see(kit, callback):
    seen = []
    callback("after_model_callback", lambda llm_response, **_: seen.append(llm_response))
    stop = 'echo \'{"continue": false, "stopReason": "enough"}\''
    hooks = {"BeforeModel": [{"hooks": [{"type": "command", "command": stop}]}]}
    played = kit.play([], hooks=hooks)
    assert played.ends == [("completed", {"message": "enough"})]
    assert seen == []


class OtherAnswer(BasePlugin):
    """Puts another event in the place of the first answer's."""

    def __init__(self):
        super().__init__(name="other_answer")
        self.left = 1

    async def on_event_callback(self, *, invocation_context, event):
        if event.partial or not self.left:
            return None
        self.left -= 1
        return Event(author=event.author, content=content(text("replaced")))


def test_event_that_a_plugin_returns_is_the_turn_in_history_and_recording(kit, hosted):
    hosted(OtherAnswer())
    played = kit.play([[kit.text("streamed", "STOP")], [kit.text("b", "STOP")]], "one", "two")
    assert [turn["parts"][-1].get("text") for turn in played.model.requests[1].contents[-2:]] == [
        "replaced",
        "two",
    ]
    assert ("gemini", "replaced") in recorded(played)
    assert ("gemini", "streamed") not in recorded(played)


class BrokenAtAnswer(BasePlugin):
    """Raises when it sees the first answer's event."""

    def __init__(self):
        super().__init__(name="broken_at_answer")
        self.left = 1

    async def on_event_callback(self, *, invocation_context, event):
        if not event.partial and self.left:
            self.left -= 1
            raise ValueError("broken")


def test_answer_whose_event_never_came_is_not_taken_from_the_next_message(kit, hosted):
    hosted(BrokenAtAnswer())
    played = kit.play([[kit.text("lost", "STOP")], [kit.text("b", "STOP")]], "one", "two")
    assert [kind for kind, _ in recorded(played)].count("gemini") == 1
    assert [turn["role"] for turn in played.transcript][-2:] == ["user", "model"]
