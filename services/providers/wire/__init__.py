"""A server of any provider's API inside this process, over the model seam.

`WireServer` reads a request in the provider's format, asks a `ContentGenerator`, and writes the
answer in that format, streamed where the request asks for a stream. `WireTransport` puts it in the
place of the network under the real client of a provider (google-genai, openai, anthropic, or any
other program of httpx or httpx2). Whatever stands behind the seam answers: the steps of a cassette,
recorded traffic, or a model of another provider.

    transport = WireTransport(WireServer(services.content_generator, clock=services.clock))
    client = AsyncOpenAI(http_client=httpx2.AsyncClient(transport=transport))

    network = httpx.AsyncClient(transport=transport)
    client = genai.Client(http_options={"httpx_async_client": network})

`answering(steps)` makes a transport from the steps of a cassette, for a test without the harness.

The path of a request names the API: `…/chat/completions` and `…/embeddings` (OpenAI and compatible
servers), `…/v1/messages` (Anthropic), `…/models/MODEL:METHOD` (Gemini). Others get 404.

    server.py         WireServer, which knows nothing of clients
    transport.py      WireTransport
    steps.py          answering
"""
