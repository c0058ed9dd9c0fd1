"""`IdeCompanion`: the connection with the companion of the user's IDE.

Source: core `ide/ide-client.ts`.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from services.background import BackgroundTasks
from services.clock import Clock
from services.environment import Environment
from services.ide.addresses import (
    Address,
    address_from_files,
    address_from_variables,
    host,
    workspace_problem,
)
from services.ide.context import EditorContext, EditorState, InvalidContext
from services.ide.detection import Ide, detected_ide, ide_process
from services.mcp.child import ChildProcess
from services.mcp.environment import server_environment
from services.mcp.errors import McpConnectionError, McpError
from services.mcp.results import CALL_TOOL, LIST_TOOLS, ShapeError
from services.wire import JsonObject

if TYPE_CHECKING:
    # Importing the MCP library takes long, and most sessions have no companion.
    from services.mcp.connection import Connection, Streams
    from services.mcp.http import HttpFailures

__all__ = ["CompanionError", "CompanionStatus", "Decision", "IdeCompanion"]

logger = logging.getLogger(__name__)

_ANSWER_S: Final = 600.0
"""The time limit of a request to open or close a change."""
_SHORT_S: Final = 60.0
_TOOLS: Final = frozenset({"openDiff", "closeDiff"})
_UNSUPPORTED: Final = (
    "IDE integration is not supported in your current environment. To use this feature, run Gemini "
    "CLI in one of these supported IDEs: Antigravity, VS Code, or VS Code forks."
)
_CLOSED: Final = "IDE connection closed. To reconnect, run /ide enable."
_LOST: Final = (
    "IDE connection error. The connection was lost unexpectedly. Please try reconnecting by "
    "running /ide enable"
)
_FAILURES: Final = (McpError, McpConnectionError, ShapeError, OSError)


class CompanionStatus(StrEnum):
    """The state of the connection."""

    CONNECTED = "connected"
    CONNECTING = "connecting"
    DISCONNECTED = "disconnected"


class CompanionError(Exception):
    """The companion cannot show a change."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What the user decided about a change in the IDE, and the text as it is there."""

    accepted: bool
    content: str | None = None


class IdeCompanion:
    """The companion of one session; it connects when it is asked to.

    Args:
        enabled: whether the user wants it (`ide.enabled`).
        environment: says which IDE it is, and where its companion listens.
        folder: the session's; the IDE must have it open.
        clock: stands still during a wait for the companion.
        tasks: where the connection lives.
        version: of the product, for the companion.
    """

    def __init__(
        self,
        *,
        enabled: bool,
        environment: Environment,
        folder: Path,
        clock: Clock,
        tasks: BackgroundTasks,
        version: str,
    ) -> None:
        self.enabled = enabled
        """Whether the model learns of the editor, and changes are shown there."""
        self.context = EditorContext()
        self.ide: Ide | None = None
        """The IDE; `None` until `find_ide`, and where there is none that is supported."""
        self.status = CompanionStatus.DISCONNECTED
        self.details = "IDE integration is currently disabled. To enable it, run /ide enable."
        """Why there is no connection."""
        self._environment = environment
        self._folder = folder
        self._clock = clock
        self._tasks = tasks
        self._version = version
        self._connection: Connection | None = None
        self._tools: frozenset[str] = frozenset()
        self._address: Address | None = None
        self._one_at_a_time = asyncio.Lock()
        self._reviews: dict[str, asyncio.Future[Decision | None]] = {}

    @property
    def reviews_changes(self) -> bool:
        """Whether the user can review changes in the IDE."""
        connected = self._connection is not None and not self._connection.closed
        return (
            self.enabled
            and connected
            and self.status is CompanionStatus.CONNECTED
            and self._tools >= _TOOLS
        )

    async def find_ide(self) -> Ide | None:
        """Look which IDE runs this terminal, and return it."""
        variables = self._environment.variables
        process = await ide_process(variables)
        port = address_from_variables(variables).port
        self._address = await asyncio.to_thread(
            address_from_files, process.pid, self._folder, port=port
        )
        given = self._address and self._address.ide
        self.ide = given or detected_ide(variables, process.command)
        return self.ide

    async def connect(self) -> None:
        """Connect, or note in `details` why that is not possible; it never raises."""
        if await self.find_ide() is None:
            self._disconnected(_UNSUPPORTED)
            return
        self.status, self.details = CompanionStatus.CONNECTING, ""
        from_variables, from_files = (
            address_from_variables(self._environment.variables),
            self._address,
        )
        known = from_files or Address()
        workspace = from_variables.workspace if known.workspace is None else known.workspace
        problem = workspace_problem(workspace, self._folder)
        if problem is not None:
            self._disconnected(problem)
            return
        token = from_variables.token if known.token is None else known.token
        for address in (known, from_variables):
            if await self._reach(replace(address, token=token)):
                return
        assert self.ide is not None
        self._disconnected(
            f"Failed to connect to IDE companion extension in {self.ide.display_name}. Please "
            "ensure the extension is running. To install the extension, run /ide install."
        )

    def begin(self) -> None:
        """Connect while the session goes on, if the user wants it."""
        if self.enabled:
            self._tasks.start(self.connect(), name="ide-connect")

    async def disconnect(self) -> None:
        """Close the open changes and the connection."""
        for path in list(self._reviews):
            await self.settle(path, accepted=False)
        await self.close()
        self._disconnected("IDE integration disabled. To enable it again, run /ide enable.")

    async def close(self) -> None:
        """End the connection and its process. Safe to call twice."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    async def review(self, path: str, content: str) -> Decision | None:
        """Show the change of a file in the IDE, and wait for the user's decision there.

        Returns:
            The decision; `None` where the user has decided elsewhere (`settle`).

        Raises:
            CompanionError: the IDE cannot show it.
        """
        decision: asyncio.Future[Decision | None] = asyncio.get_running_loop().create_future()
        self._reviews[path] = decision
        try:
            async with self._one_at_a_time:
                if decision.done():  # settled before its turn came
                    return decision.result()
                await self._call("openDiff", {"filePath": path, "newContent": content})
                with self._clock.real_work():
                    return await decision
        finally:
            if self._reviews.get(path) is decision:
                del self._reviews[path]

    async def settle(self, path: str, *, accepted: bool) -> str | None:
        """Close a change about which the user has decided outside of the IDE.

        Returns:
            The text in the IDE, which the user may have edited there, if the change is `accepted`;
            `None` where the companion does not know it.
        """
        decision = self._reviews.get(path)
        if decision is None or not self.reviews_changes:
            return None
        try:
            text = await self._call("closeDiff", {"filePath": path, "suppressNotification": True})
        except CompanionError as error:
            logger.debug("closeDiff: %s", error)
            text = ""
        if not decision.done():
            decision.set_result(None)
        return _content(text) if accepted else None

    # ------------------------------------------------------------------ what the companion sends

    def roots(self) -> list[JsonObject]:
        """None: the companion is not asked about folders."""
        return []

    def notified(self, method: str, params: Mapping[str, Any]) -> None:
        """Take a notice of the companion; others are ignored."""
        if method == "ide/contextUpdate":
            try:
                self.context.set(EditorState.of(params))
            except InvalidContext as error:
                self.failed(error)
        elif method == "ide/diffAccepted" and isinstance(params.get("content"), str):
            self._decide(params, Decision(True, params["content"]))
        elif method in ("ide/diffRejected", "ide/diffClosed"):
            self._decide(params, Decision(False))

    def failed(self, error: Exception) -> None:
        """A message that is not as it should be ends the use of the companion."""
        self._disconnected(f"{_LOST}\n{error}")

    def _decide(self, params: Mapping[str, Any], decision: Decision) -> None:
        waiting = self._reviews.get(str(params.get("filePath")))
        if waiting is not None and not waiting.done():
            waiting.set_result(decision)

    # ------------------------------------------------------------------ the connection

    async def _reach(self, address: Address) -> bool:
        from services.mcp.http import HttpFailures, http_transport

        if address.port is not None:
            url = f"http://{host(self._environment.variables)}:{address.port}/mcp"
            headers = {"Authorization": f"Bearer {address.token}"} if address.token else {}
            failures = HttpFailures()
            transport = http_transport(
                url, headers=headers, token=None, failures=failures, events=False
            )
            if await self._open(transport, "streamable-http-client", failures):
                return True
        if address.command is None:
            return False
        return await self._open(self._child(address.command, address.args), "stdio-client")

    async def _open(
        self, transport: Streams, name: str, failures: HttpFailures | None = None
    ) -> bool:
        from services.mcp.connection import ClientFacts, Connection

        try:
            await self.close()
            self._connection = await Connection.open(
                transport,
                self,
                name="ide",
                client=ClientFacts(name=name, version=self._version, capabilities={}),
                clock=self._clock,
                tasks=self._tasks,
                timeout_s=_SHORT_S,
                failures=failures,
            )
        except _FAILURES as error:
            logger.debug("the companion of the IDE cannot be reached: %s", error)
            return False
        self._tools = await self._listed(self._connection)
        self.status, self.details = CompanionStatus.CONNECTED, ""
        self._tasks.start(self._watch(self._connection), name="ide-connection")
        return True

    async def _listed(self, connection: Connection) -> frozenset[str]:
        try:
            found = await connection.request("tools/list", {}, LIST_TOOLS)
        except _FAILURES as error:
            logger.debug("the companion of the IDE lists no tools: %s", error)
            return frozenset()
        return frozenset(str(tool.get("name")) for tool in found["tools"])

    async def _watch(self, connection: Connection) -> None:
        """Note the end of the connection."""
        await connection.ended()
        if connection is self._connection:
            self._disconnected(_CLOSED)

    @asynccontextmanager
    async def _child(self, command: str, args: tuple[str, ...]) -> AsyncIterator[Any]:
        from services.mcp.stdio import stdio_transport

        process = await ChildProcess.start(
            "ide",
            command,
            args,
            folder=self._folder,
            environment=server_environment(self._environment.child_variables, {}),
        )
        async with stdio_transport(process) as streams:
            yield streams

    async def _call(self, tool: str, args: JsonObject) -> str:
        """Call a tool of the companion, and return the text of its result."""
        if self._connection is None:
            raise CompanionError("IDE client is not connected.")
        try:
            result = await self._connection.request(
                "tools/call", {"name": tool, "arguments": args}, CALL_TOOL, timeout_s=_ANSWER_S
            )
        except _FAILURES as error:
            raise CompanionError(str(error)) from error
        texts = [part["text"] for part in result.get("content") or () if part["type"] == "text"]
        text = str(texts[0]) if texts else ""
        if result.get("isError"):
            raise CompanionError(text or f"Tool '{tool}' reported an error.")
        return text

    def _disconnected(self, why: str) -> None:
        """Note the end; the first reason is kept."""
        if self.status is not CompanionStatus.DISCONNECTED:
            self.details = why
        self.status = CompanionStatus.DISCONNECTED
        self.context.set(None)
        for waiting in self._reviews.values():
            if not waiting.done():
                waiting.set_result(None)


def _content(text: str) -> str | None:
    """The file's text in the answer to `closeDiff`."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    content = found.get("content") if isinstance(found, dict) else None
    return content if isinstance(content, str) else None
