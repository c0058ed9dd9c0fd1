"""Builds the host of a session's tools, with its access to the web and its corrector of edits."""

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
from services.tools.text_files import TextFiles
from services.tools.web_access import WebAccess
from services.tools.web_client import HttpPages
from services.tools.web_model import ClientModel
from services.tracker import Tracker

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
    text_files: TextFiles,
) -> ToolHost:
    """Build the host of a session's tools; its owner closes it.

    `models` correct edits and read web pages, with the main conversation's `system_instruction`;
    `steering` receives the ends of background commands; edits go through `text_files`.
    """
    settings, state = session.settings, session.state
    corrector = EditCorrector(models.utility, prompt_id=lambda: state.last_prompt_id)
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
        text_files=text_files,
        corrector=None if settings.disable_llm_correction else corrector,
        tracker=Tracker(session) if settings.task_tracker else None,
        web=WebAccess(
            model=ClientModel(
                session=session, models=models, system_instruction=system_instruction
            ),
            pages=HttpPages(),
            clock=session.clock,
            rng=session.rng,
            events=session.events,
            settings=settings,
        ),
    )
