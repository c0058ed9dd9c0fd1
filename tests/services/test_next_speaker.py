from typing import Any

import pytest

from services.abort import AbortController, AbortError
from services.model.errors import ModelError
from services.model.generator import LlmRole
from services.model.utility import UtilityRequest
from services.next_speaker import check_next_speaker
from services.wire import Content

USER: Content = {"role": "user", "parts": [{"text": "x"}]}
ANSWER: Content = {"role": "model", "parts": [{"text": "Next, I will do more."}]}
EMPTY: Content = {"role": "model", "parts": []}
RESPONSE: Content = {
    "role": "user",
    "parts": [{"text": "t"}, {"functionResponse": {"name": "t", "response": {}}}],
}


class Chat:
    def __init__(self, curated: list[Content], shown: list[Content]) -> None:
        self.curated, self.shown = curated, shown

    def curated_history(self) -> list[Content]:
        return self.curated

    def shown_history(self) -> list[Content]:
        return self.shown


class AskedModel:
    def __init__(self, answer: dict[str, Any] | Exception) -> None:
        self.answer = answer
        self.requests: list[UtilityRequest] = []

    async def generate_json(
        self, request: UtilityRequest, schema: dict[str, Any]
    ) -> dict[str, Any]:
        assert schema["required"] == ["reasoning", "next_speaker"]
        assert schema["properties"]["next_speaker"]["enum"] == ["user", "model"]
        self.requests.append(request)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    async def generate_content(self, request: UtilityRequest) -> dict[str, Any]:
        raise AssertionError("only JSON is asked for")


async def check(chat: Chat, model: AskedModel) -> str | None:
    return await check_next_speaker(chat, model, AbortController().signal, "p")


@pytest.mark.parametrize(
    ("curated", "shown", "verdict"),
    [
        ([], [USER, RESPONSE], None),
        ([USER], [], None),
        ([USER, ANSWER], [USER, ANSWER, RESPONSE], "model"),
        ([USER], [USER, EMPTY], "model"),
        ([USER], [USER], None),
        ([USER, ANSWER, USER], [USER, ANSWER, USER], None),
    ],
)
async def test_the_history_may_decide(
    curated: list[Content], shown: list[Content], verdict: str | None
) -> None:
    model = AskedModel({"next_speaker": "model"})

    assert await check(Chat(curated, shown), model) == verdict
    assert model.requests == []


async def test_otherwise_the_model_is_asked_about_the_curated_history() -> None:
    model = AskedModel({"reasoning": "unfinished", "next_speaker": "model"})
    history = [USER, ANSWER]

    verdict = await check(Chat(history, [*history, {"role": "user", "parts": []}]), model)

    assert verdict == "model"
    (request,) = model.requests
    assert request.contents[:-1] == [USER, ANSWER]
    question = request.contents[-1]["parts"][0]["text"]
    assert question.startswith("Analyze *only* the content and structure of your immediately")
    assert question.endswith("In this case, the **'user'** should speak next.")
    assert len(question) == 1084
    assert (request.config_key, request.role, request.prompt_id) == (
        "next-speaker-checker",
        LlmRole.UTILITY_NEXT_SPEAKER,
        "p",
    )
    assert request.system_instruction is None
    assert history == [USER, ANSWER]


@pytest.mark.parametrize(
    "answer",
    [{}, {"next_speaker": "tool"}, {"next_speaker": ["user"]}, ModelError("x"), AbortError()],
)
async def test_an_answer_of_no_use_says_nothing(answer: dict[str, Any] | Exception) -> None:
    assert await check(Chat([ANSWER], [ANSWER]), AskedModel(answer)) is None


async def test_an_answer_without_a_reason_counts() -> None:
    model = AskedModel({"next_speaker": "user"})

    assert await check(Chat([ANSWER], [ANSWER]), model) == "user"
