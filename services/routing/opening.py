"""The models of a session: their names, their health, the routes to them, and utility requests."""

from __future__ import annotations

from dataclasses import dataclass

from services.availability.availability import Availability
from services.availability.switching import FallbackObserver
from services.model.base_llm_client import BaseLlmClient
from services.model.config_settings import model_configs_from_settings
from services.model.configs import ModelConfigs
from services.model.names import AccessFlags
from services.model.utility import UtilityModel
from services.routing.router import ModelRouter
from services.session import Session

__all__ = ["SessionModels", "open_models"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionModels:
    """The parts through which a session calls its models."""

    auth_type: str
    configs: ModelConfigs
    availability: Availability
    utility: UtilityModel
    router: ModelRouter


def open_models(
    session: Session,
    *,
    auth_type: str,
    observer: FallbackObserver | None,
) -> SessionModels:
    """Build the model side of a session.

    Args:
        session: The session.
        auth_type: Decides which models are accessible.
        observer: Receives every fallback.

    Raises:
        ValueError: the settings of the models are invalid.
    """
    settings, state = session.settings, session.state
    configs = model_configs_from_settings(
        settings.model_configs,
        AccessFlags.for_auth(auth_type),
        dynamic=settings.dynamic_model_configuration,
    )
    availability = Availability(
        models=configs,
        state=state,
        clock=session.clock,
        ids=session.ids,
        interaction=session.interaction,
        observer=observer,
    )
    utility = BaseLlmClient(
        generator=session.content_generator,
        models=configs,
        state=state,
        events=session.events,
        clock=session.clock,
        rng=session.rng,
        retry_fetch_errors=settings.retry_fetch_errors,
        auth_type=auth_type,
        variables=session.environment.variables,
        availability=availability,
    )
    router = ModelRouter(
        session,
        models=configs,
        availability=availability,
        utility=utility,
    )
    return SessionModels(
        auth_type=auth_type,
        configs=configs,
        availability=availability,
        utility=utility,
        router=router,
    )
