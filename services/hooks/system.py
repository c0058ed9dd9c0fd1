"""`HookSystem`: runtimes and the scheduler report events to it and get the hooks' outputs.

Without hooks for its event, a method costs a look-up. No method raises for what a hook does.

Source: core `hooks/hookSystem.ts`, `hooks/hookRegistry.ts`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from services.abort import AbortSignal
from services.hooks.events import HookEvent, HookNotice
from services.hooks.firing import HookFiring
from services.hooks.planning import Subject
from services.hooks.results import HookOutput
from services.hooks.translation import HookModelRequest, response_for_hooks
from services.hooks.trust import warning_for_new_hooks
from services.session import Session
from services.settings.hooks import CommandHook, HookDefinition
from services.state import UserFeedback
from services.tools.contract import ConfirmationDetails, ToolResult
from services.wire import Json, JsonObject

__all__ = ["HookSystem", "KnownHook", "open_hooks"]

logger = logging.getLogger(__name__)

_DETAILS: Final = {
    "edit": (
        "editing",
        ("fileName", "filePath", "fileDiff", "originalContent", "newContent", "isModifying"),
    ),
    "exec": ("execution", ("command", "rootCommand")),
    "mcp": ("MCP", ("serverName", "toolName", "toolDisplayName")),
    "info": ("information", ("prompt", "urls")),
}
_EVENT_NAMES: Final = frozenset(HookEvent)


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownHook:
    """A hook of the session, with the definition that it belongs to."""

    definition: HookDefinition
    hook: CommandHook
    enabled: bool


class HookSystem:
    """A session's hooks; see `open_hooks`."""

    def __init__(
        self,
        session: Session,
        *,
        notify: Callable[[HookNotice], None],
        extensions: Callable[[], Iterable[HookDefinition]] = tuple,
    ) -> None:
        """Take the hooks from the settings and the extensions; in an untrusted folder, from these.

        Args:
            session: Its settings have the hooks, which run in its workspace.
            notify: Receives starts, ends and messages of hooks.
            extensions: The hooks of the active extensions.
        """
        settings = session.settings
        self._settings = settings
        self._workspace = session.workspace
        self._events = session.events
        self.transcript: Callable[[], Path | None] = lambda: None
        """The chat's record, which inputs name. The opener of a chat sets it."""
        self._extensions = extensions
        self._disabled = set(settings.disabled_hooks)
        self._firing = HookFiring(
            session,
            disabled=self._disabled,
            notify=notify,
            transcript=lambda: self.transcript(),
        )
        self.reload()

    def reload(self) -> None:
        """Take the hooks of the extensions anew."""
        self._firing.use(each for each in self._definitions() if each.event in _EVENT_NAMES)

    def all(self) -> list[KnownHook]:
        """Every hook of the session, those that are switched off included."""
        return [
            KnownHook(
                definition=definition, hook=hook, enabled=hook.shown_name not in self._disabled
            )
            for definition in self._definitions()
            if definition.event in _EVENT_NAMES
            for hook in definition.hooks
        ]

    def enable(self, name: str, *, on: bool = True) -> None:
        """Switch every hook called `name` on or off for the rest of the session."""
        if on:
            self._disabled.discard(name)
        else:
            self._disabled.add(name)

    def _definitions(self) -> list[HookDefinition]:
        own = self._settings.hooks if self._settings.folder_trusted else ()
        return [*own, *self._extensions()]

    def initialize(self) -> None:
        """Warn the user of project hooks that are new and of events that do not exist.

        Call it once, after the session's listeners have subscribed.
        """
        settings = self._settings
        self._report_unknown(self._extensions(), "extensions")
        if not settings.folder_trusted:
            if settings.hooks:
                logger.warning("project hooks are off: the folder is not trusted")
            return
        warning = warning_for_new_hooks(
            settings.project_hooks, home=self._workspace.home, project=self._workspace.root
        )
        if warning is not None:
            self._events.emit(UserFeedback(severity="warning", message=warning))
        self._report_unknown(settings.hooks, "project")

    def _report_unknown(self, definitions: Iterable[HookDefinition], source: str) -> None:
        for event in dict.fromkeys(each.event for each in definitions):
            if event not in _EVENT_NAMES:
                message = f'Invalid hook event name: "{event}" from {source} config. Skipping.'
                self._events.emit(UserFeedback(severity="warning", message=message))

    def has_hooks(self, event: HookEvent) -> bool:
        """False when the event has no hooks; matchers are not checked."""
        return self._firing.has_hooks(event)

    async def session_start(
        self, source: str, signal: AbortSignal | None = None
    ) -> HookOutput | None:
        """`startup`, `resume` or `clear`."""
        return await self._firing.fire(
            HookEvent.SESSION_START,
            lambda: {"source": source},
            subject=Subject(trigger=source),
            signal=signal,
        )

    async def session_end(self, reason: str, signal: AbortSignal | None = None) -> None:
        """`exit`, `clear`, `logout`, `prompt_input_exit` or `other`."""
        await self._firing.fire(
            HookEvent.SESSION_END,
            lambda: {"reason": reason},
            subject=Subject(trigger=reason),
            signal=signal,
        )

    async def pre_compress(self, *, forced: bool, signal: AbortSignal | None = None) -> None:
        """Before each attempt to compress a history that is not empty, needed or not."""
        trigger = "manual" if forced else "auto"
        await self._firing.fire(
            HookEvent.PRE_COMPRESS,
            lambda: {"trigger": trigger},
            subject=Subject(trigger=trigger),
            signal=signal,
        )

    async def before_agent(
        self, prompt: str, signal: AbortSignal | None = None
    ) -> HookOutput | None:
        """Before a prompt is handled; runtimes use `PromptHooks`."""
        return await self._firing.fire(
            HookEvent.BEFORE_AGENT, lambda: {"prompt": prompt}, signal=signal
        )

    async def after_agent(
        self,
        prompt: str,
        response: str,
        *,
        stop_hook_active: bool = False,
        signal: AbortSignal | None = None,
    ) -> HookOutput | None:
        """After a prompt was answered; runtimes use `PromptHooks`."""
        return await self._firing.fire(
            HookEvent.AFTER_AGENT,
            lambda: {
                "prompt": prompt,
                "prompt_response": response,
                "stop_hook_active": stop_hook_active,
            },
            signal=signal,
        )

    async def before_model(self, request: HookModelRequest) -> HookOutput | None:
        """Before every request to the model, retries included; see `ModelCallHooks`."""
        return await self._firing.fire(HookEvent.BEFORE_MODEL, lambda: self._asked(request))

    async def before_tool_selection(self, request: HookModelRequest) -> HookOutput | None:
        """After `before_model`, with the request as that changed it."""
        return await self._firing.fire(
            HookEvent.BEFORE_TOOL_SELECTION, lambda: self._asked(request)
        )

    async def after_model(self, request: HookModelRequest, chunk: JsonObject) -> HookOutput | None:
        """For each chunk, before clients get it; `request` is one object for all of an answer."""
        return await self._firing.fire(
            HookEvent.AFTER_MODEL,
            lambda: {**self._asked(request), "llm_response": response_for_hooks(chunk)},
            request=request,
        )

    def _asked(self, request: HookModelRequest) -> JsonObject:
        return {"llm_request": self._firing.request_input(request)}

    async def before_tool(
        self,
        name: str,
        params: Mapping[str, Json],
        *,
        mcp_context: JsonObject | None = None,
        original_name: str | None = None,
        signal: AbortSignal | None = None,
    ) -> HookOutput | None:
        """Before the policy decides on a call.

        Args:
            name: The tool, as the call names it.
            params: The invocation's arguments.
            mcp_context: For an MCP tool: `{server_name, tool_name, command, args, cwd, url, tcp}`,
                those that are set.
            original_name: For a tail call: the tool that the model had called.
            signal: Ends the hooks.
        """
        return await self._firing.fire(
            HookEvent.BEFORE_TOOL,
            lambda: {
                "tool_name": name,
                "tool_input": dict(params),
                **_of_call(mcp_context, original_name),
            },
            subject=Subject(tool=name),
            signal=signal,
        )

    async def after_tool(
        self,
        name: str,
        params: Mapping[str, Json],
        result: ToolResult,
        *,
        mcp_context: JsonObject | None = None,
        original_name: str | None = None,
        signal: AbortSignal | None = None,
    ) -> HookOutput | None:
        """After a tool returned, also with an error or an abort; not after it raised."""
        return await self._firing.fire(
            HookEvent.AFTER_TOOL,
            lambda: {
                "tool_name": name,
                "tool_input": dict(params),
                "tool_response": _response(result),
                **_of_call(mcp_context, original_name),
            },
            subject=Subject(tool=name),
            signal=signal,
        )

    async def tool_permission(
        self, details: ConfirmationDetails, signal: AbortSignal | None = None
    ) -> None:
        """Before each question to the user about a call (event `Notification`)."""
        verb, keys = _DETAILS.get(details.type, ("", ()))
        message = f"Tool {details.title} requires {verb}" if verb else "Tool requires confirmation"
        shown = {key: details.fields[key] for key in keys if key in details.fields}
        await self._firing.fire(
            HookEvent.NOTIFICATION,
            lambda: {
                "notification_type": "ToolPermission",
                "message": message,
                "details": {"type": details.type, "title": details.title, **shown},
            },
            signal=signal,
        )


def open_hooks(
    session: Session,
    *,
    notify: Callable[[HookNotice], None],
    extensions: Callable[[], Iterable[HookDefinition]] = tuple,
) -> HookSystem | None:
    """The session's hooks, not yet initialized; `None` where they are switched off."""
    if not session.settings.enable_hooks:
        return None
    return HookSystem(session, notify=notify, extensions=extensions)


def _of_call(mcp_context: JsonObject | None, original_name: str | None) -> JsonObject:
    fields: JsonObject = {}
    if mcp_context is not None:
        fields["mcp_context"] = mcp_context
    if original_name:
        fields["original_request_name"] = original_name
    return fields


def _response(result: ToolResult) -> JsonObject:
    response: JsonObject = {
        "llmContent": result.llm_content,
        "returnDisplay": result.return_display,
    }
    if result.error is not None:
        response["error"] = {"message": result.error.message, "type": str(result.error.type)}
    return response
