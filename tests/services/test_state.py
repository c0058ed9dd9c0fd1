import pytest

from services.state import (
    ApprovalMode,
    ApprovalModeChanged,
    CoreEvent,
    CoreEvents,
    ModelChanged,
    SessionState,
    UserFeedback,
)


def state(mode: ApprovalMode = ApprovalMode.DEFAULT) -> tuple[SessionState, list[CoreEvent]]:
    events = CoreEvents()
    told: list[CoreEvent] = []
    events.subscribe(told.append)
    made = SessionState(
        session_id="s", model="m", approval_mode=mode, interactive=False, events=events
    )
    made.sequence_model = "sticky"
    return made, told


def test_choosing_another_model_clears_the_sticky_one() -> None:
    session, told = state()

    session.set_model("other")

    assert (session.model, session.active_model, session.sequence_model) == ("other", "other", None)
    assert told == [ModelChanged(model="other")]


def test_choosing_the_same_model_changes_nothing() -> None:
    session, told = state()

    session.set_model("m")

    assert session.sequence_model == "sticky"
    assert told == []


def test_a_model_that_only_fell_back_is_chosen_again() -> None:
    session, told = state()
    session.set_active_model("fallback")

    session.set_model("m")

    assert session.active_model == "m"
    assert told == [ModelChanged(model="m")]


@pytest.mark.parametrize(
    ("before", "after", "sticky"),
    [
        (ApprovalMode.DEFAULT, ApprovalMode.AUTO_EDIT, "sticky"),
        (ApprovalMode.DEFAULT, ApprovalMode.YOLO, None),
        (ApprovalMode.PLAN, ApprovalMode.DEFAULT, None),
    ],
)
def test_entering_or_leaving_plan_or_yolo_clears_the_sticky_model(
    before: ApprovalMode, after: ApprovalMode, sticky: str | None
) -> None:
    session, told = state(before)

    session.set_approval_mode(after)

    assert session.sequence_model == sticky
    assert told == [ApprovalModeChanged(mode=after)]


def test_a_listener_that_fails_does_not_silence_the_others() -> None:
    events = CoreEvents()
    heard: list[CoreEvent] = []

    def fail(event: CoreEvent) -> None:
        raise RuntimeError

    events.subscribe(fail)
    off = events.subscribe(heard.append)
    notice = UserFeedback(severity="info", message="x")

    events.emit(notice)
    off()
    events.emit(notice)

    assert heard == [notice]
