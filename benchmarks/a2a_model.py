"""A model over HTTP that answers at once, for many sessions: `python -m benchmarks.a2a_model`.

It prints its address. Each answer is a stream of ten fragments of text.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any, Final

FRAGMENTS: Final = 10
_USAGE: Final = {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15}


def _chunk(text: str, *, last: bool) -> bytes:
    content = {"role": "model", "parts": [{"text": text}]}
    candidate: dict[str, Any] = {"content": content, "index": 0}
    document: dict[str, Any] = {"candidates": [candidate]}
    if last:
        candidate["finishReason"] = "STOP"
        document["usageMetadata"] = _USAGE
    return b"data: " + json.dumps(document).encode() + b"\r\n\r\n"


_STREAM: Final = b"".join(
    _chunk(f"fragment {number} of the answer ", last=number == FRAGMENTS)
    for number in range(1, FRAGMENTS + 1)
)
_TOKENS: Final = json.dumps({"totalTokens": 42}).encode()


async def _serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            lines = head.split(b"\r\n")
            length = next(
                (int(line[15:]) for line in lines if line.lower().startswith(b"content-length:")), 0
            )
            await reader.readexactly(length)
            streams = b"streamGenerateContent" in lines[0]
            body, kind = (
                (_STREAM, "text/event-stream") if streams else (_TOKENS, "application/json")
            )
            answer = (
                f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n\r\n"
            )
            writer.write(answer.encode() + body)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main() -> None:
    """Serve until the process is killed."""
    server = await asyncio.start_server(_serve, "127.0.0.1", 0, backlog=1024)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
