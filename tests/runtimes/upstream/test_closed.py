"""A session of the core that is over takes no more orders."""

import asyncio
from typing import Any, cast

from runtimes.upstream.connection import Connection
from runtimes.upstream.runtime import UpstreamRuntime
from services.bundle import Services


class Orders:
    """A connection that keeps the names of what it is asked for."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.handlers: dict[str, Any] = {}

    def order(self, name: str, **arguments: Any) -> None:
        self.names.append(name)

    async def command(self, name: str, **arguments: Any) -> dict[str, Any]:
        self.names.append(name)
        return {}

    async def until_idle(self) -> None:
        """It is idle at once."""


def test_a_hint_after_the_end_is_not_sent_to_a_core_without_a_session() -> None:
    orders = Orders()
    runtime = UpstreamRuntime(
        cast("Connection", orders), cast("Services", None), {}, on_abort=lambda: None
    )

    runtime.hint("before", "background_completion")
    asyncio.run(runtime.close())
    runtime.hint("after", "background_completion")

    assert orders.names == ["hint", "close"]
