"""`LocalSessionInvocation`: an agent run as a session that is sent its inputs.

Source: core `agents/local-session-invocation.ts`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from agent_protocol.agent import MessageSend, UpdateSend
from agent_protocol.content import TextPart
from services.subagents.child import ChildAgent
from services.subagents.child_run import LocalInvocation
from services.wire import js_text

__all__ = ["LocalSessionInvocation"]

_QUERY = "query"


class LocalSessionInvocation(LocalInvocation):
    """Runs with `experimental.adk.agentSessionSubagentEnabled` on. Shows what came last."""

    newest: ClassVar[int | None] = 3
    typed: ClassVar[bool] = True

    async def begin(self, child: ChildAgent) -> None:
        """Send `child` the inputs: all but the query first, then the query as a message."""
        others = {key: value for key, value in self.params.items() if key != _QUERY}
        given = self.params.get(_QUERY)
        if others:
            await child.send(UpdateSend(config=others))
        query = "" if given is None else js_text(given)
        await child.send(MessageSend(content=(TextPart(text=query),)))

    def data(self, child: ChildAgent | None) -> Mapping[str, Any] | None:
        """Nothing."""
        return None
