import asyncio

import pytest

from services.abort import AbortController
from services.clock import VirtualClock
from services.model.configs import ModelConfigs
from services.model.errors import ModelError
from services.model.generator import ChunkStream, EmbedRequest, ModelRequest
from services.model.names import AccessFlags
from services.routing.decision import RoutingContext, RoutingDecision
from services.routing.instructions import LOCAL_REMINDER
from services.routing.local import GemmaClassifierStrategy, flattened
from services.state import ApprovalMode, CoreEvents, SessionState
from services.wire import JsonObject


class Endpoint:
    """A local model that gives one text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.requests: list[ModelRequest] = []

    async def generate_content(self, request: ModelRequest) -> JsonObject:
        self.requests.append(request)
        return {"candidates": [{"content": {"role": "model", "parts": [{"text": self.text}]}}]}

    async def generate_content_stream(self, request: ModelRequest) -> ChunkStream:
        raise NotImplementedError

    async def count_tokens(self, request: ModelRequest) -> JsonObject:
        raise NotImplementedError

    async def embed_content(self, request: EmbedRequest) -> JsonObject:
        raise NotImplementedError


def decide(endpoint: Endpoint | None, model: str = "gemma3-1b-gpu-custom") -> object:
    strategy = GemmaClassifierStrategy(
        models=ModelConfigs(AccessFlags.for_auth("gemini-api-key")),
        state=SessionState(
            session_id="s",
            model="auto",
            approval_mode=ApprovalMode.DEFAULT,
            interactive=False,
            events=CoreEvents(),
        ),
        clock=VirtualClock(),
        generator=endpoint,
        model=model,
    )
    context = RoutingContext(
        history=[
            {"role": "user", "parts": [{"text": "a"}, {"text": "b"}]},
            {"role": "model", "parts": [{"functionCall": {"name": "t"}}]},
            {"role": "model", "parts": [{"inlineData": {}}]},
        ],
        request=[{"text": "c"}, {"text": "d"}],
        signal=AbortController().signal,
    )
    return asyncio.run(strategy.route(context))


def test_the_conversation_is_asked_about_as_one_text() -> None:
    endpoint = Endpoint('{"reasoning": "r", "model_choice": "flash"}')
    decision = decide(endpoint)
    [request] = endpoint.requests
    [content] = request.contents

    assert decision == RoutingDecision(
        model="gemini-3.8-flash", source="GemmaClassifier", reasoning="r"
    )
    assert content["parts"][0]["text"] == (
        "You are provided with a **Chat History** and the user's **Current Request** below.\n\n"
        "#### Chat History:\na\nb\n\n"
        '#### Current Request:\n"c\n\nd"\n'
        f"\n\n{LOCAL_REMINDER}"
    )
    assert (request.model, request.config["maxOutputTokens"], request.config["temperature"]) == (
        "gemma3-1b-gpu-custom",
        256,
        0,
    )


def test_turns_are_set_apart() -> None:
    turn = {"role": "user", "parts": [{"text": "a"}]}

    assert "#### Chat History:\na\n\na\n\n####" in flattened([turn, turn, turn])


@pytest.mark.parametrize("text", ["", "[]", "no json", '{"model_choice": "flash"}'])
def test_an_unusable_answer_decides_nothing(text: str) -> None:
    assert decide(Endpoint(text)) is None


def test_only_the_tested_model_is_asked() -> None:
    endpoint = Endpoint("{}")

    with pytest.raises(ModelError, match="Only gemma3-1b-gpu-custom has been tested"):
        decide(endpoint, "other")
    with pytest.raises(ModelError, match="no endpoint"):
        decide(None)
    assert endpoint.requests == []
