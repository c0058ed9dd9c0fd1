"""The texts at the start of a conversation: the system instruction and the environment's context.

They are this product's own. Only the `<session_context>` frame is upstream's (core
`utils/environmentContext.ts`), because chat recordings and resume recognise it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from services.clock import Clock
from services.environment import Environment
from services.exhaustion import notice
from services.ids import stable_id
from services.outside_patterns import PatternLimit
from services.settings import Settings
from services.skills.manager import SkillManager
from services.state import ApprovalMode, SessionState
from services.tools.folder_tree import FolderTree, folder_tree
from services.tools.ignore import FileDiscovery
from services.tools.project_memory import ProjectMemory
from services.wire import Content
from services.workspace import Workspace

__all__ = ["ENVIRONMENT_CONTEXT_ID", "Prompts"]

ENVIRONMENT_CONTEXT_ID: Final = stable_id("environment-context")
"""The durable id of the first turn, the same in every session."""

_CONTEXT: Final = """\
<session_context>
The place that this conversation is about, as it was when it began.
It is {today}, as people there put a date into words.
The operating system is called: {platform}
What is not to be kept goes into the folder {temporary}
{files}
{loaded}
</session_context>"""
_FILES: Final = """\
The workspace is {number}, and what it holds:
{folders}
{trees}
"""
_TREE: Final = """\
Its files and folders, two hundred of them at most:{cut}

{folder}/
{tree}"""
"""As long as upstream's text: its token estimate decides whether a short history is compressed."""

_FOLDERS: Final = (
    "The workspace now has these folders, of which the first two hundred items are shown:"
)
_CUT: Final = (
    " Three dots stand for what is left out: it is ignored, it belongs to a folder that is, or it"
    " would come after item number 200."
)

_ROLE: Final = """\
You are a software engineering agent that works from a terminal. You help your user with code: \
reading it, explaining it, changing it, running and checking it.

Work like this:
- Look before you act. Read the files that matter and follow the conventions you find in them.
- Use the tools for what they are for. Calls that do not depend on each other may be made at once.
- Give absolute paths, or paths relative to the workspace. Stay inside it.
- Make the smallest change that does the whole job, and check it with the project's own tests.
- Never print or store credentials. Explain a command that changes the system before you run it.
- Answer in plain words, as short as the matter allows. Say what you did not do."""

_MODES: Final = {
    ApprovalMode.DEFAULT: "Edits and commands need your user's approval.",
    ApprovalMode.AUTO_EDIT: "Edits are approved in advance; commands need your user's approval.",
    ApprovalMode.YOLO: "Everything is approved in advance. No user is asked, so be careful.",
    ApprovalMode.PLAN: (
        "You are planning. Read as much as you need, write plans only, change nothing else."
    ),
}
_TRACKER: Final = """\
You keep track of your work in the task tracker, which has its files in `{folder}`:
- Its tools (`tracker_create_task`, `tracker_list_tasks`, `tracker_update_task`) are the only list \
of what is to be done. Keep none in your head, and none in your answers.
- Before you begin with more than one small change, or with anything that has to be explored \
first, make a task for each step, however your user put it. An approved plan becomes tasks before \
any code is written.
- A title says the aim of a task, its description all that is needed to reach it.
- Begin a task when all that it depends on is closed. Close it when you have checked that it is \
done, and at once, in the same answer as your next calls.
- Where your user and the tracker disagree about what is done, check before you change it."""
_TOPIC: Final = "[Active Topic: {topic}]"
_PLANNING: Final = """\
How you plan:
- Explore with read-only tools. Leave source code as it is, also when you are asked to change it.
- Write the plan as a `.md` file in {plans}/. It names the changes, the files and the checks.
- {agreement}
- {approval}"""
_AGREEMENT: Final = {
    True: "Discuss the approach with your user before you write the plan, and show the plan.",
    False: "No user discusses the approach with you: choose one, and give your reasons.",
}
_APPROVAL: Final = {
    True: "When you agree, call `exit_plan_mode` with the file's name: your user then approves or "
    "rejects the plan. Only an approved plan is implemented.",
    False: "When the plan is finished, call `exit_plan_mode` with the file's name, and implement "
    "it.",
}
_APPROVED: Final = (
    "Your user approved the plan in {plan}. Plan mode is over, and so are its restrictions. Read "
    "that file before you do anything else, and implement the plan. Where it has to change, ask "
    "your user, and change the file too."
)
_APPROVED_BEFORE: Final = (
    "An earlier plan is approved: {plan}. Read that file first. Revise it; begin another file only "
    "if your user asks for a new plan."
)
_SKILLS: Final = "Skills that you may use; `activate_skill` gives you what one says, by its name:"
_PLACE: Final = "You work in these folders, of which the first two hundred items are shown:"
_AGENT_PLANS: Final = (
    "You are planning: nothing but plans, `.md` files in {plans}/, may be written. Leave the "
    "source code as it is."
)
_AGENT_RULES: Final = """\
How you work:
- No user can answer you. Ask no questions; decide for yourself.
- Go step by step, and use your tools for it.
- Name files by absolute paths, which begin with one of the folders above.
- When your user refuses a call, respect that. Do not ask for the same again; find another way.
- You are done when you have called `complete_task`, and not before: an answer without any call \
counts as a failure. Call no other tool together with it."""
_STRUCTURED_END: Final = " Give it your answer in the form that it declares."
_PLAIN_END: Final = """ Its `result` is all that is passed on of your work: put in it everything \
that you found out, in the form that you were asked for."""
_HEADLESS: Final = "No user is there to answer questions. Decide for yourself and finish the task."


class Prompts:
    """Builds the texts of one session."""

    def __init__(
        self,
        *,
        workspace: Workspace,
        state: SessionState,
        environment: Environment,
        clock: Clock,
        server_instructions: Callable[[], str] = str,
        memory: ProjectMemory | None = None,
        skills: SkillManager | None = None,
        agents: Callable[[], str] = str,
        settings: Settings | None = None,
    ) -> None:
        """Make them.

        Args:
            workspace: the workspace folder.
            state: the mode, and whether the session is interactive.
            environment: platform and calendar.
            clock: gives today's date.
            server_instructions: the instructions of MCP servers; may be empty.
            memory: the user's and the project's memory files.
            skills: the session's skills, for agents.
            agents: the section about the agents that the model may call.
            settings: whether there are a task tracker and topics; by default as in `Settings`.
        """
        self._workspace = workspace
        self._state = state
        self._environment = environment
        self._clock = clock
        self._server_instructions = server_instructions
        self._memory = memory
        self._skills = skills
        self._agents = agents
        self._settings = settings or Settings()
        self._topic: tuple[ApprovalMode, str | None] = (state.approval_mode, None)

    def chat_started(self) -> None:
        """Let the system instruction name the topic that the session has now.

        A later topic is named when the approval mode changes or another chat begins, as in
        upstream: the instruction, and with it what a model has cached, stays the same until then.

        Source: core `core/client.ts` (`startChat`, `updateSystemInstruction`).
        """
        self._topic = (self._state.approval_mode, self._state.topic_title)

    def system_instruction(self) -> str:
        """The system instruction for the approval mode now in force."""
        sections = [_ROLE, *self._mode(interactive=self._state.interactive)]
        if not self._state.interactive:
            sections.append(_HEADLESS)
        if agents := self._agents():
            sections.append(agents)
        sections += self._tracker()
        return "\n\n".join([*sections, *self._user_memory(), *self._active_topic()])

    def headless_instruction(self) -> str:
        """The system instruction of a headless session, without memory and agents."""
        sections = [_ROLE, *self._mode(interactive=False), _HEADLESS]
        return "\n\n".join([*sections, *self._tracker()])

    def agent_instruction(
        self, prompt: str, *, folders: Sequence[Path], skills: bool, structured: bool
    ) -> str:
        """An agent's system instruction: its definition's text, and the rules for all agents.

        Source: core `agents/local-executor.ts`, `buildSystemPrompt`.

        Args:
            prompt: the text of its definition.
            folders: its workspace folders.
            skills: whether it may use the session's skills.
            structured: whether its result has a schema.
        """
        sections = [prompt]
        found = self._skills.skills if skills and self._skills is not None else ()
        if found:
            lines = [f"- {each.name}: {each.description} ({each.location})" for each in found]
            sections.append("\n".join([_SKILLS, *lines]))
        sections += self._user_memory()
        sections.append("\n".join([_PLACE, *map(self._overview, folders)]))
        if self._state.approval_mode is ApprovalMode.PLAN:
            sections.append(_AGENT_PLANS.format(plans=self._plans))
        sections.append(_AGENT_RULES + (_STRUCTURED_END if structured else _PLAIN_END))
        return "\n\n".join(sections)

    def _tracker(self) -> list[str]:
        if not self._settings.task_tracker:
            return []
        folder = self._workspace.tasks(self._state.first_session_id)
        return [_TRACKER.format(folder=_in_one_line(str(folder)))]

    def _active_topic(self) -> list[str]:
        if self._topic[0] is not self._state.approval_mode:
            self.chat_started()
        topic = self._topic[1]
        if not (topic and self._settings.topic_update_narration):
            return []
        return [_TOPIC.format(topic=_in_one_line(topic))]

    @property
    def memory_files(self) -> int:
        """How many memory files the session began with."""
        return 0 if self._memory is None else self._memory.began_with

    def session_memory(self) -> str:
        """The instructions of project and servers, as in the first turn; may be empty."""
        return self._project_context()

    @property
    def _plans(self) -> Path:
        return self._workspace.plans(self._state.first_session_id)

    def _mode(self, *, interactive: bool) -> list[str]:
        """The sections about the approval mode and the approved plan.

        Source: core `prompts/promptProvider.ts`, `planningWorkflow` and `primaryWorkflows`.
        """
        mode, approved = self._state.approval_mode, self._state.approved_plan
        planning = mode is ApprovalMode.PLAN
        sections = [_MODES[mode]]
        if planning:
            sections.append(
                _PLANNING.format(
                    plans=self._plans,
                    agreement=_AGREEMENT[interactive],
                    approval=_APPROVAL[interactive],
                )
            )
        if approved is not None:
            sections.append((_APPROVED_BEFORE if planning else _APPROVED).format(plan=approved))
        return sections

    def _user_memory(self) -> list[str]:
        if self._memory is None:
            return []
        return [text for text in (self._memory.of_user, self._memory.of_user_here) if text]

    def _overview(self, folder: Path) -> str:
        tree = self._tree(folder)
        return "\n".join([f"- {folder}", *tree.lines])

    def folders_context(self) -> str:
        """The folders of the session and what they hold, for a conversation that gets more of them.

        Source: core `utils/environmentContext.ts` (`getDirectoryContextString`).
        """
        return "\n".join([_FOLDERS, *map(self._overview, self._workspace.folders)])

    def session_context(self) -> Content:
        """The first user turn: date, platform, folders, instructions of MCP servers.

        Its id is `ENVIRONMENT_CONTEXT_ID`. The settings may leave out the folders.
        """
        text = _CONTEXT.format(
            today=self._environment.long_date(self._clock.now_ms()),
            platform=self._environment.platform,
            temporary=self._workspace.project_temp,
            files=self._files() if self._settings.include_directory_tree else "",
            loaded=self._project_context(),
        )
        return {"role": "user", "parts": [{"text": text}]}

    def _files(self) -> str:
        folders = self._workspace.folders
        return _FILES.format(
            number="one folder" if len(folders) == 1 else "some folders",
            folders="\n".join(f"  - {folder}" for folder in folders),
            trees="\n".join(map(self._drawn, folders)),
        )

    def _drawn(self, folder: Path) -> str:
        tree = self._tree(folder)
        cut = _CUT if tree.cut else ""
        return _TREE.format(folder=folder, cut=cut, tree="\n".join(tree.lines))

    def _tree(self, root: Path) -> FolderTree:
        try:
            ignored = FileDiscovery(
                root,
                respect_git=self._settings.respect_git_ignore,
                respect_gemini=self._settings.respect_gemini_ignore,
            )
            return folder_tree(root, hides=ignored.hides)
        except (OSError, PatternLimit) as error:
            notice(error, root)
            # The conversation goes on without it: the tools report what is wrong with the folder.
            return FolderTree(lines=(), cut=False)

    def _project_context(self) -> str:
        """The instructions of extensions, project and servers, which belong to the first turn.

        Source: core `context/memoryContextManager.ts`, `Config.getSessionMemory`.
        """
        memory = self._memory
        extensions, project = (
            ("", "") if memory is None else (memory.of_extensions, memory.of_project)
        )
        loaded = "\n\n".join(filter(None, (project, self._server_instructions().strip())))
        framed = "\n".join(
            f"<{name}_context>\n{text}\n</{name}_context>"
            for name, text in (("extension", extensions), ("project", loaded))
            if text
        )
        return f"\n<loaded_context>\n{framed}\n</loaded_context>" if framed else ""


def _in_one_line(text: str) -> str:
    """`text` so that it cannot end the line or the bracket that it stands in."""
    return text.replace("\n", " ").replace("]", "")
