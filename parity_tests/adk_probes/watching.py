"""What both runs are watched with: a plugin that counts, and the events that a Runner yields."""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import Any, Final
from unittest.mock import patch

from google.adk.events.event import Event
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.runners import Runner
from google.genai import types
from pydantic import BaseModel

from services.wire import JsonObject

__all__ = [
    "CALLBACKS",
    "Counting",
    "json_of",
    "kinds_of",
    "merged",
    "nameless",
    "shown_event",
    "watched_runners",
]

CALLBACKS: Final = tuple(
    name
    for name, _ in inspect.getmembers(BasePlugin, inspect.isfunction)
    if name.endswith("_callback")
)
"""Every callback of a plugin."""

_DRAWN: Final = (
    (re.compile(r"\bartifact_\S+?_(?=\d+\b)"), "artifact_ID_"),
    (re.compile(r"\bv1:[0-9a-f]{64}\b"), "v1:STAMP"),
    (re.compile(r"(?<![0-9a-f])[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "UUID"),
)

_APART: Final = {
    *("id", "invocation_id", "timestamp", "node_info"),
    *("author", "content", "partial", "actions"),
}
"""Fields of an event that are drawn anew, or are shown by themselves."""
_ENDING: Final = {"finish_reason", "usage_metadata"}
"""Fields of a partial event that say how the answer ended."""


class Counting(BasePlugin):
    """Counts its callbacks, and answers none. It is the first of the plugins."""

    def __init__(self) -> None:
        super().__init__("counting")
        self.counts: Counter[str] = Counter()
        self.partial = 0
        """Partial responses that `after_model_callback` saw."""
        self.asked: list[JsonObject] = []
        """The requests as `before_model_callback` gets them, with the names of their tools."""


def _counts(name: str) -> Callable[..., Any]:
    async def callback(self: Counting, **arguments: Any) -> None:
        response = arguments.get("llm_response")
        if name == "before_model_callback":
            request = arguments["llm_request"]
            # Past the list's own `__iter__`, which would take its items for changed.
            contents, config = json_of(list.__iter__(request.contents)), json_of(request.config)
            names = sorted(request.tools_dict)
            found = {"model": request.model, "contents": contents, "by name": names, **config}
            self.asked.append(found)
        if name == "on_event_callback":
            return  # Compared by the events themselves.
        if response is not None and response.partial:
            self.partial += 1
        else:
            self.counts[name.removesuffix("_callback")] += 1

    callback.__name__ = name
    return callback


for _name in CALLBACKS:
    setattr(Counting, _name, _counts(_name))


@asynccontextmanager
async def watched_runners(
    note: Callable[[Event], None], state: dict[str, Any], events: list[JsonObject]
) -> AsyncIterator[None]:
    """Call `note` with each event that a Runner yields; leave what the session says in the others.

    State and events are those of the last run's session, once its agent is done with it: an
    invocation's own values (`temp:`) are there until then.
    """
    run_async = Runner.run_async
    last: tuple[Runner, dict[str, Any]] | None = None

    async def watched(self: Runner, **arguments: Any) -> AsyncGenerator[Event, None]:
        nonlocal last
        last = self, {name: arguments[name] for name in ("user_id", "session_id")}
        async with aclosing(run_async(self, **arguments)) as events:
            async for event in events:
                note(event)
                yield event

    with patch.object(Runner, "run_async", watched):
        yield
    if last is not None:
        runner, ids = last
        session = await runner.session_service.get_session(app_name=runner.app_name, **ids)
        state.update(session.state if session is not None else {})
        events.extend(_settled(session.events if session is not None else ()))


def _settled(events: Sequence[Event]) -> Iterator[JsonObject]:
    """What is compared of a session's events: ids and times by what they say together."""
    invocations: dict[str, int] = {}
    ids: set[str] = set()
    time = 0.0
    for event in events:
        found = shown_event(event)
        found["invocation"] = invocations.setdefault(event.invocation_id, len(invocations))
        found["id is new"], found["in order"] = event.id not in ids, event.timestamp >= time
        ids.add(event.id)
        time = event.timestamp
        yield found


def shown_event(event: Event) -> JsonObject:
    """What is compared of an event, as it is now; fields without a value are left out."""
    found: JsonObject = {"author": event.author}
    if event.content is not None and event.content.role:
        found["role"] = event.content.role
    found["parts"] = kinds_of(event.content)
    for name in ("error_code", "error_message"):
        if getattr(event, name):
            found[name] = getattr(event, name)
    if event.partial:
        # Its actions are those of the whole response, as far as they are known by then.
        ends = event.model_dump(mode="json", exclude_none=True, include=_ENDING)
        return {**found, "partial": True, **ends}
    found.update(event.model_dump(mode="json", exclude_none=True, exclude=_APART))
    if event.content is not None:
        found["content"] = json_of(event.content).get("parts")
    actions = event.actions.model_dump(mode="json", exclude_none=True)
    actions = {name: value for name, value in actions.items() if value not in ({}, [], False)}
    if actions:
        found["actions"] = actions
    return found


def kinds_of(content: types.Content | None) -> list[str]:
    """The kinds of a content's parts; texts that follow each other are one."""
    kinds: list[str] = []
    for part in (content and content.parts) or ():
        if part.function_call:
            kinds.append(f"call {part.function_call.name}")
        elif part.function_response:
            kinds.append(f"response {part.function_response.name}")
        elif part.text is not None:
            kind = "thought" if part.thought else "text"
            if part.text and kinds[-1:] != [kind]:
                kinds.append(kind)
        else:
            fields = part.model_dump(exclude_none=True, exclude={"thought_signature", "thought"})
            kinds.extend(sorted(fields))
    return kinds


def merged(events: Sequence[JsonObject]) -> list[JsonObject]:
    """The events with each run of partial ones as one: how many there are is compared elsewhere."""
    found: list[JsonObject] = []
    for event in events:
        last = found[-1] if found else {}
        if event.get("partial") and last.get("partial") and "error_code" not in event:
            new = event["parts"]
            if new[:1] == last["parts"][-1:] and new[:1] in (["text"], ["thought"]):
                new = new[1:]
            found[-1] = {**last, **event, "parts": [*last["parts"], *new]}
        else:
            found.append(event)
    return found


def nameless(value: Any) -> Any:
    """JSON without what is drawn anew in each run: uuids, and what is made of ids."""
    if isinstance(value, str):
        for pattern, name in _DRAWN:
            value = pattern.sub(name, value)
        return value
    if isinstance(value, (list, tuple)):
        return [nameless(each) for each in value]
    if isinstance(value, dict):
        return {nameless(key): nameless(each) for key, each in value.items()}
    return value


def json_of(value: Any) -> Any:
    """A value of ADK's as the API's JSON."""
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True, exclude_none=True)
    if isinstance(value, (list, tuple, Iterator)):
        return [json_of(each) for each in value]
    if isinstance(value, dict):
        return {key: json_of(each) for key, each in value.items()}
    return value
