"""What a client sees of a run, as a list of items that begin with their kind.

Of the runtime the agent events say it. Of stock ADK, which has no such events, it follows from the
events of ADK, by the rules that the runtime documents (`runtimes/adk/translate.py`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Any, Final

from google.adk.events.event import Event
from google.genai import types

from agent_protocol.codec import to_wire
from agent_protocol.events import AgentEvent
from parity_tests.adk_probes.watching import json_of
from services.model.parts import citations, parse_thought
from services.presentation.finish import end_reason
from services.wire import JsonObject, Part, js_json

__all__ = ["Items", "Reader", "of_agent_events"]

Items = list[list[Any]]
"""`text` or `user` and the words · `thought`, its subject, the rest · `media`, its type, data or
address · `part` and its JSON · `call`, the tool, the arguments · `tool`, its name, whether it
failed, what it says · `citations` and the text · `usage`, model, counts · `error`, the message,
the code · `end` and the reason."""

_COUNTS: Final = ("promptTokenCount", "candidatesTokenCount", "cachedContentTokenCount")


def of_agent_events(events: Iterable[AgentEvent]) -> Items:
    """What agent events show from the start of each stream to its end."""
    found: Items = []
    running = False
    for event in map(to_wire, events):
        kind, meta = event["type"], event.get("_meta") or {}
        running = kind == "agent_start" or (running and kind != "agent_end")
        if kind == "message" and running:
            role = "citations" if meta.get("citation") else event["role"]
            for part in event["content"]:
                _add(found, _of_content(part, role, meta.get("subject", "")))
        elif kind == "tool_request":
            found.append(["call", event["name"], event["args"]])
        elif kind == "tool_response":
            said = [_of_content(part, "agent", "") for part in event["content"]]
            found.append(["tool", event["name"], event["isError"], said])
        elif kind == "usage":
            counts = (event.get(f"{name}Tokens") for name in ("input", "output", "cached"))
            found.append(["usage", event["model"], *counts])
        elif kind == "error":
            found.append(["error", event["message"], None if event["fatal"] else meta["code"]])
        elif kind == "agent_end":
            found.append(["end", event["reason"]])
    return found


def _of_content(part: JsonObject, role: str, subject: str) -> list[Any]:
    if part["type"] == "thought":
        return ["thought", subject, part["thought"]]
    if part["type"] == "media":
        return ["media", part.get("mimeType"), part.get("data") or part.get("uri")]
    if part.get("_meta"):
        return ["part", part["text"]]
    return ["text" if role == "agent" else role, part["text"]]


def _add(found: Items, item: list[Any]) -> None:
    """Texts that follow each other are one: how they are cut is compared elsewhere."""
    if item[0] == "text" and found and found[-1][0] == "text":
        found[-1][1] += item[1]
    else:
        found.append(item)


class Reader:
    """Reads the events of a stock run.

    `failed` has the ids of the calls that failed, by the time that an event answers them.
    """

    def __init__(self, model: str, failed: Collection[str | None]) -> None:
        self.items: Items = []
        self._model = model
        self._failed = failed
        self._called: set[str | None] = set()
        """The ids of the calls that ADK has run: other answers are those of a plugin."""
        self._streamed: defaultdict[bool, str] = defaultdict(str)
        """The thoughts (`True`) and the other text of the answer, so far."""
        self._sources: set[str] = set()
        self._codes: set[str] = set()
        self._finish: str | None = None
        """Why the last answer ended."""

    def read(self, event: Event) -> None:
        """Take in an event."""
        for part in (event.content and event.content.parts) or ():
            self._part(part, event)
        if event.citation_metadata is not None:
            found = {"citationMetadata": json_of(event.citation_metadata)}
            self._sources.update(citations({"candidates": [found]}))
        if not event.partial:
            self._close(event)
        code = event.error_code
        if code is not None and code not in self._codes:
            self._codes.add(code)
            self.items.append(["error", event.error_message or code, code])
        if not event.partial:
            self._codes.clear()

    def _close(self, event: Event) -> None:
        if event.author != "user":
            self._finish = event.finish_reason and event.finish_reason.value
        if self._sources:
            self.items.append(["citations", "\n".join(["Citations:", *sorted(self._sources)])])
        if event.usage_metadata is not None:
            usage = json_of(event.usage_metadata)
            model = event.model_version or self._model
            self.items.append(["usage", model, *map(usage.get, _COUNTS)])
        self._sources.clear()
        self._streamed.clear()

    def raised(self, message: str) -> None:
        """The run raised an error with this message, which ADK may have yielded as an event."""
        if self.items and self.items[-1][:2] == ["error", message]:
            self.items.pop()
        self.items += [["error", message, None], ["end", "failed"]]

    def ended(self) -> None:
        """The run has ended well."""
        self.items.append(["end", end_reason(self._finish)])

    def _part(self, part: types.Part, event: Event) -> None:
        call, answer = part.function_call, part.function_response
        if part.text is not None:
            self._text(part.text, bool(part.thought), event)
        elif event.partial:
            return
        elif call is not None:
            self._called.add(call.id)
            self.items.append(["call", call.name, call.args or {}])
        elif answer is not None:
            self._answer(answer)
        else:
            self.items.append(_of_part(json_of(part)))

    def _text(self, text: str, thought: bool, event: Event) -> None:
        before = self._streamed[thought]
        if event.partial:
            self._streamed[thought] += text
        elif before:
            text = text.removeprefix(before) if text.startswith(before) else ""
        if text and thought:
            self.items.append(["thought", *parse_thought(text)])
        elif text:
            _add(self.items, ["user" if event.author == "user" else "text", text])

    def _answer(self, answer: types.FunctionResponse) -> None:
        response = answer.response or {}
        failed = answer.id in self._failed
        said: Sequence[list[Any]] = [["text", response["error"]]] if failed else []
        if answer.id not in self._called:
            failed = bool(response.get("error"))
            shown = response.get("error") or response.get(
                "output", response.get("result", response)
            )
            words = ["text", shown if isinstance(shown, str) else js_json(shown)]
            said = [words, *(_of_part(json_of(each)) for each in answer.parts or ())]
        self.items.append(["tool", answer.name, failed, said])


def _of_part(part: Part) -> list[Any]:
    for name, place in (("inlineData", "data"), ("fileData", "fileUri")):
        if name in part:
            return ["media", part[name].get("mimeType"), part[name].get(place)]
    return ["part", js_json(part)]
