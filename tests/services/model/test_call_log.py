import logging
from contextlib import aclosing

import pytest

from services.abort import AbortController, AbortError
from services.clock import VirtualClock
from services.model.call_log import ModelCallLog
from services.model.errors import ApiError
from services.model.generator import LlmRole, ModelRequest
from services.model.metering import metered

KEY = "AIzaSyA-0123456789_0123456789_012345678"


class Answers:
    """Yields chunks, then raises the error, if there is one."""

    def __init__(self, *chunks, error=None, early=False):
        self.chunks, self.error, self.early = chunks, error, early

    async def generate_content(self, request):
        if self.error:
            raise self.error
        return self.chunks[0]

    async def count_tokens(self, request):
        raise NotImplementedError

    async def embed_content(self, request):
        raise NotImplementedError

    async def generate_content_stream(self, request):
        if self.error and self.early:
            raise self.error
        return self.stream()

    async def stream(self):
        for chunk in self.chunks:
            yield chunk
        if self.error:
            raise self.error


def asked(prompt_id="s########2"):
    return ModelRequest(
        model="gemini-x",
        contents=[{"role": "user", "parts": [{"text": f"my key is {KEY}"}]}],
        role=LlmRole.MAIN,
        prompt_id=prompt_id,
        signal=AbortController().signal,
    )


def logged(model, logger):
    return metered(model, [ModelCallLog(logger)], VirtualClock())


@pytest.fixture
def logger(caplog):
    caplog.set_level(logging.DEBUG, "model")
    return logging.getLogger("model")


async def test_a_stream_passes_unchanged_and_is_logged_at_its_end(logger, caplog):
    chunks = ({"a": 1}, {"usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 2}})
    generator = logged(Answers(*chunks), logger)
    stream = await generator.generate_content_stream(asked())
    async with aclosing(stream):
        assert [chunk async for chunk in stream] == list(chunks)
    question, answer = caplog.records
    assert question.getMessage() == "api_request generateContentStream gemini-x"
    assert (question.prompt_id, question.role, question.n) == ("s########2", "main", 1)
    assert (answer.chunks, answer.input_tokens, answer.output_tokens) == (2, 3, 2)
    assert KEY not in caplog.text


@pytest.mark.parametrize("early", [True, False])
async def test_a_failure_is_raised_unchanged_and_logged_without_its_secrets(logger, caplog, early):
    error = ApiError(403, f'{{"error":{{"code":403,"message":"key {KEY} is blocked"}}}}')
    generator = logged(Answers(error=error, early=early), logger)
    with pytest.raises(ApiError) as caught:
        assert [chunk async for chunk in await generator.generate_content_stream(asked())]
    assert caught.value is error
    record = caplog.records[-1]
    assert record.levelno == logging.WARNING
    assert (record.error_type, record.error_status) == ("ApiError", 403)
    assert "x is blocked" in record.getMessage()
    assert KEY not in caplog.text


@pytest.mark.parametrize("early", [True, False])
async def test_an_abort_is_not_logged_as_a_failure(logger, caplog, early):
    generator = logged(Answers(error=AbortError(), early=early), logger)
    with pytest.raises(AbortError):
        assert [chunk async for chunk in await generator.generate_content_stream(asked())]
    with pytest.raises(AbortError):
        await generator.generate_content(asked())
    assert {record.levelno for record in caplog.records} == {logging.DEBUG}
