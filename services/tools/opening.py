"""What the tools of a session use: its host, with the web and the correction of edits."""

from __future__ import annotations

from collections.abc import Callable

from services.ids import ProcessIds
from services.routing.opening import SessionModels
from services.session import Session
from services.skills.manager import SkillManager
from services.steering import InjectionService
from services.tools.edit_correction import EditCorrector
from services.tools.host import ToolHost
from services.tools.project_memory import ProjectMemory
from services.tools.web_client import open_web
from services.tools.web_model import ClientModel

__all__ = ["open_host"]


def open_host(
    session: Session,
    models: SessionModels,
    *,
    process_ids: ProcessIds,
    skills: SkillManager,
    memory: ProjectMemory,
    steering: InjectionService,
    system_instruction: Callable[[], str],
) -> ToolHost:
    """Build the host of a session's tools; its owner closes it.

    Args:
        session: The session.
        models: What edits and web pages are corrected and read with.
        process_ids: Gives the process ids that the model sees.
        skills: The session's skills.
        memory: The project's memory files.
        steering: Receives the ends of background commands.
        system_instruction: The main conversation's.
    """
    settings, state = session.settings, session.state
    corrector = EditCorrector(models.utility, prompt_id=lambda: state.last_prompt_id)
    client = ClientModel(
        generator=session.content_generator,
        models=models.configs,
        state=state,
        events=session.events,
        clock=session.clock,
        rng=session.rng,
        system_instruction=system_instruction,
        retry_fetch_errors=settings.retry_fetch_errors,
        max_attempts=settings.max_attempts,
        auth_type=models.auth_type,
        variables=session.environment.variables,
        availability=models.availability,
    )
    return ToolHost(
        workspace=session.workspace,
        clock=session.clock,
        settings=settings,
        state=state,
        environment=session.environment,
        process_ids=process_ids,
        skills=skills,
        memory=memory,
        steering=steering,
        corrector=None if settings.disable_llm_correction else corrector,
        web=open_web(
            client,
            clock=session.clock,
            rng=session.rng,
            events=session.events,
            settings=settings,
        ),
    )
