from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path
from typing import Any

import pytest

from services.abort import AbortSignal
from services.clock import SystemClock, VirtualClock, virtual_loop
from services.model.generator import ContentGenerator, EmbedRequest, ModelRequest
from services.policy.allowed_paths import AllowedPaths
from services.policy.conseca import Conseca
from services.policy.defaults import default_checkers, default_rules
from services.policy.rules import CheckerRule, CheckerSpec, Decision, PolicyRule
from services.policy.safety import (
    ConversationContext,
    InProcessChecker,
    SafetyCheckers,
    SafetyRequest,
    SafetyVerdict,
)
from services.state import ApprovalMode, CoreEvents, SessionState
from services.wire import JsonObject
from services.workspace import Workspace
from tests.services.policy.instant import InstantEngine


class Fixed:
    """A checker with one answer."""

    waits = False

    def __init__(self, decision: Decision) -> None:
        self._decision = decision
        self.asked: list[SafetyRequest] = []

    async def check(self, request: SafetyRequest) -> SafetyVerdict:
        self.asked.append(request)
        return SafetyVerdict(self._decision, "so")


class Slow(Fixed):
    waits = True

    def __init__(self, clock: VirtualClock, takes_ms: int) -> None:
        super().__init__(Decision.ALLOW)
        self._clock = clock
        self._takes_ms = takes_ms

    async def check(self, request: SafetyRequest) -> SafetyVerdict:
        await self._clock.sleep(self._takes_ms)
        return await super().check(request)


class Generator:
    """A model with prepared answers; one that is an exception is raised."""

    def __init__(self, *answers: str | Exception) -> None:
        self._answers = list(answers)
        self.requests: list[ModelRequest] = []

    async def generate_content(self, request: ModelRequest) -> JsonObject:
        self.requests.append(request)
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return {"candidates": [{"content": {"role": "model", "parts": [{"text": answer}]}}]}

    async def generate_content_stream(
        self, request: ModelRequest
    ) -> AsyncGenerator[JsonObject, None]:
        raise NotImplementedError

    async def count_tokens(self, request: ModelRequest) -> JsonObject:
        raise NotImplementedError

    async def embed_content(self, request: EmbedRequest) -> JsonObject:
        raise NotImplementedError


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    (tmp_path / "ws").mkdir()
    return Workspace.at(tmp_path / "ws", tmp_path / "home")


def checkers(workspace: Workspace, **more: Any) -> SafetyCheckers:
    given: dict[str, Any] = {"clock": SystemClock(), "in_process": {}, **more}
    return SafetyCheckers(context=ConversationContext(workspace), **given)


def engine(
    workspace: Workspace,
    in_process: Mapping[str, InProcessChecker],
    rules: list[CheckerRule],
    *,
    mode: str = "default",
    allowed: list[PolicyRule] | None = None,
) -> InstantEngine:
    state = SessionState(
        session_id="s",
        model="m",
        approval_mode=ApprovalMode(mode),
        interactive=True,
        events=CoreEvents(),
    )
    everything = [PolicyRule(tool_name="*", decision=Decision.ALLOW, source="all")]
    return InstantEngine(
        everything if allowed is None else allowed,
        checkers=rules,
        runner=checkers(workspace, in_process=in_process),
        state=state,
        interactive=True,
        workspace_root=workspace.root,
    )


def rule(name: str, tool: str = "*", *, priority: float = 0, **more: Any) -> CheckerRule:
    spec = CheckerSpec(name=name)
    return CheckerRule(tool_name=tool, checker=spec, priority=priority, **more)


def test_a_checker_can_ask_and_refuse_what_rules_allow(workspace: Workspace) -> None:
    known = {"ask": Fixed(Decision.ASK_USER), "no": Fixed(Decision.DENY)}

    asked = engine(workspace, known, [rule("ask")]).check("t", {})
    refused = engine(workspace, known, [rule("ask"), rule("no")]).check("t", {})

    assert (asked.decision, refused.decision) == (Decision.ASK_USER, Decision.DENY)
    assert refused.rule is not None
    assert refused.rule.source == "all"


def test_the_first_refusal_ends_the_checks_and_priority_is_their_order(
    workspace: Workspace,
) -> None:
    later = Fixed(Decision.ALLOW)
    known = {"no": Fixed(Decision.DENY), "later": later}

    engine(workspace, known, [rule("later", priority=1), rule("no", priority=2)]).check("t", {})

    assert later.asked == []


def test_what_rules_refuse_is_not_checked(workspace: Workspace) -> None:
    checker = Fixed(Decision.ALLOW)
    refusal = [PolicyRule(tool_name="*", decision=Decision.DENY)]

    engine(workspace, {"c": checker}, [rule("c")], allowed=refusal).check("t", {})

    assert checker.asked == []


def test_each_part_of_a_command_is_checked_too(workspace: Workspace) -> None:
    checker = Fixed(Decision.ALLOW)

    engine(workspace, {"c": checker}, [rule("c")]).check(
        "run_shell_command", {"command": "make a && make b"}
    )

    commands = [request.args["command"] for request in checker.asked if request.args]
    assert commands == ["make a", "make b", "make a && make b"]


def test_auto_edit_writes_only_in_the_workspace(workspace: Workspace) -> None:
    found = engine(
        workspace,
        {
            "allowed-path": AllowedPaths(),
            "conseca": Conseca(
                enabled=False, model="flash", generator=Generator(), declarations=list
            ),
        },
        default_checkers(),
        mode="autoEdit",
        allowed=default_rules(),
    )

    decisions = [
        found.check("write_file", {"file_path": path}).decision
        for path in ("a.txt", "/etc/x", ".git/x", ".vscode/x")
    ]

    assert decisions == [Decision.ALLOW, Decision.DENY, Decision.DENY, Decision.ASK_USER]


@pytest.mark.parametrize(("takes_ms", "decision"), [(29_999, "allow"), (30_001, "deny")])
def test_a_checker_has_half_a_minute(workspace: Workspace, takes_ms: int, decision: str) -> None:
    clock = VirtualClock()
    runner = checkers(workspace, clock=clock, in_process={"slow": Slow(clock, takes_ms)})

    loop = virtual_loop()
    try:
        found = loop.run_until_complete(runner.run("t", {}, CheckerSpec(name="slow")))
    finally:
        loop.close()

    assert found == decision


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        (
            CheckerSpec(name="none"),
            (
                'Failed to run in-process checker "none": Unknown in-process checker "none". '
                "Available: "
            ),
        ),
        (
            CheckerSpec(name="none", external=True),
            'Failed to run safety checker "none": Unknown external checker "none".',
        ),
        (
            CheckerSpec(name="../x", external=True),
            'Failed to run safety checker "../x": Unknown external checker "../x".',
        ),
    ],
)
def test_a_checker_that_cannot_run_refuses(
    workspace: Workspace, spec: CheckerSpec, reason: str
) -> None:
    verdict = asyncio.run(checkers(workspace).verdict("t", {}, spec))

    assert verdict == SafetyVerdict(Decision.DENY, reason)


def test_a_checker_receives_the_history_as_turns(workspace: Workspace) -> None:
    call = {"name": "t", "args": {}}
    context = ConversationContext(
        workspace,
        history=lambda: [
            {"role": "model", "parts": [{"text": "hello"}]},
            {"role": "user", "parts": [{"text": "a"}]},
            {"role": "user", "parts": [{"text": "b"}, {"text": "c"}]},
            {"role": "model", "parts": [{"functionCall": call}]},
            {"role": "user", "parts": [{"functionResponse": {}}]},
        ],
        question="never",
    )

    assert context.build(["history"]) == {
        "history": {
            "turns": [
                {"user": {"text": ""}, "model": {"text": "hello", "toolCalls": []}},
                {"user": {"text": "a"}, "model": {}},
                {"user": {"text": "bc"}, "model": {"text": "", "toolCalls": [call]}},
                {"user": {"text": ""}, "model": {}},
            ]
        }
    }


def test_before_there_is_a_history_the_question_is_the_turn(workspace: Workspace) -> None:
    turns = ConversationContext(workspace, question="q").build(["history"])["history"]["turns"]

    assert turns == [{"user": {"text": "q"}, "model": {}}]


POLICY = json.dumps(
    {
        "policies": [
            {
                "tool_name": "t",
                "policy": {"permissions": "deny", "constraints": "c", "rationale": "r", "x": 1},
            }
        ]
    }
)


def ask_conseca(
    generator: ContentGenerator, *prompts: str, enabled: bool = True
) -> list[SafetyVerdict]:
    checker = Conseca(
        enabled=enabled,
        model="flash",
        generator=generator,
        declarations=lambda: [{"name": "t"}],
    )

    async def ask() -> list[SafetyVerdict]:
        verdicts = []
        for prompt in prompts:
            turns = [{"user": {"text": prompt}, "model": {}}]
            context = {"history": {"turns": turns}}
            request = SafetyRequest(tool_name="t", args={"a": 1}, context=context)
            verdicts.append(await checker.check(request))
        return verdicts

    return asyncio.run(ask())


@pytest.mark.contract("P-064")
def test_a_model_makes_a_policy_once_and_judges_each_call() -> None:
    verdict = '{"decision": "ask_user", "reason": "hm"}'
    model = Generator(POLICY, verdict, verdict)

    found = ask_conseca(model, "do it", "do it")

    assert found == [SafetyVerdict(Decision.ASK_USER, "hm")] * 2
    ids = [request.prompt_id for request in model.requests]
    assert ids == ["conseca-policy-generation", *["conseca-policy-enforcement"] * 2]
    made, judged = (request.contents[0]["parts"][0]["text"] for request in model.requests[:2])
    assert 'User Prompt: "do it"\n\nTrusted Tools (Context):\n[\n  {\n    "name": "t"' in made
    assert (
        'Security Policy:\n{\n  "permissions": "deny",\n  "constraints": "c",\n'
        '  "rationale": "r"\n}\n\nTool Call:\n{\n  "name": "t",\n  "args": {\n    "a": 1\n  }\n}'
    ) in judged
    assert isinstance(model.requests[0].signal, AbortSignal)


@pytest.mark.parametrize("answer", ["", "no json", '{"decision": "maybe"}', OSError("down")])
def test_a_model_that_fails_allows(answer: str | Exception) -> None:
    assert ask_conseca(Generator(POLICY, answer), "p")[0].decision is Decision.ALLOW


def test_without_the_users_words_no_model_is_asked() -> None:
    model = Generator()

    assert ask_conseca(model, "")[0].decision is Decision.ALLOW
    assert ask_conseca(model, "p", enabled=False)[0].decision is Decision.ALLOW
    assert model.requests == []


def test_a_checker_goes_by_the_calls_own_name(workspace: Workspace) -> None:
    checker = Fixed(Decision.ALLOW)
    found = engine(workspace, {"c": checker}, [rule("c", tool="grep_search")])

    found.check("search_file_content", {})
    assert checker.asked == []

    found.check("grep_search", {})
    assert len(checker.asked) == 1
