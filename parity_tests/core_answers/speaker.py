"""Who speaks next, as the history says or another model."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Final, cast

from parity_tests.core_answers.subject import Subject
from services.abort import AbortController
from services.model.utility import UtilityModel, UtilityRequest
from services.next_speaker import check_next_speaker
from services.wire import Content, JsonObject

__all__ = ["SUBJECTS"]


class _Chat:
    def __init__(self, asked: Any) -> None:
        self._asked = asked

    def curated_history(self) -> Sequence[Content]:
        history: list[Content] = self._asked["curated"]
        return history

    def shown_history(self) -> Sequence[Content]:
        history: list[Content] = self._asked["shown"]
        return history


class _Model:
    """Gives one answer, and notes what it is asked."""

    def __init__(self, answer: Any) -> None:
        self._answer = answer
        self.calls: list[Any] = []

    async def generate_json(self, request: UtilityRequest, schema: JsonObject) -> Any:
        self.calls.append(
            {
                "config": request.config_key,
                "contents": request.contents,
                "role": request.role.value,
                "prompt": request.prompt_id,
                "signal": request.signal is not None,
                "schema": _undescribed(schema),
            }
        )
        if self._answer == "fails":
            raise ValueError(self._answer)
        return self._answer


def _undescribed(schema: Any) -> Any:
    """The schema without its descriptions, which are in our own words."""
    if not isinstance(schema, dict):
        return schema
    return {key: _undescribed(each) for key, each in schema.items() if key != "description"}


def _next(asked: Any) -> list[Any]:
    model = _Model(asked["answer"])
    asking = check_next_speaker(
        _Chat(asked), cast("UtilityModel", model), AbortController().signal, "p"
    )
    return [asyncio.run(asking), model.calls]


SUBJECTS: Final = (Subject("speaker.next", _next),)
