import asyncio
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from services.abort import AbortController
from services.availability.availability import Availability
from services.availability.health import TerminalReason
from services.clock import VirtualClock
from services.ids import CountingIds
from services.interaction.interaction import Interaction
from services.model.configs import ModelConfigs
from services.model.generator import LlmRole
from services.model.names import AccessFlags
from services.model.utility import UtilityRequest
from services.routing.router import (
    CompositeStrategy,
    ModelRouter,
    RoutingContext,
    RoutingDecision,
)
from services.settings import Settings
from services.state import (
    ApprovalMode,
    CoreEvent,
    CoreEvents,
    ModelChanged,
    SessionState,
    UserFeedback,
)
from services.wire import Content, JsonObject, Part
from services.workspace import Workspace
from tests.services.sessions import session_at

HELLO: Content = {"role": "user", "parts": [{"text": "hello"}]}
ANSWER: Content = {"role": "model", "parts": [{"text": "hi"}]}
CALL: Content = {"role": "model", "parts": [{"functionCall": {"name": "t", "args": {}}}]}
RESPONSE: Content = {"role": "user", "parts": [{"functionResponse": {"name": "t"}}]}
BOTH: Content = {"role": "model", "parts": [{"text": "so"}, *CALL["parts"]]}


@dataclass
class Classifier:
    """A utility model that gives one answer, and what it was asked, time passing meanwhile."""

    clock: VirtualClock
    answer: JsonObject | Exception
    asked: list[tuple[UtilityRequest, JsonObject]] = field(default_factory=list)

    async def generate_json(self, request: UtilityRequest, schema: JsonObject) -> JsonObject:
        self.asked.append((request, schema))
        self.clock.advance(7)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    async def generate_content(self, request: UtilityRequest) -> JsonObject:
        raise NotImplementedError


class Session:
    """A router and all it needs."""

    def __init__(
        self,
        configured: str = "auto-gemini-2.5",
        *,
        auth_type: str = "gemini-api-key",
        mode: ApprovalMode = ApprovalMode.DEFAULT,
        answer: JsonObject | Exception | None = None,
        settings: Settings | None = None,
    ) -> None:
        self.events: list[CoreEvent] = []
        events = self.core_events = CoreEvents()
        events.subscribe(self.events.append)
        self.state = SessionState(
            session_id="s", model=configured, approval_mode=mode, interactive=False, events=events
        )
        clock = VirtualClock()
        self.classifier = Classifier(clock, answer or {})
        self.models = ModelConfigs(AccessFlags.for_auth(auth_type))
        self.availability = Availability(
            models=self.models,
            state=self.state,
            clock=clock,
            ids=CountingIds(),
            interaction=Interaction(),
        )
        self.router = ModelRouter(
            session_at(
                Workspace.at(Path("/ws"), Path("/home")),
                settings,
                state=self.state,
                events=events,
                clock=clock,
            ),
            models=self.models,
            availability=self.availability,
            utility=self.classifier,
        )

    def decide(
        self,
        *history: Content,
        request: list[Part] | None = None,
        requested: str | None = None,
        prompt_id: str | None = None,
    ) -> RoutingDecision:
        context = RoutingContext(
            history=history,
            request=[{"text": "x"}] if request is None else request,
            signal=AbortController().signal,
            requested_model=requested,
            prompt_id=prompt_id,
        )
        return asyncio.run(self.router.route(context))

    def asked_contents(self) -> list[Content]:
        [(request, _)] = self.classifier.asked
        return list(request.contents)


@pytest.mark.parametrize(
    ("requested", "auth_type", "model"),
    [
        ("gemini-2.5-pro", "gemini-api-key", "gemini-2.5-pro"),
        ("my-model", "gemini-api-key", "my-model"),
        ("flash", "gemini-api-key", "gemini-3.8-flash"),
        ("flash", "oauth-personal", "gemini-3.5-flash"),
        ("flash-lite", "gemini-api-key", "gemini-3.5-flash-lite"),
        ("pro", "gemini-api-key", "gemini-3.1-pro-preview"),
        ("gemini-3-pro-preview", "gemini-api-key", "gemini-3.1-pro-preview"),
        ("pro", "oauth-personal", "gemini-2.5-pro"),
    ],
)
def test_a_forced_model_is_resolved_without_custom_tools(
    requested: str, auth_type: str, model: str
) -> None:
    session = Session("configured", auth_type=auth_type)

    assert session.decide(requested=requested) == RoutingDecision(
        model=model,
        source="agent-router/override",
        reasoning=f"Routing bypassed by forced model directive. Using: {requested}",
    )
    assert session.classifier.asked == []


def test_without_a_request_the_configured_model_is_forced() -> None:
    decision = Session("flash").decide()

    assert (decision.model, decision.source) == ("gemini-3.8-flash", "agent-router/override")


@pytest.mark.parametrize(
    ("configured", "auth_type", "model"),
    [
        ("auto", "gemini-api-key", "gemini-3.1-pro-preview"),
        ("auto-gemini-3", "vertex-ai", "gemini-3.1-pro-preview"),
        ("auto", "oauth-personal", "gemini-2.5-pro"),
        ("auto-gemini-2.5", "gemini-api-key", "gemini-2.5-pro"),
    ],
)
def test_an_auto_model_that_no_strategy_decides_on_goes_to_the_default(
    configured: str, auth_type: str, model: str
) -> None:
    decision = Session(configured, auth_type=auth_type).decide()

    assert (decision.model, decision.source) == (model, "agent-router/default")
    assert decision.reasoning == f"Routing to default model: {model}"


def test_the_default_is_the_configured_models_not_the_requested_ones() -> None:
    assert Session("gemini-2.5-flash").decide(requested="auto").model == "gemini-2.5-flash"


def test_strategies_are_called_in_order() -> None:
    assert Session().router.strategies == [
        "fallback",
        "override",
        "approval-mode",
        "classifier",
        "numerical_classifier",
    ]


def test_an_unavailable_model_is_replaced() -> None:
    session = Session("auto-gemini-2.5")
    session.availability.health.mark_terminal("gemini-2.5-pro", TerminalReason.QUOTA)

    assert session.decide() == RoutingDecision(
        model="gemini-3.8-flash",
        source="agent-router/fallback",
        reasoning=(
            "Model auto-gemini-2.5 is unavailable (quota). Using fallback: gemini-3.8-flash"
        ),
    )


def test_a_model_without_a_fallback_is_used_although_it_is_unavailable() -> None:
    session = Session("my-model")
    session.availability.health.mark_terminal("my-model", TerminalReason.CAPACITY)

    assert session.decide().source == "agent-router/override"


def test_a_pro_model_makes_plans() -> None:
    session = Session("auto", mode=ApprovalMode.PLAN)

    assert session.decide() == RoutingDecision(
        model="gemini-3.1-pro-preview-customtools",
        source="agent-router/approval-mode",
        reasoning="Routing to Pro model because ApprovalMode is PLAN.",
    )


@pytest.mark.contract("P-267")
def test_a_flash_model_implements_an_approved_plan() -> None:
    session = Session("auto")
    session.state.approved_plan = Path("/plans/p.md")

    assert session.decide() == RoutingDecision(
        model="gemini-3.8-flash",
        source="agent-router/approval-mode",
        reasoning="Routing to Flash model because an approved plan exists at /plans/p.md.",
    )
    session.state.set_approval_mode(ApprovalMode.PLAN)
    assert session.decide().model == "gemini-3.1-pro-preview-customtools"


def test_a_fixed_model_implements_plans_too() -> None:
    session = Session("gemini-2.5-pro")
    session.state.approved_plan = Path("/plans/p.md")

    assert session.decide().source == "agent-router/override"


def test_plan_mode_chooses_nothing_where_it_is_switched_off() -> None:
    settings = Settings(plan_model_routing=False)
    session = Session("auto", mode=ApprovalMode.PLAN, settings=settings)

    assert session.decide().source == "agent-router/default"


def choice(tier: str) -> JsonObject:
    return {"reasoning": "because", "model_choice": tier}


@pytest.mark.parametrize(
    ("tier", "model"), [("flash", "gemini-3.8-flash"), ("pro", "gemini-2.5-pro")]
)
@pytest.mark.contract("P-088")
def test_a_classifier_chooses_the_tier(tier: str, model: str) -> None:
    session = Session(answer=choice(tier))
    decision = session.decide(prompt_id="p")

    assert decision == RoutingDecision(
        model=model, source="agent-router/Classifier", reasoning="because", latency_ms=7
    )


def test_a_classifier_is_asked_in_its_role_with_its_schema() -> None:
    session = Session(answer=choice("pro"))
    session.decide(prompt_id="p")
    [(request, schema)] = session.classifier.asked

    assert (request.config_key, request.role) == ("classifier", LlmRole.UTILITY_ROUTER)
    assert (request.prompt_id, request.max_attempts) == ("p", None)
    assert schema["properties"]["model_choice"] == {"type": "STRING", "enum": ["flash", "pro"]}


def test_a_request_without_a_prompt_id_gets_a_generated_one() -> None:
    session = Session(answer=choice("pro"))
    session.decide()
    [(request, _)] = session.classifier.asked

    assert request.prompt_id == "classifier-router-fallback-1767225600000-8"


def test_a_classifier_sees_the_last_four_turns_without_tools_of_the_last_twenty() -> None:
    session = Session(answer=choice("pro"))
    old: Content = {"role": "user", "parts": [{"text": "old"}]}
    session.decide(old, BOTH, HELLO, *[CALL, RESPONSE] * 8, ANSWER, HELLO)

    assert session.asked_contents() == [
        BOTH,
        HELLO,
        ANSWER,
        HELLO,
        {"role": "user", "parts": [{"text": "x"}]},
    ]
    five = Session(answer=choice("pro"))
    five.decide(old, HELLO, ANSWER, HELLO, ANSWER)
    assert five.asked_contents()[:-1] == [HELLO, ANSWER, HELLO, ANSWER]
    further = Session(answer=choice("pro"))
    further.decide(old, *[CALL, RESPONSE] * 10)
    assert len(further.asked_contents()) == 1


@pytest.mark.parametrize("request_parts", [[*RESPONSE["parts"], {"text": "and"}], [], [{"no": 1}]])
def test_a_classifier_is_not_called_for_tool_answers_and_invalid_parts(
    request_parts: list[Part],
) -> None:
    session = Session(answer=choice("flash"))

    assert session.decide(HELLO, CALL, request=request_parts).source == "agent-router/default"
    assert session.classifier.asked == []


@pytest.mark.parametrize(
    "answer",
    [
        {"model_choice": "flash"},
        {"reasoning": 1, "model_choice": "flash"},
        {"reasoning": "r", "model_choice": "flash-lite"},
        RuntimeError("no model"),
    ],
)
def test_after_an_unusable_answer_the_default_decides(answer: JsonObject | Exception) -> None:
    session = Session(answer=answer)

    assert session.decide().source == "agent-router/default"
    assert len(session.classifier.asked) == 1


def test_an_unavailable_chosen_model_is_not_used() -> None:
    session = Session(answer=choice("flash"))
    session.availability.health.mark_terminal("gemini-3.8-flash", TerminalReason.CAPACITY)

    assert session.decide().source == "agent-router/default"


def score(value: object) -> JsonObject:
    return {"complexity_reasoning": "because", "complexity_score": value}


@pytest.mark.parametrize(
    ("value", "model"),
    [
        (1, "gemini-3.8-flash"),
        (55.5, "gemini-3.8-flash"),
        (89, "gemini-3.8-flash"),
        (90.0, "gemini-3.1-pro-preview-customtools"),
        (99, "gemini-3.1-pro-preview-customtools"),
    ],
)
def test_gemini_3_requests_are_rated_by_number(value: float, model: str) -> None:
    session = Session("auto", answer=score(value))

    assert session.decide() == RoutingDecision(
        model=model,
        source="agent-router/NumericalClassifier (Default)",
        reasoning=f"[Score: {value:g} / Threshold: 90] because",
        latency_ms=7,
    )


@pytest.mark.parametrize("value", [0, 100.5, "90", True, None])
def test_a_score_is_a_number_from_1_to_100(value: object) -> None:
    session = Session("auto", answer=score(value))

    assert session.decide().source == "agent-router/default"


def test_a_rating_sees_the_last_eight_turns_from_the_first_without_tools() -> None:
    session = Session("auto", answer=score(5))
    session.decide(
        HELLO, CALL, RESPONSE, BOTH, RESPONSE, ANSWER, HELLO, CALL, RESPONSE,
        request=[{"text": "a", "thought": True}, {"inlineData": {}}, {"text": ""}],
    )  # fmt: skip

    assert session.asked_contents() == [
        BOTH, RESPONSE, ANSWER, HELLO, CALL, RESPONSE,
        {"role": "user", "parts": [{"text": "a"}, {"inlineData": {}}, {"text": ""}]},
    ]  # fmt: skip


def test_a_tool_answer_is_rated_only_with_what_came_before_it() -> None:
    alone = Session("auto", answer=score(5))
    assert alone.decide(CALL, request=RESPONSE["parts"]).source == "agent-router/default"
    assert alone.classifier.asked == []

    answering = Session("auto", answer=score(5))
    answering.decide(HELLO, CALL, request=RESPONSE["parts"])
    assert answering.asked_contents() == [HELLO, CALL, RESPONSE]


@dataclass
class Fixed:
    """A strategy with one outcome."""

    outcome: RoutingDecision | Exception | None
    name: str = "fixed"

    async def route(self, context: RoutingContext) -> RoutingDecision | None:
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome


CHOSEN = RoutingDecision(model="m", source="fixed", reasoning="r")
CONTEXT = RoutingContext(history=[], request=[], signal=AbortController().signal)


@pytest.mark.contract("P-090")
async def test_a_failing_strategy_is_skipped() -> None:
    composite = CompositeStrategy(
        [Fixed(RuntimeError("broken")), Fixed(None)], Fixed(CHOSEN), now_ms=lambda: 0
    )

    assert await composite.route(CONTEXT) == replace(CHOSEN, source="composite/fixed")


async def test_the_time_a_strategy_measured_itself_goes_before_the_whole() -> None:
    times = iter([0, 5])
    own = replace(CHOSEN, latency_ms=3)

    measured = CompositeStrategy([Fixed(own)], Fixed(None), now_ms=lambda: 100)
    whole = CompositeStrategy([], Fixed(CHOSEN), now_ms=lambda: next(times))
    for composite, latency_ms in ((measured, 3), (whole, 5)):
        decision = await composite.route(CONTEXT)
        assert decision is not None
        assert decision.latency_ms == latency_ms


async def test_the_user_sees_a_failure_of_the_last_strategy() -> None:
    session = Session()
    composite = CompositeStrategy(
        [], Fixed(RuntimeError("broken")), now_ms=lambda: 0, events=session.core_events
    )

    with pytest.raises(RuntimeError, match="broken"):
        await composite.route(CONTEXT)
    assert session.events == [
        UserFeedback(
            severity="error",
            message=(
                "[Routing] Critical Error: Terminal strategy 'fixed' failed. "
                "Routing cannot proceed. Error:"
            ),
        )
    ]


def test_the_configured_model_is_used_when_all_strategies_fail(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = Session("auto")

    def broken(requested: str, *, custom_tools: bool = True) -> str:
        raise RuntimeError("broken")

    monkeypatch.setattr(session.models, "concrete", broken)
    decision = session.decide()

    assert decision == RoutingDecision(
        model="auto",
        source="router-exception",
        reasoning="An exception occurred during routing.",
        latency_ms=7,
        error="broken",
    )
    assert not any(isinstance(event, ModelChanged) for event in session.events)
