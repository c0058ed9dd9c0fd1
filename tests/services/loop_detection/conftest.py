from collections.abc import Callable
from typing import Any

import pytest

from services.loop_detection.detector import LoopDetector
from services.model.configs import ModelConfigs
from services.model.errors import ModelError
from services.model.names import AccessFlags
from services.model.utility import UtilityRequest


class AskedModel:
    """Gives its answers in order, then fails; keeps what it was asked."""

    def __init__(self, *answers: dict[str, Any]) -> None:
        self.answers = list(answers)
        self.requests: list[UtilityRequest] = []
        self.schemas: list[dict[str, Any]] = []

    async def generate_json(
        self, request: UtilityRequest, schema: dict[str, Any]
    ) -> dict[str, Any]:
        self.requests.append(request)
        self.schemas.append(schema)
        if not self.answers:
            raise ModelError("no answer")
        return self.answers.pop(0)

    async def generate_content(self, request: UtilityRequest) -> dict[str, Any]:
        raise AssertionError("only JSON is asked for")


class Watched:
    """A detector, the model it asks, the history it reads, and which models cannot be used."""

    def __init__(self, *answers: dict[str, Any], disabled: bool = False) -> None:
        self.model = AskedModel(*answers)
        self.history: list[dict[str, Any]] = [{"role": "model", "parts": [{"text": "done"}]}]
        self.unavailable: set[str] = set()
        self.detector = LoopDetector(
            model=self.model,
            models=ModelConfigs(AccessFlags.for_auth("gemini-api-key")),
            history=lambda: self.history,
            disabled=disabled,
            is_available=lambda name: name not in self.unavailable,
            log=lambda _name, _body, _attributes: None,
        )
        self.detector.reset("first")


@pytest.fixture
def watched() -> Callable[..., Watched]:
    return Watched
