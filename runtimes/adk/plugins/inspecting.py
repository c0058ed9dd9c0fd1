"""`InspectingAdkPlugin`: what ADK code of others may rely on, checked while the corpus is played.

No client sees the ids of ADK's events, what their fields say of an answer, or the state of a
session. A comparison of two runtimes therefore cannot show that they are wrong. This plugin looks
at them at the callbacks that leave the runtime's own paths as they are, and, with a request
processor behind all others, at each request before the model gets it. It raises where a rule is
broken: the run fails then.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import AsyncGenerator, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Final

from google.adk.agents.invocation_context import InvocationContext
from google.adk.events.event import Event
from google.adk.flows.llm_flows._base_llm_processor import BaseLlmRequestProcessor
from google.adk.models.llm_request import LlmRequest
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.sessions.base_session_service import BaseSessionService
from google.adk.sessions.session import Session
from google.adk.tools.base_toolset import BaseToolset
from google.genai import types

from runtimes.adk.notes import Answer, Delta, note_of
from runtimes.adk.request_edits import UNROUTED
from runtimes.adk.session_events import live_events
from runtimes.adk.sessions import GcliSessionService
from runtimes.adk.tools import AdkTool
from services.model.sdk_contents import wire_of
from services.wire import Content, Part

__all__ = ["BrokenRule", "InspectingAdkPlugin"]

_KEY: Final = "inspecting:last_answer"
"""In the session's state: the id of the last event that wrote it."""


class BrokenRule(Exception):
    """ADK code of others would find something that ADK does not promise so."""


@dataclass(slots=True)
class _Known:
    """What was seen of one conversation."""

    seen: dict[str, Event] = field(default_factory=dict)
    """The events that are there and were made as ADK makes them, by their ids."""
    session: Session | None = None
    """The session of the last invocation; one that went back is another object."""
    settled: set[str] = field(default_factory=set)
    """The ids of what was settled when the last invocation began."""
    runs: int = 0


class InspectingAdkPlugin(BasePlugin):
    """Checks events and state, and changes nothing but one value of the state.

    Each second invocation writes that value, so that the corpus has events with and without state.
    """

    def __init__(self) -> None:
        super().__init__(name="inspecting")
        self._known: defaultdict[BaseSessionService, _Known] = defaultdict(_Known)

    async def before_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """Check the settled events, the user's new one, and the state.

        Raises:
            BrokenRule: a rule is broken.
        """
        context, known = invocation_context, self._known[invocation_context.session_service]
        live, events = live_events(context.session.events), list(context.session.events)
        settled, made = events[: len(events) - len(live)], known.seen.keys() | _ids(live)
        ids = [event.id for event in events if event.id in made]
        _must(all(ids) and len(set(ids)) == len(ids), "an id is empty or there twice", ids)
        for event in live:
            _must(event.invocation_id == context.invocation_id, "not of this invocation", event.id)
        _check_fresh(settled, known, may_replace=known.session is not context.session)
        written = [event.actions.state_delta for event in settled]
        wanted = next((delta[_KEY] for delta in reversed(written) if _KEY in delta), None)
        state = context.session.state.get(_KEY)
        _must(state == wanted, "the state is not that of the events", [state, wanted])
        known.seen = {event.id: event for event in events if event.id in made}
        known.session, known.settled = context.session, _ids(settled)
        known.runs += 1
        service, session = context.session_service, context.session
        unknown = await service.get_session(
            app_name=session.app_name, user_id=session.user_id, session_id="no session"
        )
        _must(unknown is None, "a session that is not there", unknown)
        _look_at_requests(context)

    async def after_run_callback(self, *, invocation_context: InvocationContext) -> None:
        """Forget what was not sent, such as responses that were too large: it leaves the session.

        A resume brings it back from the recording, with an event of its own.
        """
        self._forget_unsent(invocation_context)

    async def on_run_error_callback(
        self, *, invocation_context: InvocationContext, error: Exception
    ) -> None:
        """Forget what was not sent, as after any run."""
        self._forget_unsent(invocation_context)

    def _forget_unsent(self, invocation_context: InvocationContext) -> None:
        known, session = self._known[invocation_context.session_service], invocation_context.session
        unsent = _ids(list(takewhile(_not_answered, reversed(live_events(session.events)))))
        there = _ids(session.events) - unsent
        known.seen = {key: event for key, event in known.seen.items() if key in there}

    async def on_event_callback(
        self, *, invocation_context: InvocationContext, event: Event
    ) -> None:
        """Check an event that the runtime has made.

        Raises:
            BrokenRule: a rule is broken.
        """
        context, known = invocation_context, self._known[invocation_context.session_service]
        note = note_of(event)
        if isinstance(note, Delta):
            _must(event.finish_reason == _reason(note.finish_reason), "finish reason", event.id)
        if event.partial:
            return
        _must(event.id not in known.seen, "an event comes again", event.id)
        _must(event.invocation_id == context.invocation_id, "not of this invocation", event.id)
        known.seen[event.id] = event
        if isinstance(note, Answer):
            _check_answer(event, note)
            if known.runs % 2:
                event.actions.state_delta[_KEY] = event.id


class _Looks(BaseLlmRequestProcessor):
    """Checks the request that all other processors have made."""

    name = "inspecting"

    async def run_async(
        self, invocation_context: InvocationContext, llm_request: LlmRequest
    ) -> AsyncGenerator[Event, None]:
        """Yield nothing.

        Raises:
            BrokenRule: The request does not show what the product would send.
        """
        context, config = invocation_context, llm_request.config
        _must(llm_request.model not in (None, UNROUTED), "no model", llm_request.model)
        _must(bool(config.system_instruction), "no system instruction", llm_request.model)
        service, said = context.session_service, list.__iter__(llm_request.contents)
        if isinstance(service, GcliSessionService):
            turns = service.conversation.curated_history()
            waiting = service.pending(context.session)
            wanted = _spoken(turns if waiting is None else [*turns, wire_of(waiting)])
            shown = _spoken(map(wire_of, said))
            _must(shown == wanted, "not the contents of the history", [shown, wanted])
        await _check_tools(context, llm_request)
        for event in tuple[Event, ...]():
            yield event


def _spoken(contents: Iterable[Content]) -> list[tuple[str | None, Part]]:
    """Every part with its role; neighbours of one role may be one content or two."""
    return [(each.get("role"), part) for each in contents for part in each.get("parts") or ()]


def _look_at_requests(context: InvocationContext) -> None:
    """Have a flow of the runtime's look at its requests."""
    # By name: the module of `HostedAgent` imports plugins.
    processors: list[BaseLlmRequestProcessor] | None
    processors = getattr(context.agent, "request_processors", None)
    if processors is not None and not any(isinstance(each, _Looks) for each in processors):
        processors.append(_Looks())


async def _check_tools(context: InvocationContext, request: LlmRequest) -> None:
    """Check the declared tools, and the table of them, against those of the agent's toolset."""
    toolsets = [
        each for each in getattr(context.agent, "tools", ()) if isinstance(each, BaseToolset)
    ]
    wires = [
        tool.wire
        for toolset in toolsets
        for tool in await toolset.get_tools()
        if isinstance(tool, AdkTool)
    ]
    wanted = [(w["name"], w.get("description") or "", w.get("parametersJsonSchema")) for w in wires]
    tools = [each for each in request.config.tools or () if isinstance(each, types.Tool)]
    shown = [
        (each.name, each.description, each.parameters_json_schema)
        for tool in tools
        for each in list.__iter__(tool.function_declarations or [])
    ]
    _must(shown == wanted, "not the tools of the session", [name for name, *_ in wanted])
    names = {name for name, *_ in wanted}
    _must(request.tools_dict.keys() == names, "not the table of its tools", sorted(names))


def _check_fresh(settled: Sequence[Event], known: _Known, *, may_replace: bool = False) -> None:
    """Check the settled events that are made of a turn alone: ADK made no event for it.

    A turn whose event was seen keeps that event, unless the history `may_replace` it: a restored
    checkpoint is made of new turns, with the same words. Their ids are those of a recording, which
    may have one twice. What the agent says belongs to an invocation; what stood before it there may
    go later. An event without content keeps the state of a turn that went: it may stand between two
    events of one invocation.
    """
    ids = _ids(settled)
    lost = [event for event in known.seen.values() if event.id not in ids]
    for event in settled:
        was = known.seen.get(event.id)
        same = was is None or (was.invocation_id, was.author) == (event.invocation_id, event.author)
        _must(same, "another author or invocation", event.id)
    saying = [event for event in settled if event.content is not None]
    for index, event in enumerate(saying):
        if event.id in known.seen:
            continue
        said = _said(event)
        replaced = [each.id for each in lost if said and _said(each) == said]
        _must(may_replace or not replaced, "not the event that the turn had", replaced)
        if event.author != "user" and index and event.id not in known.settled:
            near = {each.invocation_id for each in saying[index - 1 : index + 2 : 2]}
            _must(event.invocation_id in near, "in an invocation of its own", event.id)


def _not_answered(event: Event) -> bool:
    return event.content is None or event.content.role == "user"


def _ids(events: Sequence[Event]) -> set[str]:
    return {event.id for event in events}


def _check_answer(event: Event, note: Answer) -> None:
    usage = (note.turn.usage or {}).get("promptTokenCount")
    counted = event.usage_metadata and event.usage_metadata.prompt_token_count
    _must(event.finish_reason == _reason(note.turn.finish_reason), "finish reason", event.id)
    # ADK has no place for a count that is no whole number.
    _must(counted == (usage if isinstance(usage, int) else None), "usage", event.id)
    _must(event.model_version == note.model, "model version", event.id)


def _said(event: Event) -> object:
    return event.content and [event.author, wire_of(event.content).get("parts")]


def _reason(name: str | None) -> types.FinishReason | None:
    return next((each for each in types.FinishReason if each.name == name), None)


def _must(holds: bool, rule: str, at: object) -> None:
    if not holds:
        raise BrokenRule(f"{rule}: {at}")
