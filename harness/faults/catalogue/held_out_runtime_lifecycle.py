"""Faults of the runtimes, written after the corpus: sends, aborts, and what clients are told."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from agent_protocol.agent import MessageSend
from harness.faults.altered import Altered
from harness.faults.fault import Behaviour, Fault, Site
from harness.faults.patching import replaced

__all__ = ["FAULTS"]

_legacy = partial(Fault, site=Site.LEGACY, behaviour=Behaviour.LIFECYCLE, held_out=True)
_adk = partial(Fault, site=Site.ADK, behaviour=Behaviour.LIFECYCLE, held_out=True)


def _aborting_first(send: Any) -> Any:
    async def broken(self: Any, payload: Any) -> Any:
        await self.abort()
        return await send(self, payload)

    return broken


def _one_controller(init: Any) -> Any:
    def broken(self: Any, services: Any, client: Any, *args: Any) -> None:
        init(self, services, client, *args)
        client.controller = self.controller = getattr(client, "controller", self.controller)

    return broken


def _telling_refused(send: Any) -> Any:
    async def broken(self: Any, payload: Any) -> Any:
        active = self._stream
        if active is not None and active.active and isinstance(payload, MessageSend):
            type(active)(self._services, self._log).emit_user_message(payload)
        return await send(self, payload)

    return broken


def _forgetful_agents(agent: Any) -> Any:
    def broken(self: Any, **kwargs: Any) -> Any:
        if self._agents:
            self._chats = self._conversation = type(self._conversation)(self._services)
            self._conversation.start()
            self._tools = type(self._tools)(self._conversation.declarations)
        return agent(self, **kwargs)

    return broken


def _one_text(to_parts: Any) -> Any:
    def broken(content: Any) -> Any:
        joined: list[Any] = []
        for part in to_parts(content):
            if joined and part.keys() == joined[-1].keys() == {"text"}:
                joined[-1] = {"text": joined[-1]["text"] + part["text"]}
            else:
                joined.append(part)
        return joined

    return broken


def _as_sent(tell: Any) -> Any:
    def broken(self: Any, payload: Any) -> None:
        tell(self, Altered(payload, display_content=None))

    return broken


def _unrecorded(results: Any) -> Any:
    async def broken(self: Any, stream: Any, run: Any) -> Any:
        kept = self._conversation
        self._conversation = Altered(kept, record_tool_calls=lambda model, completed: None)
        try:
            return await results(self, stream, run)
        finally:
            self._conversation = kept

    return broken


FAULTS: Final = (
    _legacy(
        name="refused-send-aborts",
        says="A send that is refused because a stream is active aborts that stream.",
        origin="a client's habit of aborting before it sends, moved a layer down",
        breaks=lambda: replaced("runtimes.legacy.agent:LegacyAgentProtocol.send", _aborting_first),
    ),
    _legacy(
        name="abort-outlives-its-stream",
        says="After an abort every later send of the conversation ends as aborted.",
        origin="one abort controller per conversation, which cannot be armed again",
        breaks=lambda: replaced("runtimes.legacy.agent:_Stream.__init__", _one_controller),
    ),
    _adk(
        name="refused-send-told",
        says="The message of a send that is refused is told to clients all the same.",
        origin="a check that stands behind what it should prevent",
        breaks=lambda: replaced("runtimes.adk.agent:AdkAgentProtocol.send", _telling_refused),
    ),
    _adk(
        name="new-agent-new-conversation",
        says="Another agent of a session begins with nothing but the environment.",
        origin="google-adk's sessions, one of which goes with each runner",
        breaks=lambda: replaced("runtimes.adk.runtime:AdkRuntime.agent", _forgetful_agents),
    ),
    _adk(
        name="texts-of-a-message-joined",
        says="A message of several texts reaches the model as one.",
        origin="a message that was a string before it became parts",
        breaks=lambda: replaced("runtimes.adk.agent:content_to_parts", _one_text),
    ),
    _adk(
        name="message-told-as-sent",
        says="Clients are told what was sent where something else was to be shown.",
        origin="a field of the send that only the recording seemed to need",
        breaks=lambda: replaced("runtimes.adk.stream:Stream.emit_user_message", _as_sent),
    ),
    _adk(
        name="results-outside-a-round-unrecorded",
        behaviour=Behaviour.RECORDING,
        says="Calls of an answer that was given up are run and answered, and not recorded.",
        origin="two paths to one batch, of which one was forgotten",
        breaks=lambda: replaced("runtimes.adk.continuation:Continuation._results", _unrecorded),
    ),
)
