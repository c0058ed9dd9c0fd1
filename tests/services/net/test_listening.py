from __future__ import annotations

import asyncio
import socket

from services.net.loopback import serving


def test_a_connection_sends_each_write_at_once() -> None:
    at_once: list[int] = []

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        accepted: socket.socket = writer.get_extra_info("socket")
        at_once.append(accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()

    async def connect() -> None:
        async with serving(handle) as port:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            await reader.read()
            writer.close()
            await writer.wait_closed()

    asyncio.run(connect())
    assert at_once == [1]
