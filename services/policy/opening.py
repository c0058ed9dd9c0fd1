"""The policy of a session, with its rules and safety checkers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from services.policy.allowed_paths import AllowedPaths
from services.policy.conseca import Conseca
from services.policy.engine import PolicyEngine
from services.policy.safety import ConversationContext, SafetyCheckers
from services.policy.saved import SavedAnswers
from services.policy.sources import load_policy_rules
from services.session import Session
from services.wire import JsonObject

__all__ = ["open_policy"]


def open_policy(
    session: Session,
    *,
    context: ConversationContext,
    judge: str,
    declarations: Callable[[], Sequence[JsonObject]],
    system_folder: Path | None,
) -> PolicyEngine:
    """Build the policy of a session.

    Args:
        session: The session.
        context: What safety checkers see of the conversation.
        judge: The model that judges calls where `enable_conseca` is set.
        declarations: The declarations of the session's tools.
        system_folder: The administrator's policy files.

    Raises:
        ValueError: a rule in the settings has no meaning.
    """
    settings, workspace, state = session.settings, session.workspace, session.state
    found = load_policy_rules(
        settings, workspace=workspace, events=session.events, system_folder=system_folder
    )
    conseca = Conseca(
        enabled=settings.enable_conseca,
        model=judge,
        generator=session.content_generator,
        declarations=declarations,
        log=state.log,
    )
    return PolicyEngine(
        found.rules,
        checkers=found.checkers,
        runner=SafetyCheckers(
            context=context,
            clock=session.clock,
            in_process={"allowed-path": AllowedPaths(), "conseca": conseca},
        ),
        disable_always_allow=settings.disable_always_allow,
        save=SavedAnswers(workspace=workspace, events=session.events).save,
        state=state,
        interactive=settings.interactive,
        workspace_root=workspace.root,
        home=workspace.home,
        folder_trusted=settings.folder_trusted,
        events=session.events,
    )
