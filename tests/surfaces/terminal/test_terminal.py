"""Sessions in the terminal, in both runtimes."""

import json
from pathlib import Path

import pytest

from tests.surfaces.terminal.conftest import Open, answer, calls, says

WRITE = {"file_path": "new.txt", "content": "one\ntwo\n"}
QUESTIONS = [
    {
        "question": "Which one?",
        "header": "Pick",
        "type": "choice",
        "options": [
            {"label": "Alpha", "description": "the first"},
            {"label": "Beta", "description": "the second"},
        ],
    },
    {"question": "Your name?", "header": "Name", "type": "text"},
]


async def test_an_answer_is_shown_as_markdown(terminal: Open) -> None:
    async with terminal(says("# Title\n\n- a **b**\n\n```python\nprint(1)\n```\n")) as screen:
        await screen.say("go")

        text = await screen.shows("1 print(1)")

    assert "> go" in text
    assert "Title" in text
    assert "**" not in text


async def test_an_edit_is_confirmed(terminal: Open, folders: Path) -> None:
    async with terminal(calls("write_file", **WRITE), says("ok")) as screen:
        await screen.say("go")
        dialog = await screen.shows("Apply this change?")
        await screen.pilot.press("1")
        text = await screen.shows("✦ ok")

    options = [line.strip("│ ●") for line in dialog.splitlines() if ". " in line]
    assert options == [
        "1. Allow once",
        "2. Allow for this session",
        "3. Modify with external editor",
        "4. No, suggest changes (esc)",
    ]
    assert "Type your message" not in dialog
    assert "WriteFile new.txt → Accepted (+2, -0)" in text
    assert (folders / "ws/new.txt").read_text() == "one\ntwo\n"


async def test_a_refused_edit_ends_the_request(terminal: Open, folders: Path) -> None:
    async with terminal(calls("write_file", **WRITE), says("never")) as screen:
        await screen.say("go")
        await screen.shows("Apply this change?")
        await screen.pilot.press("escape")
        text = await screen.shows("Request cancelled.")

    assert "WriteFile new.txt → Rejected (+2, -0)" in text
    assert "never" not in text
    assert not (folders / "ws/new.txt").exists()


async def test_the_users_editor_changes_an_edit(
    terminal: Open, folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with terminal(calls("write_file", **WRITE), says("ok")) as screen:

        async def edited(name: str, text: str, _above: object) -> str:
            return text.replace("two", f"three of {name}")

        await screen.opened()
        monkeypatch.setattr(screen.view._approvals, "_edit", edited)
        await screen.say("go")
        await screen.shows("Apply this change?")
        await screen.pilot.press("3")
        await screen.shows("✦ ok")

    assert (folders / "ws/new.txt").read_text() == "one\nthree of new.txt\n"


async def test_a_mode_that_allows_edits_answers_the_question(terminal: Open) -> None:
    async with terminal(calls("write_file", **WRITE), says("ok")) as screen:
        await screen.say("go")
        await screen.shows("Apply this change?")
        await screen.pilot.press("ctrl+y")
        text = await screen.shows("✦ ok")

    assert "YOLO" in text


async def test_a_shell_command_is_confirmed(terminal: Open, folders: Path) -> None:
    command = {"command": "echo hi > o.txt", "description": "x"}
    async with terminal(calls("run_shell_command", **command), says("ok")) as screen:
        await screen.say("go")
        dialog = await screen.shows("Allow execution of [Shell]?")
        await screen.pilot.press("down", "enter")
        await screen.shows("✦ ok")

    assert "Redirection detected. To auto-accept, press Shift+Tab" in dialog
    assert (folders / "ws/o.txt").read_text() == "hi\n"


async def test_the_questions_of_ask_user(terminal: Open) -> None:
    async with terminal(calls("ask_user", questions=QUESTIONS), says("thanks")) as screen:
        await screen.say("go")
        first = await screen.shows("Which one?")
        await screen.pilot.press("down", "enter")
        await screen.shows("Your name?")
        await screen.type("Bob")
        await screen.pilot.press("enter")
        review = await screen.shows("Review your answers:")
        await screen.pilot.press("enter")
        text = await screen.shows("✦ thanks")

    assert "● 1. Alpha" in first
    assert "3. Enter a custom value" in first
    assert "Pick → Beta" in review
    assert "Name → Bob" in text


async def test_a_plan_that_the_user_edits_goes_back_to_the_model(
    terminal: Open, folders: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = {"file_path": "p.md", "content": "# Plan\n1. do x\n"}
    script = (
        calls("write_file", **plan),
        calls("exit_plan_mode", plan_filename="p.md"),
        calls("exit_plan_mode", plan_filename="p.md"),
        says("finished"),
    )

    async def edited(_name: str, text: str, _above: object) -> str:
        return text.replace("do x", "do y")

    async with terminal(*script, approval_mode="plan") as screen:
        await screen.opened()
        monkeypatch.setattr(screen.view._approvals, "_edit", edited)
        await screen.say("plan it")
        await screen.shows("do x")
        await screen.pilot.press("ctrl+g")
        await screen.shows("do y")
        await screen.pilot.press("2")
        await screen.shows("✦ finished")
        assert "I have edited the plan or annotated it with feedback." in screen.sent


async def test_a_plan_is_sent_back_with_feedback(terminal: Open) -> None:
    plan = {"file_path": "p.md", "content": "# Plan\n1. do x\n"}
    script = [
        calls("write_file", **plan),
        calls("exit_plan_mode", plan_filename="p.md"),
        calls("exit_plan_mode", plan_filename="p.md"),
        says("all done"),
    ]
    async with terminal(*script, approval_mode="plan") as screen:
        await screen.say("go")
        dialog = await screen.shows("Ready to start implementation?")
        await screen.pilot.press("3")
        await screen.type("shorter")
        await screen.pilot.press("enter")
        await screen.shows("Feedback: shorter")
        await screen.shows("Ready to start implementation?")
        await screen.pilot.press("2")
        text = await screen.shows("✦ all done")

    assert "1. Yes, automatically accept edits" in dialog
    assert "Plan approved:" in text
    assert "Shift+Tab to accept edits" in text


async def test_shift_tab_goes_through_the_modes(terminal: Open) -> None:
    async with terminal() as screen:
        await screen.shows("Shift+Tab to accept edits")
        for words in ("auto-accept edits Shift+Tab to plan", "plan Shift+Tab to manual"):
            await screen.pilot.press("shift+tab")
            await screen.shows(words)
        await screen.pilot.press("shift+tab")
        await screen.shows("Shift+Tab to accept edits")


async def test_a_prompt_waits_while_the_agent_works(terminal: Open) -> None:
    script = [calls("write_file", **WRITE), says("first"), says("second")]
    async with terminal(*script) as screen:
        await screen.say("one")
        await screen.shows("Apply this change?")
        screen.view.turns.submit("two")
        await screen.pilot.press("1")
        text = await screen.shows("✦ second")

    assert text.index("✦ first") < text.index("> two") < text.index("✦ second")


async def test_sequences_of_a_tool_are_inert(terminal: Open) -> None:
    hostile = "printf 'a\\033]0;title\\007b\\033[2Jc'"
    script = [calls("run_shell_command", command=hostile, description="x"), says("ok")]
    async with terminal(*script, approval_mode="yolo") as screen:
        await screen.say("go")
        text = await screen.shows("✦ ok")

    assert "abc" in text
    assert "\x1b" not in text


async def test_markup_of_textual_is_text(terminal: Open) -> None:
    async with terminal(answer({"text": "[bold]x[/bold]"})) as screen:
        await screen.say("[red]")
        text = await screen.shows("[bold]x[/bold]")

    assert "> [red]" in text


async def test_ctrl_c_twice_leaves(terminal: Open) -> None:
    async with terminal() as screen:
        await screen.shows("gemini-2.5-flash")
        await screen.pilot.press("ctrl+c")
        await screen.shows("Press Ctrl+C again to exit.")
        await screen.pilot.press("ctrl+c")
        await screen.app.workers.wait_for_complete()

        assert screen.app.return_value == 0


async def test_the_message_of_a_hook_is_shown(terminal: Open, folders: Path) -> None:
    settings = folders / "settings.json"
    hook = {"type": "command", "command": "echo 'a message of a hook'"}
    settings.write_text(json.dumps({"hooks": {"BeforeAgent": [{"hooks": [hook]}]}}))
    async with terminal(says("hello"), settings_file=settings) as screen:
        await screen.say("hi")
        text = await screen.shows("✦ hello")
    assert text.index("a message of a hook") < text.index("✦ hello")
