import pytest

from services.mode_words import plan_mode_exit
from services.state import ApprovalMode


@pytest.mark.parametrize(
    ("mode", "said"),
    [
        ("autoEdit", "Auto-Edit mode (edits will be applied automatically)"),
        ("default", "Default mode (edits will require confirmation)"),
        ("yolo", "YOLO mode (all tool calls auto-approved)"),
    ],
)
def test_the_end_of_plan_mode_names_who_ended_it_and_what_begins(mode: str, said: str) -> None:
    assert plan_mode_exit(ApprovalMode(mode)) == f"Plan approved. Switching to {said}."
    manual = plan_mode_exit(ApprovalMode(mode), manual=True)
    assert manual == f"User has manually exited Plan Mode. Switching to {said}."
