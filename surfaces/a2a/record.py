"""`TaskRecord`: a task as clients read it, kept up to date by the events that clients receive.

Source: `@a2a-js/sdk` `server/result_manager.ts`.
"""

from __future__ import annotations

from copy import deepcopy

from services.wire import JsonObject
from surfaces.a2a.wire import TERMINAL

__all__ = ["TaskRecord"]


class TaskRecord:
    """The document of a task.

    Args:
        document: the task of A2A 0.3: `id`, `contextId`, `status`, `history`, `artifacts`,
            `metadata`. The record changes it.
    """

    def __init__(self, document: JsonObject) -> None:
        self.document = document
        self.waiting: list[str] = []
        """The ids of the calls that wait for the user's approval."""

    @property
    def id(self) -> str:
        """The task's id."""
        return str(self.document["id"])

    @property
    def context_id(self) -> str:
        """The id of the conversation that the task belongs to."""
        return str(self.document["contextId"])

    @property
    def state(self) -> str:
        """The state, such as `working`."""
        return str(self.document["status"]["state"])

    @property
    def is_over(self) -> bool:
        """Whether the task takes no more messages."""
        return self.state in TERMINAL

    @property
    def extension(self) -> str | None:
        """The URI of the extension whose dialect the client speaks; `None`: the published one."""
        found = self.document["metadata"]["__persistedState"].get("_extension")
        return found if isinstance(found, str) else None

    def speak(self, extension: str | None) -> None:
        """Keep the dialect of a new task, as `extension` has it."""
        if extension is not None:
            self.document["metadata"]["__persistedState"]["_extension"] = extension

    def apply(self, event: JsonObject, *, remembers: bool = True) -> None:
        """Take over what an event changes; `remembers`: its message belongs to the history."""
        if event["kind"] == "status-update":
            self.document["status"] = event["status"]
            if remembers:
                self._remember(event["status"].get("message"))
        elif event["kind"] == "artifact-update":
            self._add_output(event["artifact"])

    def said(self, message: JsonObject) -> None:
        """Add a message of the user."""
        self._remember(message)

    def keep_state(self, state: str) -> None:
        """Keep the state that the metadata show."""
        self.document["metadata"]["__persistedState"]["_taskState"] = state

    def shown(self, history_length: int | None = None) -> JsonObject:
        """A copy for a client, with the last `history_length` messages; `None`: with none.

        Without the parameter the published server leaves the history out.
        """
        history = self.document["history"]
        kept = history[-history_length:] if history_length else []
        return deepcopy({**self.document, "history": kept})

    def _remember(self, message: JsonObject | None) -> None:
        history = self.document["history"]
        known = {each.get("messageId") for each in history}
        if message is not None and message.get("messageId") not in known:
            history.append(message)

    def _add_output(self, artifact: JsonObject) -> None:
        for known in self.document["artifacts"]:
            if known["artifactId"] == artifact["artifactId"]:
                known["parts"].extend(deepcopy(artifact["parts"]))
                return
        self.document["artifacts"].append(deepcopy(artifact))
