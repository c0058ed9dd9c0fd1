"""What others than the product change in an `LlmRequest`: processors, plugins, callbacks.

The product's processors write the request through `RequestBase`, which keeps what they wrote. At
the entry of the model layer each field that differs from that is an edit. Each attempt resolves the
product's fields anew and applies the edits to them, in the API's JSON: google-genai's types would
refuse fields that they do not know, and turn `topK: 64` into `64.0`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final

from google.adk.models.llm_request import LlmRequest
from google.genai import types
from pydantic import BaseModel, TypeAdapter

from runtimes.adk.tools import DeclaredTools
from services.chat import RequestEdits
from services.model.sdk_contents import LentList, edited_wire, request_contents, wire_of
from services.model.sdk_json import changed_json, dumped, fields_json, typed
from services.wire import Content, Json, JsonObject

__all__ = ["UNROUTED", "RequestBase", "TypedConfig"]

UNROUTED: Final = "gcli"
"""The model that ADK's `basic` writes into a request, before one is chosen."""

_AGENT_LABEL: Final = "adk_agent_name"
"""ADK writes this label into every request; the Gemini Developer API refuses labels."""
_APART: Final = (
    *("system_instruction", "tools", "labels"),
    # What google-genai's client does with a request; the product sends it by itself.
    *("http_options", "should_return_http_response", "automatic_function_calling"),
    *("automatic_continuation", "continuation_token"),
)
"""Fields that are no edits of the configuration."""
_KNOWN: Final = frozenset(
    field.alias or name for name, field in types.GenerateContentConfig.model_fields.items()
)

_MUTABLE: Final = (BaseModel, list, dict)
_Tools = list[JsonObject]


@dataclass(eq=False, slots=True)
class RequestBase:
    """What the product wrote into the `LlmRequest` of one step."""

    model: str = ""
    """The model that was routed to; empty before."""
    _config: types.GenerateContentConfig = field(default_factory=types.GenerateContentConfig)
    _contents: tuple[Sequence[types.Content], Sequence[types.Content]] = (), ()
    """The history and the turn that is to be sent."""
    _written: LentList[types.Content] = field(default_factory=lambda: request_contents(()))
    _declared: DeclaredTools | None = None
    """`None` where the processor that declares the tools was removed from the flow."""
    _instruction: str | None = None
    """Likewise."""

    def write_contents(
        self, request: LlmRequest, history: Sequence[types.Content], pending: types.Content | None
    ) -> None:
        """Write the history and the turn that is to be sent.

        Contents that are there already go before that turn, as ADK's own `contents` has it.
        """
        earlier = request.contents
        self._contents = history, () if pending is None else (pending,)
        request.contents = self._written = request_contents(history, *self._contents[1])
        if earlier:
            request.contents[len(history) : len(history)] = earlier

    def write_instruction(self, instruction: str) -> str:
        """Take the system instruction that ADK writes into the request; returns it."""
        self._instruction = instruction
        return instruction

    def write_routed(
        self, request: LlmRequest, model: str, base: types.GenerateContentConfig
    ) -> None:
        """Write the model and its configuration; what was edited before stays."""
        before = request.config
        # Changes in place stay within this request.
        written = {
            name: copy.deepcopy(value)
            for name, value in base.__dict__.items()
            if isinstance(value, _MUTABLE)
        }
        written |= _changed(before, self._config)
        written |= {name: getattr(before, name) for name in _APART}
        request.config = base.model_copy(update=written)
        if request.model in (None, UNROUTED):
            request.model = model
        self.model, self._config = model, base

    def write_tools(self, request: LlmRequest, declared: DeclaredTools) -> None:
        """Write the tools; others that are there already come after them, functions in one tool."""
        self._declared = declared
        others = [*(request.config.tools or ())]
        functions = [*declared.functions]
        for tool in others[:]:
            if isinstance(tool, types.Tool) and tool.function_declarations:
                functions += tool.function_declarations
                others.remove(tool)
        request.config.tools = [_lending(functions), *others]
        request.tools_dict = {**declared.by_name, **request.tools_dict}

    def edits(self, request: LlmRequest) -> RequestEdits:
        """What differs from what the product wrote, when the model layer gets the request.

        Raises:
            ValueError: a field has a value that cannot be sent.
        """
        config = request.config
        changed = _changed(config, self._config)
        labels = {key: each for key, each in (config.labels or {}).items() if key != _AGENT_LABEL}
        if labels:
            changed["labels"] = labels
        return RequestEdits(
            model=None if request.model == self.model else request.model,
            config=_config_json(changed),
            instruction=_instruction_edit(config.system_instruction, self._instruction),
            tools=_tools_edit(config.tools, self._declared),
            contents=self._edited_contents(request.contents),
        )

    def _edited_contents(self, contents: list[types.Content]) -> list[Content] | None:
        if contents is self._written and not self._written.touched:
            return None
        written = [*chain(*self._contents)]
        if contents == written:
            return None
        own = set(map(id, written))
        return [
            wire_of(content) if id(content) in own else edited_wire(content)
            for content in list.__iter__(contents)
        ]


class TypedConfig:
    """ADK's view of a session's model configurations, typed anew when the configuration changes.

    The view is without the fields that google-genai does not know.
    """

    def __init__(self) -> None:
        self._made: tuple[JsonObject, types.GenerateContentConfig] | None = None

    def of(self, config: JsonObject) -> types.GenerateContentConfig:
        """The typed form of a configuration in the API's JSON; neither may change any more."""
        if self._made is None or config != self._made[0]:
            known = {key: value for key, value in config.items() if key in _KNOWN}
            self._made = config, typed(types.GenerateContentConfig, known)
        return self._made[1]


def _lending(functions: Sequence[types.FunctionDeclaration]) -> types.Tool:
    """A tool with a `LentList` of functions."""
    tool = types.Tool()
    # Past the type, which would make a plain list of it.
    tool.__dict__["function_declarations"] = LentList(functions, copy.deepcopy)
    return tool


def _changed(
    config: types.GenerateContentConfig, base: types.GenerateContentConfig
) -> dict[str, Any]:
    return {
        name: value
        for name, value in config.__dict__.items()
        if name not in _APART and value != base.__dict__[name]
    }


def _config_json(changed: Mapping[str, Any]) -> dict[str, Json]:
    """The API's JSON of changed fields; a class that is a schema goes as its JSON schema."""
    schema = changed.get("response_schema")
    if schema is not None and not isinstance(schema, (dict, types.Schema)):
        schema_json = TypeAdapter(schema).json_schema()
        changed = {**changed, "response_schema": None, "response_json_schema": schema_json}
    return fields_json(types.GenerateContentConfig, changed, "llm_request.config")


def _instruction_edit(now: Any, instruction: str | None) -> Callable[[str], Json] | None:
    if not now:
        return None if instruction == "" else lambda _: None
    if isinstance(now, str):
        if not instruction or instruction not in now:
            return lambda _: now
        before, _, after = now.partition(instruction)
        return lambda fresh: before + fresh + after
    if isinstance(now, types.Content):
        return lambda _: edited_wire(now)
    given = now if isinstance(now, list) else [now]
    if not all(isinstance(each, (str, types.Part)) for each in given):
        raise ValueError(
            "llm_request.config.system_instruction cannot be sent: it takes a text, parts, or a "
            f"google.genai.types.Content, not {type(now).__name__}"
        )
    parts = [types.Part(text=each) if isinstance(each, str) else each for each in given]
    return lambda _: edited_wire(types.Content(parts=parts))


def _tools_edit(
    tools: Sequence[Any] | None, declared: DeclaredTools | None
) -> Callable[[_Tools], _Tools | None]:
    functions = [] if declared is None else declared.functions
    made = {each.name: each for each in functions}
    now: dict[str | None, types.FunctionDeclaration] = {}
    ours, others = list[JsonObject](), _Tools()
    for tool in tools or ():
        if not isinstance(tool, types.Tool):
            raise ValueError(
                f"llm_request.config.tools cannot be sent: it holds a {type(tool).__name__}; use "
                "llm_request.append_tools, or a google.genai.types.Tool"
            )
        named = {each.name: each for each in list.__iter__(tool.function_declarations or [])}
        now |= named
        if named.keys() & made.keys():
            ours += [dumped(each) for name, each in named.items() if name not in made]
            tool = tool.model_copy(update={"function_declarations": None})
        others += [other] if (other := dumped(tool)) else []
    kept = made.keys() & now.keys()
    changed = {name for name in kept if made[name] is not now[name] and made[name] != now[name]}

    def edited(fresh: _Tools) -> _Tools | None:
        # Where all were removed, what the product declares since then is not wanted either.
        found = [each for tool in fresh for each in tool["functionDeclarations"] if kept]
        wanted = [
            changed_json(each, dumped(made[name]), dumped(now[name])) if name in changed else each
            for each in found
            if (name := each["name"]) in kept or name not in made
        ]
        wanted += ours
        return [*([{"functionDeclarations": wanted}] if wanted else []), *others] or None

    return edited
