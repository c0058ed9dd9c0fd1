"""What a recording keeps, and when it is written."""

import json
from contextlib import aclosing

import pytest

from services.abort import AbortController
from services.model.errors import ApiError
from services.model.generator import EmbedRequest, LlmRole, ModelRequest
from services.model.recording import RecordingContentGenerator

SHARED = {"text": "ü"}
CHUNK = {
    "candidates": [{"content": {"role": "model", "parts": [SHARED, SHARED]}}],
    "usageMetadata": {"totalTokenCount": 1.0},
    "modelVersion": "left out",
}
KEPT = {"candidates": CHUNK["candidates"], "usageMetadata": {"totalTokenCount": 1}}


class Scripted:
    """Answers with what it was given; an exception among the chunks is raised."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.closed = 0

    async def generate_content(self, request):
        return self.answers.pop(0)

    async def generate_content_stream(self, request):
        return self.chunks(self.answers.pop(0))

    async def chunks(self, chunks):
        try:
            for chunk in chunks:
                if isinstance(chunk, Exception):
                    raise chunk
                yield chunk
        finally:
            self.closed += 1

    async def count_tokens(self, request):
        return self.answers.pop(0)

    async def embed_content(self, request):
        return self.answers.pop(0)


def request():
    return ModelRequest(
        model="m",
        contents=(),
        role=LlmRole.MAIN,
        prompt_id="p",
        signal=AbortController().signal,
    )


def lines(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


async def test_each_completed_call_is_one_line_of_upstreams_format(tmp_path):
    path = tmp_path / "a.responses"
    counted = {"totalTokens": 4, "cachedContentTokenCount": None, "other": 1}
    inner = Scripted(CHUNK, [CHUNK, {"promptFeedback": {}}], counted, {"embeddings": [], "x": 1})
    recording = RecordingContentGenerator(inner, path)
    assert await recording.generate_content(request()) is CHUNK
    stream = await recording.generate_content_stream(request())
    async with aclosing(stream):
        assert await anext(stream) is CHUNK
        assert len(lines(path)) == 1
        assert [chunk async for chunk in stream] == [{"promptFeedback": {}}]
    assert await recording.count_tokens(request()) is counted
    await recording.embed_content(
        EmbedRequest(model="m", contents=(), signal=AbortController().signal)
    )
    assert lines(path) == [
        {"method": "generateContent", "response": KEPT},
        {"method": "generateContentStream", "response": [KEPT, {}]},
        {"method": "countTokens", "response": {"totalTokens": 4}},
        {"method": "embedContent", "response": {"embeddings": []}},
    ]


async def test_text_is_compact_and_a_shared_object_is_written_twice(tmp_path):
    path = tmp_path / "a.responses"
    await RecordingContentGenerator(Scripted(CHUNK), path).generate_content(request())
    text = path.read_text("utf-8")
    assert '"parts":[{"text":"ü"},{"text":"ü"}]' in text
    assert "[Circular]" not in text
    assert text.endswith("}\n")


async def test_an_incomplete_stream_is_not_recorded(tmp_path):
    path = tmp_path / "a.responses"
    inner = Scripted([CHUNK, CHUNK], [CHUNK, ApiError(500, "no")])
    recording = RecordingContentGenerator(inner, path)
    stream = await recording.generate_content_stream(request())
    await anext(stream)
    await stream.aclose()
    broken = await recording.generate_content_stream(request())
    with pytest.raises(ApiError):
        assert [chunk async for chunk in broken]
    assert not path.exists()
    assert inner.closed == 2
