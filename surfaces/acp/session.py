"""`Session`: one conversation of a client.

Source: `packages/cli` `acp/acpSession.ts`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from acp.exceptions import RequestError

from agent_protocol.agent import AgentProtocol, MessageSend
from agent_protocol.errors import SendRejected
from services.abort import AbortController
from services.presentation.content import parts_to_content
from services.state import (
    ApprovalModeChanged,
    CoreEvent,
    PrivilegedModeRefused,
    UserFeedback,
)
from services.tools.contract import ConfirmationOutcome, Tool
from services.wire import JsonObject, Part, js_trim
from surfaces.acp.attachments import Attachments
from surfaces.acp.calls import CallReports
from surfaces.acp.choices import choices, mode_called
from surfaces.acp.client import Client
from surfaces.acp.commands import SessionCommands
from surfaces.acp.outbox import Outbox, text_chunk
from surfaces.acp.permissions import PermissionFailed, ask, options_for
from surfaces.acp.turn import NOTHING_USED, Turn
from surfaces.allowed import Allowed, allows_for_ever
from surfaces.commands import CommandError, CommandSession
from surfaces.headless.session_log import log_prompt
from surfaces.terminal.live import LiveSession

__all__ = ["Session"]

_CANCELLED: JsonObject = {"stopReason": "cancelled"}


class Session:
    """A session that is open. Prompts run one after the other; a new one cancels the one before."""

    def __init__(
        self, live: LiveSession, client: Client, *, runtime_name: str, warn: Callable[[str], None]
    ) -> None:
        services, prepared = live.services, live.prepared
        self.id = prepared.session_id
        self._live = live
        self._client = client
        self._warn = warn
        self._outbox = Outbox(client, self.id)
        self._calls = CallReports(services, client, self._outbox, _always(live))
        self._attachments = Attachments(services, client, self._outbox)
        self.commands = SessionCommands(
            CommandSession(
                runtime=live.runtime,
                services=services,
                settings=prepared.plan.document,
                auth_type=prepared.source.auth_type,
                runtime_name=runtime_name,
                metrics=live.metrics.stats,
                started_ms=services.clock.now_ms(),
                consent=self._consents,
            )
        )
        self._current: _Prompt | None = None
        self._one_at_a_time = asyncio.Lock()
        self._count = 0
        services.events.subscribe(self._on_core_event)

    async def run(self, opened: asyncio.Event) -> None:
        """Serve the session until the task is cancelled; sets `opened` when it can be prompted."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._outbox.run(), name="updates")
            self._calls.watch(group)
            await self.commands.load()
            opened.set()

    def choices(self) -> JsonObject:
        """The modes and models that the client can choose from."""
        return choices(self._live.services)

    def show(self, update: JsonObject) -> None:
        """Send an update to the client."""
        self._outbox.add(update)

    async def shown(self) -> None:
        """Return when the client has every update so far."""
        await self._outbox.sent()

    def find_tool(self, name: str) -> Tool | None:
        """The tool of this name."""
        return self._live.services.tools.get(name)

    async def prompt(self, blocks: Sequence[JsonObject]) -> JsonObject:
        """Answer a prompt; return the result of the request.

        Raises:
            RequestError: the model, or the prompt, failed.
        """
        mine = _Prompt()
        before, self._current = self._current, mine
        if before is not None:
            await before.abort()
        try:
            async with self._one_at_a_time:
                if mine.aborted:
                    return _CANCELLED
                return await self._answer(mine, blocks)
        finally:
            self._calls.forget()
            await self._outbox.sent()
            if self._current is mine:
                self._current = None

    async def cancel(self) -> None:
        """End the prompt that runs.

        Raises:
            RequestError: none does.
        """
        current, self._current = self._current, None
        if current is None:
            raise RequestError.internal_error({"details": "Not currently generating"})
        await current.abort()

    async def set_mode(self, name: str) -> None:
        """Change the approval mode.

        Raises:
            RequestError: there is no such mode, or the folder does not allow it.
        """
        services = self._live.services
        mode = mode_called(name, services)
        if mode is None:
            raise _refused(f"Invalid or unavailable mode: {name}")
        try:
            services.state.set_approval_mode(mode)
        except PrivilegedModeRefused as error:
            raise _refused(str(error)) from error
        await self._outbox.sent()

    def set_model(self, name: str) -> None:
        """Use another model from the next turn on."""
        self._live.services.state.set_model(name)

    async def _answer(self, mine: _Prompt, blocks: Sequence[JsonObject]) -> JsonObject:
        services = self._live.services
        parts = await self._attachments.parts(blocks, mine.controller.signal)
        if mine.aborted:
            return _CANCELLED
        text = js_trim(_leading_text(parts))
        said = await self.commands.run(text)
        if said is not None:
            self._outbox.add(text_chunk("agent_message_chunk", said))
            return NOTHING_USED
        number = self._count
        prompt_id = self._live.prompt_id(number)
        self._count += 1
        log_prompt(services.events, text, prompt_id, self._live.prepared.source.auth_type)
        agent = self._live.agent(number)
        turn = Turn(self._outbox)
        off = agent.subscribe(turn.take)
        try:
            stream = await agent.send(MessageSend(content=parts_to_content(self._begun(parts))))
            if stream is not None:
                await mine.watch(agent)
                await turn.ended()
        except SendRejected as error:
            raise RequestError.invalid_params({"details": str(error)}) from error
        finally:
            off()
        await self._live.runtime.settled()
        return turn.answer()

    async def _consents(self, text: str) -> bool:
        """Ask the user of the client to agree to a text.

        Raises:
            CommandError: the client cannot ask.
        """
        call: JsonObject = {
            "toolCallId": self._live.services.ids.uuid("consent"),
            "status": "pending",
            "title": text.partition("\n")[0],
            "kind": "other",
            "content": [{"type": "content", "content": {"type": "text", "text": text}}],
        }
        options = options_for("", Allowed(session=False))
        request: JsonObject = {"sessionId": self.id, "options": options, "toolCall": call}
        try:
            return await ask(self._client, request) is ConfirmationOutcome.PROCEED_ONCE
        except PermissionFailed as error:
            raise CommandError(str(error)) from error

    def _begun(self, parts: Sequence[Part]) -> Sequence[Part]:
        """`parts`, the first time after what the hooks of the session's begin said."""
        if self._count > 1:
            return parts
        context = self._live.services.session_hooks.started.before("")
        return [{"text": context}, *parts] if context else parts

    def _on_core_event(self, event: CoreEvent) -> None:
        if isinstance(event, ApprovalModeChanged):
            text = f"[MODE_UPDATE] {event.mode.value}"
            self._outbox.add(text_chunk("agent_message_chunk", text))
        elif isinstance(event, UserFeedback):
            self._warn(f"[{event.severity.upper()}] {event.message}")


class _Prompt:
    """A prompt that runs, or waits for the one before it."""

    def __init__(self) -> None:
        self.controller = AbortController()
        self._agent: AgentProtocol | None = None

    @property
    def aborted(self) -> bool:
        """Whether the prompt is to end."""
        return self.controller.signal.aborted

    async def watch(self, agent: AgentProtocol) -> None:
        """Abort `agent` with the prompt."""
        self._agent = agent
        if self.aborted:
            await agent.abort()

    async def abort(self) -> None:
        """End the prompt."""
        self.controller.abort()
        if self._agent is not None:
            await self._agent.abort()


def _always(live: LiveSession) -> Allowed:
    """What the settings let the user allow beyond one call."""
    permanent = allows_for_ever(live.prepared.plan.document)
    settings = live.services.settings
    return Allowed(session=not settings.disable_always_allow, for_ever=permanent)


def _leading_text(parts: Sequence[Part]) -> str:
    """The text before the first part that is something else."""
    words = ""
    for part in parts:
        if "text" not in part:
            break
        words += part["text"]
    return words


def _refused(details: str) -> RequestError:
    return RequestError.internal_error({"details": details})
