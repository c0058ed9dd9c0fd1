"""`UpstreamRuntime`: one conversation of the published core, in a driver's process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

from agent_protocol.agent import AgentProtocol
from runtimes.contract import CommandFailed, RuntimeFactory
from runtimes.published import PACKAGE
from runtimes.upstream.agent import Agents
from runtimes.upstream.children import Children
from runtimes.upstream.connection import Connection
from runtimes.upstream.model import ModelBridge
from runtimes.upstream.notices import Notices
from runtimes.upstream.pool import Lease, lease
from runtimes.upstream.process import DriverBroken
from runtimes.upstream.questions import Questions
from services.background import BackgroundTasks, background_tasks
from services.bundle import Services
from services.checkpoints import Restored
from services.loop_detection.question import LoopPrompt
from services.state import ApprovalMode, SessionUpdated, UserFeedback
from services.threads import ThreadPaths
from services.wire import Content, JsonObject

__all__ = ["UpstreamRuntime", "runtime_for"]

_CLOSE_S: Final = 10.0


class UpstreamRuntime:
    """The engine, as the harness and slash commands use it."""

    def __init__(
        self,
        connection: Connection,
        services: Services,
        versions: Mapping[str, str],
        *,
        on_abort: Callable[[], None],
    ) -> None:
        self._connection = connection
        self._services = services
        self._agents = Agents(connection, on_abort)
        self._transcript: list[Content] = []
        self._closed = False
        self.versions = versions

    def agent(self, *, prompt_id: str | None = None) -> AgentProtocol:
        """A new agent over this engine's conversation."""
        agent, services = self._agents.new(prompt_id), self._services
        agent.subscribe(
            LoopPrompt(
                services.asides,
                prompt_id=prompt_id or services.state.prompt_id,
                disable=lambda: self._connection.order("disableLoopDetection"),
            )
        )
        return agent

    def transcript(self) -> list[Content]:
        """The model-facing history as of the last `settled`."""
        return list(self._transcript)

    async def reset(self) -> None:
        """Start the conversation anew."""
        await self._connection.command("reset")

    async def compress(self) -> None:
        """Summarise the history now."""
        await self._connection.command("compress")

    async def resume(self, recording: Path | None) -> None:
        """Go on from a chat recording; from this session's own where none is given.

        Raises:
            ValueError: it is not a chat recording.
        """
        file = None if recording is None else str(recording)
        try:
            await self._connection.command("resume", file=file)
        except CommandFailed as failed:
            raise ValueError(failed.message) from None

    async def rewind(self, to: str | int) -> None:
        """Go back to before a message: its id, or its number among the user's own, from 0."""
        self._went_back(await self._connection.command("rewind", to=to))

    async def revert(self, to: str | int) -> None:
        """Take back the edits of files after a message, which is named as for `rewind`."""
        await self._connection.command("revert", to=to)

    async def restore(self, checkpoint: str | int) -> Restored:
        """Restore a checkpoint: its name, or its number from 0, oldest first."""
        found: JsonObject = await self._connection.command("restore", checkpoint=checkpoint)
        restored = Restored(
            messages=tuple(
                UserFeedback(severity=each["severity"], message=each["message"])
                for each in found["messages"]
            ),
            tool_call=found["toolCall"],
            shown=found["shown"],
        )
        if restored.shown is not None:
            self._went_back(found)
        return restored

    def _went_back(self, done: JsonObject) -> None:
        """Report that a command replaced the conversation, as the product around the core does.

        `done` is what the driver returned, with the model that is active in the core: a stream
        that ended before its first request has reported none.
        """
        self._services.events.emit(SessionUpdated(model=done["activeModel"]))

    async def leave_plan_mode(self, mode: ApprovalMode) -> None:
        """Change the mode while no stream runs; if that ends plan mode, the history says so.

        Raises:
            CommandFailed: the core refused the mode.
        """
        await self._connection.command("leavePlanMode", mode=str(mode))

    def hint(self, text: str, source: str) -> None:
        """Steer the agent while it works; a hint during the session's end steers nothing."""
        if not self._closed:
            self._connection.order("hint", text=text, source=source)

    async def take_hints(self) -> str | None:
        """Take the hints that wait for the main loop, as a prompt of their own."""
        prompt: str | None = await self._connection.command("takeHints")
        return prompt

    async def end(self) -> None:
        """Abort what runs; returns when it has ended."""
        await self._agents.end()

    async def settled(self) -> None:
        """Return when no stream runs, and the core has nothing left to do."""
        await self._agents.at_rest()
        self._transcript = await self._connection.command("transcript")
        await self._connection.until_idle()

    async def close(self) -> JsonObject:
        """End the session; return what the driver reports of itself.

        Raises:
            CommandFailed: the driver could not clean up.
        """
        await self.end()
        self._closed = True
        report: JsonObject = await self._connection.command("close")
        return report


def runtime_for(version: str) -> RuntimeFactory:
    """The factory of `version` of the published core."""

    @asynccontextmanager
    async def open_runtime(services: Services) -> AsyncIterator[UpstreamRuntime]:
        async with AsyncExitStack() as stack:
            taken = await stack.enter_async_context(lease(version, services.clock))
            connection = taken.connection
            threads = ThreadPaths()
            tasks = await stack.enter_async_context(_serving(connection))
            notices = Notices(connection, services, threads, tasks)
            stack.callback(notices.close)
            Children(connection, services.subagents, threads)
            ModelBridge(
                connection,
                services.content_generator,
                threads,
                tasks,
                # The core chooses its active model; the session's state has to follow.
                on_model=services.state.set_active_model,
            )
            questions = Questions(connection, services.interaction, tasks)
            runtime = UpstreamRuntime(
                connection, services, _versions(version), on_abort=questions.withdraw
            )
            setup = _setup(services, questions.kinds())
            started = await connection.command("open", setup=setup)
            services.session_hooks.began(started["message"], started["context"])
            await connection.until_idle()
            yield runtime
            # Only a session that ended without an error leaves a reusable driver.
            await _close(taken, runtime)

    return open_runtime


@asynccontextmanager
async def _serving(connection: Connection) -> AsyncIterator[BackgroundTasks]:
    """The session's tasks; they end with it, and it ends when its driver does."""

    async def watch() -> None:
        raise await asyncio.shield(connection.broken)

    async with background_tasks() as tasks:
        tasks.start(watch(), name="upstream driver")
        try:
            yield tasks
        finally:
            await tasks.end(0)


async def _close(taken: Lease, runtime: UpstreamRuntime) -> None:
    try:
        async with asyncio.timeout(_CLOSE_S):
            report = await runtime.close()
            await taken.connection.until_idle()
    except TimeoutError:
        raise DriverBroken(f"the driver did not end its session within {_CLOSE_S:g} s") from None
    except CommandFailed:
        return  # It could not clean up after itself, so it is not used again.
    taken.memory = int(report.get("memory") or 0)
    taken.reusable = not report.get("dirty")


def _setup(services: Services, asked: list[str]) -> JsonObject:
    state, settings = services.state, services.settings
    return {
        "sessionId": state.session_id,
        "workspace": str(services.workspace.root),
        "model": state.model,
        "approvalMode": str(state.approval_mode),
        "interactive": settings.interactive,
        "settings": dict(settings.parameters),
        "questions": asked,
        "start": str(services.session_hooks.source),
        "environment": {
            **services.environment.child_variables,
            "GEMINI_CLI_HOME": str(services.workspace.home),
        },
    }


def _versions(version: str) -> dict[str, str]:
    return {PACKAGE.rpartition("/")[2]: version}
