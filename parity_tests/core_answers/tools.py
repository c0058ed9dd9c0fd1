"""The built-in tools, each session in a temporary folder."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import os
import tempfile
from enum import StrEnum
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

from agent_protocol.events import TextDisplay, ToolDisplay
from parity_tests.core_answers.subject import Subject
from services.abort import AbortController, AbortSignal
from services.clock import VIRTUAL_EPOCH_MS, VirtualClock
from services.environment import Environment
from services.ids import CountingProcessIds
from services.model.errors import ModelError
from services.model.utility import UtilityRequest
from services.settings import Settings
from services.state import ApprovalMode, CoreEvents, SessionState
from services.tools.builtin import register_builtin_tools
from services.tools.contract import (
    ConfirmationOutcome,
    InvalidToolParams,
    LocatedInvocation,
    PolicyDecides,
    PreparedInvocation,
    ToolErrorType,
    ToolExecution,
    ToolKind,
)
from services.tools.edit_correction import EditCorrector
from services.tools.folder_tree import described_folder
from services.tools.host import ToolHost
from services.tools.memory_imports import with_imports
from services.tools.project_memory import ProjectMemory
from services.tools.read_many_files import ReadManyFilesTool
from services.tools.registry import ToolRegistry
from services.tracker import Tracker, TrackerError
from services.wire import JsonObject
from services.workspace import Workspace

__all__ = ["SUBJECTS", "lay_files", "shortened"]


def _camel(name: str) -> str:
    return name.title().replace("_", "")


_MEMBERS: Final[dict[str, dict[str, StrEnum]]] = {
    "Kind": {_camel(each.name): each for each in ToolKind},
    "ToolConfirmationOutcome": {_camel(each.name): each for each in ConfirmationOutcome},
    "ToolErrorType": {each.name: each for each in ToolErrorType},
}
_BEGIN_S: Final = 1_700_000_000
_LONG: Final = 100
_MANY: Final = 12


def _content(value: Any) -> bytes:
    if isinstance(value, str):
        return value.encode()
    if "base64" in value:
        return base64.b64decode(value["base64"])
    return b"".join([value["repeat"].encode()] * value["times"])


def shortened(value: Any) -> Any:
    """The value with long texts, and long lists of texts, cut and known by their hash."""
    if isinstance(value, str) and len(value) > _LONG:
        return f"{value[:40]}…{hashlib.sha256(value.encode(errors='replace')).hexdigest()[:12]}"
    if isinstance(value, list):
        if len(value) > _MANY and all(isinstance(each, str) for each in value):
            return [value[0], shortened("\n".join(value))]
        return [shortened(each) for each in value]
    if isinstance(value, dict):
        return {key: shortened(each) for key, each in value.items()}
    return value


@cache
def _trees() -> JsonObject:
    """Files that several inputs have in common, by name."""
    trees: JsonObject = json.loads(
        Path(__file__).with_name("core").joinpath("trees.json").read_text("utf-8")
    )
    return trees


def lay_files(root: Path, files: JsonObject) -> None:
    """Make files with their texts, and folders (`null`) and links, below `root`."""
    second = _BEGIN_S
    for name, value in files.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if value is None:
            file.mkdir()
        elif isinstance(value, dict) and "link" in value:
            file.symlink_to(value["link"])
        else:
            file.write_bytes(_content(value))
            os.utime(file, (second, second))
            second += 60


def _written(root: Path) -> JsonObject:
    return {
        str(file.relative_to(root)): file.read_bytes().decode("latin-1")
        for file in root.rglob("*")
        if file.is_file() and not file.is_symlink() and file.stat().st_mtime > _BEGIN_S + 1e6
    }


def _display(display: ToolDisplay, described: str, shown: Any) -> list[Any]:
    """What a client shows, without what the result has as well."""
    result: Any = display.result
    short = [display.name, display.description == described, display.result_summary]
    if result is None:
        return short
    if isinstance(result, TextDisplay):
        rest: Any = True if result.text == shown else len(result.text.split("\n"))
    else:
        before = shown.get("originalContent") if isinstance(shown, dict) else None
        rest = [result.path, result.before_text == (before or ""), result.after_text]
    return [*short, rest]


def _place(match: JsonObject) -> tuple[str, int]:
    return match["filePath"], match["lineNumber"]


async def _play(registry: ToolRegistry, name: str, params: JsonObject) -> JsonObject:
    tool = registry.get(name)
    assert tool is not None
    try:
        call = tool.build(params)
    except InvalidToolParams as fault:
        return {"fault": str(fault)}
    answer: JsonObject = {
        "described": call.description(),
        "locations": call.locations() if isinstance(call, LocatedInvocation) else [],
        "rule": call.policy_update(ConfirmationOutcome.PROCEED_ALWAYS),
    }
    if isinstance(call, PreparedInvocation):
        await call.prepare()
    decided = isinstance(call, PolicyDecides) and not call.needs_decision()
    asked = None if decided else call.confirmation_details()
    answer["question"] = asked and {"type": asked.type, "title": asked.title, **asked.fields}
    try:
        result = await call.execute(ToolExecution(call_id="call", signal=AbortController().signal))
    except TrackerError:
        return {**answer, "raised": True}
    error = result.error
    llm: Any = result.llm_content
    shown = result.return_display
    if name == "grep_search" and isinstance(shown, dict):
        # Upstream finds files in the order of the program that searches.
        llm = sorted(str(llm).split("\n"))
        shown = {**shown, "matches": sorted(shown["matches"], key=_place)}
    if result.display is not None:
        answer["display"] = _display(result.display, answer["described"], shown)
    return {
        **answer,
        "llm": None if error else llm,
        "shown": shown,
        "error": [error.type, error.message] if error else None,
    }


class _Ids:
    """Numbers the tasks."""

    def __init__(self) -> None:
        self._tasks = 0

    def uuid(self, _scope: str) -> str:
        self._tasks += 1
        return f"task0{self._tasks}"


class _Model:
    """Gives scripted responses; a text is an error."""

    def __init__(self, responses: list[Any]) -> None:
        self._responses = iter(responses)

    async def generate_content(self, _model: str, _query: str, _signal: AbortSignal) -> JsonObject:
        response: str | JsonObject = next(self._responses)
        if isinstance(response, str):
            raise ModelError(response)
        return response


class _Corrections:
    """Gives scripted answers about edits, and notes the questions; a text is an error."""

    def __init__(self, answers: list[Any]) -> None:
        self._answers = iter(answers)
        self.asked: list[Any] = []

    async def generate_json(self, request: UtilityRequest, schema: JsonObject) -> JsonObject:
        (content,) = request.contents
        text, who = content["parts"][0]["text"], content["role"]
        key = {"model": request.config_key}
        self.asked.append(
            [key, who, text, request.max_attempts, request.role, _undescribed(schema)]
        )
        answer: str | JsonObject = next(self._answers)
        if isinstance(answer, str):
            raise ModelError(answer)
        return answer


def _undescribed(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {key: _undescribed(each) for key, each in value.items() if key != "description"}


async def _session(asked: JsonObject, workspace: Workspace) -> JsonObject:
    state = SessionState(
        session_id="5e551011-0000-4000-8000-000000000000",
        model=asked.get("model", "gemini-2.5-pro"),
        approval_mode=ApprovalMode(asked.get("mode", "default")),
        interactive=False,
        events=CoreEvents(),
    )
    tracked: Any = SimpleNamespace(
        tasks=lambda: workspace.root / "tasks", ids=_Ids(), state=state, events=CoreEvents()
    )
    web: Any = SimpleNamespace(model=_Model(asked.get("responses", [])))
    model: Any = _Corrections(asked.get("corrections", []))
    corrector = EditCorrector(model, prompt_id=str) if "corrections" in asked else None
    for folder in asked.get("added", []):
        (workspace.root.parent / folder).mkdir(parents=True, exist_ok=True)
        workspace.add_folder(workspace.root.parent / folder)
    filtering = asked.get("filtering", {})
    host = ToolHost(
        corrector=corrector,
        memory=ProjectMemory(workspace, trusted=True) if asked.get("memory") else None,
        tracker=Tracker(tracked),
        web=web,
        workspace=workspace,
        clock=VirtualClock(VIRTUAL_EPOCH_MS),
        settings=Settings(
            disable_llm_correction=corrector is None,
            respect_git_ignore=filtering.get("respectGitIgnore", True),
            respect_gemini_ignore=filtering.get("respectGeminiIgnore", True),
        ),
        state=state,
        environment=Environment.for_replay(home=str(workspace.home), path=os.environ["PATH"]),
        process_ids=CountingProcessIds(),
    )
    registry = ToolRegistry(host.settings, state, plans_folder=lambda: str(host.plans))
    register_builtin_tools(registry, host)
    registry.register(ReadManyFilesTool(host))
    answers = [await _play(registry, name, params) for name, params in asked["calls"]]
    await host.close()
    written = _written(workspace.root)
    if corrector is None:
        return {"answers": answers, "written": written}
    for each in answers:
        each["shown"] = each["shown"] if isinstance(each.get("shown"), str) else None
    short = [[each.get(key) for key in ("llm", "shown", "error", "fault")] for each in answers]
    return {"answers": short, "written": written, "asked": model.asked}


def _calls(asked: JsonObject) -> Any:
    with tempfile.TemporaryDirectory(prefix="parity-tools-") as top:
        workspace = Workspace.at(Path(top) / "ws", Path(top) / "home")
        workspace.root.mkdir()
        workspace.home.mkdir()
        files = asked.get("files", {})
        lay_files(workspace.root, _trees()[files] if isinstance(files, str) else files)
        answer = json.dumps(asyncio.run(_session(asked, workspace)))
        masked = answer.replace(str(workspace.root), "<WS>")
        masked = masked.replace(str(workspace.home), "<HOME>")
        return shortened(json.loads(masked.replace(str(workspace.root.parent), "<TOP>")))


def _folders(asked: list[Any]) -> Any:
    files, folder, text = asked
    with tempfile.TemporaryDirectory(prefix="parity-tools-") as name:
        top = Path(name).resolve()
        lay_files(top, files)
        at = top / folder
        answer = json.dumps([with_imports(text, at), described_folder(at)])
        return json.loads(answer.replace(str(top), "<TOP>"))


def _member(asked: list[str]) -> str:
    kind, name = asked
    return str(_MEMBERS[kind][name])


SUBJECTS: Final = (
    Subject("tools.changing", _calls),
    Subject("tools.correcting", _calls),
    Subject("tools.edges", _calls),
    Subject("tools.editing", _calls),
    Subject("tools.files", _calls),
    Subject("tools.folders", _folders),
    Subject("tools.ignoring", _calls),
    Subject("tools.member", _member),
    Subject("tools.noting", _calls),
    Subject("tools.reading", _calls),
    Subject("tools.searching", _calls),
    Subject("tools.tracking", _calls),
    Subject("tools.websearching", _calls),
)
