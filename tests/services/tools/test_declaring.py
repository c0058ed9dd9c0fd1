"""Which tools a request declares: the list is renewed behind each request, as upstream does."""

from __future__ import annotations

import pytest

from services.state import ApprovalMode, CoreEvents, SessionState
from services.tools.declaring import ToolDeclarations

FLASH, PRO = "gemini-2.5-flash", "gemini-2.5-pro"


class Registry:
    """Declares the mode and the model that it was asked in."""

    def __init__(self, state: SessionState) -> None:
        self.state = state
        self.revision = 0
        self.asked = 0

    def declarations(self, model):
        self.asked += 1
        return [{"name": f"{self.state.approval_mode.value} {model}"}]


@pytest.fixture
def state():
    return SessionState(
        session_id="s",
        model=FLASH,
        approval_mode=ApprovalMode.DEFAULT,
        interactive=False,
        events=CoreEvents(),
    )


@pytest.fixture
def registry(state):
    return Registry(state)


@pytest.fixture
def declarations(registry, state):
    return ToolDeclarations(registry, state)


def name(tools):
    return tools[0]["functionDeclarations"][0]["name"]


def test_change_between_plain_modes_is_declared_from_the_second_request_on(declarations, state):
    assert name(declarations.taken(FLASH)) == f"default {FLASH}"
    state.set_approval_mode(ApprovalMode.AUTO_EDIT)
    assert name(declarations.taken(FLASH)) == f"default {FLASH}"
    assert name(declarations.taken(FLASH)) == f"autoEdit {FLASH}"


@pytest.mark.parametrize("mode", [ApprovalMode.YOLO, ApprovalMode.PLAN])
def test_entering_and_leaving_yolo_or_plan_mode_is_declared_at_once(declarations, state, mode):
    declarations.taken(FLASH)
    state.set_approval_mode(mode)
    assert name(declarations.taken(FLASH)) == f"{mode.value} {FLASH}"
    state.set_approval_mode(ApprovalMode.DEFAULT)
    assert name(declarations.taken(FLASH)) == f"default {FLASH}"


def test_another_model_another_tool_and_another_chat_are_declared_at_once(
    declarations, state, registry
):
    declarations.taken(FLASH)
    state.set_approval_mode(ApprovalMode.AUTO_EDIT)
    assert name(declarations.taken(PRO)) == f"autoEdit {PRO}"
    state.set_approval_mode(ApprovalMode.DEFAULT)
    registry.revision += 1
    assert name(declarations.taken(PRO)) == f"default {PRO}"
    state.set_approval_mode(ApprovalMode.AUTO_EDIT)
    declarations.restart()
    assert name(declarations.taken(PRO)) == f"autoEdit {PRO}"


def test_reading_the_declarations_does_not_renew_them(declarations, state):
    declarations.taken(FLASH)
    state.set_approval_mode(ApprovalMode.AUTO_EDIT)
    assert name(declarations.current(FLASH)) == f"default {FLASH}"
    assert name(declarations.current(FLASH)) == f"default {FLASH}"


def test_same_list_is_declared_while_nothing_changes(declarations, registry):
    first = declarations.taken(FLASH)
    assert all(declarations.taken(FLASH) is first for _ in range(3))
    assert registry.asked == 1


def test_the_mode_at_the_start_of_a_turn_is_declared_by_the_next_request(declarations, state):
    state.set_approval_mode(ApprovalMode.YOLO)
    assert name(declarations.taken(FLASH)) == f"yolo {FLASH}"
    state.set_approval_mode(ApprovalMode.DEFAULT)
    declarations.current(FLASH)
    state.set_approval_mode(ApprovalMode.AUTO_EDIT)
    declarations.current(FLASH)
    assert name(declarations.taken(FLASH)) == f"default {FLASH}"
    assert name(declarations.taken(FLASH)) == f"autoEdit {FLASH}"


def test_a_mode_in_which_no_turn_began_is_never_declared(declarations, state):
    state.set_approval_mode(ApprovalMode.YOLO)
    assert name(declarations.taken(FLASH)) == f"yolo {FLASH}"
    state.set_approval_mode(ApprovalMode.DEFAULT)
    state.set_approval_mode(ApprovalMode.AUTO_EDIT)
    assert name(declarations.taken(FLASH)) == f"autoEdit {FLASH}"
