"""A request that the client sends otherwise than asked is found; its usual changes are none."""

import json

import httpx
import pytest

from harness.http.sent import sent_otherwise
from harness.replay.gemini_client import HEADERS, local_client
from services.abort import AbortController
from services.clock import VirtualClock
from services.model.errors import ApiError
from services.model.generator import LlmRole, ModelRequest
from services.model.replay.steps import StepMethod

BASE = "https://recording.invalid"
ASKED = ModelRequest(
    model="m",
    contents=[
        {
            "role": "user",
            "parts": [{"text": "a"}, {"inlineData": {"mimeType": "a/b", "data": "+/8="}}],
        },
        {
            "role": "model",
            "parts": [
                {
                    "functionCall": {"id": "1", "name": "f", "args": {"some_key": 1.5}},
                    "thoughtSignature": "+/8=",
                }
            ],
        },
    ],
    config={
        "systemInstruction": "s",
        "temperature": 1,
        "thinkingConfig": {"includeThoughts": True},
        "tools": [
            {
                "functionDeclarations": [
                    {"name": "f", "description": "d", "parametersJsonSchema": {"some_key": {}}}
                ]
            }
        ],
    },
    role=LlmRole.MAIN,
    prompt_id="p",
    signal=AbortController().signal,
)


async def sent(method=StepMethod.STREAM):
    """The request that google-genai makes of `ASKED`."""
    requests = []

    def refuse(request):
        requests.append(request)
        return httpx.Response(400, json={"error": {"code": 400, "message": "no"}})

    client = local_client(
        BASE, VirtualClock(), httpx.AsyncClient(transport=httpx.MockTransport(refuse))
    )
    ask = (
        client.count_tokens if method is StepMethod.COUNT_TOKENS else client.generate_content_stream
    )
    with pytest.raises(ApiError):
        await ask(ASKED)
    return requests[0]


def found(request, method=StepMethod.STREAM):
    return list(sent_otherwise(ASKED, method, request, BASE, HEADERS))


@pytest.mark.parametrize("method", [StepMethod.STREAM, StepMethod.COUNT_TOKENS])
async def test_what_the_client_always_changes_is_no_difference(method):
    assert found(await sent(method), method) == []


async def test_the_address_the_headers_and_the_deadlines_are_compared():
    request = await sent()
    request.url = request.url.copy_with(host="elsewhere.invalid")
    request.headers["x-goog-api-key"] = "another"
    del request.headers["x-of-user"]
    request.extensions["timeout"] = {"read": 1.0}
    address = "v1beta/models/m:streamGenerateContent?alt=sse"
    assert found(request) == [
        f"the URL is https://elsewhere.invalid/{address} instead of {BASE}/{address}",
        "the header x-goog-api-key is 'another' instead of 'local'",
        "the header x-of-user is None instead of 'a header that the user configured'",
        (
            "the deadlines are {'read': 1.0} instead of "
            "{'connect': 10.0, 'pool': 10.0, 'read': 300.0, 'write': 300.0}"
        ),
    ]


def without_a_part(body):
    del body["contents"][0]["parts"][1]


def with_another_signature(body):
    body["contents"][1]["parts"][0]["thoughtSignature"] = "AAAA"


def without_a_declaration(body):
    body["tools"] = []


def with_another_argument(body):
    args = body["contents"][1]["parts"][0]["functionCall"]["args"]
    args["someKey"] = args.pop("some_key")


def without_thoughts(body):
    del body["generationConfig"]["thinkingConfig"]


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (without_a_part, "contents[0].parts[1]"),
        (with_another_signature, "contents[1].parts[0].thoughtSignature"),
        (without_a_declaration, "tools[0]"),
        (with_another_argument, "contents[1].parts[0].functionCall.args.someKey"),
        (without_thoughts, "generationConfig.thinkingConfig"),
    ],
)
async def test_each_part_of_the_body_is_compared(change, place):
    request = await sent()
    body = json.loads(request.content)
    change(body)
    changed = httpx.Request(
        "POST", request.url, headers=request.headers, json=body, extensions=request.extensions
    )
    assert found(changed)[0].startswith(f"{place} is ")
