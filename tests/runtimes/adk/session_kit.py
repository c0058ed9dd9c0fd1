"""Conversations of one agent whose `session.events` are read, for tests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import pytest
from google.adk.events.event import Event
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.sessions.session import Session

from runtimes.adk.agent import USER_ID, AdkAgentProtocol
from runtimes.adk.root import APP_NAME
from runtimes.adk.runtime import AdkRuntime
from runtimes.adk.session_events import SettledEvent
from runtimes.chat_runtime import ChatRuntime
from services.model.sdk_contents import wire_of

MASKING = {"masking_protection_tokens": 100, "masking_min_prunable_tokens": 100}
LONG = "".join(f"line {number}\n" for number in range(3000))


def texts(events: Iterable[Event]) -> list[str]:
    return [
        part.text
        for event in events
        for part in (event.content.parts if event.content else None) or ()
        if part.text
    ]


def kinds(events: Iterable[Event]) -> list[str]:
    found = []
    for event in events:
        assert event.content is not None
        parts = wire_of(event.content)["parts"]
        found.append(f"{event.author}:{'+'.join(next(iter(part)) for part in parts)}")
    return found


def said(event: Event) -> Any:
    """The content of an event, as the API's JSON."""
    assert event.content is not None
    return wire_of(event.content)


async def session_of(played: Any, runtime: Any) -> Session:
    found = await runtime._sessions.get_session(
        app_name=APP_NAME, user_id=USER_ID, session_id=played.services.state.session_id
    )
    assert found is not None
    return found


@pytest.fixture
def made(monkeypatch) -> list[SettledEvent]:
    """Every settled event that was made since the test began, other than for the transcript."""
    found: list[SettledEvent] = []
    make = SettledEvent.made

    def counted(self: SettledEvent) -> Event:
        found.append(self)
        return make(self)

    monkeypatch.setattr(SettledEvent, "made", counted)
    monkeypatch.setattr(AdkRuntime, "transcript", ChatRuntime.transcript)
    return found


@pytest.fixture
def register(monkeypatch) -> Callable[..., None]:
    """Has every agent made from now on get these plugins too."""

    def register(*mine: BasePlugin) -> None:
        init: Any = AdkAgentProtocol.__init__

        def added(self, *args, plugins, **options):
            init(self, *args, plugins=(*plugins, *mine), **options)

        monkeypatch.setattr(AdkAgentProtocol, "__init__", added)

    return register


Talk = Callable[..., Awaitable[None]]


class Conversed:
    """Runs a script in which messages are sent to one agent."""

    def __init__(self, kit: Any) -> None:
        self._kit = kit

    def __call__(self, steps: list[Any], script: Callable[..., Awaitable[Any]], **options) -> Any:
        result: list[Any] = []

        async def go(played, runtime):
            (played.services.workspace.root / "long.txt").write_text(LONG)
            agent = runtime.agent()
            self._kit.listen(agent, played)

            async def say(*words: str) -> None:
                for each in words:
                    await agent.send(self._kit.message(each))
                    await runtime.settled()

            result.append(await script(played, runtime, say))

        self._kit.run(go, steps, **options)
        return result[0]


@pytest.fixture
def converse(kit) -> Conversed:
    return Conversed(kit)


def answers(kit: Any, *words: str) -> list[Any]:
    return [[kit.text(each, "STOP")] for each in words]


def reading(kit: Any) -> list[Any]:
    """A call, as a step of the model's script."""
    return [kit.parts_chunk(kit.call("read_file", {"file_path": "long.txt"}), finish="STOP")]


class Stamping(BasePlugin):
    """Writes metadata and state onto events."""

    def __init__(self) -> None:
        super().__init__("stamping")
        self.count = 0
        self.stamped: list[tuple[str, str, str, Any]] = []

    async def on_event_callback(self, *, invocation_context, event):
        if not event.partial:
            self.count += 1
            event.custom_metadata = {"number": self.count}
            stamp = (event.id, event.invocation_id, event.author, event.custom_metadata)
            self.stamped.append(stamp)


def stamps(events: Iterable[Event]) -> list[tuple[str, str, str, Any]]:
    return [(e.id, e.invocation_id, e.author, e.custom_metadata) for e in events]
