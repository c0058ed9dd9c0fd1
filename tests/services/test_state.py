import pytest

from services.state import (
    ApprovalMode,
    ApprovalModeChanged,
    CoreEvent,
    CoreEvents,
    ModelChanged,
    PrivilegedModeRefused,
    QuotaErrorOccurred,
    SessionState,
    UserFeedback,
)


def state(
    mode: ApprovalMode = ApprovalMode.DEFAULT, *, folder_trusted: bool = True
) -> tuple[SessionState, list[CoreEvent]]:
    events = CoreEvents()
    seen: list[CoreEvent] = []
    events.subscribe(seen.append)
    made = SessionState(
        session_id="s",
        model="m",
        approval_mode=mode,
        interactive=False,
        events=events,
        folder_trusted=folder_trusted,
    )
    made.sequence_model = "sticky"
    return made, seen


def test_choosing_another_model_clears_the_sticky_one() -> None:
    session, seen = state()

    session.set_model("other")

    assert (session.model, session.active_model, session.sequence_model) == ("other", "other", None)
    assert seen == [ModelChanged(model="other")]


def test_choosing_the_same_model_changes_nothing() -> None:
    session, seen = state()

    session.set_model("m")

    assert session.sequence_model == "sticky"
    assert seen == []


def test_a_model_that_only_fell_back_is_chosen_again() -> None:
    session, seen = state()
    session.set_active_model("fallback")

    session.set_model("m")

    assert session.active_model == "m"
    assert seen == [ModelChanged(model="m")]


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
    session, seen = state(before)

    session.set_approval_mode(after)

    assert session.sequence_model == sticky
    assert seen == [ApprovalModeChanged(mode=after)]


@pytest.mark.parametrize("mode", [ApprovalMode.AUTO_EDIT, ApprovalMode.YOLO])
def test_a_folder_that_is_not_trusted_refuses_privileged_modes(mode: ApprovalMode) -> None:
    session, seen = state(ApprovalMode.YOLO, folder_trusted=False)

    with pytest.raises(
        PrivilegedModeRefused,
        match=r"^Cannot enable privileged approval modes in an untrusted folder\.$",
    ):
        session.set_approval_mode(mode)

    assert (session.approval_mode, session.sequence_model) == (ApprovalMode.YOLO, "sticky")
    assert seen == []


def test_a_folder_that_is_not_trusted_may_be_looked_at_and_planned_for() -> None:
    session, _ = state(folder_trusted=False)

    session.set_approval_mode(ApprovalMode.PLAN)
    session.set_approval_mode(ApprovalMode.DEFAULT)

    assert session.approval_mode is ApprovalMode.DEFAULT


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


def test_a_noted_quota_error_is_kept_and_emitted() -> None:
    session, emitted = state()

    session.note_quota_error()

    assert session.quota_error_occurred
    assert emitted == [QuotaErrorOccurred()]
