"""Session state and session events, as callbacks read and write them."""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence
from typing import Any, Final

from google.adk.events.event import Event
from google.adk.events.event_actions import EventActions
from google.adk.sessions.base_session_service import GetSessionConfig

from parity_tests.adk_probes.observing import said
from parity_tests.adk_probes.probe import (
    SAME_HISTORY,
    Noting,
    Operation,
    Probe,
    calls,
    chunk,
    text,
)
from parity_tests.adk_probes.watching import kinds_of
from runtimes.chat_runtime import ChatRuntime
from runtimes.contract import ConversationCommands, Runtime

__all__ = ["GROUP", "PROBES"]

GROUP: Final = "Session state and session events"

_CALL: Final = calls(("read_file", {"file_path": "a.txt"}))
_TURNS: Final = (_CALL, text("it is alpha"))
_LONG: Final = "".join(f"line {number}\n" for number in range(1500))
_MASKING: Final = {"masking_protection_tokens": 100, "masking_min_prunable_tokens": 100}


class ModelState(Noting):
    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        self.note(callback_context.state.to_dict())
        callback_context.state["asked"] = (callback_context.state.get("asked") or 0) + 1

    async def after_model_callback(self, *, callback_context: Any, llm_response: Any) -> None:
        if not llm_response.partial:
            callback_context.state["answered"] = (callback_context.state.get("answered") or 0) + 1


class ToolState(Noting):
    async def before_tool_callback(self, *, tool: Any, tool_args: Any, tool_context: Any) -> None:
        tool_context.state["begun"] = tool_context.state.get("begun", 0) + 1

    async def after_tool_callback(
        self, *, tool: Any, tool_args: Any, tool_context: Any, result: Any
    ) -> None:
        tool_context.state["ended"] = tool_context.state["begun"]
        tool_context.state["temp:scratch"] = "not kept"


class AgentState(Noting):
    async def before_agent_callback(self, *, agent: Any, callback_context: Any) -> None:
        callback_context.state["runs"] = callback_context.state.get("runs", 0) + 1

    async def after_agent_callback(self, *, agent: Any, callback_context: Any) -> None:
        self.note(callback_context.state.to_dict())
        callback_context.state["over"] = callback_context.state["runs"]


class AcrossCallbacks(Noting):
    async def before_agent_callback(self, *, agent: Any, callback_context: Any) -> None:
        callback_context.state["user:name"] = "Ada"

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        self.note(callback_context.state.get("user:name"), callback_context.state.get("file"))

    async def before_tool_callback(self, *, tool: Any, tool_args: Any, tool_context: Any) -> None:
        self.note(tool_context.state.get("user:name"))
        tool_context.state["file"] = tool_args["file_path"]


class Events(Noting):
    """Notes `session.events` before each request, read in one of the ways that there are."""

    def __init__(self, way: str) -> None:
        super().__init__("events")
        self._way = way

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        self.note(_read(callback_context.session, self._way))


class JoinedEvents(Noting):
    """Notes `session.events` with those of one speaker that follow each other as one.

    The stock session goes on from the history that a request carried, where they are one turn.
    """

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        joined: list[Any] = []
        for author, (role, words), kinds in _read(callback_context.session, "iteration"):
            if joined and joined[-1][:2] == [author, role]:
                joined[-1][2] += words
                joined[-1][3] += kinds
            else:
                joined.append([author, role, [*words], [*kinds]])
        self.note(joined)


def _read(session: Any, way: str) -> Any:
    events = session.events
    if way == "iteration":
        found = [event for event in events]  # noqa: C416 - the way that is probed
    elif way == "list":
        found = list(events)
    elif way == "index":
        found = [events[index] for index in range(len(events))]
    elif way == "slice":
        found = [*events[:1], *events[1:-1], *events[1:][-1:]]
    elif way == "reversed":
        found = list(reversed(events))[::-1]
    elif way == "deepcopy":
        found = copy.deepcopy(session).events
    else:
        dumped = session.model_dump(mode="json")["events"]
        return [[each["author"], (each["content"] or {}).get("role")] for each in dumped]
    return [
        [event.author, *said([event.content]), kinds_of(event.content)]
        for event in found
        if event.content and event.content.parts
    ]


class Metadata(Noting):
    """Adds metadata to each event, and reads it in the next invocation."""

    async def before_run_callback(self, *, invocation_context: Any) -> None:
        events = invocation_context.session.events
        self.note([event.custom_metadata for event in events if event.author != "user"])
        ids = [event.invocation_id for event in events]
        self.note("invocations", len(set(ids)), "events", len({event.id for event in events}))

    async def on_event_callback(self, *, invocation_context: Any, event: Any) -> Any:
        if event.partial:
            return None
        event.custom_metadata = {"kinds": kinds_of(event.content)}
        return event


class InPlace(Noting):
    """Notes a value of the state, and adds to it in place: no event says so."""

    async def before_agent_callback(self, *, agent: Any, callback_context: Any) -> None:
        names = callback_context.state.get("names")
        if names is None:
            callback_context.state["names"] = ["a"]
        else:
            self.note([*names])
            names.append("b")


class BeforeTheMessage(Noting):
    """Appends an event that sets state before that of the user's message."""

    async def on_user_message_callback(self, *, invocation_context: Any, user_message: Any) -> None:
        context = invocation_context
        event = Event(
            author="probe",
            invocation_id=context.invocation_id,
            actions=EventActions(state_delta={"message": user_message.parts[0].text}),
        )
        await context.session_service.append_event(context.session, event)

    async def before_model_callback(self, *, callback_context: Any, llm_request: Any) -> None:
        events = callback_context.session.events
        self.note([[event.author, kinds_of(event.content)] for event in events])


class Copied(Noting):
    """Takes a copy of the session with its last events, and appends to that."""

    async def before_run_callback(self, *, invocation_context: Any) -> None:
        session, service = invocation_context.session, invocation_context.session_service
        ids = {"app_name": session.app_name, "user_id": session.user_id}
        copied = await service.get_session(
            **ids, session_id=session.id, config=GetSessionConfig(num_recent_events=2)
        )
        state = {"copies": copied.state.get("copies", 0) + 1}
        actions = EventActions(state_delta=state)
        await service.append_event(copied, Event(author="copier", actions=actions))
        self.note([event.author for event in copied.events], dict(copied.state))
        whole = await service.get_session(**ids, session_id=session.id)
        self.note([event.author for event in whole.events], dict(whole.state))


class Redelivered(Noting):
    """Appends an event twice, the second time as an equal copy, as after a lost answer."""

    async def after_agent_callback(self, *, agent: Any, callback_context: Any) -> None:
        context = callback_context._invocation_context
        session, service = context.session, context.session_service
        actions = EventActions(state_delta={"sent": len(session.events)})
        event = Event(author="sender", actions=actions)
        for each in (event, event.model_copy(deep=True)):
            self.note((await service.append_event(session, each)).id == event.id)
        self.note([[each.author, kinds_of(each.content)] for each in session.events])


class Sessions(Noting):
    """Makes another session and deletes it, then the one of the invocation."""

    async def after_run_callback(self, *, invocation_context: Any) -> None:
        session, service = invocation_context.session, invocation_context.session_service
        ids = {"app_name": session.app_name, "user_id": session.user_id}
        await service.create_session(**ids, session_id="other", state={"a": 1})
        for name in ("other", session.id):
            found = await service.get_session(**ids, session_id=name)
            listed = await service.list_sessions(**ids)
            self.note(dict(found.state), len(found.events), len(listed.sessions))
            await service.delete_session(**ids, session_id=name)
            self.note(await service.get_session(**ids, session_id=name))


def _commands(runtime: Runtime) -> ConversationCommands:
    assert isinstance(runtime, ConversationCommands)
    return runtime


async def _reset(runtime: Runtime) -> None:
    await runtime.reset()


async def _compress(runtime: Runtime) -> None:
    await _commands(runtime).compress()


async def _resume(runtime: Runtime) -> None:
    await _commands(runtime).resume(None)


async def _resume_file(runtime: Runtime) -> None:
    # As `--resume` of a program has it: the recording is named, and the state is another session's.
    assert isinstance(runtime, ChatRuntime)
    await runtime.resume(runtime._chats.current.recording.path)


async def _load(runtime: Runtime) -> None:
    assert isinstance(runtime, ChatRuntime)
    said = (("user", "before that"), ("model", "so it was"))
    await runtime.load_history([{"role": role, "parts": [{"text": words}]} for role, words in said])


async def _rewind(runtime: Runtime) -> None:
    # To before "again". The recording counts the workspace's description and the result of the
    # call as messages of the user, too.
    await _commands(runtime).rewind(3)


_SAID: Final = (
    *_TURNS,
    [chunk({"text": _LONG}, usageMetadata={"promptTokenCount": 50_000})],
    text("three"),
)


_FIRST: Final = (
    "0 user: hello",
    "0 gemini_cli_agent: functionCall STOP 1",
    # A recording has the result of a call twice: with the call, and as a message.
    "0 gemini_cli_agent: functionResponse",
    "0 gemini_cli_agent: functionResponse",
    "0 gemini_cli_agent: it is alpha STOP 2",
)
"""What a recording has of the first message."""
_TAKEN_BACK: Final = "1 user:  {'asked': None, 'answered': None}"
"""What a rewind to before all that set state leaves of it."""


def _after(
    name: str, row: str, *operations: Operation, session: Sequence[str], **more: Any
) -> list[Probe]:
    """Events and state after two messages and an operation.

    `session` has the lines of `Probe.session`. Where the answers count themselves in the state, a
    number behind a line is the count; without state, what says nothing leaves no event.
    """
    common: dict[str, Any] = {
        "script": _SAID,
        "messages": ("hello", "again", *operations, "and then"),
        **more,
    }
    counted = [re.sub(r" (\d)$", r" {'asked': \1, 'answered': \1}", line) for line in session]
    silent = re.compile(r":  (STOP )?\d$|:  \{")
    said = [re.sub(r" \d$", "", line) for line in session if not silent.search(line)]
    numbers = [*dict.fromkeys(line[0] for line in said)]
    return [
        Probe(
            name=f"events-after-{name}",
            row=f"`session.events` after {row}",
            plugins=lambda: [JoinedEvents()],
            session=[f"{numbers.index(line[0])}{line[1:]}" for line in said],
            **common,
        ),
        Probe(
            name=f"state-after-{name}",
            row=f"`session.state` after {row}",
            plugins=lambda: [ModelState()],
            session=counted,
            **common,
        ),
    ]


def _state(name: str, row: str, plugin: type[Noting]) -> Probe:
    return Probe(
        name=f"state-{name}",
        row=row,
        plugins=lambda: [plugin()],
        script=(*_TURNS, text("and now")),
        messages=("hello", "again"),
    )


def _reading(way: str) -> Probe:
    return Probe(
        name=f"events-{way}",
        row=f"`session.events` of settled turns, by {way}",
        plugins=lambda: [Events(way)],
        script=(*_TURNS, *_TURNS),
        messages=("hello", "again"),
    )


PROBES: Final = (
    _state("model", "`state` in model callbacks", ModelState),
    _state("tool", "`state` in tool callbacks, `temp:` too", ToolState),
    _state("agent", "`state` in agent callbacks", AgentState),
    _state("across", "`state` written in one callback, read in others", AcrossCallbacks),
    _state("metadata", "`custom_metadata` and ids of settled events", Metadata),
    Probe(
        name="state-sessions",
        row="sessions that are made and deleted",
        plugins=lambda: [Sessions()],
        script=_TURNS,
    ),
    Probe(
        name="state-in-place",
        row="a value of `state` that is changed in place",
        plugins=lambda: [InPlace()],
        script=tuple(map(text, ("one", "two", "three"))),
        messages=("hello", "again", "and then"),
    ),
    _state("before-the-message", "an event before that of the message", BeforeTheMessage),
    _state("copied", "an event that is appended to a copy of the session", Copied),
    _state("redelivered", "an event that is appended once more", Redelivered),
    *map(_reading, ("iteration", "list", "index", "slice", "reversed", "deepcopy", "model_dump")),
    *_after(
        "compression",
        "compression",
        Operation(_compress),
        session=(
            "0 gemini_cli_agent:  STOP 1",
            "0 gemini_cli_agent:  STOP 2",
            "1 gemini_cli_agent:  STOP 3",
            "2 user: <state_snapshot>what was …",
            "2 gemini_cli_agent: Got it. Thanks for the additional …",
            "3 user: and then",
            "3 gemini_cli_agent: three STOP 4",
        ),
    ),
    *_after(
        "reset",
        "a reset",
        Operation(_reset, forgets=True),
        session=("0 user: and then", "0 gemini_cli_agent: three STOP 1"),
    ),
    *_after(
        "resume",
        "a resume",
        Operation(_resume),
        session=(
            *_FIRST,
            "1 user: again",
            "1 gemini_cli_agent: line 0 line 1 line 2 line 3 line 4 … STOP 3",
            "2 user: and then",
            "2 gemini_cli_agent: three STOP 4",
        ),
    ),
    *_after(
        "rewind",
        "a rewind",
        Operation(_rewind, rewinds_to=1),
        session=(*_FIRST, "1 user:  2", "2 user: and then", "2 gemini_cli_agent: three STOP 3"),
    ),
    *_after(
        "resume-file",
        "a resume of a recording that is named",
        Operation(_resume_file, forgets=True),
        session=(
            "0 user: hello",
            "0 gemini_cli_agent: functionCall",
            "0 gemini_cli_agent: functionResponse",
            "0 gemini_cli_agent: functionResponse",
            "0 gemini_cli_agent: it is alpha",
            "1 user: again",
            "1 gemini_cli_agent: line 0 line 1 line 2 line 3 line 4 …",
            "2 user: and then",
            "2 gemini_cli_agent: three STOP 1",
        ),
    ),
    *_after(
        "load",
        "another history is loaded",
        Operation(_load, rewinds_to=0),
        session=(
            "0 user: before that",
            "0 gemini_cli_agent: so it was",
            _TAKEN_BACK,
            "2 user: and then",
            "2 gemini_cli_agent: three STOP 1",
        ),
    ),
    *_after(
        "masking",
        "masking",
        messages=("hello", SAME_HISTORY, "again", "and then"),
        script=(calls(("read_file", {"file_path": "long.txt"})), text("a"), text("b"), text("c")),
        files={"long.txt": _LONG},
        settings=_MASKING,
        session=(
            "0 user: hello",
            "0 gemini_cli_agent: functionCall STOP 1",
            "0 gemini_cli_agent: functionResponse",
            "0 gemini_cli_agent: a STOP 2",
            "1 user: again",
            "1 gemini_cli_agent: b STOP 3",
            "2 user: and then",
            "2 gemini_cli_agent: c STOP 4",
        ),
    ),
)
