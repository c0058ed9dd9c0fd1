"""Remote agents: what their chunks add up to, and values of an `auth` block."""

from __future__ import annotations

import asyncio
import os
import tempfile
from pathlib import Path
from typing import Any, Final

from parity_tests.core_answers.subject import Subject
from services.clock import SystemClock
from services.environment import Environment
from services.subagents.remote.errors import RemoteAgentError
from services.subagents.remote.results import Conversation, ResultReassembler
from services.subagents.remote.values import ValueResolver
from services.workspace import Workspace

__all__ = ["SUBJECTS"]


def results(chunks: list[dict[str, Any]]) -> list[list[Any]]:
    """The text and the activity after each chunk."""
    found = ResultReassembler()
    shown: list[list[Any]] = []
    for chunk in chunks:
        found.update(chunk)
        shown.append([found.text(), found.activity()])
    return shown


def ids(chunks: list[dict[str, Any]]) -> list[list[str | None]]:
    """Which conversation and task the next message continues, after each chunk."""
    now = Conversation()
    shown: list[list[str | None]] = []
    for chunk in chunks:
        now = now.after(chunk)
        shown.append([now.context_id, now.task_id])
    return shown


def value(asked: dict[str, Any]) -> dict[str, str]:
    """What a value of an `auth` block stands for, with these variables."""
    variables = {"PATH": os.environ["PATH"], **asked["variables"]}
    with tempfile.TemporaryDirectory(prefix="answers-") as folder:
        resolver = ValueResolver(
            environment=Environment(variables=variables, child_variables=variables),
            workspace=Workspace.at(Path(folder), Path(folder)),
            clock=SystemClock(),
        )
        try:
            return {"is": asyncio.run(resolver.resolve(asked["value"]))}
        except RemoteAgentError as error:
            return {"error": str(error)}


SUBJECTS: Final = (
    Subject("remote.results", results),
    Subject("remote.ids", ids),
    Subject("remote.value", value),
)
