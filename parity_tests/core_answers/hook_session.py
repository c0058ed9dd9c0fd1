"""Hooks of a session: what each event gives them, and what clients see of them."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final, cast
from unittest import mock

from parity_tests.core_answers.subject import Subject
from services.hooks import running
from services.hooks.events import HookEnd, HookNotice, HookStart
from services.hooks.process import Ending, HookOutcome
from services.hooks.results import HookOutput
from services.hooks.system import HookSystem
from services.hooks.translation import HookModelRequest
from services.session import Session
from services.settings.hooks import HookDefinition, read_hooks
from services.state import UserFeedback
from services.tools.contract import ConfirmationDetails, ToolErrorType, ToolFailure, ToolResult
from services.wire import JsonObject

__all__ = ["SUBJECTS"]

_OWN: Final = ("GEMINI_", "CLAUDE_", "OWN")


class _Scene:
    """What hooks print, and what was seen since the last step."""

    def __init__(self, asked: Any) -> None:
        self._said = asked["said"]
        self.seen: list[Any] = []
        self._ran = False  # The first run is shown whole, later ones by digests.
        self.requests: dict[str, HookModelRequest] = {}

    def emit(self, event: Any) -> None:
        if isinstance(event, UserFeedback):
            self.seen.append(["feedback", event.severity, event.message])

    def notify(self, notice: HookNotice) -> None:
        if isinstance(notice, HookStart):
            shown = [notice.source, notice.hook_index, notice.total_hooks]
            self.seen.append(["start", notice.hook_name, *shown])
        elif isinstance(notice, HookEnd):
            self.seen.append(["end", notice.hook_name, notice.success])
        else:
            self.seen.append(["says", notice.hook_name, notice.message])

    async def run(
        self,
        command: str,
        *,
        given: bytes,
        folder: Path,
        environment: Mapping[str, str],
        **_: Any,
    ) -> HookOutcome:
        own = {name: value for name, value in environment.items() if name.startswith(_OWN)}
        digest = hashlib.sha256(given).hexdigest()[:12]
        shown = [digest] if self._ran else [given.decode(), own, str(folder)]
        self._ran = True
        self.seen.append(["run", command, *shown])
        stdout, stderr, code = self._said.get(command.split(" ")[0], ["", "", 0])
        await asyncio.sleep(0)
        if code == "missing":
            raise FileNotFoundError(2, "missing")
        return HookOutcome(ending=Ending.BY_ITSELF, exit_code=code, stdout=stdout, stderr=stderr)


def _session(asked: Any, scene: _Scene) -> Session:
    clock = SimpleNamespace(now_ms=lambda: 0, real_work=nullcontext)
    made = SimpleNamespace(
        settings=SimpleNamespace(
            hooks=read_hooks(asked["hooks"]),
            project_hooks=(),
            disabled_hooks=tuple(asked["disabled"]),
            folder_trusted=asked["trusted"],
        ),
        workspace=SimpleNamespace(root=Path("/w x"), home=Path("/none")),
        plans=lambda: Path("/plans"),
        state=SimpleNamespace(session_id="s"),
        environment=SimpleNamespace(child_variables={}),
        clock=clock,
        events=scene,
    )
    return cast("Session", made)


def _of_extension(value: Any) -> list[HookDefinition]:
    return [
        replace(each, hooks=tuple(replace(hook, source="extensions") for hook in each.hooks))
        for each in read_hooks(value)
    ]


async def _step(system: HookSystem, scene: _Scene, method: str, *given: Any) -> HookOutput | None:
    if method in ("initialize", "enable"):
        if method == "initialize":
            system.initialize()
        else:
            system.enable(given[0], on=given[1])
        return None
    if method == "pre_compress":
        await system.pre_compress(forced=given[0])
        return None
    if method == "after_agent":
        prompt, response, *active = given
        if active:
            return await system.after_agent(prompt, response, stop_hook_active=active[0])
        return await system.after_agent(prompt, response)
    if method == "before_tool":
        name, params, server, original = given
        return await system.before_tool(name, params, mcp_context=server, original_name=original)
    if method == "after_tool":
        name, params, server, original, response = given
        return await system.after_tool(
            name, params, _result(response), mcp_context=server, original_name=original
        )
    if method == "permission":
        fields = dict(given[0])
        details = ConfirmationDetails(
            type=fields.pop("type"), title=fields.pop("title"), fields=fields
        )
        await system.tool_permission(details)
        return None
    if method == "after_model":
        name, chunk = given
        request = scene.requests.setdefault(
            name, HookModelRequest(model=name, config={}, contents=[])
        )
        await system.after_model(request, chunk)
        return None
    if method in ("before_model", "before_tool_selection"):
        await getattr(system, method)(HookModelRequest(**given[0]))
        return None
    output: HookOutput | None = await getattr(system, method)(*given)
    return output


def _result(response: JsonObject) -> ToolResult:
    error = response.get("error")
    return ToolResult(
        llm_content=response["llmContent"],
        return_display=response["returnDisplay"],
        error=error and ToolFailure(message=error["message"], type=ToolErrorType(error["type"])),
    )


async def _played(asked: Any) -> Any:
    scene = _Scene(asked)
    extension = _of_extension(asked["extension"])
    system = HookSystem(_session(asked, scene), notify=scene.notify, extensions=lambda: extension)
    answers: list[Any] = []
    for step in asked["steps"]:
        scene.seen = []
        with mock.patch.object(running, "run_hook_process", scene.run):
            output = await _step(system, scene, *step)
        listed = [[each.definition.event, each.hook.command, each.enabled] for each in system.all()]
        answers.append(
            [
                scene.seen,
                output and [output.stops, output.blocks],
                listed if step[0] in ("initialize", "enable") else None,
            ]
        )
    return answers


def _play(asked: Any) -> Any:
    return asyncio.run(_played(asked))


SUBJECTS: Final = (Subject("hook_session.play", _play), Subject("hook_session.tools", _play))
