"""What a session's hooks warn of when the session starts, and hooks that may not run."""

from __future__ import annotations

import pytest

from tests.services.hooks.stand_ins import OpenSession, defined, says


async def test_an_untrusted_folders_hooks_do_not_run(open_session: OpenSession) -> None:
    hooks = {"BeforeTool": defined(says({"decision": "deny"})), "Nope": []}
    session = open_session(hooks, trustedFolder=False, projectHooks=hooks)

    session.hooks.initialize()

    assert await session.hooks.before_tool("t", {}) is None
    assert session.warnings == []
    assert not (session.home / ".gemini").exists()


def test_switched_off_hooks_are_none(open_session: OpenSession) -> None:
    with pytest.raises(AssertionError):
        open_session({}, enableHooks=False)


def test_unknown_events_are_warned_of_at_the_start(open_session: OpenSession) -> None:
    session = open_session({"Nope": defined(says({}), says({})), "BeforeTool": []})

    session.hooks.initialize()

    assert session.warnings == ['Invalid hook event name: "Nope" from project config. Skipping.']


def test_new_project_hooks_are_warned_of_once(open_session: OpenSession) -> None:
    hooks = {
        "BeforeTool": defined({"type": "command", "command": "c1", "name": "n"}),
        "AfterTool": defined({"type": "command", "command": "c2"}),
    }
    session = open_session(hooks, projectHooks=hooks)

    session.hooks.initialize()
    session.hooks.initialize()

    assert session.warnings == [
        (
            "WARNING: The following project-level hooks have been detected in this workspace:\n"
            "  - n\n"
            "  - c2\n"
            "\n"
            "These hooks will be executed. If you did not configure these hooks or do not trust "
            "this project,\n"
            "please review the project settings (.gemini/settings.json) and remove them."
        )
    ]
    notes = session.home / ".gemini" / "trusted_hooks.json"
    assert notes.read_text() == f'{{\n  "{session.root}": [\n    "n:c1",\n    ":c2"\n  ]\n}}'


@pytest.mark.parametrize(("notes", "warned"), [("{broken", True), ("[]", False), ("{}", True)])
def test_a_broken_file_of_trusted_hooks_is_no_error(
    notes: str, warned: bool, open_session: OpenSession
) -> None:
    hooks = {"BeforeTool": defined({"type": "command", "command": "c1"})}
    session = open_session(hooks, projectHooks=hooks)
    (session.home / ".gemini").mkdir(parents=True)
    (session.home / ".gemini" / "trusted_hooks.json").write_text(notes)

    session.hooks.initialize()

    assert bool(session.warnings) is warned
