"""What a run reports to its user, as it is compared."""

from harness.replay.witness import Witness, in_stable_order
from services.state import ModelChanged, UserFeedback


def feedback(message: str) -> dict[str, str]:
    return {"event": "feedback", "severity": "warning", "message": message}


def test_messages_to_the_user_are_side_events() -> None:
    seen = Witness()

    seen.on_core_event(UserFeedback(severity="warning", message="it failed"))

    assert seen.side_events == [feedback("it failed")]
    assert seen.threads == {}


def test_messages_that_follow_each_other_have_one_order_and_others_keep_theirs() -> None:
    seen = Witness()
    for event in (
        UserFeedback(severity="warning", message="b"),
        UserFeedback(severity="warning", message="a"),
        ModelChanged(model="pro"),
        UserFeedback(severity="warning", message="A"),
    ):
        seen.on_core_event(event)

    assert in_stable_order(seen.side_events) == [
        feedback("a"),
        feedback("b"),
        {"event": "model-changed", "model": "pro"},
        feedback("A"),
    ]
