from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from services.policy.defaults import default_rules
from services.policy.rules import PolicyRule
from services.state import ApprovalMode, CoreEvents, SessionState
from tests.services.policy.instant import InstantEngine

MakeEngine = Callable[..., InstantEngine]


@pytest.fixture
def make_engine(tmp_path: Path) -> MakeEngine:
    """An engine in an empty workspace; by default with the built-in rules, interactive."""

    def make(
        rules: Sequence[PolicyRule] | None = None,
        *,
        mode: str = "default",
        interactive: bool = True,
        **more: Any,
    ) -> InstantEngine:
        state = SessionState(
            session_id="s",
            model="m",
            approval_mode=ApprovalMode(mode),
            interactive=interactive,
            events=CoreEvents(),
        )
        root = tmp_path / "ws"
        root.mkdir(exist_ok=True)
        return InstantEngine(
            default_rules() if rules is None else rules,
            state=state,
            interactive=interactive,
            workspace_root=root,
            home=tmp_path / "home",
            **more,
        )

    return make
