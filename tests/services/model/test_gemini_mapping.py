"""Which name the backend is asked for."""

import pytest

from services.abort import AbortController
from services.model.generator import EmbedRequest, LlmRole, ModelRequest
from services.model.mapping import BackendNames, MappedContentGenerator
from services.model.names import AccessFlags


class Backend:
    def __init__(self):
        self.requests = []

    async def generate_content(self, request):
        self.requests.append(request)

    generate_content_stream = count_tokens = embed_content = generate_content


def asked(model):
    return ModelRequest(
        model=model,
        contents=(),
        role=LlmRole.MAIN,
        prompt_id="p",
        signal=AbortController().signal,
    )


@pytest.mark.parametrize(
    ("model", "access", "code_assist", "wire"),
    [
        ("gemini-3.5-flash", AccessFlags(), False, "gemini-3.5-flash"),
        ("gemini-3.5-flash", AccessFlags(), True, "gemini-3-flash"),
        (
            "models/gemini-3.5-flash",
            AccessFlags(latest_flash=True),
            True,
            "models/gemini-3.8-flash",
        ),
        ("gemini-2.5-pro", AccessFlags(latest_flash=True), True, "gemini-2.5-pro"),
    ],
)
async def test_each_call_asks_for_the_backends_name(model, access, code_assist, wire):
    backend = Backend()
    generator = MappedContentGenerator(backend, BackendNames(access, code_assist=code_assist))
    request = asked(model)
    await generator.generate_content(request)
    await generator.generate_content_stream(request)
    await generator.count_tokens(request)
    await generator.embed_content(
        EmbedRequest(model=model, contents=(), signal=AbortController().signal)
    )
    assert [each.model for each in backend.requests] == [wire] * 4
    assert request.model == model
    assert (backend.requests[0] is request) == (wire == model)


async def test_the_launched_models_are_read_for_each_request():
    backend, flags = Backend(), [AccessFlags(), AccessFlags(latest_flash=True)]
    generator = MappedContentGenerator(backend, BackendNames(lambda: flags.pop(0)))
    await generator.count_tokens(asked("gemini-3.5-flash"))
    await generator.count_tokens(asked("gemini-3.5-flash"))
    assert [each.model for each in backend.requests] == ["gemini-3.5-flash", "gemini-3.8-flash"]
