"""Tools that wait for an answer of the user, or give what a server or a skill has."""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

from parity_tests.core_answers.subject import Subject
from services.abort import AbortController
from services.clock import VIRTUAL_EPOCH_MS, VirtualClock
from services.environment import Environment
from services.ids import CountingProcessIds
from services.settings import Settings
from services.state import ApprovalMode, CoreEvents, SessionState
from services.tools.activate_skill import ActivateSkillTool
from services.tools.ask_user import AskUserTool
from services.tools.base import DeclarativeTool
from services.tools.contract import (
    ConfirmationDetails,
    ConfirmationOutcome,
    InvalidToolParams,
    PolicyDecides,
    ToolExecution,
)
from services.tools.enter_plan_mode import EnterPlanModeTool
from services.tools.exit_plan_mode import ExitPlanModeTool
from services.tools.host import ToolHost
from services.tools.list_mcp_resources import ListMcpResourcesTool
from services.tools.read_mcp_resource import ReadMcpResourceTool
from services.tracker import Tracker
from services.wire import JsonObject
from services.workspace import Workspace

__all__ = ["SUBJECTS"]

_TOOLS: Final[dict[str, type[DeclarativeTool]]] = {
    "ask_user": AskUserTool,
    "enter_plan_mode": EnterPlanModeTool,
    "exit_plan_mode": ExitPlanModeTool,
}


def _host(workspace: Workspace, *, interactive: bool = False, skills: Any = None) -> ToolHost:
    clock = VirtualClock(VIRTUAL_EPOCH_MS)
    state = SessionState(
        session_id="session",
        model="gemini-2.5-pro",
        approval_mode=ApprovalMode.DEFAULT,
        interactive=interactive,
        events=CoreEvents(),
    )
    unused: Any = None
    return ToolHost(
        tracker=Tracker(unused),
        workspace=workspace,
        clock=clock,
        settings=Settings(),
        state=state,
        environment=Environment.for_replay(home=str(workspace.home), path=os.environ["PATH"]),
        process_ids=CountingProcessIds(),
        skills=skills,
    )


def _lay(root: Path, files: JsonObject) -> None:
    for name, value in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if value is None:
            file.mkdir()
        else:
            file.write_bytes(value.encode("latin-1"))


def _in_folder(play: Callable[[Path], Any]) -> Any:
    with tempfile.TemporaryDirectory(prefix="parity-answering-") as name:
        top = Path(name).resolve()
        return json.loads(json.dumps(play(top)).replace(str(top), "<TOP>"))


def _question(asked: ConfirmationDetails | None) -> JsonObject | None:
    return None if asked is None else {"type": asked.type, "title": asked.title, **asked.fields}


async def _run(call: Any) -> JsonObject:
    try:
        result = await call.execute(ToolExecution(call_id="call", signal=AbortController().signal))
    except (TypeError, ValueError) as fault:
        return {"thrown": str(fault)}
    error = result.error
    return {
        "llm": result.llm_content,
        "shown": result.return_display,
        "data": result.data,
        "error": [error.type, error.message] if error else None,
    }


async def _answered(host: ToolHost, step: list[Any]) -> JsonObject:
    name, params, decision, outcome, payload = step
    try:
        call: Any = _TOOLS[name](host).build(params)
    except InvalidToolParams as fault:
        return {"fault": str(fault)}
    answer: JsonObject = {"described": call.description(), "question": None}
    decides = not isinstance(call, PolicyDecides) or call.needs_decision()
    if decision == "ask_user" and decides:
        question = _question(call.confirmation_details())
        if question and question.get("questions") == params.get("questions", ()):
            question["questions"] = "as asked"
        answer["question"] = question
        call.answered(ConfirmationOutcome(outcome), payload)
    answer.update(await _run(call))
    state = host.state
    plan = state.approved_plan
    return {**answer, "mode": state.approval_mode, "plan": str(plan) if plan else None}


def _asked(asked: JsonObject) -> Any:
    def play(top: Path) -> Any:
        plans = top / "ws" / "plans"
        _lay(top / "ws", asked.get("files", {}))
        workspace = Workspace(root=top / "ws", home=top / "home", plans_folder=plans)
        host = _host(workspace, interactive=asked.get("interactive", False))

        async def steps() -> list[JsonObject]:
            return [await _answered(host, step) for step in asked["steps"]]

        answers = asyncio.run(steps())
        return {"answers": answers, "plans": plans.is_dir()}

    return _in_folder(play)


class _Servers:
    """The resources of scripted servers; a server without contents is gone."""

    def __init__(self, asked: JsonObject) -> None:
        self._resources = [
            SimpleNamespace(
                server_name=each["serverName"],
                uri=each["uri"],
                name=each.get("name"),
                description=each.get("description"),
            )
            for each in asked["resources"]
        ]
        self._servers: JsonObject = asked["servers"]

    def all_resources(self) -> Any:
        return self._resources

    def find_resource(self, uri: str) -> Any:
        found = (each for each in self._resources if uri == each.uri)
        return next(found, None)

    async def read_resource(self, resource: Any) -> Any:
        answer = self._servers.get(resource.server_name)
        if isinstance(answer, str):
            raise RuntimeError(answer)
        return answer


def _resources(asked: JsonObject) -> Any:
    host = _host(Workspace.at(Path("/nowhere/ws"), Path("/nowhere/home")))
    servers: Any = _Servers(asked)
    tool: DeclarativeTool
    if asked["tool"] == "list":
        tool = ListMcpResourcesTool(host, servers)
    else:
        tool = ReadMcpResourceTool(host, servers)
    call: Any = tool.build(asked["params"])
    answer: JsonObject = {
        "described": call.description(),
        "question": _question(call.confirmation_details()),
    }
    return {**answer, **asyncio.run(_run(call))}


def _skills(asked: JsonObject) -> Any:
    def play(top: Path) -> Any:
        _lay(top, asked["files"])
        workspace = Workspace.at(top / "ws", top / "home")
        workspace.root.mkdir(exist_ok=True)
        skills = [
            SimpleNamespace(
                name=each["name"],
                description=each["description"],
                body=each["body"],
                folder=top / each["folder"],
                is_builtin=each.get("builtin", False),
            )
            for each in asked["skills"]
        ]
        manager: Any = SimpleNamespace(
            skills=skills,
            get=lambda name: next((each for each in skills if each.name == name), None),
        )
        tool = ActivateSkillTool(_host(workspace, skills=manager))
        try:
            call: Any = tool.build(asked["params"])
        except InvalidToolParams:
            return "fault"
        for _ in range(asked.get("gone", 0)):
            skills.pop(0)
        described = {
            "described": call.description(),
            "question": _question(call.confirmation_details()),
        }
        return {
            **described,
            **asyncio.run(_run(call)),
            "folders": [str(folder) for folder in workspace.folders],
        }

    return _in_folder(play)


SUBJECTS: Final = (
    Subject("answering.asked", _asked),
    Subject("answering.resources", _resources),
    Subject("answering.skills", _skills),
)
