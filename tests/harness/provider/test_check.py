"""What the provider rules catch, what they let pass, and when they say it."""

from __future__ import annotations

from typing import Any

import pytest

from harness.provider.check import ProviderCheck
from harness.provider.rules import RULES, Severity
from services.abort import AbortController
from services.model.generator import LlmRole, ModelRequest

READ = {"name": "read_file", "description": "d", "parametersJsonSchema": {"type": "object"}}


def user(*parts: Any) -> dict[str, Any]:
    return {"role": "user", "parts": [_part(part) for part in parts]}


def model(*parts: Any) -> dict[str, Any]:
    return {"role": "model", "parts": [_part(part) for part in parts]}


def _part(part: Any) -> Any:
    return {"text": part} if isinstance(part, str) else part


def call(name: str = "read_file", **more: Any) -> dict[str, Any]:
    return {"functionCall": {"name": name, "args": {}}, **more}


def response(name: str = "read_file") -> dict[str, Any]:
    return {"functionResponse": {"name": name, "response": {"output": "x"}}}


def request(*contents: Any, name: str = "gemini-2.5-flash", **config: Any) -> ModelRequest:
    tools = [{"functionDeclarations": [READ]}]
    return ModelRequest(
        model=name,
        contents=list(contents),
        role=LlmRole.MAIN,
        prompt_id="p",
        signal=AbortController().signal,
        config={"tools": tools, **config},
    )


def found(asked: ModelRequest) -> list[tuple[str, str]]:
    return [(each.rule, each.path) for each in ProviderCheck().examine(asked)]


def declared(**changes: Any) -> dict[str, Any]:
    return {"tools": [{"functionDeclarations": [{**READ, **changes}]}]}


def schema(value: Any) -> dict[str, Any]:
    declaration = {"name": "t", "parameters": value}
    return {"tools": [{"functionDeclarations": [declaration]}]}


PLACE = "config.tools[0].functionDeclarations[0]"


@pytest.mark.parametrize(
    ("asked", "rule", "path"),
    [
        (request(user("x"), model(call())), "call-unanswered", "contents[1]"),
        (request(user("x"), model(call()), user("y")), "call-unanswered", "contents[1]"),
        (
            request(user("x"), model(call(), call()), user(response())),
            "call-unanswered",
            "contents[1]",
        ),
        (
            request(user("x"), model(call()), user(response("glob"))),
            "call-unanswered",
            "contents[1]",
        ),
        (
            request(user("x"), model(call()), user(response(), response())),
            "call-unanswered",
            "contents[1]",
        ),
        (request(user("x"), model("y"), user(response())), "response-uncalled", "contents[2]"),
        (request(user(response())), "response-uncalled", "contents[0]"),
        (request(user()), "content-empty", "contents[0]"),
        (request(user("x"), {"role": "model"}), "content-empty", "contents[1]"),
        (request(user({})), "content-empty", "contents[0].parts[0]"),
        (request(), "content-empty", "contents"),
        (request({"role": "system", "parts": [{"text": "x"}]}), "role-unknown", "contents[0]"),
        (request(model("x")), "first-not-user", "contents[0]"),
        (
            request(user("x"), model(call()), user(response()), name="gemini-3-pro-preview"),
            "call-unsigned",
            "contents[1].parts[0]",
        ),
        (request(user("x"), **declared(name="no spaces")), "schema-refused", f"{PLACE}.name"),
        (request(user("x"), **declared(name="n" * 129)), "schema-refused", f"{PLACE}.name"),
        (request(user("x"), **declared(parameters={})), "schema-refused", PLACE),
        (
            request(user("x"), **schema({"type": "object", "required": ["a"]})),
            "schema-refused",
            f"{PLACE}.parameters.required[0]",
        ),
        (
            request(user("x"), **schema({"type": "list"})),
            "schema-refused",
            f"{PLACE}.parameters.type",
        ),
        (request(user("x"), **schema({"type": "array"})), "schema-refused", f"{PLACE}.parameters"),
        (
            request(user("x"), **schema({"type": "string", "enum": [1]})),
            "schema-refused",
            f"{PLACE}.parameters.enum",
        ),
        (
            request(user("x"), tools=[{"functionDeclarations": [READ, READ]}]),
            "schema-refused",
            "config.tools[0].functionDeclarations[1].name",
        ),
        (request(user("x" * 4_300_000)), "request-too-large", "contents"),
        (
            request(user("x"), thinkingConfig={"thinkingLevel": "HIGH"}),
            "config-of-another-model",
            "config.thinkingConfig.thinkingLevel",
        ),
        (
            request(user("x"), name="gemini-2.0-flash", thinkingConfig={"thinkingBudget": 1}),
            "config-of-another-model",
            "config.thinkingConfig",
        ),
        (
            request(
                user("x"),
                name="gemini-3-pro-preview",
                thinkingConfig={"thinkingBudget": 1, "thinkingLevel": "LOW"},
            ),
            "config-of-another-model",
            "config.thinkingConfig",
        ),
        (
            request(user("x"), tools=[{"googleSearchRetrieval": {}}]),
            "tools-of-another-model",
            "config.tools",
        ),
        (
            request(user("x"), tools=[{"functionDeclarations": [READ]}, {"googleSearch": {}}]),
            "tools-of-another-model",
            "config.tools",
        ),
    ],
)
def test_what_the_api_would_refuse_is_an_error(asked: ModelRequest, rule: str, path: str) -> None:
    assert found(asked) == [(rule, path)]
    assert RULES[rule].severity is Severity.ERROR


@pytest.mark.parametrize(
    ("asked", "rule", "path"),
    [
        (
            request(user("x"), model(call("none")), user(response("none"))),
            "call-undeclared",
            "contents[1]",
        ),
        (request(user("x", "")), "text-empty", "contents[0].parts[1]"),
        (request(user("x"), user("y")), "role-repeated", "contents[1]"),
    ],
)
def test_what_the_api_takes_but_is_a_mistake_is_a_warning(
    asked: ModelRequest, rule: str, path: str
) -> None:
    assert found(asked) == [(rule, path)]
    assert RULES[rule].severity is Severity.WARNING


@pytest.mark.parametrize(
    "asked",
    [
        request(user("x")),
        request(user("x"), model(call()), user(response())),
        request(user("x"), model(call(), call()), user(response(), response())),
        request(user("x"), model(call()), user(response(), "and look at b")),
        request(
            user("x"),
            model(call(thoughtSignature="s"), call()),
            user(response(), response()),
            name="gemini-3-pro-preview",
        ),
        request(
            user("x"),
            model(call(thoughtSignature="skip_thought_signature_validator")),
            user(response()),
            name="gemini-3-pro-preview",
        ),
        request(
            user("x"),
            model(call()),
            user(response()),
            model("y"),
            user("z"),
            name="gemini-3-pro-preview",
        ),
        request(user("x"), name="gemini-3-pro-preview", thinkingConfig={"thinkingLevel": "LOW"}),
        request(user("x"), thinkingConfig={"thinkingBudget": 8192}),
        request(user("x"), tools=[{"googleSearch": {}}]),
        request(
            user("x"),
            name="gemini-3-flash-preview",
            tools=[{"functionDeclarations": [READ]}, {"googleSearch": {}}],
        ),
        request(user("x"), tools=[{"functionDeclarations": [READ], "codeExecution": {}}]),
    ],
)
def test_what_the_api_takes_is_nothing(asked: ModelRequest) -> None:
    assert found(asked) == []


def test_calls_of_neighbouring_contents_are_one_turns_calls() -> None:
    asked = request(user("x"), model(call()), model(call()), user(response()), user(response()))
    assert found(asked) == [("role-repeated", "contents[2]"), ("role-repeated", "contents[4]")]


def test_a_finding_is_reported_at_the_first_request_that_has_it() -> None:
    check = ProviderCheck()
    first = [user("x"), model(call()), user("not answered")]
    assert len(check.examine(request(*first))) == 1
    assert check.examine(request(*first, model("y"), user("z"))) == []


def test_a_finding_in_a_rewritten_history_is_reported_again() -> None:
    check = ProviderCheck()
    broken = [model(call()), user("not answered")]
    assert len(check.examine(request(user("x"), *broken))) == 1
    assert len(check.examine(request(user("summary"), *broken))) == 1


def test_a_config_that_is_wrong_again_is_reported_again() -> None:
    check = ProviderCheck()
    wrong, right = {"thinkingLevel": "HIGH"}, {"thinkingBudget": 1}
    asked = [request(user("x"), thinkingConfig=each) for each in (wrong, wrong, right, wrong)]
    assert [len(check.examine(each)) for each in asked] == [1, 0, 0, 1]


def test_roles_and_threads_are_conversations_of_their_own() -> None:
    check = ProviderCheck()
    asked = request(user("x"), model(call()), user("y"))
    other = ModelRequest(
        model=asked.model,
        contents=asked.contents,
        role=LlmRole.SUBAGENT,
        prompt_id="p",
        signal=asked.signal,
        config=asked.config,
        thread="0/0",
    )
    assert [len(check.examine(each)) for each in (asked, other, asked, other)] == [1, 1, 0, 0]


def unsigned(turns: int) -> list[dict[str, Any]]:
    """A request of the user's, and so many calls answered since."""
    return [user("x"), *([model(call()), user(response())] * turns)]


def test_signatures_are_asked_for_once_a_model_that_wants_them_takes_over() -> None:
    check = ProviderCheck()
    asked = [
        request(*unsigned(2)),
        request(*unsigned(3), name="gemini-3-pro-preview"),
        request(*unsigned(4), name="gemini-3-pro-preview"),
    ]
    assert [[each.path for each in check.examine(one)] for one in asked] == [
        [],
        ["contents[1].parts[0]", "contents[3].parts[0]", "contents[5].parts[0]"],
        ["contents[7].parts[0]"],
    ]


def test_a_request_that_was_taken_back_reopens_the_loop_before_it() -> None:
    check = ProviderCheck()
    later = [*unsigned(1), model("y"), user("z")]
    asked = [
        request(*later, name="gemini-3-pro-preview"),
        request(*later[:3], name="gemini-3-pro-preview"),
    ]
    assert [len(check.examine(one)) for one in asked] == [0, 1]


class Read(dict[str, Any]):
    """A content that counts how often somebody looks at its parts."""

    count = 0

    def get(self, key: str, default: Any = None) -> Any:
        self.count += key == "parts"
        return super().get(key, default)


@pytest.mark.parametrize("name", ["gemini-2.5-flash", "gemini-3-pro-preview"])
def test_what_was_read_is_not_read_again_at_every_request_after(name: str) -> None:
    check = ProviderCheck()
    contents = [Read(each) for each in unsigned(100)]
    for turn in range(101):
        check.examine(request(*contents[: 1 + 2 * turn], name=name))
    # The last turn of a request is read once more with the next: it may go on there.
    assert {content.count for content in contents} <= {1, 2}


def test_every_rule_names_its_evidence() -> None:
    for rule in RULES.values():
        assert rule.evidence.startswith(("recording: ", "documentation: ", "unproven: "))
