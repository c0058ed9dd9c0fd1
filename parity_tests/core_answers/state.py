"""The state of a session: its models, its mode, and what they report."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from parity_tests.core_answers.subject import Subject
from services.state import (
    ApprovalMode,
    ApprovalModeChanged,
    CoreEvent,
    CoreEvents,
    ModelChanged,
    PrivilegedModeRefused,
    SessionState,
)

__all__ = ["SUBJECTS"]


class _Scene:
    """One session's state, and what its listeners heard."""

    def __init__(self, asked: Any) -> None:
        self._events = CoreEvents()
        self._heard: list[Any] = []
        self._off: dict[str, Callable[[], None]] = {}
        self._state = SessionState(
            session_id="s",
            model=asked["model"],
            approval_mode=ApprovalMode(asked["mode"]),
            interactive=True,
            events=self._events,
            folder_trusted=asked["trusted"],
        )

    def play(self, step: str, given: Any) -> list[Any]:
        """What one step changes, and who heard of it."""
        self._heard = []
        refused: str | None = None
        state = self._state
        if step == "model":
            state.set_model(given)
        elif step == "active":
            state.set_active_model(given)
        elif step == "sequence":
            state.sequence_model = given
        elif step == "quota":
            state.note_quota_error()
        elif step == "listen":
            self._off[given] = self._events.subscribe(self._listener(given))
        elif step == "off":
            self._off[given]()
        else:
            try:
                state.set_approval_mode(ApprovalMode(given))
            except PrivilegedModeRefused as error:
                refused = str(error)
        models = [state.model, state.active_model, state.sequence_model]
        seen = [state.approval_mode, state.mode_breaks, state.quota_error_occurred]
        return [refused, *models, *seen, self._heard]

    def _listener(self, name: str) -> Callable[[CoreEvent], None]:
        def heard(event: CoreEvent) -> None:
            if isinstance(event, ModelChanged):
                self._heard.append([name, "model", event.model])
            elif isinstance(event, ApprovalModeChanged):
                self._heard.append([name, "mode", event.mode])

        return heard


def _play(asked: Any) -> list[Any]:
    scene = _Scene(asked)
    return [scene.play(*step) for step in asked["steps"]]


SUBJECTS: Final = (Subject("state.play", _play),)
