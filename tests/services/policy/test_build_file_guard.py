from __future__ import annotations

from collections.abc import Callable

import pytest

from services.policy.rules import Decision
from tests.services.policy.instant import InstantEngine


@pytest.mark.parametrize(("interactive", "decision"), [(True, "ask_user"), (False, "deny")])
@pytest.mark.contract("P-146")
def test_yolo_does_not_edit_build_files_silently(
    make_engine: Callable[..., InstantEngine], interactive: bool, decision: str
) -> None:
    engine = make_engine(mode="yolo", interactive=interactive)

    found = engine.check("write_file", {"file_path": " package.json "})

    assert found.decision == decision
    assert found.rule is not None
    assert found.rule.source == "Build File Protection"
    assert found.deny_message == (
        "Modifying build configuration files requires explicit user confirmation"
    )
    assert engine.check("read_file", {"file_path": "package.json"}).decision is Decision.ALLOW
    assert engine.targets_build_file({"path": "sub/pom.xml"})
