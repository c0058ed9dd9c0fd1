from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest

from services.availability.availability import Availability
from services.availability.switching import FallbackActivated
from services.clock import VirtualClock
from services.ids import CountingIds
from services.interaction.interaction import Handlers, Interaction
from services.interaction.questions import FallbackIntent, FallbackQuestion
from services.model.config_settings import model_configs_from_settings
from services.model.configs import ModelConfigs
from services.model.names import AccessFlags
from services.state import ApprovalMode, CoreEvents, ModelChanged, SessionState


@dataclass
class World:
    """A session's availability, its events and its questions to the client."""

    models: ModelConfigs
    state: SessionState
    clock: VirtualClock
    availability: Availability
    changes: list[str]
    questions: list[FallbackQuestion]
    switches: list[FallbackActivated] = field(default_factory=list)

    def health_of(self, *models: str) -> list[str | None]:
        return [self.availability.health.snapshot(model).reason for model in models]


MakeWorld = Callable[..., World]


@pytest.fixture
def world() -> MakeWorld:
    def make(
        model: str = "auto",
        *,
        auth_type: str = "oauth-personal",
        preview: bool = True,
        dynamic: bool = False,
        mode: ApprovalMode = ApprovalMode.DEFAULT,
        intents: list[FallbackIntent | Exception | None] | None = None,
        **configs: object,
    ) -> World:
        changes: list[str] = []
        questions: list[FallbackQuestion] = []
        switches: list[FallbackActivated] = []
        events = CoreEvents()
        events.subscribe(
            lambda event: changes.append(event.model) if isinstance(event, ModelChanged) else None
        )
        models = model_configs_from_settings(
            configs, replace(AccessFlags.for_auth(auth_type), preview=preview), dynamic=dynamic
        )
        state = SessionState(
            session_id="s", model=model, approval_mode=mode, interactive=False, events=events
        )
        answers = list(intents or [])

        async def ask(question: FallbackQuestion) -> FallbackIntent | None:
            questions.append(question)
            answer = answers.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return answer

        clock = VirtualClock()
        availability = Availability(
            models=models,
            state=state,
            clock=clock,
            ids=CountingIds(),
            interaction=Interaction(None if intents is None else Handlers(fallback=ask)),
            observer=switches.append,
        )
        return World(models, state, clock, availability, changes, questions, switches)

    return make
