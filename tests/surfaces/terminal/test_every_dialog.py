"""Each dialog of the terminal, and each kind of question about a call.

`test_nothing_is_left_out` fails for a dialog that has no test in the table below. The dialogs that
commands open are played in `test_every_command.py`.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import pytest

from services.interaction.questions import Question
from services.tools.contract import ConfirmationDetails, ConfirmationOutcome
from surfaces.allowed import Allowed
from surfaces.terminal import dialogs
from surfaces.terminal.call_words import CallShown
from surfaces.terminal.dialogs.confirmation import confirmation_dialog
from surfaces.terminal.dialogs.dialog import Dialog
from tests.surfaces.terminal import test_command_dialogs as command_dialogs
from tests.surfaces.terminal import test_extensions as extensions
from tests.surfaces.terminal import test_preferences as preferences
from tests.surfaces.terminal import test_questions as questions
from tests.surfaces.terminal import test_sessions as sessions
from tests.surfaces.terminal import test_settings_dialog as settings_dialog
from tests.surfaces.terminal import test_slash_commands as slash_commands
from tests.surfaces.terminal import test_terminal as talks
from tests.surfaces.terminal.conftest import Open

ONCE = ("Allow once", ConfirmationOutcome.PROCEED_ONCE)
SESSION = ("Allow for this session", ConfirmationOutcome.PROCEED_ALWAYS)
NO = ("No, suggest changes (esc)", ConfirmationOutcome.CANCEL)
EDITOR = ("Modify with external editor", ConfirmationOutcome.MODIFY_WITH_EDITOR)
FILE = " ~/.gemini/policies/auto-saved.toml"
SAVE = ConfirmationOutcome.PROCEED_ALWAYS_AND_SAVE

CALLS: dict[str, tuple[ConfirmationDetails, str, list[tuple[str, ConfirmationOutcome]]]] = {
    "edit": (
        ConfirmationDetails(
            type="edit",
            title="Confirm Edit",
            fields={"filePath": "a.txt", "originalContent": "one\n", "newContent": "two\n"},
        ),
        "Apply this change?",
        [ONCE, SESSION, ("Allow for this file in all future sessions" + FILE, SAVE), EDITOR, NO],
    ),
    "exec": (
        ConfirmationDetails(type="exec", title="Confirm Shell", fields={"command": "ls"}),
        "Allow execution of [the_tool]?",
        [ONCE, SESSION, ("Allow this command for all future sessions" + FILE, SAVE), NO],
    ),
    "mcp": (
        ConfirmationDetails(
            type="mcp",
            title="Confirm MCP",
            fields={"serverName": "poet", "toolName": "rhyme", "toolArgs": {"word": "sea"}},
        ),
        'Allow execution of MCP tool "rhyme" from server "poet"?',
        [
            ONCE,
            ("Allow tool for this session", ConfirmationOutcome.PROCEED_ALWAYS_TOOL),
            (
                "Allow all server tools for this session",
                ConfirmationOutcome.PROCEED_ALWAYS_SERVER,
            ),
            ("Allow tool for all future sessions" + FILE, SAVE),
            NO,
        ],
    ),
    "info": (
        ConfirmationDetails(
            type="info",
            title="Confirm Fetch",
            fields={"prompt": "fetch it", "urls": ["https://x.test/"]},
        ),
        "Do you want to proceed?",
        [ONCE, SESSION, ("Allow for all future sessions" + FILE, SAVE), NO],
    ),
}


@pytest.mark.parametrize("terminal", ["legacy"], indirect=True)
@pytest.mark.parametrize("kind", CALLS)
async def test_each_option_of_a_call_has_its_answer(terminal: Open, kind: str) -> None:
    details, question, options = CALLS[kind]
    async with terminal() as screen:
        await screen.opened()
        call = CallShown(name="the_tool", root="/")
        for key, outcome in (*enumerate((each for _, each in options), 1), ("escape", NO[1])):
            dialog = confirmation_dialog(call, details, Allowed(for_ever=True))
            asked = asyncio.create_task(screen.app.dialogs.ask(dialog))
            text = await screen.shows(question)
            lines = [line.strip("│ ●") for line in text.splitlines() if ". " in line]
            assert [line for line in lines if line[:1].isdigit()] == [
                f"{number}. {label}" for number, (label, _) in enumerate(options, 1)
            ]
            await screen.pilot.press(str(key))

            assert await asked is outcome
            await screen.shows("Type your message")


TESTS: Mapping[str, Callable[..., Any]] = {
    "ask_user.AskUserDialog": talks.test_the_questions_of_ask_user,
    "auth.AuthDialog": command_dialogs.test_without_a_way_to_sign_in_the_user_is_asked_first,
    "auth.WaitingDialog": command_dialogs.test_without_a_way_to_sign_in_the_user_is_asked_first,
    "auth.api_key_dialog": command_dialogs.test_the_stored_key_is_forgotten,
    "auth.signed_out_dialog": command_dialogs.test_signing_out_leads_to_a_choice,
    "commands.RewindPointDialog": slash_commands.test_double_escape_rewinds_the_conversation,
    "commands.consent_dialog": extensions.test_a_user_who_says_no_installs_nothing,
    "commands.folder_trust_dialog": command_dialogs.test_the_trust_of_a_new_folder_is_asked,
    "commands.rewind_choice_dialog": slash_commands.test_double_escape_rewinds_the_conversation,
    "commands.shell_commands_dialog": (
        slash_commands.test_shell_commands_of_a_command_file_are_confirmed
    ),
    "commands.trust_dialog": preferences.test_the_trust_of_a_folder_is_changed,
    "confirmation.confirmation_dialog": test_each_option_of_a_call_has_its_answer,
    "hooks.HooksDialog": command_dialogs.test_the_hooks_of_the_session_are_shown,
    "model.ModelDialog": preferences.test_the_model_is_chosen_for_this_session,
    "plan_approval.PlanDialog": talks.test_a_plan_is_sent_back_with_feedback,
    "questions._FallbackDialog": (
        questions.test_esc_cancels_the_request_of_a_fallback_and_the_dialog_stays
    ),
    "questions._loop": questions.test_each_option_has_its_answer,
    "questions._new_agents": questions.test_each_option_has_its_answer,
    "questions._sign_in": questions.test_each_option_has_its_answer,
    "questions._trust": questions.test_each_option_has_its_answer,
    "questions._validation": questions.test_each_option_has_its_answer,
    "scoped.editor_dialog": preferences.test_the_editor_is_chosen_and_kept,
    "scoped.theme_dialog": (
        preferences.test_a_theme_is_shown_while_it_is_highlighted_and_kept_when_chosen
    ),
    "sessions.SessionBrowser": sessions.test_sessions_are_sorted_and_deleted,
    "settings.SettingsDialog": settings_dialog.test_a_switch_is_turned_and_written_at_once,
    "tasks.TasksDialog": command_dialogs.test_background_commands_are_listed_shown_and_ended,
    "text_field.TextFieldDialog": extensions.test_an_extension_is_installed_configured_and_removed,
}
"""The dialogs, as classes and as functions that make one, and a test that answers each."""
FRAMES = {"dialog.Dialog", "dialog.ChoiceDialog", "scoped.ScopedDialog"}
"""What dialogs are made of."""


def makers() -> Iterator[str]:
    """The classes of dialogs, and the functions whose result is one."""
    for found in iter_modules(dialogs.__path__):
        module = import_module(f"{dialogs.__name__}.{found.name}")
        for name, value in vars(module).items():
            if getattr(value, "__module__", None) != module.__name__:
                continue
            if inspect.isclass(value):
                is_one = issubclass(value, Dialog)
            else:
                words = str(getattr(value, "__annotations__", {}).get("return", ""))
                is_one = inspect.isfunction(value) and words.partition("[")[0].endswith("Dialog")
            if is_one:
                yield f"{found.name}.{name}"


def test_nothing_is_left_out() -> None:
    assert set(makers()) - FRAMES == set(TESTS)


def test_each_kind_of_question_is_asked() -> None:
    asked = {case.question.kind for case in questions.CASES.values()}
    assert asked == {kind.kind for kind in Question.__subclasses__()}
