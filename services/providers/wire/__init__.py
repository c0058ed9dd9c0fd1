"""A server of any provider's API inside this process, over the model seam.

An agent that calls a model through a provider's SDK is put over the seam without a change of its
code: `WireTransport` takes the place of the network under the real client (google-genai, openai,
anthropic, or any other program of httpx or httpx2). It reads each request in the provider's format,
asks a `ContentGenerator`, and writes the answer in that format, streamed where the request asks for
a stream. Whatever stands behind the seam answers: the steps of a cassette, recorded traffic, or a
model of another provider. Requests are observed, matched and timed as those of our own runtimes.

    transport = WireTransport(services.content_generator, clock=services.clock)
    with under_clients(transport):          # for each client of httpx and httpx2 in this context
        async for event in agent(prompt):
            ...
    client = AsyncOpenAI(http_client=httpx2.AsyncClient(transport=transport))    # or for one client

`answering(steps)` makes a transport from the steps of a cassette, for a test without the harness.

The path of a request names the API: `…/chat/completions` and `…/embeddings` (OpenAI and compatible
servers), `…/v1/messages` (Anthropic), `…/models/MODEL:METHOD` (Gemini). Requests elsewhere go on to
the network under `under_clients`, and are refused with 404 by a client of its own.

    transport.py      WireTransport
    steps.py          answering
    under_clients.py  under_clients

"""
