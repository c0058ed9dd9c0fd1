import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from services.abort import AbortController, AbortError, AbortSignal
from services.clock import VIRTUAL_EPOCH_MS, VirtualClock, virtual_loop
from services.ids import FixedRandom
from services.model.base_llm_client import BaseLlmClient
from services.model.configs import ModelConfigKey, ModelConfigs
from services.model.errors import ApiError, ModelConfigError, ModelError
from services.model.generator import ChunkStream, EmbedRequest, LlmRole, ModelRequest
from services.model.names import AccessFlags
from services.model.selection import Selection
from services.model.utility import UtilityRequest
from services.state import ApprovalMode, CoreEvents, RetryAttempt, SessionState

Answer = dict[str, Any] | Exception
SCHEMA = {"type": "object"}


def text(*texts: str) -> dict[str, Any]:
    parts = [{"text": item} for item in texts]
    return {"candidates": [{"content": {"role": "model", "parts": parts}}]}


class ScriptedModel:
    """Gives its answers in order; the last one stays."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.requests: list[ModelRequest] = []
        self.before_answer: Callable[[], None] = lambda: None

    async def generate_content(self, request: ModelRequest) -> dict[str, Any]:
        request.signal.raise_if_aborted()
        self.requests.append(request)
        self.before_answer()
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def generate_content_stream(self, request: ModelRequest) -> ChunkStream:
        raise AssertionError("utility questions are not streamed")

    async def count_tokens(self, request: ModelRequest) -> dict[str, Any]:
        raise AssertionError("nothing is counted here")

    async def embed_content(self, request: EmbedRequest) -> dict[str, Any]:
        raise AssertionError("nothing is embedded here")


class Policy:
    """A model's policy, and how often it answered."""

    def __init__(self, max_attempts: int | None) -> None:
        self.max_attempts = max_attempts
        self.healthy = 0

    def mark_healthy(self) -> None:
        self.healthy += 1


class Health:
    """An availability with one policy, and a fallback where one is given."""

    def __init__(self, bench: "Bench", policy: Policy | None, fallback: str | None = None) -> None:
        self.bench, self.policy, self.fallback = bench, policy, fallback
        self.failures: list[tuple[str, str]] = []

    def select(self, key: ModelConfigKey, *, consume_attempt: bool = True) -> Selection:
        attempts = None if self.policy is None else self.policy.max_attempts
        return Selection(model="chosen", config={"of": key.model}, max_attempts=attempts)

    def context(self, model: str) -> Policy | None:
        return self.policy

    async def fall_back(
        self, model: str, error: Exception, signal: AbortSignal | None = None
    ) -> bool:
        self.failures.append((model, type(error).__name__))
        if self.fallback is None:
            return False
        self.bench.state.set_active_model(self.fallback)
        return True


class Bench:
    """A client over a scripted model, on virtual time."""

    def __init__(self, *answers: Answer, interactive: bool = False) -> None:
        self.model = ScriptedModel(*answers)
        self.clock = VirtualClock()
        self.events = CoreEvents()
        self.retries: list[RetryAttempt] = []
        self.events.subscribe(self._note)
        self.abort = AbortController()
        self.availability: Health | None = None
        self.state = SessionState(
            session_id="s",
            model="gemini-2.5-pro",
            approval_mode=ApprovalMode.DEFAULT,
            interactive=interactive,
            events=self.events,
        )

    def _note(self, event: object) -> None:
        if isinstance(event, RetryAttempt):
            self.retries.append(event)

    @property
    def elapsed_ms(self) -> int:
        return self.clock.now_ms() - VIRTUAL_EPOCH_MS

    def client(self) -> BaseLlmClient:
        return BaseLlmClient(
            generator=self.model,
            models=ModelConfigs(AccessFlags.for_auth("gemini-api-key")),
            state=self.state,
            events=self.events,
            clock=self.clock,
            rng=FixedRandom(),
            retry_fetch_errors=True,
            auth_type="gemini-api-key",
            availability=self.availability,
        )

    def request(self, **fields: Any) -> UtilityRequest:
        given: dict[str, Any] = {
            "config_key": "next-speaker-checker",
            "contents": [{"role": "user", "parts": [{"text": "q"}]}],
            "role": LlmRole.UTILITY_NEXT_SPEAKER,
            "prompt_id": "p",
            "signal": self.abort.signal,
        }
        return UtilityRequest(**given | fields)

    def json(self, **fields: Any) -> dict[str, Any]:
        return run(self.client().generate_json(self.request(**fields), SCHEMA))

    def content(self, **fields: Any) -> dict[str, Any]:
        return run(self.client().generate_content(self.request(**fields)))


def run(work: Coroutine[Any, Any, dict[str, Any]]) -> dict[str, Any]:
    with asyncio.Runner(loop_factory=virtual_loop) as runner:
        return runner.run(work)


def test_a_request_for_json_adds_a_schema_to_the_configuration() -> None:
    bench = Bench(text('{"a": 1}'))

    assert bench.json(system_instruction="be brief") == {"a": 1}
    (request,) = bench.model.requests
    assert list(request.config.items()) == [
        ("temperature", 0),
        ("topP", 1),
        ("systemInstruction", "be brief"),
        ("responseJsonSchema", SCHEMA),
        ("responseMimeType", "application/json"),
    ]
    assert (request.model, request.role, request.prompt_id, request.thread) == (
        "gemini-3-flash-preview",
        LlmRole.UTILITY_NEXT_SPEAKER,
        "p",
        "main",
    )
    assert request.contents == [{"role": "user", "parts": [{"text": "q"}]}]


def test_a_request_for_content_is_the_configuration() -> None:
    bench = Bench(text("fine"))

    assert bench.content(config_key="chat-compression-2.5-pro") == text("fine")
    (request,) = bench.model.requests
    assert (request.model, request.config) == ("gemini-2.5-pro", {})


def test_asking_does_not_change_the_active_model() -> None:
    bench = Bench(text("fine"))
    bench.content()

    assert bench.state.active_model == "gemini-2.5-pro"


@pytest.mark.parametrize(
    "answer",
    [
        '{"a": 1}',
        ' \ufeff{"a": 1}\n',
        '```json\n{"a": 1}\n```',
        '```json{"a":1}```',
    ],
)
def test_json_may_come_in_white_space_or_a_fence(answer: str) -> None:
    bench = Bench(text(answer))

    assert bench.json() == {"a": 1}
    assert len(bench.model.requests) == 1


def test_json_may_come_in_pieces() -> None:
    assert Bench(text('{"a"', ": 1}")).json() == {"a": 1}


@pytest.mark.parametrize(
    "answer",
    [
        "",
        " ",
        "no",
        '{"a": 1,}',
        '```\n{"a": 1}\n```',
        '```json\n{"a": 1}',
        "```json```",
        "NaN",
        '{"a": Infinity}',
        "[" * 100_000,
    ],
)
def test_an_answer_that_is_not_json_is_requested_again(answer: str) -> None:
    bench = Bench(text(answer), text('{"a": 1}'))

    assert bench.json() == {"a": 1}
    assert len(bench.model.requests) == 2
    assert bench.elapsed_ms == 5000


@pytest.mark.parametrize("answer", ["[1]", "null", "5", '"text"'])
def test_json_that_is_no_object_is_refused_at_once(answer: str) -> None:
    bench = Bench(text(answer))

    with pytest.raises(ModelError, match=r"^Invalid JSON response format from LLM$"):
        bench.json()
    assert len(bench.model.requests) == 1


@pytest.mark.parametrize("answer", [{}, text(""), text(" \n"), {"candidates": []}])
def test_an_empty_answer_is_requested_again(answer: dict[str, Any]) -> None:
    bench = Bench(answer, text("fine"))

    assert bench.content() == text("fine")
    assert len(bench.model.requests) == 2


def test_a_request_ends_after_five_attempts() -> None:
    bench = Bench(text(""))

    with pytest.raises(ModelError, match=r"^Failed to generate content: Retry attempts exhausted$"):
        bench.content(config_key="chat-compression-2.5-flash")
    assert len(bench.model.requests) == 5
    assert bench.elapsed_ms == 95_000
    assert bench.retries == [
        RetryAttempt(
            attempt=attempt,
            max_attempts=5,
            delay_ms=delay_ms,
            error="Error",
            model="gemini-2.5-flash",
        )
        for attempt, delay_ms in enumerate((5000, 10_000, 20_000, 30_000, 30_000), start=1)
    ]


def test_a_request_may_have_its_own_number_of_attempts() -> None:
    bench = Bench(ApiError(500, "down"))

    with pytest.raises(ModelError, match=r"^Failed to generate content: down$") as caught:
        bench.json(max_attempts=2)
    assert (type(caught.value), caught.value.name) == (ModelError, "Error")
    assert len(bench.model.requests) == 2
    assert [(retry.max_attempts, retry.error) for retry in bench.retries] == [(2, "SERVER_ERROR")]


def test_notices_of_retries_have_the_models_display_name() -> None:
    bench = Bench(text(""), text("fine"))
    bench.content(config_key="loop-detection-double-check")

    assert bench.model.requests[0].model == "gemini-3.1-pro-preview-customtools"
    assert [retry.model for retry in bench.retries] == ["gemini-3.1-pro-preview"]


def test_an_empty_limit_means_no_attempts() -> None:
    bench = Bench(text("fine"))

    with pytest.raises(ModelError, match=r"content: maxAttempts must be a positive number.$"):
        bench.content(max_attempts=0)
    assert bench.model.requests == []


def test_a_permanent_failure_is_not_retried() -> None:
    bench = Bench(ApiError(400, "bad"))

    with pytest.raises(ModelError, match=r"^Failed to generate content: bad$"):
        bench.json()
    assert len(bench.model.requests) == 1


def test_an_unresolvable_key_raises_a_config_error() -> None:
    bench = Bench(text("fine"))

    with pytest.raises(ModelConfigError):
        bench.content(config_key="")


def test_after_an_abort_the_error_is_raised_unchanged() -> None:
    bench = Bench(ApiError(400, "bad"))
    bench.model.before_answer = bench.abort.abort

    with pytest.raises(ApiError, match="bad"):
        bench.json()


def test_an_abort_ends_the_wait_between_attempts() -> None:
    bench = Bench(text(""))

    async def abort_soon() -> None:
        await bench.clock.sleep(60)
        bench.abort.abort()

    async def ask() -> dict[str, Any]:
        async with asyncio.TaskGroup() as group:
            group.create_task(abort_soon())
            with pytest.raises(AbortError):
                await bench.client().generate_content(bench.request())
        return {}

    run(ask())
    assert bench.elapsed_ms == 60
    assert len(bench.model.requests) == 1


def test_a_cancellation_without_an_abort_is_a_failure() -> None:
    bench = Bench(AbortError())

    with pytest.raises(ModelError, match=r"^Failed to generate content: The operation was aborted"):
        bench.json()


def test_availability_chooses_the_model_and_the_attempts() -> None:
    bench = Bench(text(""))
    bench.availability = Health(bench, Policy(3))

    with pytest.raises(ModelError):
        bench.content(max_attempts=2)
    assert [request.model for request in bench.model.requests] == ["chosen"] * 3
    assert [request.config for request in bench.model.requests] == [
        {"of": "next-speaker-checker"}
    ] * 3
    assert {retry.max_attempts for retry in bench.retries} == {3}
    assert bench.availability.policy is not None
    assert bench.availability.policy.healthy == 0


def test_a_model_that_answers_is_healthy() -> None:
    bench = Bench(text("fine"))
    bench.availability = Health(bench, Policy(None))
    bench.content()

    assert bench.availability.policy is not None
    assert bench.availability.policy.healthy == 1


def test_a_fallback_changes_model_and_config_between_attempts() -> None:
    bench = Bench(ApiError(404, "gone"), text("fine"), interactive=True)
    bench.availability = Health(bench, None, fallback="gemini-2.5-flash")
    bench.content()

    assert [request.model for request in bench.model.requests] == ["chosen", "gemini-2.5-flash"]
    assert bench.model.requests[1].config["thinkingConfig"] == {
        "includeThoughts": True,
        "thinkingBudget": 8192,
    }
    assert bench.availability.failures == [("chosen", "ModelNotFoundError")]


def test_a_session_without_a_user_never_falls_back() -> None:
    bench = Bench(ApiError(404, "gone"), text("fine"))
    bench.availability = Health(bench, None, fallback="gemini-2.5-flash")

    with pytest.raises(ModelError, match=r"^Failed to generate content: gone$"):
        bench.content()
    assert bench.availability.failures == []


def test_an_interactive_session_without_availability_has_no_fallback() -> None:
    bench = Bench(ApiError(404, "gone"), interactive=True)

    with pytest.raises(ModelError, match=r"^Failed to generate content: gone$"):
        bench.content()
