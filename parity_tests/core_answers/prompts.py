"""Prompts: which facts of a session each of them has. The words around them are our own."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final, cast

from parity_tests.core_answers.subject import Subject
from services.clock import VirtualClock
from services.environment import Environment
from services.prompts import Prompts
from services.settings import Settings
from services.skills.manager import SkillManager
from services.state import ApprovalMode, CoreEvents, SessionState
from services.tools.project_memory import ProjectMemory
from services.workspace import Workspace

__all__ = ["SUBJECTS"]

_DAY_MS: Final = 86_400_000


class _Scene:
    """The prompts of one session in a temporary folder."""

    def __init__(self, asked: Any, root: Path) -> None:
        self._asked = asked
        self._root = root / asked["name"]
        for name in asked["files"]:
            file = self._root / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch()
        self._more = root / "more"
        self._more.mkdir()
        (self._more / "m.txt").touch()
        self._workspace = Workspace.at(self._root, root / "home")
        if asked["added"]:
            self._workspace.add_folder(self._more)
        self._state = SessionState(
            session_id="sess",
            model="m",
            approval_mode=ApprovalMode(asked["mode"]),
            interactive=asked["interactive"],
            events=CoreEvents(),
        )
        self._state.topic_title = asked["topic"]
        self._state.approved_plan = asked["approved"] and Path(asked["approved"])
        memory = asked["memory"]
        kept = memory and SimpleNamespace(
            of_user=memory["user"],
            of_user_here=memory["here"],
            of_extensions=memory["extensions"],
            of_project=memory["project"],
        )
        skills = [SimpleNamespace(**each) for each in asked["skills"]]
        self._prompts = Prompts(
            workspace=self._workspace,
            state=self._state,
            environment=Environment(),
            clock=VirtualClock(asked["day"] * _DAY_MS),
            server_instructions=lambda: asked["servers"],
            memory=cast("ProjectMemory | None", kept),
            skills=cast("SkillManager", SimpleNamespace(skills=skills)),
            agents=lambda: "",
            settings=Settings(
                task_tracker=asked["tracker"],
                topic_update_narration=asked["narration"],
                include_directory_tree=asked["tree"],
            ),
        )

    def answer(self) -> list[Any]:
        """The facts of each prompt.

        The main loop has the skills from the description of a tool. Outside of plan mode the core
        names an approved plan in some sessions alone.
        """
        self._prompts.chat_started()
        system = self._prompts.system_instruction()
        agent = self._prompts.agent_instruction(
            "AGENT",
            folders=self._workspace.folders,
            skills=self._asked["agent_skills"],
            structured=True,
        )
        context = self._prompts.session_context()
        text = context["parts"][0]["text"]
        later = self._prompts.folders_context()
        return [
            self._facts(system, of_agent=False),
            re.findall(r"\n\n(\[Active Topic: .*\])\Z", system),
            agent.startswith("AGENT\n"),
            self._facts(agent),
            context["role"],
            self._facts(text),
            [text.startswith("<session_context>\n"), text.endswith("\n</session_context>")],
            re.findall(r"\n\n?<loaded_context>[^$]*", text),
            self._facts(later),
            self._prompts.session_memory(),
        ]

    def _facts(self, text: str, *, of_agent: bool = True) -> list[str]:
        return [name for name in self._names(of_agent) if name in text]

    def _names(self, of_agent: bool) -> list[str]:
        """What a prompt may name, in the order of the core's half."""
        asked = self._asked
        memory = asked["memory"] or {}
        tracker = str(self._workspace.tasks("sess"))
        return [
            *(tracker, tracker.replace("]", "").replace("\n", " ")),
            *([asked["approved"]] if asked["approved"] and asked["mode"] == "plan" else []),
            *(name for name in memory.values() if name),
            *(value for each in asked["skills"] if of_agent for value in each.values()),
            f"{self._workspace.plans('sess')}/",
            *(f"{folder}\n" for folder in (self._root, self._more)),
            *("└───b.txt", "├───a", "└───m.txt", "linux"),
            Environment().long_date(asked["day"] * _DAY_MS),
            *([str(self._workspace.project_temp)] if of_agent else []),
        ]


def _facts(asked: Any) -> Any:
    with tempfile.TemporaryDirectory(prefix="prompts-") as made:
        root = Path(made).resolve()
        answer = json.dumps(_Scene(asked, root).answer())
        return json.loads(answer.replace(str(root), "@"))


SUBJECTS: Final = (Subject("prompts.facts", _facts),)
