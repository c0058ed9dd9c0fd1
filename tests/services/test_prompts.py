from pathlib import Path

from services.clock import VirtualClock
from services.environment import Environment
from services.prompts import Prompts
from services.settings import Settings
from services.state import ApprovalMode, CoreEvents, SessionState
from services.workspace import Workspace


def prompts(
    tmp_path: Path, *, interactive: bool = False, settings: Settings | None = None
) -> tuple[Prompts, SessionState]:
    state = SessionState(
        session_id="s",
        model="m",
        approval_mode=ApprovalMode.DEFAULT,
        interactive=interactive,
        events=CoreEvents(),
    )
    made = Prompts(
        workspace=Workspace.at(tmp_path, tmp_path / "home"),
        state=state,
        environment=Environment(),
        clock=VirtualClock(),
        settings=settings,
    )
    return made, state


def test_the_context_is_framed_and_names_date_platform_and_files(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "a.py").touch()

    text = prompts(tmp_path)[0].session_context()["parts"][0]["text"]

    assert text.startswith("<session_context>")
    assert text.endswith("</session_context>")
    assert "Thursday, January 1, 2026" in text
    assert "linux" in text
    assert "└───src/\n    └───a.py" in text


def test_large_folders_are_cut_and_skipped_ones_not_entered(tmp_path: Path) -> None:
    (tmp_path / "node_modules" / "x").mkdir(parents=True)
    for number in range(300):
        (tmp_path / f"f{number:03}").touch()

    text = prompts(tmp_path)[0].session_context()["parts"][0]["text"]

    assert "f150" in text
    assert "f250" not in text
    assert "node_modules/x" not in text
    assert "└───node_modules" not in text
    assert "└───..." in text


def test_links_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path)

    text = prompts(tmp_path)[0].session_context()["parts"][0]["text"]

    assert "loop" not in text.replace(str(tmp_path), "")


def test_the_context_is_as_long_as_upstreams(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    made, _ = prompts(tmp_path)

    text = made.session_context()["parts"][0]["text"]

    workspace = Workspace.at(tmp_path, tmp_path / "home")
    facts = ("Thursday, January 1, 2026", "linux", str(workspace.project_temp), "└───a")
    said = sum(map(len, facts)) + 2 * len(str(workspace.root))
    assert len(text) - said == 340


def test_the_instruction_follows_mode_and_company(tmp_path: Path) -> None:
    headless, state = prompts(tmp_path)
    attended, _ = prompts(tmp_path, interactive=True)
    before = headless.system_instruction()

    state.set_approval_mode(ApprovalMode.YOLO)

    assert headless.system_instruction() != before
    assert "No user is there" in before
    assert "No user is there" not in attended.system_instruction()


def test_instructions_of_servers_are_in_the_context(tmp_path: Path) -> None:
    made, state = prompts(tmp_path)
    served = Prompts(
        workspace=Workspace.at(tmp_path, tmp_path / "home"),
        state=state,
        environment=Environment(),
        clock=VirtualClock(),
        server_instructions=lambda: "  Numbers are exact.\n",
    )

    text = served.session_context()["parts"][0]["text"]

    framed = "<project_context>\nNumbers are exact.\n</project_context>"
    assert f"<loaded_context>\n{framed}\n</loaded_context>\n</session_context>" in text
    assert "loaded_context" not in made.session_context()["parts"][0]["text"]
    assert served.system_instruction() == made.system_instruction()


def test_the_task_tracker_is_explained_where_it_is_there(tmp_path: Path) -> None:
    without, _ = prompts(tmp_path)
    tracking, _ = prompts(tmp_path, settings=Settings(task_tracker=True))

    assert "tracker_create_task" not in without.system_instruction()
    assert f"`{tmp_path}/home/.gemini/tmp/{tmp_path.name}/s/tracker`" in (
        tracking.system_instruction()
    )
    assert "tracker_create_task" in tracking.headless_instruction()


def test_the_topic_is_named_from_the_next_chat_or_mode_on(tmp_path: Path) -> None:
    made, state = prompts(tmp_path)

    state.topic_title = "One]\nand"
    assert "Active Topic" not in made.system_instruction()
    made.chat_started()
    assert made.system_instruction().endswith("\n\n[Active Topic: One and]")
    state.topic_title = "Two"
    assert made.system_instruction().endswith("\n\n[Active Topic: One and]")
    state.set_approval_mode(ApprovalMode.PLAN)
    assert made.system_instruction().endswith("\n\n[Active Topic: Two]")


def test_the_topic_is_not_named_where_topics_are_switched_off(tmp_path: Path) -> None:
    made, state = prompts(tmp_path, settings=Settings(topic_update_narration=False))
    state.topic_title = "One"
    made.chat_started()

    assert "Active Topic" not in made.system_instruction()


def test_the_settings_leave_out_the_files_of_the_workspace(tmp_path: Path) -> None:
    (tmp_path / "a.py").touch()
    made, _ = prompts(tmp_path, settings=Settings(include_directory_tree=False))

    text = made.session_context()["parts"][0]["text"]

    assert "a.py" not in text
    assert "Thursday" in text


def test_the_settings_list_files_that_git_ignores(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text("build\n")
    (tmp_path / "build").mkdir()
    (tmp_path / "build" / "b.py").touch()

    def shown(settings: Settings) -> bool:
        return (
            "b.py" in prompts(tmp_path, settings=settings)[0].session_context()["parts"][0]["text"]
        )

    assert not shown(Settings())
    assert shown(Settings(respect_git_ignore=False))


def test_in_plan_mode_the_instruction_names_the_folder_for_plans(tmp_path: Path) -> None:
    for interactive, said in ((True, "approves or rejects"), (False, "No user discusses")):
        made, state = prompts(tmp_path, interactive=interactive)
        assert "exit_plan_mode" not in made.system_instruction()
        state.set_approval_mode(ApprovalMode.PLAN)

        text = made.system_instruction()

        assert f"in {tmp_path}/home/.gemini/tmp/{tmp_path.name}/s/plans/." in text
        assert said in text


def test_the_instruction_names_the_approved_plan_in_every_mode(tmp_path: Path) -> None:
    made, state = prompts(tmp_path, interactive=True)
    state.approved_plan = Path("/plans/p.md")

    approved = made.system_instruction()
    state.set_approval_mode(ApprovalMode.PLAN)
    planning = made.system_instruction()

    assert "approved the plan in /plans/p.md. Plan mode is over" in approved
    assert "An earlier plan is approved: /plans/p.md." in planning
    assert "Plan mode is over" not in planning
    assert "/plans/p.md" in made.headless_instruction()
