"""What plugins, callbacks and processors of others change in a request, and what is asked then."""

from __future__ import annotations

import json
from typing import Any

import pytest
from google.adk.flows.llm_flows._base_llm_processor import BaseLlmRequestProcessor
from google.adk.models.llm_request import LlmRequest
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.plugins.context_filter_plugin import ContextFilterPlugin
from google.adk.plugins.global_instruction_plugin import GlobalInstructionPlugin
from google.adk.tools.function_tool import FunctionTool
from google.genai import types
from pydantic import BaseModel

from runtimes.adk.request_edits import RequestBase
from runtimes.adk.tools import DeclaredTools
from services.model.errors import ApiError
from services.state import ApprovalMode, RetryAttempt


class Edit(BasePlugin):
    """Changes each request before the model is asked."""

    def __init__(self, change) -> None:
        super().__init__(name="edit")
        self.change = change

    async def before_model_callback(self, *, callback_context, llm_request):
        self.change(llm_request)


class Verdict(BaseModel):
    good: bool


def in_place(request: LlmRequest) -> None:
    request.config.thinking_config.include_thoughts = False
    request.config.thinking_config.thinking_level = None
    request.config.thinking_config.thinking_budget = 512


def anew(request: LlmRequest) -> None:
    request.config = types.GenerateContentConfig(temperature=0.5)


def setting(**values):
    def change(request: LlmRequest) -> None:
        for name, value in values.items():
            setattr(request.config, name, value)

    return change


GONE = object()
FUNCTION_MODE = types.FunctionCallingConfig(mode=types.FunctionCallingConfigMode.NONE)
HARASSMENT = types.SafetySetting(
    category=types.HarmCategory.HARM_CATEGORY_HARASSMENT,
    threshold=types.HarmBlockThreshold.BLOCK_NONE,
)
CONFIGS = {
    "temperature": (setting(temperature=0.25), {"temperature": 0.25}),
    "limit": (setting(max_output_tokens=100), {"maxOutputTokens": 100}),
    "top-k": (setting(top_k=5), {"topK": 5.0}),
    "top-p": (setting(top_p=None), {"topP": GONE}),
    "stop": (setting(stop_sequences=["x"]), {"stopSequences": ["x"]}),
    "seed": (setting(seed=7), {"seed": 7}),
    "labels": (setting(labels={"team": "a"}), {"labels": {"team": "a"}}),
    "thinking-in-place": (
        in_place,
        {"thinkingConfig": {"includeThoughts": False, "thinkingBudget": 512}},
    ),
    "no-thinking": (setting(thinking_config=None), {"thinkingConfig": GONE}),
    "tool-config": (
        setting(tool_config=types.ToolConfig(function_calling_config=FUNCTION_MODE)),
        {"toolConfig": {"functionCallingConfig": {"mode": "NONE"}}},
    ),
    "safety": (
        setting(safety_settings=[HARASSMENT]),
        {"safetySettings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}]},
    ),
    "schema-class": (
        lambda request: request.set_output_schema(Verdict),
        {
            "responseMimeType": "application/json",
            "responseJsonSchema": Verdict.model_json_schema(),
        },
    ),
    "schema": (
        setting(response_schema=types.Schema(type=types.Type.STRING)),
        {"responseSchema": {"type": "STRING"}},
    ),
    "anew": (
        anew,
        {
            "temperature": 0.5,
            "topP": GONE,
            "topK": GONE,
            "thinkingConfig": GONE,
            "systemInstruction": GONE,
            "tools": GONE,
        },
    ),
}
BOOM = ApiError.from_parts(500, "boom")
CAPACITY = ApiError.from_parts(429, "MODEL_CAPACITY_EXHAUSTED")
LITE = {"model": "gemini-3.1-flash-lite"}
"""A model whose fallback is silent."""
FAILURES = pytest.mark.parametrize(
    ("failures", "options"),
    [([], {}), ([BOOM], {}), ([CAPACITY] * 3, LITE)],
    ids=["once", "retry", "fallback"],
)


def steps(kit, failures):
    return [*failures, [kit.text("x", "STOP")]]


def asked(played):
    """The configs that were asked for, as JSON, so that 64 and 64.0 differ."""
    return [
        {key: json.dumps(value) for key, value in request.config.items()}
        for request in played.model.requests
    ]


def expected(configs, changes):
    found = []
    for config in configs:
        changed = {**config, **{k: v if v is GONE else json.dumps(v) for k, v in changes.items()}}
        found.append({key: value for key, value in changed.items() if value is not GONE})
    return found


@FAILURES
@pytest.mark.parametrize(("change", "changes"), CONFIGS.values(), ids=list(CONFIGS))
def test_edited_fields_are_asked_and_the_others_keep_their_json(
    kit, hosted, change, changes, failures, options
):
    plain = kit.play(steps(kit, failures), **options)
    hosted(Edit(change))
    played = kit.play(steps(kit, failures), **options)
    assert len(asked(played)) == 1 + len(failures)
    assert asked(played) == expected(asked(plain), changes)


def test_edits_hold_after_a_fallback_whose_own_fields_are_asked(kit, hosted):
    plain = kit.play(steps(kit, [CAPACITY] * 3), **LITE)
    hosted(Edit(setting(temperature=0.25, seed=7)))
    played = kit.play(steps(kit, [CAPACITY] * 3), **LITE)
    models = [request.model for request in played.model.requests]
    assert models == [request.model for request in plain.model.requests]
    assert len(set(models)) == 2
    assert asked(played) == expected(asked(plain), {"temperature": 0.25, "seed": 7})
    assert played.texts == ["x"]


def test_edited_model_is_asked_and_nothing_else_of_the_choice_changes(kit, hosted):
    plain = kit.play(steps(kit, [BOOM]))
    hosted(Edit(lambda request: setattr(request, "model", "gemini-2.5-pro")))
    played = kit.play(steps(kit, [BOOM]))
    assert [request.model for request in played.model.requests] == ["gemini-2.5-pro"] * 2
    assert asked(played) == asked(plain)
    assert [event.model for event in played.events if event.type == "session_update"] == [
        "gemini-2.5-flash"
    ]
    assert played.services.state.sequence_model == "gemini-2.5-flash"
    (answer,) = [line for line in played.lines if line.get("type") == "gemini"]
    assert answer["model"] == "gemini-2.5-pro"


def test_edited_model_is_asked_after_a_fallback_too(kit, hosted):
    hosted(Edit(lambda request: setattr(request, "model", "gemini-2.5-pro")))
    played = kit.play(steps(kit, [CAPACITY] * 3), **LITE)
    assert {request.model for request in played.model.requests} == {"gemini-2.5-pro"}
    assert played.texts == ["x"]


def trust_at_retry(played):
    """Change what the product's instruction and tools are, between two attempts."""

    def change(event):
        if isinstance(event, RetryAttempt):
            played.services.state.set_approval_mode(ApprovalMode.YOLO)

    played.services.events.subscribe(change)


@FAILURES
def test_appended_instruction_goes_with_the_instruction_of_the_moment(
    kit, hosted, failures, options
):
    hosted(GlobalInstructionPlugin("Be brief."), Edit(lambda r: r.append_instructions(["Bye."])))

    async def script(played, runtime):
        trust_at_retry(played)
        agent = runtime.agent()
        kit.listen(agent, played)
        await agent.send(kit.message("hello"))
        await runtime.settled()

    played = kit.run(script, steps(kit, failures), **options)
    said = [request.config["systemInstruction"] for request in played.model.requests]
    for each in said:
        assert each.startswith("Be brief.")
        assert each.endswith("\n\nBye.")
    assert "need your user's approval" in said[0]
    assert ("approved in advance" in said[-1]) is bool(failures)


@pytest.mark.parametrize(
    ("instruction", "sent"),
    [
        ("Other", "Other"),
        (types.Content(parts=[types.Part(text="Other")]), {"parts": [{"text": "Other"}]}),
        (["One", types.Part(text="Two")], {"parts": [{"text": "One"}, {"text": "Two"}]}),
    ],
)
def test_replaced_instruction_is_asked_as_it_is(kit, hosted, instruction, sent):
    hosted(Edit(setting(system_instruction=instruction)))
    played = kit.play(steps(kit, []))
    assert played.model.requests[0].config["systemInstruction"] == sent


def weather(place: str) -> str:
    """Report the weather."""
    return place


def functions(request):
    return {each["name"]: each for each in request.config["tools"][0]["functionDeclarations"]}


@FAILURES
def test_appended_tool_is_declared_beside_the_tools_of_the_moment(kit, hosted, failures, options):
    hosted(Edit(lambda request: request.append_tools([FunctionTool(weather)])))

    async def script(played, runtime):
        trust_at_retry(played)
        agent = runtime.agent()
        kit.listen(agent, played)
        await agent.send(kit.message("hello"))
        await runtime.settled()

    played = kit.run(script, steps(kit, failures), **options)
    first, last = (functions(played.model.requests[index]) for index in (0, -1))
    assert list(first)[-1] == "weather"
    assert first["weather"]["description"] == "Report the weather."
    assert "glob" in first
    assert "weather" in last
    assert ("write_file" in last) is bool(failures)


def test_declarations_are_removed_and_changed_by_name_and_for_one_request_only(kit, hosted):
    changed = []

    def change(request: LlmRequest) -> None:
        if changed:
            return
        tool: Any = (request.config.tools or [])[0]
        tool.function_declarations = [
            each for each in tool.function_declarations if each.name != "glob"
        ]
        changed.append(tool.function_declarations[0])
        changed[0].description = "changed"

    hosted(Edit(change))
    played = kit.play([*steps(kit, []), *steps(kit, [])], "one", "two")
    first, second = map(functions, played.model.requests)
    name = changed[0].name
    assert second.keys() - first.keys() == {"glob"}
    assert first[name] == {**second[name], "description": "changed"}
    assert second[name]["description"] != "changed"
    rest = first.keys() - {name}
    assert all(first[each] == second[each] for each in rest)


def test_other_tools_come_after_the_functions_or_instead_of_them(kit, hosted):
    search = types.Tool(google_search=types.GoogleSearch())
    hosted(Edit(lambda request: request.config.tools.append(search)))
    played = kit.play(steps(kit, []))
    assert played.model.requests[0].config["tools"][1] == {"googleSearch": {}}
    hosted(Edit(setting(tools=[search])))
    played = kit.play(steps(kit, []))
    assert played.model.requests[0].config["tools"] == [{"googleSearch": {}}]
    hosted(Edit(setting(tools=[])))
    played = kit.play(steps(kit, []))
    assert "tools" not in played.model.requests[0].config


def test_untouched_request_of_a_session_without_tools_keeps_its_empty_list():
    request, base, empty = LlmRequest(), RequestBase(), [{"functionDeclarations": []}]
    base.write_tools(request, DeclaredTools(empty))
    edited = base.edits(request).tools
    assert edited is not None
    assert edited(empty) == empty


def conversation(kit):
    signed = {"text": "a", "thoughtSignature": "c2ln", "newField": 1}
    return [[kit.parts_chunk(signed, finish="STOP")], *steps(kit, [BOOM])]


def last_contents(kit, hosted, change):
    seen = []

    def at_second(request: LlmRequest) -> None:
        seen.append(request)
        if len(seen) == 2:
            change(request)

    hosted(Edit(at_second))
    played = kit.play([*conversation(kit), *steps(kit, [])], "one", "two", "three")
    _, *attempts, third = played.model.requests
    assert [attempt.contents for attempt in attempts] == [attempts[0].contents] * 2
    return attempts[0].contents, third.contents


def test_unchanged_contents_keep_their_json(kit, hosted):
    plain = kit.play([*conversation(kit), *steps(kit, [])], "one", "two", "three")
    seen, after = last_contents(kit, hosted, lambda r: [c.parts[0].text for c in r.contents])
    for contents, request in ((seen, plain.model.requests[1]), (after, plain.model.requests[-1])):
        assert json.dumps(contents).replace("/run2/", "/run1/") == json.dumps(request.contents)


def test_text_changed_in_place_is_sent_once_with_the_fields_that_adk_does_not_know(kit, hosted):
    def change(request: LlmRequest) -> None:
        part = (request.contents[1].parts or [])[0]
        part.text = "changed"

    seen, after = last_contents(kit, hosted, change)
    assert seen[1]["parts"] == [{"text": "changed", "thoughtSignature": "c2ln", "newField": 1}]
    assert after[1]["parts"] == [{"text": "a", "thoughtSignature": "c2ln", "newField": 1}]


def test_contents_of_plain_types_are_sent_and_history_stays(kit, hosted):
    def change(request: LlmRequest) -> None:
        plain = types.Content(role="user", parts=[types.Part(text="instead")])
        request.contents = [plain, *request.contents[1:2], request.contents[-1]]

    seen, after = last_contents(kit, hosted, change)
    assert [kit.shape(content) for content in seen] == ["user:text", "model:text", "user:text"]
    assert seen[0]["parts"] == [{"text": "instead"}]
    assert seen[1]["parts"][0]["newField"] == 1
    assert "instead" not in json.dumps(after)


def test_shipped_filter_leaves_out_what_it_says(kit, hosted):
    hosted(ContextFilterPlugin(num_invocations_to_keep=1))
    played = kit.play([*steps(kit, []), *steps(kit, [])], "one", "two")
    (content,) = played.model.requests[1].contents
    assert content["parts"] == [{"text": "two"}]
    assert len(played.transcript) == 4


class Early(BaseLlmRequestProcessor):
    """Edits a request between two of ours."""

    def __init__(self, change) -> None:
        self.name = "early"
        self.change = change

    async def run_async(self, invocation_context, llm_request):
        self.change(llm_request)
        return
        yield


PLACES = ("instructions", "contents", "gcli_routing", "agent_tools")


@pytest.mark.parametrize("place", PLACES)
def test_processor_in_front_of_ours_keeps_its_edit(kit, hosted, place):
    def change(request: LlmRequest) -> None:
        request.config.temperature = 0.25
        request.model = "gemini-2.5-pro"
        request.append_instructions(["Bye."])
        request.append_tools([FunctionTool(weather)])

    def prepare(agent) -> None:
        agent._llm_flow.insert_request_processor_before(place, Early(change))

    hosted(prepare=prepare)
    played = kit.play(steps(kit, []))
    (request,) = played.model.requests
    assert request.model == "gemini-2.5-pro"
    assert request.config["temperature"] == 0.25
    assert "Bye." in request.config["systemInstruction"]
    assert {"glob", "weather"} <= functions(request).keys()
    assert played.services.state.sequence_model == "gemini-2.5-flash"


def test_contents_of_an_earlier_processor_go_before_the_pending_turn(kit, hosted):
    note = types.Content(role="user", parts=[types.Part(text="note")])

    def prepare(agent) -> None:
        early = Early(lambda request: request.contents.append(note))
        agent._llm_flow.insert_request_processor_before("contents", early)

    hosted(prepare=prepare)
    played = kit.play(steps(kit, []))
    (content,) = played.model.requests[0].contents
    assert [part["text"] for part in content["parts"]][-2:] == ["note", "hello"]


def test_agents_own_config_and_callback_arrive(kit, hosted):
    def before(callback_context, llm_request):
        llm_request.config.max_output_tokens = 50

    def prepare(agent) -> None:
        agent.generate_content_config = types.GenerateContentConfig(seed=3)
        agent.before_model_callback = before

    hosted(prepare=prepare)
    played = kit.play(steps(kit, []))
    config = played.model.requests[0].config
    assert (config["seed"], config["maxOutputTokens"]) == (3, 50)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (setting(temperature="hot"), "temperature cannot be sent: Input should be a valid number"),
        (setting(tools=[weather]), "tools cannot be sent: it holds a function; use "),
        (setting(system_instruction=5), "system_instruction cannot be sent: it takes a text"),
    ],
)
def test_value_that_cannot_be_sent_is_named(kit, hosted, change, message):
    hosted(Edit(change))
    played = kit.play([])
    (error,) = played.errors
    assert error.message.startswith(f"llm_request.config.{message}")


def test_settings_of_googles_client_are_no_edits(kit, hosted):
    def change(request: LlmRequest) -> None:
        request.config.http_options = types.HttpOptions(timeout=5)
        request.config.should_return_http_response = True

    hosted(Edit(change))
    played = kit.play(steps(kit, []))
    (request,) = played.model.requests
    assert not request.config.keys() & {"httpOptions", "shouldReturnHttpResponse"}
